"""The whole program against a simulated ESI in virtual time."""
import re
import signal

import pytest

from esi_colocation import notes
from esi_colocation.bench.model import Model
from esi_colocation.bench.simulated import Gone, Simulated
from esi_colocation.main import Stopped
from world import WAYS, Killed, Program, four

@pytest.fixture(params=WAYS)
def way(request):
    """Which interface the program uses."""
    return request.param


ALL_PAIRS = [["a", "b"], ["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"], ["c", "d"]]


def test_every_pair_is_measured_and_written_into_the_notes_of_both(way):
    program = Program(four(), way)
    assert program.start("-p") == 0
    assert sorted(program.pairs_run("profile")) == ALL_PAIRS
    matrix = program.matrix()
    # Alike slow each other down by one half, unlike not at all; a second more or less by the clock's grain.
    assert matrix.mean("a", "b") == pytest.approx(30, abs=1.6)
    assert matrix.mean("a", "c") == pytest.approx(20, abs=1)
    assert matrix.mean("c", "d") == pytest.approx(45, abs=1.6)
    lines = {key: text for each in program.world.jobs["a"].notes["profiler"] for key, text in each.items()}
    assert {other: lines[other].split()[1] for other in lines} == {"b": "(1)", "c": "(1)", "d": "(1)"}
    assert program.world.plans == {}
    assert {job.state for job in program.world.jobs.values()} == {"ReadyState"}


def test_more_samples_count_on_from_what_is_there(way):
    program = Program(four(), way)
    assert program.start("-p") == 0
    assert program.start("-p", "--samples", "3") == 0
    assert sorted(program.pairs_run("profile")) == sorted(ALL_PAIRS * 3)
    assert program.start("-p", "--samples", "3") == 0
    assert len(program.pairs_run("profile")) == 18


def test_a_testbed_of_more_nodes_measures_more_pairs_at_once(way):
    world = four()
    world.testbeds["profiler-slots"] = (2, 2)
    program = Program(world, way)
    assert program.start("-p") == 0
    assert program.pairs_run("profile") == [["a", "b", "c", "d"]] * 3
    assert world.history[0][1] == {"a": [0], "d": [2], "b": [1], "c": [3]}


def test_the_scheduler_puts_unlike_jobs_side_by_side(way):
    program = Program(four(), way)
    assert program.start() == 0
    (_, seats), = [each for each in program.world.history if "-wave-" in each[0]]
    beside = {name: other for name, slots in seats.items() for other, others in seats.items()
              if other != name and slots[0] % 2 == others[0] % 2}
    assert {beside["a"], beside["b"]} == {"c", "d"}
    total = float(re.search(r"4 jobs, ([0-9.]+) s of run time in all", program.said)[1])
    assert total == pytest.approx(100, abs=4)  # 20 + 20 + 30 + 30: nobody is slowed down
    assert program.world.plans == {}
    assert all("colocation-plan" not in (job.notes or {}) for job in program.world.jobs.values())
    assert {job.state for job in program.world.jobs.values()} == {"ReadyState"}


def test_more_pairs_than_nodes_run_in_waves(way):
    world = four()
    world.testbeds["scheduler-slots"] = (1, 2)
    program = Program(world, way)
    assert program.start("-s") == 0
    assert len(program.pairs_run("wave")) == 2
    assert sorted(name for pair in program.pairs_run("wave") for name in pair) == ["a", "b", "c", "d"]


def test_just_print_changes_nothing(way):
    program = Program(four(), way)
    assert program.start("-p", "--samples", "1") == 0
    requests_ = []
    assert program.start("--just-print", "--samples", "2",
                         before=lambda method, path: requests_.append(method)) == 0
    assert set(requests_) == {"GET"}
    assert "would profile 6 pairs on profiler-slots, first " in program.said
    assert "would run plan new on scheduler-slots:" in program.said
    assert "run time in s (samples)" in program.said


def kill_at(number, when):
    """Ends the program at its request `number`, before it arrives or before its answer does."""
    seen = iter(range(number + 1))

    def kill(method, path):
        if next(seen) == number:
            raise Killed
    return {when: kill}


def three():
    world = four()
    del world.jobs["d"]
    return world


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_request_it_never_measures_a_pair_twice_and_counts_it_once(way, when):
    count = []
    assert Program(three(), way).start("-p", before=lambda *_: count.append(1)) == 0
    for number in range(len(count)):
        program = Program(three(), way)
        with pytest.raises(Killed):
            program.start("-p", **kill_at(number, when))
        program.world.clock.sleep(number % 3 * 10)  # the world goes on meanwhile
        assert program.start("-p") == 0, f"killed at request {number}:\n{program.said}"
        assert sorted(program.pairs_run("profile")) == [["a", "b"], ["a", "c"], ["b", "c"]], \
            f"killed at request {number}:\n{program.said}"
        for job in program.matrix().samples.values():
            assert (job.count, job.failed) == (1, 0), f"killed at request {number}:\n{program.said}"
        assert program.world.plans == {}


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_request_it_goes_on_with_its_plan_and_runs_each_job_once(way, when):
    def world():
        made = four()
        made.testbeds["scheduler-slots"] = (1, 2)
        return made
    count = []
    assert Program(world(), way).start("-s", before=lambda *_: count.append(1)) == 0
    for number in range(len(count) - 4):  # the last requests come after the plan is forgotten
        program = Program(world(), way)
        try:
            program.start("-s", **kill_at(number, when))
        except Killed:
            pass
        forgotten = len(program.pairs_run("wave")) == 2 and not program.world.plans and \
            not any("colocation-plan" in (job.notes or {}) for job in program.world.jobs.values())
        program.world.clock.sleep(number % 3 * 10)
        if forgotten:
            continue  # it had done everything
        assert program.start("-s") == 0, f"killed at request {number}:\n{program.said}"
        ran = sorted(name for pair in program.pairs_run("wave") for name in pair)
        assert ran == ["a", "b", "c", "d"], f"killed at request {number}:\n{program.said}"
        assert program.world.plans == {}


def stop_at(world, seconds, signum):
    """The signal, once, at the first request after so many seconds."""
    signals = [signum]

    def check(method, path):
        if world.clock.now() > seconds and signals:
            raise Stopped(signals.pop())
    return check


@pytest.mark.parametrize("signum, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_it_deletes_its_scheduling_and_says_so(way, signum, code):
    world = four()
    program = Program(world, way)
    assert program.start("-p", before=stop_at(world, 70, signum)) == code
    assert program.lines[-1].startswith("stopped; deleted colocation-profile-")
    world.clock.sleep(5)
    assert world.plans == {}
    assert program.start("-p") == 0
    # The aborted run of a pair is not counted, and what was measured before is not measured again.
    assert len(program.pairs_run("profile")) == 7
    assert {each.count for each in program.matrix().samples.values()} == {1}


def test_stopped_with_leave_it_goes_on_at_the_next_start(way):
    world = four()
    program = Program(world, way)
    assert program.start("-p", "--leave", before=stop_at(world, 70, signal.SIGINT)) == 130
    assert len(world.plans) == 1
    assert program.start("-p") == 0
    assert sorted(program.pairs_run("profile")) == ALL_PAIRS
    assert "taking up colocation-profile-" in program.said


def test_a_clean_stop_forgets_the_plan(way):
    world = four()
    program = Program(world, way)
    assert program.start("-s", before=stop_at(world, 10, signal.SIGTERM)) == 143
    assert all("colocation-plan" not in (job.notes or {}) for job in world.jobs.values())


def test_a_job_that_fails_is_marked_not_counted_and_left_out(way):
    world = four()
    world.failing["b"] = 1
    program = Program(world, way)
    assert program.start("-p") == 1
    first = program.pairs_run("profile")[0 if "b" in program.pairs_run("profile")[0] else 1]
    assert "b failed; not counted" in program.said
    assert "left out: b, which is in FailedState (reset it: kubectl annotate bj NAME" in program.said
    matrix = program.matrix()
    assert not any(each.count for pair, each in matrix.samples.items() if "b" in pair)
    other = next(name for name in first if name != "b")
    assert matrix.samples[(other, "b")].failed == 1
    assert [matrix.count(*pair) for pair in (("a", "c"), ("a", "d"), ("c", "d"))] == [1, 1, 1]
    world.jobs["b"].state = "ReadyState"  # somebody reset it
    assert program.start("-p") == 0
    assert {each.count for each in program.matrix().samples.values()} == {1}


def test_a_job_that_fails_in_a_wave_does_not_stop_the_others(way):
    world = four()
    world.failing["b"] = 1
    program = Program(world, way)
    assert program.start("-s") == 1
    assert "1 jobs did not run to their end: b" in program.said
    assert [job.state for job in world.jobs.values()] == ["ReadyState", "FailedState", "ReadyState", "ReadyState"]


@pytest.mark.parametrize("option, text", [
    (["--profiler-testbed", "nope"], "there is no testbed nope; there are: profiler-slots, scheduler-slots"),
    (["--jobs", "a,zz"], "there is no job zz; there are: a, b, c, d")])
def test_what_is_missing_is_named_before_anything_starts(way, capsys, option, text):
    program = Program(four(), way)
    assert program.start("-p", *option) == 3
    assert text in capsys.readouterr().err
    assert program.world.history == []


def test_a_testbed_without_two_slots_on_a_node_is_refused(way, capsys):
    world = four()
    world.testbeds["profiler-slots"] = (2, 1)
    assert Program(world, way).start("-p") == 3
    assert "no node with two usable slots (2 nodes, 1 slots each" in capsys.readouterr().err


def test_only_the_chosen_jobs_are_touched(way):
    program = Program(four(), way)
    assert program.start("--jobs", "a,c,d") == 0
    assert sorted(program.pairs_run("profile")) == [["a", "c"], ["a", "d"], ["c", "d"]]
    assert program.world.jobs["b"].events == []


def test_a_server_that_goes_away_in_the_middle_is_waited_for(way):
    world = four()
    program = Program(world, way)

    def away(method, path):
        if 40 < world.clock.now() < 130:
            raise Gone("Connection refused")
    assert program.start("-p", before=away) == 0
    assert "no answer from http://esi (connection refused); trying again" in program.said
    assert "http://esi answers again" in program.said
    assert sorted(program.pairs_run("profile")) == ALL_PAIRS


def test_a_testbed_held_by_somebody_else_is_waited_for_and_the_holder_is_named(way):
    world = four()
    program = Program(world, way)
    world.post({"name": "theirs", "testBed": "profiler-slots", "queue": None,
                "slots": {"mode": "STRICT", "jobs": [{"name": "d", "slots": [0]}]}})
    world.clock.after(300, lambda: world.answer("DELETE", "/external/schedulings/theirs", None))
    assert program.start("-p", "--jobs", "a,b,c") == 0
    assert "is still in AcquireState after" in program.said
    assert {"v1": "waiting for Testbed profiler-slots is held by Scheduling theirs",
            "legacy": "waiting for testbed or jobs that others hold: theirs"}[way] in program.said


def test_the_matrix_equals_the_models_truth_within_the_stated_error():
    """A sample is within 5 % (the noise of the model) and 2 s (whole seconds in the events, and pairs
    that do not start at the same moment) of the truth; so is their mean. What is read is the same by both
    interfaces, so one is enough."""
    model = Model.drawn(10, seed=7, noise=0.05)
    world = Simulated(model, {"profiler-slots": (2, 2)})
    program = Program(world, "legacy")
    assert program.start("-p", "--samples", "3") == 0
    matrix = program.matrix()
    assert len(matrix.samples) == 90
    for (job, other), found in matrix.samples.items():
        truth = model.truth(job, other)
        assert found.count == 3
        assert abs(found.mean - truth) <= 0.05 * truth + 2.0, (job, other, found, truth)
        line = next(each[other] for each in world.jobs[job].notes[notes.PROFILER] if other in each)
        assert abs(int(line.split()[0]) - truth) <= 0.05 * truth + 2.5
