"""The judge finds what it is there to find: each rule with a recording that breaks it, and without."""
import pytest

from judge import Judge, layout_nodes, requests_of

PREFIX = "esi.tu-berlin.de/"


def node(rv, name, cpu="2", pods="110", kind="ADDED"):
    return change("Node", kind, rv, {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": {},
                                     "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": pods}}})


def layout(rv, nodes, hold="h"):
    return change("Testbed", "MODIFIED", rv, {
        "metadata": {"namespace": "lab", "name": "slots", "uid": "uid-slots",
                     "annotations": {PREFIX + "hold": hold}}, "spec": {"slotsPerNode": 2},
        "status": {"layout": {"revision": 1, "nodes": [
            {"name": name, "uid": f"uid-{name}", "id": number} for number, name in enumerate(nodes)]}}})


def compact(line):
    """The same change of a Testbed with its layout as one line for each node."""
    layout = line["object"]["status"]["layout"]
    layout["compactNodes"] = [f"{each['name']} {each['uid']} {each['id']}" for each in layout.pop("nodes")]
    return line


def job(rv, name, placements, run="h.1", state="RunningState"):
    return change("BatchJob", "MODIFIED", rv, {
        "metadata": {"namespace": "lab", "name": name, "uid": f"uid-{name}"},
        "spec": {"creationRequest": {"run": run}},
        "status": {"state": state, "placements": [{"slot": slot, "podUid": uid, "podName": uid} for slot, uid in placements]}})


def change(kind, what, rv, thing):
    return {"kind": kind, "type": what, "rv": rv, "at": 0.0, "object": thing}


def pod(rv, name, on=None, cpu="600m", what="MODIFIED", phase="Running", gated=False, labels=None,
        annotations=None):
    spec = {"containers": [{"name": "c", "requests": {"cpu": cpu, "memory": "1Gi"}}], "initContainers": []}
    if on:
        spec["nodeName"] = on
    if gated:
        spec["schedulingGates"] = [{"name": PREFIX + "slot"}]
    return change("Pod", what, rv, {
        "metadata": {"namespace": "lab", "name": name, "uid": name, "labels": labels or {},
                     "annotations": annotations or {}},
        "spec": spec, "status": {"phase": phase}})


def ghost(rv, name, on, index, **more):
    return pod(rv, name, on, labels={PREFIX + "testbed": "slots", PREFIX + "testbed-namespace": "lab",
                                     PREFIX + "ghost": "true"},
               annotations={PREFIX + "node": on, PREFIX + "index": str(index)}, **more)


def executor(rv, name, on, slot, slot_node=None, **more):
    marks = {PREFIX + "run": "h.1"} if slot is None else {
        PREFIX + "run": "h.1", PREFIX + "slot": str(slot), PREFIX + "slot-node": slot_node or on}
    return pod(rv, name, on, labels={PREFIX + "testbed": "slots", PREFIX + "testbed-namespace": "lab",
                                     PREFIX + "job": "pi"}, annotations=marks, **more)


WORLD = [node(1, "a"), node(2, "b"), layout(3, ["a", "b"])]


def rules(*lines):
    judge = Judge()
    judge.feed([*WORLD, *lines])
    return [violation.rule for violation in judge.violations]


def test_pods_that_fill_a_node_exactly_are_fine():
    assert rules(pod(10, "p", "a", cpu="1500m"), pod(11, "q", "a", cpu="500m")) == []


def test_one_milli_cpu_too_many_is_over_committed():
    assert rules(pod(10, "p", "a", cpu="1500m"), pod(11, "q", "a", cpu="501m")) == ["over-committed"]


def test_one_pod_too_many_is_over_committed():
    assert rules(node(9, "a", pods="1", kind="MODIFIED"), pod(10, "p", "a", cpu="1m"),
                 pod(11, "q", "a", cpu="1m")) == ["over-committed"]


def test_a_pod_that_is_gone_or_terminal_leaves_its_room():
    assert rules(pod(10, "p", "a", cpu="2"), pod(11, "p", "a", cpu="2", what="DELETED"),
                 pod(12, "q", "a", cpu="2"), pod(13, "q", "a", cpu="2", phase="Failed"),
                 pod(14, "r", "a", cpu="2")) == []


def test_a_pod_that_is_still_there_while_the_next_is_bound_is_over_committed():
    assert rules(pod(10, "p", "a", cpu="2"), pod(12, "q", "a", cpu="2"),
                 pod(13, "p", "a", cpu="2", what="DELETED")) == ["over-committed"]


def test_the_order_is_that_of_the_resource_versions_not_that_of_the_lines():
    assert rules(pod(12, "q", "a", cpu="2"), pod(11, "p", "a", cpu="2", what="DELETED"),
                 pod(10, "p", "a", cpu="2")) == []


def test_an_extended_resource_that_the_node_does_not_have_is_over_committed():
    line = pod(10, "p", "a")
    line["object"]["spec"]["containers"][0]["requests"]["lab/gpu"] = "1"
    assert rules(line) == ["over-committed"]


def test_a_ghost_that_goes_before_the_job_pod_is_bound_is_fine():
    assert rules(ghost(10, "g", "a", 0), ghost(11, "g", "a", 0, what="DELETED"),
                 job(12, "pi", [(0, "e")]), executor(13, "e", None, None, gated=True, what="ADDED"),
                 executor(14, "e", None, 0, "a"), executor(15, "e", "a", 0)) == []


def let_in(rv, name, on, slot):
    """A job pod of the gate path: gated, recorded, let in and bound."""
    return [executor(rv, name, None, None, gated=True, what="ADDED"), job(rv + 1, "pi", [(slot, name)]),
            executor(rv + 2, name, None, slot, on), executor(rv + 3, name, on, slot)]


def test_a_ghost_that_still_stands_when_the_job_pod_is_bound_shares_its_slot():
    assert rules(ghost(10, "g", "a", 0), *let_in(13, "e", "a", 0),
                 ghost(18, "g", "a", 0, what="DELETED")) == ["slot-shared"]


def occupied(rv, position, uid):
    testbed = layout(rv, ["a", "b"])
    testbed["object"]["status"]["slots"] = [{"position": position, "state": "OCCUPIED", "podUId": uid}]
    return testbed


BY_EXTENDER = [job(9, "pi", [(0, "e")]), ghost(10, "g", "a", 0), executor(13, "e", "a", 0)]


def test_by_the_extender_a_ghost_may_go_after_the_job_pod_is_bound():
    assert rules(*BY_EXTENDER, ghost(14, "g", "a", 0, what="DELETED"), occupied(15, 0, "e")) == []


def test_by_the_extender_the_ghost_is_gone_when_the_slot_is_said_to_be_occupied():
    assert rules(*BY_EXTENDER, occupied(15, 0, "e"), ghost(16, "g", "a", 0, what="DELETED")) == ["slot-shared"]


def test_the_ghost_of_the_slot_beside_it_does_not_matter():
    assert rules(ghost(10, "g", "a", 1), *let_in(13, "e", "a", 0)) == []


def test_the_second_slot_of_a_node_is_the_one_of_index_one():
    assert rules(ghost(10, "g", "b", 1), *let_in(13, "e", "b", 3)) == ["slot-shared"]


def test_two_live_job_pods_in_one_slot_share_it():
    assert rules(executor(10, "e", "a", 0), executor(11, "f", "a", 0)) == ["slot-shared"]


def test_a_job_pod_that_is_being_deleted_still_has_its_slot():
    leaving = executor(11, "e", "a", 0)
    leaving["object"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert rules(executor(10, "e", "a", 0), leaving, executor(12, "f", "a", 0)) == ["slot-shared"]


def test_a_ghost_that_comes_back_too_early_shares_the_slot():
    assert rules(job(9, "pi", []), executor(10, "e", "a", 0), ghost(11, "g", "a", 0)) == ["slot-shared"]


@pytest.mark.parametrize("end", [
    job(11, "pi", [], run="h.2"), job(11, "pi", [], state="CompletedState"),
    {**job(11, "pi", []), "type": "DELETED"}, layout(11, ["a", "b"], hold="other")],
    ids=["another run", "the job is completed", "the job is gone", "another hold"])
def test_a_ghost_may_come_back_where_the_run_is_over_and_the_node_has_room(end):
    assert rules(job(9, "pi", []), executor(10, "e", "a", 0), end, ghost(12, "g", "a", 0)) == []


def test_a_ghost_may_come_back_while_its_job_pod_is_being_deleted():
    leaving = executor(11, "e", "a", 0)
    leaving["object"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert rules(job(9, "pi", []), executor(10, "e", "a", 0), leaving, ghost(12, "g", "a", 0)) == []


def test_a_ghost_that_came_back_early_keeps_the_next_job_pod_out():
    assert rules(ghost(12, "g", "a", 0), *let_in(13, "f", "a", 0)) == ["slot-shared"]


def test_a_ghost_that_waits_unbound_at_the_door_is_fine():
    waiting = ghost(11, "g", "a", 0)
    del waiting["object"]["spec"]["nodeName"]
    assert rules(executor(10, "e", "a", 0), waiting, executor(12, "e", "a", 0, what="DELETED"),
                 ghost(13, "g", "a", 0)) == []


def test_a_job_pod_on_another_node_than_it_was_sent_to_is_found():
    assert "wrong-node" in rules(executor(10, "e", "b", 0, slot_node="a"))


def test_a_job_pod_whose_annotations_lie_about_the_layout_is_found():
    assert rules(executor(10, "e", "b", 0, slot_node="b")) == ["wrong-node"]


def test_both_forms_of_a_layout_are_read():
    listed, short = layout(3, ["a", "b"])["object"], compact(layout(3, ["a", "b"]))["object"]
    assert layout_nodes(listed) == layout_nodes(short) == [
        {"name": "a", "uid": "uid-a", "id": 0}, {"name": "b", "uid": "uid-b", "id": 1}]
    assert layout_nodes({}) == layout_nodes({"status": {"layout": {"revision": 1}}}) == []
    short["status"]["layout"]["compactNodes"][0] += " 0,2"
    assert layout_nodes(short) == layout_nodes(listed)
    short["status"]["layout"]["compactNodes"][1] = "b"
    assert layout_nodes(short) == []
    assert rules(compact(layout(4, ["a", "b"])), executor(10, "e", "b", 0, slot_node="b")) == ["wrong-node"]


def test_a_job_pod_bound_without_a_slot_is_found():
    assert rules(executor(10, "e", "a", None)) == ["unplaced"]


def test_a_gate_that_opens_without_a_recorded_placement_is_found():
    assert rules(executor(10, "e", None, None, gated=True), executor(11, "e", None, 0, "a")) == ["unrecorded"]


def test_a_placement_recorded_after_the_gate_opened_does_not_count():
    assert rules(executor(10, "e", None, None, gated=True), executor(11, "e", None, 0, "a"),
                 job(12, "pi", [(0, "e")])) == ["unrecorded"]


def test_a_placement_recorded_for_another_slot_does_not_count():
    assert rules(job(9, "pi", [(2, "e")]), executor(10, "e", None, None, gated=True),
                 executor(11, "e", None, 0, "a")) == ["unrecorded"]


def test_lost_changes_are_a_fault():
    assert rules({"kind": "Pod", "type": "GAP", "rv": 0, "at": 0.0}) == ["gap"]


def test_a_pod_without_label_on_a_testbed_node_is_listed_as_a_stranger():
    judge = Judge()
    judge.feed([*WORLD, node(4, "c"), pod(10, "p", "a"), pod(11, "q", "c"), ghost(12, "g", "a", 0)])
    assert [(stranger.pod, stranger.node, stranger.testbed) for stranger in judge.strangers] == [
        ("p", "a", "lab/slots")]
    assert judge.violations == []


def test_bindings_say_who_came_into_which_slot():
    judge = Judge()
    judge.feed([*WORLD, executor(10, "e", "a", 2), executor(11, "f", "b", 3), ghost(12, "g", "a", 0)])
    assert [(b.job, b.slot, b.node) for b in judge.bindings] == [("pi", 2, "a"), ("pi", 3, "b"), (None, 0, "a")]


def test_a_list_replaces_what_was_there():
    judge = Judge()
    judge.feed([*WORLD, pod(10, "p", "a", cpu="2"),
                {"kind": "Pod", "type": "LIST", "rv": 20, "at": 0.0, "objects": []},
                pod(21, "q", "a", cpu="2")])
    assert judge.violations == []


@pytest.mark.parametrize("init, expected", [
    ([], "1"),
    ([{"requests": {"cpu": "500m"}}], "1"),
    ([{"requests": {"cpu": "3"}}], "3"),
    ([{"requests": {"cpu": "500m"}, "restartPolicy": "Always"}], "1.5"),
    ([{"requests": {"cpu": "500m"}, "restartPolicy": "Always"}, {"requests": {"cpu": "2"}}], "2.5"),
    ([{"requests": {"cpu": "2"}}, {"requests": {"cpu": "500m"}, "restartPolicy": "Always"}], "2"),
])
def test_effective_requests_count_init_containers_and_sidecars(init, expected):
    from decimal import Decimal
    pod_ = {"spec": {"containers": [{"requests": {"cpu": "1"}}], "initContainers": init}}
    assert requests_of(pod_) == {"cpu": Decimal(expected)}


def test_overhead_comes_on_top():
    from decimal import Decimal
    pod_ = {"spec": {"containers": [{"requests": {"cpu": "1"}}], "overhead": {"cpu": "250m"}}}
    assert requests_of(pod_) == {"cpu": Decimal("1.25")}
