"""Slot-based Schedulings: one fixed input, started in strict and in relaxed order."""

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


def test_a_slot_plan_cannot_be_changed_after_its_first_start(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=1)
    scene.slot_plan("plan", "strict", [("a", [0])], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.api.patch("Scheduling", scene.namespace, "plan", {"spec": {"slotBased": {
        "mode": "strict", "jobs": [{"name": {"name": "a"}, "slotIds": [0]},
                                   {"name": {"name": "b"}, "slotIds": [1]}]}}})
    scene.wait_condition("Scheduling", "plan", "SpecCurrent", "False")
    assert scene.status("BatchJob", "b")["state"] == "ReadyState"
    scene.finish("a")
    scene.scheduling_state("plan", "FinishedState")
