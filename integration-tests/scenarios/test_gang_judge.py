"""The judge of gangs finds what it is there to find: each rule with a recording that breaks it, and without."""
from gang_judge import GATE, NODE, GangJudge

LABEL = "scheduling.x-k8s.io/pod-group"


def change(kind, what, rv, thing):
    return {"kind": kind, "type": what, "rv": rv, "at": float(rv), "object": thing}


def node(rv, name, cpu="2", pods="110"):
    return change("Node", "ADDED", rv, {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": {},
                                        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}}})


def pod(rv, name, on=None, to=None, nominated=None, gated=False, group="train", what="MODIFIED", phase="Running",
        priority=0, cpu="1", disruption=None, way="label"):
    spec = {"containers": [{"name": "c", "requests": {"cpu": cpu}}], "initContainers": [], "priority": priority}
    if on:
        spec["nodeName"] = on
    if gated:
        spec["schedulingGates"] = [{"name": GATE}]
    status = {"phase": phase if on else "Pending"}
    if nominated:
        status["nominatedNodeName"] = nominated
    if disruption:
        status["disruption"] = disruption
    labels = {LABEL: group} if group and way == "label" else {}
    notes = {NODE: to} if to else {}
    if group and way == "annotation":
        notes["scheduling.k8s.io/group-name"] = group
    return change("Pod", what, rv, {"metadata": {"namespace": "lab", "name": name, "uid": name, "labels": labels,
                                                 "annotations": notes}, "spec": spec, "status": status})


def waits(rv, name, **more):
    return pod(rv, name, gated=True, what="ADDED", **more)


def judged(*lines, minimum=2, group="train", nodes=("a", "b")):
    judge = GangJudge()
    judge.declare("lab", group, minimum)
    judge.feed([*(node(number + 1, name) for number, name in enumerate(nodes)), *lines])
    return judge


def rules(*lines, **more):
    return [violation.rule for violation in judged(*lines, **more).violations]


#: Two members as they should come: nominated, let in, bound.
WHOLE = (waits(10, "p"), waits(11, "q"),
         pod(12, "p", gated=True, nominated="a"), pod(13, "q", gated=True, nominated="b"),
         pod(14, "p", to="a", nominated="a"), pod(15, "q", to="b", nominated="b"),
         pod(16, "p", on="a", to="a"), pod(17, "q", on="b", to="b"))


def test_a_gang_that_is_reserved_let_in_and_bound_is_fine():
    judge = judged(*WHOLE)
    assert judge.violations == []
    assert [(start.rv, start.group) for start in judge.starts] == [(17, "train")]


def test_a_gang_named_by_an_annotation_is_judged_too():
    lines = [waits(10, "p", way="annotation"), pod(11, "p", gated=True, nominated="a", way="annotation"),
             pod(12, "p", to="a", way="annotation")]
    assert rules(*lines) == ["let-in-early"]


def test_the_order_is_that_of_the_resource_versions():
    assert rules(*reversed(WHOLE)) == []


def test_a_member_bound_alone_is_partial():
    lines = [waits(10, "p"), waits(11, "q"), pod(12, "p", gated=True, nominated="a"),
             pod(13, "p", to="a"), pod(14, "p", on="a", to="a")]
    assert rules(*lines) == ["let-in-early", "partial"]


def test_a_member_bound_while_the_other_still_has_its_gate_and_its_place_is_fine():
    lines = [*WHOLE[:5], pod(15, "p", on="a", to="a"), pod(16, "q", to="b", nominated="b"), pod(17, "q", on="b", to="b")]
    judge = judged(*lines)
    assert judge.violations == []
    assert [start.seconds for start in judge.starts] == [2.0]


def test_a_member_bound_after_the_other_has_lost_its_place_is_partial():
    lines = [*WHOLE[:5], pod(15, "q", gated=True), pod(16, "p", on="a", to="a")]
    assert rules(*lines) == ["partial"]


def test_a_gang_that_stays_partial_is_told_once():
    lines = [*WHOLE[:-1], pod(30, "other", group=None, what="ADDED"), pod(31, "other", group=None)]
    assert rules(*lines) == ["stays-partial"]


def test_a_member_let_in_before_all_have_places_is_early():
    lines = [waits(10, "p"), waits(11, "q"), pod(12, "p", gated=True, nominated="a"), pod(13, "p", to="a"),
             pod(14, "q", gated=True, nominated="b"), pod(15, "q", to="b")]
    assert rules(*lines) == ["let-in-early"]


def test_a_member_that_failed_before_the_start_counts_no_longer_and_one_that_is_through_does():
    begin = [waits(10, "p"), waits(11, "q"), waits(12, "r"), pod(13, "p", gated=True, nominated="a"),
             pod(14, "q", gated=True, nominated="b"), pod(15, "p", to="a"), pod(16, "q", to="b"),
             pod(17, "p", on="a", to="a")]
    for phase, found in (("Failed", ["partial"]), ("Succeeded", [])):
        lines = [*begin, pod(18, "p", on="a", to="a", phase=phase), pod(19, "q", on="b", to="b")]
        assert rules(*lines) == found


def test_a_gang_that_has_started_is_filled_up_one_by_one():
    again = [pod(20, "p", what="DELETED"), waits(21, "r"), pod(22, "r", to="a"), pod(23, "r", on="a", to="a")]
    assert rules(*WHOLE, *again) == []


def test_a_gang_of_which_nobody_is_left_starts_whole_again():
    again = [pod(20, "p", what="DELETED"), pod(21, "q", what="DELETED"), waits(22, "r"), pod(23, "r", to="a")]
    assert rules(*WHOLE, *again) == ["let-in-early"]


def test_a_member_on_another_node_is_on_the_wrong_node():
    assert rules(*WHOLE[:-1], pod(17, "q", on="a", to="b")) == ["wrong-node"]


def test_a_gate_that_opens_without_a_node_is_told():
    assert rules(*WHOLE[:4], pod(14, "p", nominated="a")) == ["opened"]


def test_a_member_that_never_waited_is_told():
    assert rules(pod(10, "p", what="ADDED"), pod(11, "p", on="a")) == ["not-gated"]


def test_a_group_that_must_never_start_is_partial_when_it_does():
    assert rules(*WHOLE, minimum=None) == ["let-in-early"] * 2 + ["partial"] * 2


def test_a_group_that_the_test_has_not_declared_is_told():
    assert rules(*WHOLE, group="another") == ["undeclared"] * 4


def test_a_member_let_in_to_a_node_that_is_full_is_over_promised():
    lines = [pod(5, "other", on="a", group=None, cpu="1500m"), *WHOLE[:5]]
    assert rules(*lines) == ["over-promised"]


def test_two_members_let_in_to_room_for_one_are_over_promised():
    lines = [*WHOLE[:5], pod(15, "q", to="a", nominated="b", cpu="1500m")]
    assert rules(*lines) == ["over-promised"]


def test_a_stranger_in_a_place_that_was_promised_took_it():
    stranger = pod(15, "other", on="a", group=None, cpu="1500m", what="ADDED")
    assert rules(*WHOLE[:5], stranger) == ["place-taken"]


def test_a_stranger_beside_a_promised_place_is_fine():
    stranger = pod(15, "other", on="a", group=None, cpu="1", what="ADDED")
    assert rules(*WHOLE[:5], stranger) == []


def test_a_stranger_of_higher_priority_may_take_a_place():
    stranger = pod(15, "other", on="a", group=None, cpu="1500m", what="ADDED", priority=10)
    assert rules(*WHOLE[:5], stranger) == []


def test_a_member_of_another_gang_that_was_let_in_before_takes_nothing():
    other = [waits(5, "x", group="two"), pod(6, "x", to="a", group="two", nominated="a")]
    judge = GangJudge()
    judge.declare("lab", "train", 2)
    judge.declare("lab", "two", 1)
    judge.feed([node(1, "a"), node(2, "b"), *other, *WHOLE[:5], pod(15, "x", on="a", to="a", group="two")])
    assert judge.violations == []


def test_a_preempted_pod_is_told_once():
    lines = [pod(5, "other", on="a", group=None, what="ADDED"),
             pod(6, "other", on="a", group=None, disruption="PreemptionByScheduler"),
             pod(7, "other", on="a", group=None, disruption="PreemptionByScheduler")]
    assert rules(*lines) == ["preempted"]


def test_a_pod_evicted_by_a_person_is_none_of_the_judges():
    lines = [pod(5, "other", on="a", group=None, what="ADDED"),
             pod(6, "other", on="a", group=None, disruption="EvictionByEvictionAPI")]
    assert rules(*lines) == []


def test_missing_changes_are_told():
    assert rules({"kind": "Pod", "type": "GAP", "rv": 5, "at": 0.0}) == ["gap"]


def test_a_gang_that_starts_again_is_listed_again():
    again = [pod(20, "q", what="DELETED"), waits(21, "r"), pod(22, "r", gated=True, nominated="b"),
             pod(23, "r", to="b"), pod(24, "r", on="b", to="b")]
    assert [start.rv for start in judged(*WHOLE, *again).starts] == [17, 24]
