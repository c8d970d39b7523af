"""Several Schedulings want the same things: one waits, says for whom, and goes on by itself."""
import pytest

from patience import later_than


def waiting_for(scene, plan, *names):
    """Waits until the plan says that it waits for something of these names, and returns the text."""
    def text():
        status = scene.status("Scheduling", plan)
        words = status.get("waitingFor") or ""
        return status.get("state") == "AcquireState" and all(name in words for name in names) and words
    return scene.wait(f"{plan} to wait for {names}", text)


def test_of_two_that_want_one_testbed_the_second_waits_by_name_and_goes_on_at_the_release(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=1)
    scene.queue("first", ["a"], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.queue("second", ["b"], releaseOnCompletion=True)
    waiting_for(scene, "second", "first")
    condition = scene.wait_condition("Scheduling", "second", "Acquired", "False")
    assert "first" in condition["message"]
    assert not scene.get("BatchJob", "b")["spec"].get("activeScheduling"), "who waits holds nothing"
    scene.finish("a")
    scene.scheduling_state("first", "FinishedState")
    scene.scheduling_state("second", "FinishedState")
    scene.released(jobs=["a", "b"])


def test_of_two_that_want_one_job_the_second_waits_by_name(scene):
    scene.nodes(1)
    scene.testbed("left", slots=1)
    scene.testbed("right", slots=1)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=1)
    scene.queue("first", ["a"], testbed="left", releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.queue("second", ["b", "a"], testbed="right", releaseOnCompletion=True)
    waiting_for(scene, "second", "first")
    assert scene.holder("right") is None
    assert not scene.get("BatchJob", "b")["spec"].get("activeScheduling")
    scene.finish("a")
    scene.scheduling_state("first", "FinishedState")
    scene.job_state("b", "CompletedState")
    scene.job_state("a", "RunningState")
    scene.finish("a")
    scene.scheduling_state("second", "FinishedState")


def test_opposite_orders_of_many_jobs_never_deadlock(scene):
    scene.nodes(2, cpu="8", memory="32Gi")
    scene.testbed("left", slots=3)
    scene.testbed("right", slots=3)
    names = [f"job-{letter}" for letter in "abcdef"]
    scene.jobs(*names, seconds=0)
    for plan, testbed, order in (("forth", "left", names), ("back", "right", names[::-1])):
        scene.queue(plan, order, testbed=testbed, releaseOnCompletion=True)
    scene.scheduling_state("forth", "FinishedState")
    scene.scheduling_state("back", "FinishedState")
    for name in names:
        scene.job_state(name, "ReadyState")
        assert [run["outcome"] for run in scene.status("BatchJob", name)["runs"]] == ["Succeeded", "Succeeded"]


def test_the_oldest_of_those_that_wait_goes_first(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=600)
    scene.jobs("b", "c", seconds=0)
    scene.queue("first", ["a"], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    later_than(scene.queue("second", ["b"], releaseOnCompletion=True))
    scene.queue("third", ["c"], releaseOnCompletion=True)
    waiting_for(scene, "second", "first")
    waiting_for(scene, "third")
    scene.finish("a")
    scene.scheduling_state("third", "FinishedState")
    assert scene.order_of_starts() == ["a", "b", "c"]


def test_one_that_needs_what_is_busy_is_in_nobodys_way(scene):
    scene.nodes(1)
    scene.testbed("left", slots=1)
    scene.testbed("right", slots=1)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=0)
    scene.queue("first", ["a"], testbed="left", releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    older = scene.queue("second", ["a"], testbed="right", releaseOnCompletion=True)     # but a is busy
    waiting_for(scene, "second", "first")
    later_than(older)
    scene.queue("third", ["b"], testbed="right", releaseOnCompletion=True)
    scene.scheduling_state("third", "FinishedState")
    scene.finish("a")
    scene.scheduling_state("first", "FinishedState")
    scene.job_state("a", "RunningState")
    scene.finish("a")
    scene.scheduling_state("second", "FinishedState")


@pytest.mark.parametrize("gives_in, own, other, others_own", [
    ("plan-left", "a", "plan-right", "b"), ("plan-right", "b", "plan-left", "a")])
def test_a_cycle_of_waits_is_told_to_both_and_ends_when_one_entry_is_taken_out(
        scene, gives_in, own, other, others_own):
    scene.nodes(1, cpu="4", memory="16Gi")
    scene.testbed("left", slots=2)
    scene.testbed("right", slots=2)
    scene.jobs("a", "b", seconds=600)
    scene.queue("plan-left", ["a"], testbed="left", releaseOnCompletion=True)
    scene.queue("plan-right", ["b"], testbed="right", releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    for plan, queue in (("plan-left", ["a", "b"]), ("plan-right", ["b", "a"])):
        scene.api.patch("Scheduling", scene.namespace, plan,
                        {"spec": {"queueBased": [{"name": name} for name in queue]}})
    for plan, name in (("plan-left", "plan-right"), ("plan-right", "plan-left")):
        condition = scene.wait_condition("Scheduling", plan, "Acquired", "False", "WaitCycle")
        assert name in condition["message"]
    scene.api.patch("Scheduling", scene.namespace, gives_in, {"spec": {"queueBased": [{"name": own}]}})
    scene.finish(own)
    scene.scheduling_state(gives_in, "FinishedState")
    # Now the other gets the job that it waited for.
    scene.wait("a second run", lambda: [run["outcome"] for run in scene.status("BatchJob", own)["runs"]] == [
        "Succeeded", "Running"])
    assert scene.get("BatchJob", own)["spec"]["activeScheduling"]["name"] == other
    scene.job_state(own, "RunningState")
    scene.finish(own, others_own)
    scene.scheduling_state(other, "FinishedState")


def test_a_job_that_does_not_exist_is_waited_for_by_name_and_taken_when_it_comes(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.queue("plan", ["later"], releaseOnCompletion=True)
    waiting_for(scene, "plan", "later")
    assert scene.holder() is None
    scene.jobs("later", seconds=0)
    scene.scheduling_state("plan", "FinishedState")


def test_a_testbed_that_does_not_exist_is_waited_for_by_name(scene):
    scene.nodes(1)
    scene.jobs("a", seconds=0)
    scene.queue("plan", ["a"], testbed="slots", releaseOnCompletion=True)
    waiting_for(scene, "plan", "slots")
    scene.testbed(slots=1, ready=False)
    scene.scheduling_state("plan", "FinishedState")


def test_what_a_client_of_the_original_holds_without_uid_is_respected(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=0)
    scene.queue("plan", ["a"])
    scene.scheduling_state("plan", "CompletedState")
    scene.queue("second", ["a"], releaseOnCompletion=True)
    waiting_for(scene, "second", "plan")
    scene.delete("Scheduling", "plan")
    scene.scheduling_state("second", "FinishedState")
