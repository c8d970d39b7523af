import pytest

from esi_colocation.bench.simulated import REQUEST, Gone
from esi_colocation.interface import Interface, Refused, ServerAway
from esi_colocation.records import Job, NotUnderstood, Scheduling, Testbed
from world import four

# As recorded from the Java original.
COMPLETED_JOB = {"name": "spark-job-1", "state": "CompletedState", "externalScheduler": None,
                 "scheduledEvents": [{"start": "2026-11-21T09:34:07.149160Z",
                                      "stop": "2026-11-21T09:34:14.761050Z", "successful": True,
                                      "scheduling": {"namespace": "esij", "name": "flow-1"}}]}


def test_a_run_time_is_the_difference_of_the_events_times():
    event, = Job.read(COMPLETED_JOB).runs_under("flow-1")
    assert event.seconds == pytest.approx(7.61189)
    assert Job.read(COMPLETED_JOB).runs_under("flow-2") == []


@pytest.mark.parametrize("change", [{"stop": None}, {"successful": False}, {"start": None}])
def test_a_run_that_is_open_or_failed_has_no_run_time(change):
    raw = COMPLETED_JOB["scheduledEvents"][0] | change
    assert Job.read(COMPLETED_JOB | {"scheduledEvents": [raw]}).scheduledEvents[0].seconds is None


def test_times_in_whole_seconds_are_read_too():
    raw = COMPLETED_JOB["scheduledEvents"][0] | {"start": "2026-11-21T09:34:07Z", "stop": "2026-11-21T09:35:10Z"}
    assert Job.read(COMPLETED_JOB | {"scheduledEvents": [raw]}).scheduledEvents[0].seconds == 63.0


@pytest.mark.parametrize("read, raw", [
    (Job.read, COMPLETED_JOB | {"priority": 1}), (Job.read, COMPLETED_JOB | {"state": "DreamingState"}),
    (Testbed.read, {"name": "t", "state": "FINE"}), (Testbed.read, [1]),
    (Scheduling.read, {"name": "s", "testBed": "t", "state": "CompletedState", "more": 1}),
    (Scheduling.read, {"name": "s", "testBed": "t", "jobStatus": [{"name": "a", "state": "Lost"}]})])
def test_what_the_original_does_not_know_is_refused(read, raw):
    with pytest.raises(NotUnderstood):
        read(raw)


def test_a_scheduling_is_posted_in_the_recorded_form():
    raw = {"name": "cap-slots2", "state": None, "jobStatus": [], "testBed": "nope", "queue": None,
           "slots": {"mode": "RELAXED", "jobs": [{"slots": [0], "name": "spark-job-1"},
                                                 {"slots": [1], "name": "spark-job-2"}]}}
    assert Scheduling.read(raw).request() == {
        "name": "cap-slots2", "testBed": "nope", "queue": None,
        "slots": {"mode": "RELAXED", "jobs": [{"name": "spark-job-1", "slots": [0]},
                                              {"name": "spark-job-2", "slots": [1]}]}}


class Away:
    """Refuses connections for so many seconds."""

    def __init__(self, world, seconds):
        self.world, self.until = world, world.clock.now() + seconds

    def __call__(self, method, path):
        if self.world.clock.now() < self.until:
            raise Gone("Connection refused")


def interface_of(world, said, before, patience=600.0):
    session = world.session()
    session.get_adapter("http://").before = before
    return Interface("http://esi", world.clock, said.append, patience, session)


def test_a_server_that_is_away_is_asked_again_with_growing_pauses_and_a_person_is_told():
    world, said = four(), []
    assert list(interface_of(world, said, Away(world, 20)).jobs()) == ["a", "b", "c", "d"]
    assert said[0].startswith("no answer from http://esi (connection refused); trying again in 0.")
    assert said[-1] == "http://esi answers again"
    assert len(said) == 7  # 0.5 + 1 + 2 + 4 + 8 + 16 s, and the good news
    assert 20 < world.clock.now() < 45


def test_a_server_that_stays_away_is_given_up():
    world, said = four(), []
    with pytest.raises(ServerAway, match="connection refused.*gave up after 60 s"):
        interface_of(world, said, Away(world, 1000), patience=60.0).jobs()
    assert world.clock.now() <= 60


def test_what_the_server_refuses_is_not_sent_again():
    world, said = four(), []
    interface = interface_of(world, said, lambda *_: None)
    with pytest.raises(Refused, match="PUT /external/jobs/: 404"):
        interface.put_notes("nobody", {})
    assert said == [] and world.clock.now() == REQUEST


def test_deleting_what_is_gone_is_no_error():
    world = four()
    interface_of(world, [], lambda *_: None).delete("nothing")
    assert world.plans == {}
