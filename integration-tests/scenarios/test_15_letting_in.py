"""Edges of letting pods in: labels taken off, schedulers that are away, pods that copy everything, taints
that change hands."""
import objects
from patience import later_than

TAINT = "esi.tu-berlin.de/testbed"


def test_a_label_taken_off_while_held_keeps_no_pod_out_of_its_slot(scene):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=1)
    scene.jobs("first", "second", seconds=600)
    scene.slot_plan("plan", "strict", [("first", [0]), ("second", [1])])
    scene.job_state("first", "RunningState")
    scene.job_state("second", "RunningState")
    scene.api.patch("Node", None, n1, {"metadata": {"labels": {scene.label: None}}})
    scene.wait_condition("Testbed", "slots", "LayoutCurrent", "False")
    gone = scene.job_pods("second")[0]["metadata"]
    scene.api.delete("Pod", scene.namespace, gone["name"], grace=0)
    scene.wait("the replacement in the same slot", lambda: [
        pod for pod in scene.job_pods("second") if pod["metadata"]["uid"] != gone["uid"]
        and pod["spec"].get("nodeName") == n1])
    scene.finish("first", "second")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.seats("second", distinct=False) == {1: n1}
    scene.delete("Scheduling", "plan")


def test_a_pod_that_no_scheduler_binds_is_told_and_given_up_when_its_node_is_cordoned(scene, plane):
    n0, = scene.nodes(1)
    scene.testbed(slots=1, isolation="Taint")
    scene.jobs("pi", seconds=600, driver={"esi-test/executor-delay-seconds": 600})
    scene.queue("plan", ["pi"])
    scene.wait("the driver to run", lambda: scene.get("Pod", "pi-driver").get("status", {}).get("phase") == "Running")
    plane.stop("kube-scheduler")
    try:
        scene.drive("pi", executor_delay_seconds=0)

        def let_in():
            pods = scene.job_pods("pi")
            return pods and not pods[0]["spec"].get("schedulingGates") and pods[0]["metadata"]["uid"]
        uid = scene.wait("the executor to be let in", let_in)
        scene.wait_condition("BatchJob", "pi", "Placed", "False", "SchedulerAbsent")
        scene.wait("its event", lambda: ("SchedulerAbsent", "pi") in scene.events("pi"))
        assert [pod["metadata"]["uid"] for pod in scene.job_pods("pi")] == [uid], "its place is still there"
        scene.plane.kubectl("cordon", n0)
        scene.wait("it to be given up, and its replacement to wait at the gate", lambda: [
            pod for pod in scene.job_pods("pi") if pod["metadata"]["uid"] != uid
            and pod["spec"].get("schedulingGates")] and len(scene.job_pods("pi")) == 1)
        scene.plane.kubectl("uncordon", n0)
    finally:
        plane.start("kube-scheduler")
    scene.job_state("pi", "RunningState")
    scene.finish("pi")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.seats("pi") == {0: n0}
    scene.delete("Scheduling", "plan")
    scene.testbed_ready()


def test_a_pod_that_copies_token_slot_and_node_opens_nothing(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2, isolation="Taint")
    scene.jobs("pi", seconds=600)
    scene.queue("plan", ["pi"])
    scene.job_state("pi", "RunningState")
    real, = scene.job_pods("pi")
    ghosts = scene.bound_ghosts()
    assert set(ghosts) == {(n0, 1)}
    body = objects.pod("forged", cpu="600m", memory="900Mi", node_selector={"lab": "nowhere"})
    body["metadata"]["labels"] = {key: value for key, value in real["metadata"]["labels"].items()
                                  if key.startswith(objects.PREFIX)}
    body["metadata"]["annotations"] = {
        objects.PREFIX + "run": real["metadata"]["annotations"][objects.PREFIX + "run"],
        objects.PREFIX + "slot": "1", objects.PREFIX + "slot-node": n0}
    scene.forge(body)
    scene.wait("it to be refused in words", lambda: ("PodRefused", "forged") in scene.events())
    assert scene.bound_ghosts() == ghosts
    # Neither do they keep a slot closed by naming it.
    body["metadata"] |= {"name": "blocker", "annotations": body["metadata"]["annotations"] | {
        objects.PREFIX + "run": "any.thing.1"}}
    scene.forge(body)
    scene.wait("it to be refused too", lambda: ("PodRefused", "blocker") in scene.events())
    assert scene.slots()[1]["state"] == "FREE"
    for name in ("forged", "blocker"):
        scene.api.delete("Pod", scene.namespace, name, grace=0)
    scene.finish("pi")
    scene.scheduling_state("plan", "CompletedState")
    scene.delete("Scheduling", "plan")
    scene.testbed_ready()


def test_the_older_testbeds_taint_stands_and_is_handed_to_the_younger_in_one_write(scene):
    n0, = scene.nodes(1, cpu="4")
    made = scene.testbed("older", slots=1, isolation="Taint")
    older = made["metadata"]["uid"]
    later_than(made)
    younger = scene.testbed("younger", slots=1, isolation="Taint")["metadata"]["uid"]
    def taints():
        return [taint["value"] for taint in scene.api.get("Node", None, n0)["spec"].get("taints") or []
                if taint["key"] == TAINT]
    assert taints() == [older]
    scene.wait_condition("Testbed", "younger", "Isolated", "True")
    scene.delete("Testbed", "older")
    scene.wait("the younger's taint", lambda: taints() == [younger])
    assert scene.status("Testbed", "younger")["counts"]["free"] == 1
    scene.delete("Testbed", "younger")
    assert taints() == []


def test_an_order_taken_away_by_hand_is_given_again_or_the_run_is_recorded_but_nothing_hangs(scene):
    """The Scheduling gives it again, as its assignment stands. Where the batchjob operator was faster, the
    run has ended by hand and is counted failed."""
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("pi", seconds=600)
    scene.jobs("next", seconds=1)
    scene.slot_plan("plan", "strict", [("pi", [0]), ("next", [0])])
    scene.job_state("pi", "RunningState")
    # For a moment the pod's run is nobody's: its ghost may come, and bind where there is room beside.
    scene.allowed.append(("slot-shared", "slots-ghost-"))
    scene.api.patch("BatchJob", scene.namespace, "pi", {"spec": {"creationRequest": None}})

    def settled():
        job = scene.get("BatchJob", "pi")
        if job["status"].get("observedGeneration") != job["metadata"]["generation"]:
            return None
        if any(run.get("reason") == "ReleasedByHand" for run in job["status"].get("runs") or []):
            return "recorded"
        return job["spec"].get("creationRequest") and job["status"]["state"] == "RunningState" and "given again"
    if scene.wait("the operators to have settled it", settled) == "given again":
        scene.finish("pi")
        expected = {"done": 2, "failed": 0, "total": 2}
    else:
        expected = {"done": 1, "failed": 1, "total": 2}
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == expected
    scene.delete("Scheduling", "plan")
    scene.testbed_ready()
