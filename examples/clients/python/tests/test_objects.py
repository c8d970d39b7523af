import itertools
from typing import Any

import pytest

from esi_client import (BatchJob, NotFound, PreconditionFailed, Scheduling, Testbed, TimeUp, changes, connect,
                        next_version, objects, update, update_notes, version_of, wait_for)
from esi_client.objects import TRIES, duration
from fake import Answer, Fake, Request, batchjob, problem, scheduling


def test_a_list_is_read_in_parts_to_its_end(server: Fake) -> None:
    def answer(request: Request) -> Answer:
        if "continue" not in request.query:
            return Answer(body={"items": [scheduling("a"), scheduling("b")], "resourceVersion": "9", "continue": "next"})
        return Answer(body={"items": [scheduling("c")], "resourceVersion": "9"})
    server.answer = answer
    found = objects(connect(server.url), Scheduling, "default", labels="a=b", states="InQueueState")
    assert [each.metadata.name for each in found] == ["a", "b", "c"]
    assert [each.query for each in server.asked] == [
        {"limit": "100", "labelSelector": "a=b", "state": "InQueueState"},
        {"limit": "100", "labelSelector": "a=b", "state": "InQueueState", "continue": "next"}]


def test_without_a_namespace_all_are_listed(server: Fake) -> None:
    server.answer = lambda request: Answer(body={"items": [], "resourceVersion": "9"})
    assert list(objects(connect(server.url), Testbed)) == []
    assert server.asked[0].path == "/api/v1/testbeds"


def test_waiting_asks_again_until_the_wish_is_true(server: Fake) -> None:
    answers = iter([problem(504, "Timeout", "not yet", retryable=True, state="AwaitingCompletionState"),
                    Answer(body=scheduling(state="CompletedState"))])
    server.answer = lambda request: next(answers)
    found = wait_for(connect(server.url), Scheduling, "default", "queue", "state=CompletedState", 100)
    assert found.status and found.status.state == "CompletedState"
    assert [each.query["waitFor"] for each in server.asked] == ["state=CompletedState"] * 2
    assert server.asked[0].query["wait"] == "60000ms"


def test_waiting_ends_when_time_is_up_and_tells_the_state(server: Fake) -> None:
    server.answer = lambda request: problem(504, "Timeout", "not yet", retryable=True, state="AcquireState")
    clock = itertools.count(0.0, 10.0)
    with pytest.raises(TimeUp) as raised:
        wait_for(connect(server.url), Scheduling, "default", "queue", "state=CompletedState", 25, now=lambda: next(clock))
    assert raised.value.state == "AcquireState"
    assert len(server.asked) == 2


def test_waiting_for_what_goes_ends_at_once(server: Fake) -> None:
    server.answer = lambda request: problem(404, "NotFound", "Scheduling default/queue does not exist")
    with pytest.raises(NotFound):
        wait_for(connect(server.url), Scheduling, "default", "queue", "state=CompletedState", 100)


def test_changes_are_told_one_by_one_and_silence_is_passed_over(server: Fake) -> None:
    versions = iter([1, 1, 2, 5])

    def answer(request: Request) -> Answer:
        version = next(versions, None)
        return Answer(body=scheduling(version=version)) if version else problem(404, "NotFound", "gone")
    server.answer = answer
    told = []
    with pytest.raises(NotFound):
        for each in changes(connect(server.url), Scheduling, "default", "queue"):
            told.append(version_of(each))
    assert told == ["1", "2", "5"]
    assert [each.query.get("index") for each in server.asked] == [None, "1", "1", "2", "5"]


def test_the_next_version_is_none_where_nothing_happens(server: Fake) -> None:
    server.answer = lambda request: Answer(body=batchjob("a", 7))
    assert next_version(connect(server.url), BatchJob, "default", "a", "7", 0.25) is None
    assert server.asked[0].query == {"index": "7", "wait": "250ms"}


@pytest.mark.parametrize("seconds, text", [(60.0, "60000ms"), (0.25, "250ms"), (0.0, "1ms")])
def test_a_wait_is_a_whole_number_of_milliseconds_and_never_none(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class Guarded:
    """One object that is changed by PATCH with If-Match, and by somebody else `rivals` times first."""

    def __init__(self, rivals: int, made: Any):
        self.version, self.rivals, self.made = 1, rivals, made
        self.patches: list[Any] = []

    def __call__(self, request: Request) -> Answer:
        if request.method == "GET":
            found = Answer(body=self.made(self.version))
            if self.rivals:
                self.rivals -= 1
                self.version += 1
            return found
        if request.headers["if-match"] != f'"{self.version}"':
            return problem(412, "PreconditionFailed", "another version")
        assert request.headers["content-type"] == "application/merge-patch+json"
        self.patches.append(request.body)
        self.version += 1
        return Answer(body=self.made(self.version))


def test_a_change_that_is_overtaken_is_made_again_from_what_the_other_made(server: Fake) -> None:
    server.answer = guarded = Guarded(2, lambda version: scheduling(version=version, queue=["a"] * version))
    seen = []

    def change(now: Scheduling) -> dict[str, Any]:
        assert now.spec.queue_based
        seen.append(len(now.spec.queue_based))
        return {"spec": {"queueBased": [{"name": "a"}] * (seen[-1] + 1)}}
    assert version_of(update(connect(server.url), "default", "queue", change)) == "4"
    assert seen == [1, 2, 3]
    assert guarded.patches == [{"spec": {"queueBased": [{"name": "a"}] * 4}}]


def test_a_change_that_is_overtaken_each_time_ends(server: Fake) -> None:
    server.answer = Guarded(10 ** 6, lambda version: scheduling(version=version))
    with pytest.raises(PreconditionFailed):
        update(connect(server.url), "default", "queue", lambda now: {"spec": {"suspend": True}})
    assert len(server.asked) == 2 * TRIES


def test_where_nothing_is_to_be_done_nothing_is_written(server: Fake) -> None:
    server.answer = Guarded(0, lambda version: scheduling(version=version))
    assert version_of(update(connect(server.url), "default", "queue", lambda now: None)) == "1"
    assert [each.method for each in server.asked] == ["GET"]


def test_notes_are_merged_under_the_version_that_was_read(server: Fake) -> None:
    server.answer = guarded = Guarded(1, lambda version: batchjob("a", version, other=[]))
    update_notes(connect(server.url), "default", "a", lambda job: {"mine": [{"b": "3 (1)"}], "old": None})
    assert guarded.patches == [{"mine": [{"b": "3 (1)"}], "old": None}]
    assert server.asked[-1].path == "/api/v1/namespaces/default/jobs/a/external-scheduler"
