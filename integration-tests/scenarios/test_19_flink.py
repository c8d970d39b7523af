"""Flink jobs: the real Flink operator makes TaskManagers, which come into their slots by the gate."""
import pytest

import objects
from test_07_failures import told

pytestmark = pytest.mark.usefixtures("flink")


def flink_jobs(scene, *names, **more):
    for name in names:
        scene.apply(objects.flink_job(name, **more))
    for name in names:
        scene.job_state(name, "ReadyState")
        scene.wait_condition("BatchJob", name, "BackendAvailable", "True")


def states_seen(scene, job, since):
    """The job's states in the order in which the Flink operator wrote them down."""
    seen = []
    for version in scene.api.history("FlinkDeployment", scene.namespace, since):
        state = ((version.get("status") or {}).get("jobStatus") or {}).get("state")
        if version["metadata"]["name"] == job and state and seen[-1:] != [state]:
            seen.append(state)
    return seen


def nothing_is_left(scene):
    """The Flink operator takes its time to let a FlinkDeployment go: it cancels the job first."""
    scene.testbed_ready()
    scene.wait("the FlinkDeployments and their pods to be gone",
               lambda: not scene.left("FlinkDeployment") and not scene.job_pods())


def seats_in_order(scene, job):
    """[(slot, node), ...] as the job's pods were bound, each binding once."""
    return [(each.slot, each.node) for each in scene.bindings() if each.job == job]


def test_flink_jobs_take_the_slots_of_their_places_in_the_queue_run_and_end(scene):
    n0, n1, n2 = scene.nodes(3)
    scene.testbed(slots=2)
    flink_jobs(scene, "a", "b", seconds=600)
    begin = scene.api.version()
    scene.queue("plan", ["a", "b", "a", "b"], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    deployment = scene.get("FlinkDeployment", "a")
    assert deployment["spec"]["taskManager"]["replicas"] == 2
    for pod in scene.job_pods("a"):
        assert pod["metadata"]["labels"]["component"] == "taskmanager"
        assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "600m", "memory": "1792Mi"}
    driver, = scene.api.list("Pod", scene.namespace, labels="app=a,component=jobmanager")
    assert driver["spec"]["nodeName"] not in (n0, n1, n2)
    scene.finish("a", "b", seconds=3)
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0, 2: n2}
    assert scene.seats("b") == {1: n1, 3: n0}
    for name in ("a", "b"):
        assert states_seen(scene, name, begin)[-2:] == ["RUNNING", "FINISHED"]
    scene.released(jobs=["a", "b"])
    for name, slots, nodes in (("a", [0, 2], {n0, n2}), ("b", [1, 3], {n0, n1})):
        run, = scene.status("BatchJob", name)["runs"]
        assert (run["slots"], set(run["nodes"]), run["outcome"]) == (slots, nodes, "Succeeded")
        event, = scene.status("BatchJob", name)["scheduledEvents"]
        assert event["successful"] is True and event["start"] < event["stop"]


# Slot 2 is free for c from the beginning, but b, before it in the plan, waits for a's slot 0.
PLAN = [("a", [0, 1]), ("b", [0]), ("c", [2])]


@pytest.mark.parametrize("mode, c_at_first", [("strict", "InQueueState"), ("relaxed", "RunningState")])
def test_flink_jobs_start_in_the_order_of_the_mode(scene, mode, c_at_first):
    n0, n1, n2 = scene.nodes(3)
    scene.testbed(slots=1)
    flink_jobs(scene, "a", "b", "c", seconds=600)
    scene.slot_plan("plan", mode, PLAN, releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.job_state("c", c_at_first)
    assert scene.status("BatchJob", "b")["state"] == "InQueueState"
    scene.finish("a")
    for job in ("b", "c"):
        scene.job_state(job, "RunningState")
    scene.finish("b", "c")
    scene.scheduling_state("plan", "FinishedState")
    scene.released(jobs=["a", "b", "c"])
    assert scene.seats("a") == {0: n0, 1: n1}
    assert scene.seats("b") == {0: n0}
    assert scene.seats("c") == {2: n2}


def test_spark_and_flink_jobs_share_a_queue(scene):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=2)
    flink_jobs(scene, "flink", "last", seconds=1)
    scene.jobs("spark", seconds=600)
    scene.queue("plan", ["spark", "flink", "flink", "spark", "last", "last"], releaseOnCompletion=True)
    scene.job_state("flink", "CompletedState")
    scene.job_state("last", "CompletedState")
    scene.job_state("spark", "RunningState")
    scene.finish("spark")
    scene.scheduling_state("plan", "FinishedState")
    scene.released(jobs=["flink", "spark", "last"])
    assert scene.seats("spark") == {0: n0, 3: n1}
    assert scene.seats("flink") == {1: n1, 2: n0}
    assert scene.seats("last") == {1: n1, 2: n0}
    assert scene.order_of_starts()[2] == "last"


def test_flink_jobs_that_fail_are_told_in_flinks_words_and_the_rest_goes_on(scene):
    scene.nodes(1)
    scene.testbed(slots=3)
    flink_jobs(scene, "bad", seconds=0, notes={"esi-test/fail": "true"})
    flink_jobs(scene, "broken", notes={"esi-test/submit-fail": "no such file: input.txt"})
    scene.jobs("good", seconds=0)
    scene.queue("plan", ["bad", "broken", "good"])
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 1, "failed": 2, "total": 3}
    for job, words in (("bad", "asked to fail"), ("broken", "no such file: input.txt")):
        scene.job_state(job, "FailedState")
        told(scene, job, words)
        run, = scene.status("BatchJob", job)["runs"]
        assert run["outcome"] == "Failed" and words in run["message"]
    nothing_is_left(scene)


def test_a_job_that_is_cancelled_and_one_whose_deployment_is_deleted_have_failed(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    flink_jobs(scene, "cancelled", "deleted", seconds=600)
    scene.queue("plan", ["cancelled", "deleted"])
    scene.job_state("cancelled", "RunningState")
    scene.job_state("deleted", "RunningState")
    number = scene.status("FlinkDeployment", "cancelled")["jobStatus"]["jobId"]
    scene.plane.job_manager(scene.namespace, "cancelled", "PATCH", f"/v1/jobs/{number}?mode=cancel")
    scene.delete("FlinkDeployment", "deleted", wait=False)
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 0, "failed": 2, "total": 2}
    told(scene, "cancelled", "cancel")
    told(scene, "deleted")
    run, = scene.status("BatchJob", "deleted")["runs"]
    assert (run["outcome"], run["reason"]) == ("Failed", "ApplicationDeleted")
    nothing_is_left(scene)


def test_a_job_manager_whose_deployment_is_deleted_ends_the_run(scene):
    """ESI has switched off that its operator puts it up again: the slots would be held for ever."""
    scene.nodes(1)
    scene.testbed(slots=2)
    flink_jobs(scene, "a", seconds=600)
    scene.queue("plan", ["a", "a"])
    scene.job_state("a", "RunningState")
    scene.delete("Deployment", "a", wait=False)
    scene.scheduling_state("plan", "CompletedState")
    run, = scene.status("BatchJob", "a")["runs"]
    assert run["outcome"] == "Failed"
    told(scene, "a")
    nothing_is_left(scene)


def test_a_run_goes_on_as_what_it_began_when_the_spec_becomes_one_of_another_kind(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=600)
    scene.queue("plan", ["a"])
    scene.job_state("a", "RunningState")
    scene.api.patch("BatchJob", scene.namespace, "a",
                    {"spec": {"sparkSpec": None, "flinkSpec": objects.flink_spec(seconds=1)}})
    scene.wait("the new spec to be seen", lambda: scene.status("BatchJob", "a")["observedGeneration"] ==
               scene.get("BatchJob", "a")["metadata"]["generation"])
    assert scene.status("BatchJob", "a")["state"] == "RunningState"
    scene.delete("SparkApplication", "a", wait=False)
    scene.scheduling_state("plan", "CompletedState")
    assert scene.status("BatchJob", "a")["runs"][0]["reason"] == "ApplicationDeleted"
    scene.wait("its pods to be gone", lambda: not scene.job_pods("a") and not scene.left("SparkApplication"))
    scene.delete("Scheduling", "plan")
    scene.api.patch("BatchJob", scene.namespace, "a", {"metadata": {"annotations": {
        objects.PREFIX + "reset": "1"}}})
    scene.job_state("a", "ReadyState")
    scene.queue("again", ["a"], releaseOnCompletion=True)
    scene.scheduling_state("again", "FinishedState")
    assert [run["outcome"] for run in scene.status("BatchJob", "a")["runs"]] == ["Failed", "Succeeded"]
    scene.released(jobs=["a"])


def test_a_new_task_manager_takes_the_slot_of_the_one_that_was_lost(scene):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=2)
    # TaskManagers that take their time to start, so that one is lost before the job runs.
    flink_jobs(scene, "a", seconds=1, taskManager={"podTemplate": {"metadata": {"annotations": {
        "esi-test/start-seconds": "6"}}}})
    scene.slot_plan("plan", "strict", [("a", [1, 2])], releaseOnCompletion=True)
    scene.wait("both TaskManagers in their slots", lambda: len(seats_in_order(scene, "a")) == 2)
    lost, = (pod for pod in scene.job_pods("a") if pod["metadata"]["annotations"][objects.PREFIX + "slot"] == "1")
    scene.delete("Pod", lost["metadata"]["name"], wait=False)
    scene.scheduling_state("plan", "FinishedState")
    seats = seats_in_order(scene, "a")
    assert sorted(seats[:2]) == [(1, n1), (2, n0)] and seats[2:] == [(1, n1)]
    run, = scene.status("BatchJob", "a")["runs"]
    assert run["outcome"] == "Succeeded"
    scene.released(jobs=["a"])


def test_a_task_manager_lost_in_a_measured_run_ends_it(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    flink_jobs(scene, "a", seconds=600)
    scene.queue("plan", ["a", "a"])
    scene.job_state("a", "RunningState")
    scene.delete("Pod", scene.job_pods("a")[0]["metadata"]["name"], wait=False)
    scene.job_state("a", "FailedState")
    told(scene, "a", "NoRestartBackoffTimeStrategy")
    nothing_is_left(scene)


def test_a_job_that_may_begin_again_does_so_in_its_slots(scene):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=1)
    flink_jobs(scene, "a", seconds=600, restartPolicy="FromSavepointOnFailure", savepointsDir="file:///savepoints")
    scene.queue("plan", ["a", "a"], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    first = {pod["metadata"]["uid"] for pod in scene.job_pods("a")}
    scene.delete("Pod", scene.job_pods("a")[0]["metadata"]["name"], wait=False)
    scene.wait("two other TaskManagers to run", lambda: len([
        pod for pod in scene.job_pods("a") if pod["metadata"]["uid"] not in first
        and pod["status"]["phase"] == "Running"]) == 2)
    scene.wait("the job to run again", lambda: scene.status("FlinkDeployment", "a")["jobStatus"]["state"] == "RUNNING"
               and scene.status("FlinkDeployment", "a")["lifecycleState"] == "STABLE")
    scene.finish("a")
    scene.scheduling_state("plan", "FinishedState")
    assert set(seats_in_order(scene, "a")) == {(0, n0), (1, n1)} and len(seats_in_order(scene, "a")) >= 4
    scene.released(jobs=["a"])


def test_parallelism_that_does_not_fill_the_slots_is_refused_with_the_numbers(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    flink_jobs(scene, "bad", parallelism=5, taskSlots=2)
    scene.jobs("good", seconds=0)
    scene.queue("plan", ["bad", "good"])
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 1, "failed": 1, "total": 2}
    assert scene.status("BatchJob", "bad")["state"] == "FailedSubmissionState"
    told(scene, "bad", "parallelism is 5", "needs 3 slots of 2", "has 1 slots")
    assert "ParallelismMismatch" in [each.get("reason") for each in scene.status("BatchJob", "bad")["conditions"]]


def test_deleting_the_scheduling_ends_a_running_flink_job_and_brings_the_ghosts_back(scene):
    scene.nodes(2)
    scene.testbed(slots=1)
    flink_jobs(scene, "a", seconds=600)
    scene.queue("plan", ["a", "a"])
    scene.job_state("a", "RunningState")
    ghosts = scene.bound_ghosts()
    assert not ghosts
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["a"])
    assert len(scene.bound_ghosts()) == 2
    scene.wait("nothing of it to be left", lambda: not [
        name for kind in ("Deployment", "Pod") for name in scene.left(kind) if name.startswith("a")])
