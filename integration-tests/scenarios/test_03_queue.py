"""Queues and pools: who gets which slot, and when."""
import objects


def test_two_interleaved_jobs_get_the_slots_of_their_places_in_the_queue(scene):
    n0, n1, n2 = scene.nodes(3)
    scene.testbed(slots=2)
    scene.jobs("a", "b", seconds=1)
    scene.queue("plan", ["a", "b", "a", "b"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0, 2: n2}
    assert scene.seats("b") == {1: n1, 3: n0}
    assert scene.progress("plan") == {"done": 2, "failed": 0, "total": 2}
    scene.released(jobs=["a", "b"])
    for name, slots, nodes in (("a", [0, 2], {n0, n2}), ("b", [1, 3], {n0, n1})):
        run, = scene.status("BatchJob", name)["runs"]
        assert (run["slots"], set(run["nodes"]), run["outcome"]) == (slots, nodes, "Succeeded")
        event, = scene.status("BatchJob", name)["scheduledEvents"]
        assert event["successful"] is True
        assert event["start"] <= event["stop"]
        assert event["scheduling"] == {"namespace": scene.namespace, "name": "plan"}


def test_a_run_names_the_neighbours_that_it_had(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", "b", seconds=600)
    scene.queue("plan", ["a", "b"], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    scene.finish("a", "b")
    scene.scheduling_state("plan", "FinishedState")
    run, = scene.status("BatchJob", "a")["runs"]
    assert run["neighbours"] == [{"node": n0, "jobs": [f"{scene.namespace}/b"]}]


def test_jobs_start_as_slots_come_free_and_never_before_their_turn(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("long", seconds=600)
    scene.jobs("b", "c", "wide", seconds=1)
    scene.queue("plan", ["long", "b", "wide", "wide", "c"])
    scene.job_state("b", "CompletedState")
    # Slot 1 is free, but the next in the queue needs two.
    scene.wait("one free slot", lambda: [row["state"] for row in scene.slots().values()].count("FREE") == 1)
    assert scene.status("BatchJob", "wide")["state"] == "InQueueState"
    assert scene.status("BatchJob", "c")["state"] == "InQueueState"
    scene.job_state("long", "RunningState")
    scene.finish("long")
    scene.scheduling_state("plan", "CompletedState")
    assert [each["job"]["name"] for each in scene.status("Scheduling", "plan")["assignments"]] == [
        "long", "b", "wide", "c"]
    assert scene.order_of_starts()[2:] == ["wide", "c"]
    assert scene.seats("long") == {0: n0}
    assert scene.seats("b") == {1: n0}
    assert scene.seats("wide") == {0: n0, 1: n0}
    assert list(scene.seats("c")) in ([0], [1])     # whichever ghost was back first


def test_a_job_of_two_slots_with_three_after_it_fills_the_rest(scene):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=2)
    scene.jobs("a", "b", "c", seconds=1)
    scene.queue("plan", ["a", "b", "c", "a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0, 3: n1}
    assert scene.seats("b") == {1: n1}
    assert scene.seats("c") == {2: n0}


def test_a_running_queue_may_be_extended(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=1)
    scene.queue("plan", ["a"], releaseOnCompletion=True)
    scene.job_state("a", "RunningState")
    assert not scene.get("BatchJob", "b")["spec"].get("activeScheduling")
    scene.api.patch("Scheduling", scene.namespace, "plan",
                    {"spec": {"queueBased": [{"name": "a"}, {"name": "b"}]}})
    scene.job_state("b", "CompletedState")
    assert scene.status("BatchJob", "a")["state"] == "RunningState"
    scene.finish("a")
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0}
    assert scene.seats("b") == {1: n0}


def test_entries_that_have_not_started_may_be_taken_out(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=600)
    scene.jobs("b", "c", seconds=1)
    scene.queue("plan", ["a", "b", "c"])
    scene.job_state("a", "RunningState")
    scene.job_state("b", "InQueueState")
    scene.api.patch("Scheduling", scene.namespace, "plan",
                    {"spec": {"queueBased": [{"name": "a"}, {"name": "c"}]}})
    scene.job_state("b", "ReadyState")
    scene.finish("a")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.order_of_starts() == ["a", "c"]
    assert scene.status("BatchJob", "b")["state"] == "ReadyState"


def test_a_job_that_needs_more_slots_than_there_are_is_refused_at_once(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("big", "small", seconds=1)
    scene.queue("plan", ["small", "big", "big", "big"])
    scene.scheduling_state("plan", "Error")
    status = scene.status("Scheduling", "plan")
    assert "big" in " ".join(status["problems"])
    assert "3" in " ".join(status["problems"]) and "2" in " ".join(status["problems"])
    reasons = [condition.get("reason") for condition in status["conditions"]]
    assert "TooManySlots" in reasons
    assert scene.holder() is None
    for job in ("big", "small"):
        assert scene.status("BatchJob", job)["state"] == "ReadyState"
        assert not scene.get("BatchJob", job)["spec"].get("activeScheduling")
    scene.api.patch("Scheduling", scene.namespace, "plan",
                    {"spec": {"queueBased": [{"name": "small"}, {"name": "big"}, {"name": "big"}]}})
    scene.scheduling_state("plan", "CompletedState")


def test_an_extension_that_needs_too_many_slots_is_skipped_and_counted(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.jobs("big", "b", seconds=1)
    scene.queue("plan", ["a"])
    scene.job_state("a", "RunningState")
    scene.api.patch("Scheduling", scene.namespace, "plan", {"spec": {"queueBased": [
        {"name": "a"}, {"name": "big"}, {"name": "big"}, {"name": "big"}, {"name": "b"}]}})
    scene.job_state("b", "CompletedState")
    scene.finish("a")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 2, "failed": 1, "total": 3}


def test_a_completed_scheduling_keeps_testbed_and_jobs_until_it_is_deleted(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=1)
    scene.queue("plan", ["a"])
    scene.scheduling_state("plan", "CompletedState")
    assert scene.holder() == "plan"
    assert scene.get("BatchJob", "a")["spec"]["activeScheduling"]["name"] == "plan"
    assert scene.status("BatchJob", "a")["state"] == "CompletedState"
    scene.wait_condition("Scheduling", "plan", "Completed", "True")
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["a"])


def test_every_step_is_an_event_on_the_scheduling_and_on_the_job(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=1)
    scene.queue("plan", ["a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    scene.wait("events on both", lambda: len(scene.events("plan")) >= 3 and len(scene.events("a")) >= 3)


def test_a_queue_over_namespaces_takes_jobs_from_where_it_says(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=1)
    scene.apply(objects.queue("plan", f"{scene.namespace}/slots", [f"{scene.namespace}/a"],
                              releaseOnCompletion=True))
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0}


def test_a_job_of_a_pool_starts_when_there_is_room_for_it_whatever_those_before_it_wait_for(scene):
    scene.nodes(1)
    scene.testbed(slots=3)
    scene.jobs("a", "wide", "late", seconds=600)
    scene.jobs("b", "c", seconds=1)
    scene.apply(objects.pool("plan", "slots", {"a": 1, "wide": 3, "b": 2, "c": 1}))
    assert scene.wait("the mode", lambda: scene.status("Scheduling", "plan").get("mode")) == "pool"
    scene.job_state("b", "CompletedState")
    scene.job_state("c", "CompletedState")
    assert scene.status("BatchJob", "wide")["state"] == "InQueueState"      # slot 0 is a's
    assert scene.status("Scheduling", "plan")["waitingFor"]
    scene.api.patch("Scheduling", scene.namespace, "plan", {"spec": objects.pool("", "slots", {
        "a": 1, "wide": 2, "b": 2, "c": 1, "late": 1})["spec"]})
    scene.job_state("wide", "RunningState")
    assert sorted(scene.seats("wide")) == [1, 2]
    scene.job_state("late", "InQueueState")
    scene.finish("a")
    scene.job_state("late", "RunningState")
    assert list(scene.seats("late")) == [0]
    assert scene.condition("Scheduling", "plan", "SpecCurrent").get("status") != "False"
    scene.finish("wide", "late")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.progress("plan") == {"done": 5, "failed": 0, "total": 5}
