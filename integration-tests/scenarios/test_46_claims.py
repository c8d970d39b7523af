"""Claims: places on nodes that ESI chooses, all or none, held by ghosts as every slot is."""
import pytest

import objects
from control_plane import MANIFESTS



@pytest.fixture(scope="module", autouse=True)
def with_claims(plane, operators):
    """esi-testbed forms claims, with the rights and classes of claims.enabled."""
    plane.kubectl("apply", "--filename", str(MANIFESTS / "claims"))
    operators["testbed"].stop()
    operators["testbed"].flags = (*operators["testbed"].flags, "--claims")
    operators["testbed"].start().ready()
    yield
    operators["testbed"].stop()
    operators["testbed"].flags = tuple(each for each in operators["testbed"].flags if each != "--claims")
    operators["testbed"].start().ready()
    plane.kubectl("delete", "--filename", str(MANIFESTS / "claims"))


@pytest.fixture
def yard(scene):
    """A scene whose claims come to its own nodes, which carry no Testbed's label."""
    def shape(*args, **more):
        return objects.shape(*args, constraints={"nodeSelector": {"lab": scene.name}}, **more)

    def claim(name, *shapes, **more):
        return scene.apply(objects.claim(name, *shapes, **more))
    scene.shape, scene.claim = shape, claim
    return scene


def layout(scene, name):
    return scene.status("Testbed", name).get("layout") or {}


def test_a_claim_gets_all_its_places_on_nodes_without_a_label(yard):
    yard.nodes(3, labelled=False, cpu="2")
    yard.claim("nine", yard.shape("driver", 1, "1", role="coordinator"), yard.shape("executors", 4, "1"))
    yard.testbed_ready("nine")
    found = layout(yard, "nine")
    assert found["revision"] == 1 and len(found["places"]) == 5, found
    assert [shape["name"] for shape in found["shapes"]] == ["driver", "executors"]
    assert yard.condition("Testbed", "nine", "Formed")["reason"] == "Placed"
    ghosts = yard.ghosts("nine")
    assert len(ghosts) == 5
    for pod in ghosts.values():
        assert pod["spec"]["priorityClassName"] == "esi-claim-0" and pod["spec"]["priority"] == 0
        assert pod["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"] == "false"
    yard.wait("the Event Formed", lambda: ("Formed", "nine") in yard.events("nine"))


def test_a_claim_in_a_full_cluster_waits_says_what_is_missing_and_goes_on_by_itself(yard):
    node, = yard.nodes(1, labelled=False, cpu="2")
    yard.pods("stranger", cpu="1")
    yard.wait("the stranger to be bound", lambda: yard.get("Pod", "stranger")["spec"].get("nodeName"))
    yard.claim("two", yard.shape("workers", 2, "1"))
    told = yard.wait_condition("Testbed", "two", "Formed", "False", "NoRoom")["message"]
    assert "1 of 2 places fit" in told and "Insufficient cpu" in told, told
    assert yard.status("Testbed", "two")["reason"] == "NoRoom"
    assert not yard.ghosts("two"), "nothing of it exists before all places are there"
    yard.wait("the Event NoRoom", lambda: ("NoRoom", "two") in yard.events("two"))
    yard.delete("Pod", "stranger", grace=0)
    yard.testbed_ready("two")
    assert layout(yard, "two")["nodes"][0]["name"] == node


def test_of_two_claims_that_fit_only_one_at_a_time_one_is_whole_and_the_other_has_nothing(yard):
    yard.nodes(4, labelled=False, cpu="2")
    for name in ("left", "right"):
        yard.claim(name, yard.shape("workers", 5, "1"))
    first = yard.wait("one of them", lambda: next((name for name in ("left", "right") if layout(yard, name).get("places")), None))
    second = "right" if first == "left" else "left"
    yard.testbed_ready(first)
    yard.wait_condition("Testbed", second, "Formed", "False", "NoRoom")
    assert not yard.ghosts(second)
    yard.delete("Testbed", first)
    yard.testbed_ready(second)


def test_a_claim_that_can_never_fit_says_so_and_keeps_nobody_waiting(yard):
    yard.nodes(1, labelled=False, cpu="2")
    yard.claim("huge", yard.shape("workers", 1, "3"))
    yard.wait_condition("Testbed", "huge", "Formed", "False", "NeverFits")
    assert yard.status("Testbed", "huge")["state"] == "ERROR"
    yard.claim("small", yard.shape("workers", 2, "1"))
    yard.testbed_ready("small")


def test_a_missing_priority_class_is_named_with_the_remedy(yard):
    yard.nodes(1, labelled=False, cpu="2")
    yard.claim("seven", yard.shape("workers", 1), priority=7)
    told = yard.wait_condition("Testbed", "seven", "Formed", "False", "PriorityClassMissing")["message"]
    assert "esi-claim-7" in told and "claims.priorities" in told, told
    assert not yard.ghosts("seven")


def test_suspended_it_waits(yard):
    yard.nodes(1, labelled=False, cpu="2")
    yard.claim("asleep", yard.shape("workers", 1), suspend=True)
    yard.wait_condition("Testbed", "asleep", "Formed", "False", "Suspended")
    assert not yard.ghosts("asleep")
    yard.api.patch("Testbed", yard.namespace, "asleep", {"spec": {"claim": {"suspend": False}}})
    yard.testbed_ready("asleep")


def test_places_on_a_cordoned_node_are_given_back_and_planned_elsewhere(yard):
    nodes = yard.nodes(2, labelled=False, cpu="2")
    yard.claim("two", yard.shape("workers", 2, "1"), timeoutSeconds=2)
    yard.testbed_ready("two")
    first = layout(yard, "two")["nodes"][0]["name"]
    other = next(each for each in nodes if each != first)
    yard.api.patch("Node", None, first, {"spec": {"unschedulable": True}})
    yard.wait("places on the other node", lambda: [
        each["name"] for each in layout(yard, "two").get("nodes") or []] == [other])
    yard.testbed_ready("two")
    assert layout(yard, "two")["revision"] == 3, "given back, and formed anew"
    yard.wait("the Event GivenBack", lambda: ("GivenBack", "two") in yard.events("two"))


def test_a_claim_whose_ghosts_a_quota_refuses_keeps_its_room_from_others_for_seconds_only(yard):
    yard.nodes(1, labelled=False, cpu="2")
    yard.api.create("ResourceQuota", yard.namespace, {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}})
    yard.wait("the quota", lambda: yard.get("ResourceQuota", "few").get("status", {}).get("hard"))
    yard.claim("two", yard.shape("workers", 2, "1"), timeoutSeconds=3600)
    yard.wait("the Event GivenBack", lambda: ("GivenBack", "two") in yard.events("two"))
    told = yard.wait_condition("Testbed", "two", "Formed", "False", "Waiting")["message"]
    assert "1 of 2 places without a ghost" in told and "exceeded quota: few" in told and "again in 60 s" in told, told
    yard.wait("its ghost to go", lambda: not yard.ghosts("two"))
    yard.claim("one", yard.shape("workers", 1, "2"))
    yard.testbed_ready("one")


def test_nodes_of_a_labelled_testbed_are_left_to_it(yard):
    yard.nodes(1, cpu="4")
    yard.testbed("slots", slots=1, cpu="1")
    yard.claim("one", yard.shape("workers", 1, "1"))
    told = yard.wait("a word", lambda: yard.condition("Testbed", "one", "Formed"))
    assert told["status"] == "False", told
    free, = yard.plane.add_nodes(f"{yard.name}-free", 1, labels=f"lab={yard.name}", cpu="2")
    yard.made_nodes.append(free)
    yard.testbed_ready("one")
    assert [each["name"] for each in layout(yard, "one")["nodes"]] == [free]


def test_a_queue_runs_in_the_places_of_a_claim(yard):
    yard.nodes(2, labelled=False, cpu="4", memory="16Gi")
    yard.claim("four", yard.shape("workers", 4, "1", "2Gi"))
    yard.testbed_ready("four")
    yard.jobs("pi", "wc", seconds=1)
    yard.queue("plan", ["pi", "pi", "wc", "wc"], testbed="four")
    yard.scheduling_state("plan", "FinishedState", "CompletedState")
    assert set(yard.seats("pi")) | set(yard.seats("wc")) == {0, 1, 2, 3}
    yard.delete("Scheduling", "plan")
    yard.released("four", ["pi", "wc"])
    assert layout(yard, "four")["revision"] == 1, "what is used is not given back"


def inline(scene, name, jobs, *shapes, **more):
    return scene.apply(objects.esi("Scheduling", name, {
        "claim": {"shapes": list(shapes)}, "queueBased": [objects.reference(each) for each in jobs], **more}))


def test_a_spark_job_with_a_coordinator_starts_when_driver_and_executors_have_their_places(yard):
    yard.nodes(2, labelled=False, cpu="4", memory="16Gi")
    yard.pods("stranger", cpu="2")
    yard.wait("the stranger to be bound", lambda: yard.get("Pod", "stranger")["spec"].get("nodeName"))
    yard.jobs("pi", seconds=2)
    inline(yard, "plan", ["pi"] * 3, yard.shape("driver", 1, "1", "2Gi", role="coordinator"),
           yard.shape("executors", 3, "2", "2Gi"))
    told = yard.wait_condition("Scheduling", "plan", "Acquired", "False", "ClaimWaiting")["message"]
    yard.wait("what is missing", lambda: "places fit" in yard.condition("Scheduling", "plan", "Acquired")["message"])
    assert "plan" in told, told
    bed = yard.get("Testbed", "plan")
    assert bed["metadata"]["ownerReferences"][0]["name"] == "plan" and bed["metadata"]["ownerReferences"][0]["controller"]
    assert not yard.ghosts("plan") and not yard.applications() and not yard.job_pods()
    assert not yard.get("BatchJob", "pi")["spec"].get("activeScheduling"), "the job is free for others meanwhile"
    yard.delete("Pod", "stranger", grace=0)
    yard.scheduling_state("plan", "FinishedState")
    seats = {(each.slot, each.node, each.pod) for each in yard.bindings() if each.job == "pi"}
    assert {slot for slot, _, _ in seats} == {0, 1, 2, 3}, seats
    driver, = [pod for slot, _, pod in seats if slot == 0]
    assert driver.endswith("-driver"), seats
    assert all("driver" not in pod for slot, _, pod in seats if slot), seats
    yard.gone("Testbed", "plan")
    assert yard.condition("Scheduling", "plan", "Succeeded")["status"] == "True"


def test_of_two_jobs_and_one_coordinator_place_one_runs_after_the_other(yard):
    yard.nodes(2, labelled=False, cpu="4", memory="16Gi")
    yard.claim("beds", yard.shape("driver", 1, "1", "2Gi", role="coordinator"), yard.shape("executors", 2, "1", "2Gi"))
    yard.testbed_ready("beds")
    yard.jobs("pi", "wc", seconds=2)
    yard.queue("plan", ["pi", "wc"], testbed="beds")
    yard.scheduling_state("plan", "CompletedState", "FinishedState")
    seats = [(each.job, each.slot) for each in yard.bindings() if each.slot is not None and each.job]
    assert sorted(job for job, slot in seats if slot == 0) == ["pi", "wc"], seats
    yard.delete("Scheduling", "plan")
    yard.released("beds", ["pi", "wc"])


def test_a_testbed_that_has_the_name_of_the_claim_is_not_touched(yard):
    yard.nodes(1, labelled=False, cpu="2")
    yard.claim("plan", yard.shape("workers", 1, "1"), suspend=True)
    yard.jobs("pi")
    inline(yard, "plan", ["pi"], yard.shape("workers", 1, "1"))
    yard.wait_condition("Scheduling", "plan", "Acquired", "False", "NameTaken")
    assert not yard.get("Testbed", "plan")["metadata"].get("ownerReferences")
    yard.delete("Testbed", "plan")
    yard.scheduling_state("plan", "FinishedState")


def test_a_scheduling_that_goes_takes_its_claim_with_it(yard):
    yard.nodes(1, labelled=False, cpu="2")
    yard.jobs("pi", seconds=600)
    inline(yard, "plan", ["pi"], yard.shape("workers", 1, "1", "1Gi"))
    yard.job_state("pi", "RunningState", "SubmittedState", "ScheduledState")
    yard.delete("Scheduling", "plan")
    yard.gone("Testbed", "plan")
    yard.wait("nothing to be left", lambda: not yard.applications() and not yard.job_pods())


@pytest.mark.parametrize("how", ["KILL", "STOP"])
def test_an_operator_that_dies_or_sleeps_while_claims_are_formed_leaves_none_in_part(yard, operators, how):
    yard.may_restart = True
    yard.nodes(3, labelled=False, cpu="4", memory="16Gi")
    for number in range(6):
        yard.claim(f"claim-{number}", yard.shape("workers", 2, "1", "1Gi"))
        if number == 2:
            operators["testbed"].kill() if how == "KILL" else operators["testbed"].pause()
            if how == "KILL":
                operators["testbed"].start()
            else:
                operators["testbed"].go_on()
    for number in range(6):
        yard.testbed_ready(f"claim-{number}")


def test_switched_off_it_says_so(yard, operators):
    yard.may_restart = True
    yard.nodes(1, labelled=False, cpu="2")
    operators["testbed"].stop()
    operators["testbed"].flags = tuple(each for each in operators["testbed"].flags if each != "--claims")
    try:
        operators["testbed"].start().ready()
        yard.claim("one", yard.shape("workers", 1, "1"))
        told = yard.wait_condition("Testbed", "one", "Formed", "False", "Disabled")["message"]
        assert "claims.enabled=true" in told
    finally:
        operators["testbed"].stop()
        operators["testbed"].flags = (*operators["testbed"].flags, "--claims")
        operators["testbed"].start().ready()
    yard.testbed_ready("one")
