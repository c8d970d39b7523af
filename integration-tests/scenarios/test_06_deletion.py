"""A Scheduling, or something that it needs, is deleted: everything goes back to where it was."""
import pytest

import objects


def while_acquiring(scene):
    scene.jobs("a", seconds=600)
    scene.queue("plan", ["a", "missing"])
    scene.scheduling_state("plan", "AcquireState")


def while_waiting_for_slots(scene):
    scene.jobs("a", "b", seconds=600)
    scene.queue("plan", ["a", "a", "b"])
    scene.job_state("a", "RunningState")
    scene.job_state("b", "InQueueState")


def just_created(scene):
    scene.jobs("a", seconds=600)
    scene.queue("plan", ["a", "a"])


def before_its_pods_exist(scene):
    scene.jobs("a", seconds=600, driver={"esi-test/executor-delay-seconds": 600})
    scene.queue("plan", ["a", "a"])
    scene.job_state("a", "SubmittedState")
    scene.wait("the driver", lambda: scene.get("Pod", "a-driver").get("status", {}).get("phase") == "Running")


def in_mid_swap(scene):
    scene.jobs("a", seconds=600)
    scene.queue("plan", ["a", "a"])
    scene.wait("a job pod", lambda: scene.job_pods("a"))


def while_running(scene):
    scene.jobs("a", "b", seconds=600)
    scene.queue("plan", ["a", "b"])
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")


def with_one_completed(scene):
    scene.jobs("a", seconds=0)
    scene.jobs("b", seconds=600)
    scene.queue("plan", ["a", "b"])
    scene.job_state("a", "CompletedState")
    scene.job_state("b", "RunningState")


def when_completed(scene):
    scene.jobs("a", seconds=0)
    scene.queue("plan", ["a", "a"])
    scene.scheduling_state("plan", "CompletedState")


def when_in_error(scene):
    scene.jobs("a", seconds=0)
    scene.queue("plan", ["a", "a", "a"])
    scene.scheduling_state("plan", "Error")


@pytest.mark.parametrize("moment", [
    while_acquiring, while_waiting_for_slots, just_created, before_its_pods_exist, in_mid_swap,
    while_running, with_one_completed, when_completed, when_in_error], ids=lambda moment: moment.__name__)
def test_a_deleted_scheduling_gives_everything_back(scene, moment):
    scene.nodes(1)
    scene.testbed(slots=2)
    moment(scene)
    scene.delete("Scheduling", "plan")
    scene.released(jobs=[job["metadata"]["name"] for job in scene.api.list("BatchJob", scene.namespace)])


def test_a_failed_job_stays_failed_when_its_scheduling_is_deleted_and_its_pods_are_gone(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("bad", seconds=0, driver={"esi-test/fail": "true"})
    scene.jobs("good", seconds=600)
    scene.queue("plan", ["bad", "good"])
    scene.job_state("bad", "FailedState")
    scene.job_state("good", "RunningState")
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["good"], failed=["bad"])
    assert scene.status("BatchJob", "bad")["problems"]


def test_a_deleted_namespace_ends_and_leaves_nothing_on_the_nodes(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2, isolation="Taint")
    while_running(scene)
    scene.api.delete("Namespace", None, scene.namespace)
    scene.wait("the namespace to be gone", lambda: scene.api.get("Namespace", None, scene.namespace) is None)
    scene.wait("the taint to be gone", lambda: not [
        taint for taint in scene.api.get("Node", None, n0)["spec"].get("taints") or []
        if taint["key"].startswith("esi")])
    assert not [pod["metadata"]["name"] for pod in scene.api.list("Pod", fields=f"spec.nodeName={n0}")]


def test_a_testbed_deleted_first_waits_and_says_who_holds_it(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.queue("plan", ["a"])
    scene.job_state("a", "RunningState")
    scene.api.delete("Testbed", scene.namespace, "slots")
    scene.wait("the Testbed to say who holds it", lambda: "plan" in str(
        [scene.status("Testbed", "slots").get("problems"), scene.status("Testbed", "slots").get("conditions")]))
    assert scene.status("BatchJob", "a")["state"] == "RunningState"
    scene.finish("a")
    scene.job_state("a", "CompletedState")
    scene.delete("Scheduling", "plan")
    scene.gone("Testbed", "slots")
    scene.wait("the ghosts to be gone", lambda: not scene.ghosts())
    scene.released(testbed=None, jobs=["a"])


def test_a_batchjob_deleted_while_it_runs_is_counted_failed_and_the_rest_goes_on(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=0)
    scene.queue("plan", ["a", "a", "b"])
    scene.job_state("a", "RunningState")
    scene.delete("BatchJob", "a")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 1, "failed": 1, "total": 2}
    outcomes = {each["job"]["name"]: each["outcome"] for each in scene.status("Scheduling", "plan")["assignments"]}
    assert outcomes == {"a": "Deleted", "b": "Succeeded"}
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["b"])


def test_a_batchjob_made_again_under_its_name_is_another_job(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=600)
    scene.queue("plan", ["a"])
    scene.job_state("a", "RunningState")
    scene.delete("BatchJob", "a")
    scene.jobs("a", seconds=0)
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 0, "failed": 1, "total": 1}
    assert scene.status("BatchJob", "a")["state"] == "ReadyState"


def test_what_a_scheduling_held_whose_finalizer_was_taken_by_hand_is_released(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    while_running(scene)
    scene.api.delete("Scheduling", scene.namespace, "plan")
    scene.api.take_finalizers("Scheduling", scene.namespace, "plan")
    scene.gone("Scheduling", "plan")
    scene.released(jobs=["a", "b"])


def test_a_scheduling_made_again_under_its_name_starts_anew(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    while_running(scene)
    scene.delete("Scheduling", "plan")
    scene.testbed_ready()  # the ghosts may be back later than the Scheduling is gone
    scene.queue("plan", ["b", "a"])
    scene.wait("second runs", lambda: len(scene.status("BatchJob", "a").get("runs") or []) == 2)
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    scene.finish("a", "b")
    scene.scheduling_state("plan", "CompletedState")
    runs = [scene.status("BatchJob", name)["runs"] for name in ("a", "b")]
    assert [[run["outcome"] for run in each] for each in runs] == [["Released", "Succeeded"]] * 2
    assert [each[1]["slots"] for each in runs] == [[1], [0]]


def test_a_scheduling_made_again_before_its_orphans_are_released_waits_for_them(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    while_running(scene)
    scene.api.delete("Scheduling", scene.namespace, "plan")
    scene.api.take_finalizers("Scheduling", scene.namespace, "plan")
    scene.gone("Scheduling", "plan")
    scene.apply(objects.queue("plan", "slots", ["a", "b"]))
    scene.wait("second runs", lambda: len(scene.status("BatchJob", "b").get("runs") or []) == 2)
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    scene.finish("a", "b")
    scene.scheduling_state("plan", "CompletedState")


def test_a_hold_taken_away_by_hand_ends_in_error_and_everything_is_released(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    while_running(scene)
    scene.api.patch("Testbed", scene.namespace, "slots", {"metadata": {
        "labels": {"esi.tu-berlin.de/active-scheduling-name": None,
                   "esi.tu-berlin.de/active-scheduling-namespace": None},
        "annotations": {"esi.tu-berlin.de/hold": None}}})
    scene.scheduling_state("plan", "Error")
    assert "HoldLost" in [condition.get("reason") for condition in
                          scene.status("Scheduling", "plan")["conditions"]]
    scene.released(jobs=["a", "b"])


def test_a_job_taken_from_its_scheduling_by_hand_is_recorded_and_the_rest_goes_on(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    while_running(scene)
    scene.api.patch("BatchJob", scene.namespace, "a", {"spec": {"activeScheduling": None}})
    scene.job_state("a", "ReadyState")
    run, = scene.status("BatchJob", "a")["runs"]
    assert (run["outcome"], run["reason"]) == ("Released", "ReleasedByHand")
    scene.finish("b")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 1, "failed": 1, "total": 2}
