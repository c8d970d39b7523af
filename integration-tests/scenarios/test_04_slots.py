"""Slot-based Schedulings: one fixed input, started in strict and in relaxed order."""
import pytest

import objects

# Four jobs on three slots: a has 0 and 1, b wants 0, c wants 2, d wants 1 and 2.
PLAN = [("a", [0, 1]), ("b", [0]), ("c", [2]), ("d", [1, 2])]


def assigned(scene):
    return [(each["job"]["name"], each["slotIds"])
            for each in scene.status("Scheduling", "plan").get("assignments") or []]


def prepare(scene, mode):
    nodes = scene.nodes(3)
    scene.testbed(slots=1)
    scene.jobs("a", "b", "c", "d", seconds=600)
    scene.slot_plan("plan", mode, PLAN, releaseOnCompletion=True)
    return nodes


def end(scene):
    scene.scheduling_state("plan", "FinishedState")
    scene.released(jobs=["a", "b", "c", "d"])


def test_strict_starts_each_job_when_all_before_it_have_started(scene):
    n0, n1, n2 = prepare(scene, "strict")
    scene.job_state("a", "RunningState")
    # Slot 2 is free for c, but b comes first.
    scene.job_state("c", "InQueueState")
    assert assigned(scene) == [("a", [0, 1])]
    scene.finish("a")
    scene.job_state("b", "RunningState")
    scene.job_state("c", "RunningState")
    assert assigned(scene) == [("a", [0, 1]), ("b", [0]), ("c", [2])]
    scene.finish("b", "c")
    scene.job_state("d", "RunningState")
    scene.finish("d")
    end(scene)
    assert assigned(scene) in ([], [("a", [0, 1]), ("b", [0]), ("c", [2]), ("d", [1, 2])])
    assert scene.seats("a") == {0: n0, 1: n1}
    assert scene.seats("b") == {0: n0}
    assert scene.seats("c") == {2: n2}
    assert scene.seats("d") == {1: n1, 2: n2}
    assert scene.order_of_starts()[0] == "a" and scene.order_of_starts()[3] == "d"


def test_relaxed_starts_any_job_whose_slots_are_free(scene):
    n0, n1, n2 = prepare(scene, "relaxed")
    scene.job_state("a", "RunningState")
    scene.job_state("c", "RunningState")
    scene.job_state("b", "InQueueState")
    assert assigned(scene) == [("a", [0, 1]), ("c", [2])]
    scene.finish("c")
    scene.job_state("c", "CompletedState")
    assert scene.status("BatchJob", "d")["state"] == "InQueueState"     # slot 1 is still a's
    scene.finish("a")
    scene.job_state("b", "RunningState")
    scene.job_state("d", "RunningState")
    # Which of b and d comes first is up to whose ghosts are back first.
    assert assigned(scene)[:2] == [("a", [0, 1]), ("c", [2])]
    assert sorted(assigned(scene)[2:]) == [("b", [0]), ("d", [1, 2])]
    scene.finish("b", "d")
    end(scene)
    assert scene.seats("a") == {0: n0, 1: n1}
    assert scene.seats("b") == {0: n0}
    assert scene.seats("c") == {2: n2}
    assert scene.seats("d") == {1: n1, 2: n2}


def test_the_slots_are_those_of_the_plan_whatever_else_is_free(scene):
    n0, n1, n2 = scene.nodes(3)
    scene.testbed(slots=2)
    scene.jobs("a", "b", seconds=1)
    scene.slot_plan("plan", "strict", [("a", [5, 1]), ("b", [4])], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {5: n2, 1: n1}
    assert scene.seats("b") == {4: n1}


def test_slots_outside_the_layout_are_an_error_and_nothing_is_taken(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=1)
    scene.slot_plan("plan", "strict", [("a", [2])])
    scene.scheduling_state("plan", "Error")
    assert "2" in " ".join(scene.status("Scheduling", "plan")["problems"])
    assert scene.holder() is None
    assert scene.status("BatchJob", "a")["state"] == "ReadyState"


def test_an_error_is_judged_again_when_the_layout_grows(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=1)
    scene.slot_plan("plan", "strict", [("a", [1])])
    scene.scheduling_state("plan", "Error")
    scene.nodes(1)
    scene.scheduling_state("plan", "CompletedState")
    assert list(scene.seats("a")) == [1]


def change(scene, mode, jobs):
    scene.api.patch("Scheduling", scene.namespace, "plan", {"spec": {
        "slotBased": objects.slot_plan("", "slots", mode, jobs)["spec"]["slotBased"]}})


@pytest.mark.parametrize("mode", ["strict", "relaxed"])
def test_jobs_are_added_to_a_plan_that_runs_and_what_has_started_stays(scene, mode):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", "c", seconds=600)
    scene.jobs("b", "never", seconds=1)
    scene.slot_plan("plan", mode, [("a", [0])], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    change(scene, mode, [("a", [0]), ("b", [1])])
    scene.job_state("b", "CompletedState")
    assert scene.condition("Scheduling", "plan", "SpecCurrent").get("status") != "False"
    # c waits for a's slot, then for another one: it has not started.
    change(scene, mode, [("a", [0]), ("b", [1]), ("never", [0]), ("c", [0])])
    scene.job_state("c", "InQueueState")
    change(scene, mode, [("a", [1]), ("b", [1]), ("c", [1])])
    scene.job_state("c", "RunningState")
    assert list(scene.seats("c")) == [1]
    told = scene.wait_condition("Scheduling", "plan", "SpecCurrent", "False", "ChangeIgnored")["message"]
    assert f"BatchJob {scene.namespace}/a was started in slot 0, which stands, and is now written with slot 1" in told
    change(scene, "relaxed" if mode == "strict" else "strict", [("a", [0]), ("b", [1]), ("c", [1])])
    scene.wait("the mode that stays", lambda: f"it stays {mode}" in scene.condition(
        "Scheduling", "plan", "SpecCurrent").get("message", ""))
    scene.finish("a", "c")
    scene.scheduling_state("plan", "FinishedState")
    assert scene.progress("plan") == {"done": 3, "failed": 0, "total": 3}
    assert scene.status("BatchJob", "never")["state"] == "ReadyState"
