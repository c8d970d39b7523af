"""What a job asks for is compared with its slot before the start, and the user's own numbers stay where they fit."""
import pytest

import objects

CONTAINER = "spark-kubernetes-executor"


def template(**container):
    return {"template": {"spec": {"containers": [{"name": CONTAINER, **container}]}}}


@pytest.mark.parametrize("executor, told", [
    ({"memory": "4g", "memoryOverhead": "1g"}, "it requests 5Gi memory, the slot has"),
    ({"cores": 64}, "it requests 64 cpu, the slot has"),
    (template(resources={"requests": {"ephemeral-storage": "10Gi"}}), "it requests 10Gi ephemeral-storage, the slot has 0"),
])
def test_a_spec_that_is_larger_than_its_slot_is_told_at_apply_and_not_started(scene, executor, told):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.apply(objects.job("a", executor=executor))
    fits = scene.wait_condition("BatchJob", "a", "Fits", "False", "LargerThanSlot")
    assert told in fits["message"]
    assert scene.wait_condition("BatchJob", "a", "Startable", "False", "LargerThanSlot")
    scene.queue("plan", ["a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    run, = scene.status("BatchJob", "a")["runs"]
    assert (run["reason"], told in run["message"]) == ("LargerThanSlot", True)
    assert not scene.get("SparkApplication", "a"), "nothing was submitted"


def test_numbers_that_fit_stay_and_those_of_the_slot_can_be_asked_for(scene):
    scene.nodes(1)
    scene.testbed(slots=2, cpu="600m", memory="1536Mi")
    wanted = {"cores": 1, "coreRequest": "500m", "coreLimit": "550m", "memory": "768m", "memoryOverhead": "512m"}
    scene.apply(objects.job("a", seconds=600, executor=wanted))
    scene.apply(objects.job("b", seconds=600, executor={"cores": 8, "memory": "8g"}))
    assert scene.wait_condition("BatchJob", "b", "Fits", "False", "LargerThanSlot")
    scene.api.patch("BatchJob", scene.namespace, "b", {"spec": {"sizing": "Slot"}})
    assert scene.wait_condition("BatchJob", "b", "Fits", "True")
    accepted = scene.wait_condition("BatchJob", "b", "Accepted", "True", "KeysOverridden")["message"]
    assert "executor.cores (8)" in accepted and "executor.memory (8g)" in accepted
    scene.queue("plan", ["a", "b"])
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    made = scene.get("SparkApplication", "a")["spec"]["executor"]
    assert {name: made[name] for name in wanted} == {
        "cores": 1, "coreRequest": "600m", "coreLimit": "600m", "memory": "768m", "memoryOverhead": "768m"}
    made = scene.get("SparkApplication", "b")["spec"]["executor"]
    assert (made["memory"], made["memoryOverhead"], made["coreRequest"]) == ("1152m", "384m", "600m")
    scene.finish("a", "b")


def test_what_is_added_to_a_pod_later_ends_the_run_at_once_with_both_numbers(scene):
    """The overhead of a RuntimeClass is added by the API server."""
    scene.nodes(1)
    scene.testbed(slots=1, cpu="600m", memory="1Gi")
    name = f"heavy-{scene.name}"
    scene.api.call("POST", "/apis/node.k8s.io/v1/runtimeclasses", {
        "apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": "heavy",
        "overhead": {"podFixed": {"cpu": "250m"}}})
    scene.apply(objects.job("a", executor={"template": {"spec": {
        "runtimeClassName": name, "containers": [{"name": CONTAINER}]}}}))
    scene.queue("plan", ["a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    run, = scene.status("BatchJob", "a")["runs"]
    assert run["reason"] == "LargerThanSlot"
    assert "it requests 850m cpu, the slot has 600m" in run["message"]
    assert scene.seats("a") == {}, "it did not enter the slot"
    scene.testbed_ready()
