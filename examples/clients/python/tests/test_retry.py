import socket

import httpx
import pytest

from esi_client import ApiProblem, Away, NotFound, Retry, Scheduling, Unavailable, connect, get
from fake import Answer, Fake, problem, scheduling


class Time:
    def __init__(self) -> None:
        self.time, self.pauses = 0.0, []  # type: float, list[float]

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.time += seconds


def retry(time: Time, lines: list[str], patience: float = 600.0) -> Retry:
    return Retry(patience, told=lines.append, now=time.now, sleep=time.sleep)


def test_a_server_that_is_away_is_asked_again_with_growing_pauses(server: Fake) -> None:
    time, lines = Time(), []  # type: Time, list[str]
    answers = iter([problem(503, "CachesNotSynced", "not yet", retryable=True)] * 4 + [Answer(body=scheduling())])
    server.answer = lambda request: next(answers)
    esi = connect(server.url)
    found = retry(time, lines)(lambda: get(esi, Scheduling, "default", "queue"))
    assert found.metadata.name == "queue"
    assert [0.8 * each <= pause <= 1.2 * each for each, pause in zip((0.5, 1, 2, 4), time.pauses, strict=True)] == [True] * 4
    assert lines[0].startswith("the server says 503 CachesNotSynced: not yet; trying again in 0.")
    assert lines[-1] == "the server answers again"


def test_the_pause_that_the_server_wishes_is_kept(server: Fake) -> None:
    time = Time()
    answers = iter([problem(429, "Throttled", "slower", retryable=True, **{"Retry-After": 3}), Answer(body=scheduling())])
    server.answer = lambda request: next(answers)
    esi = connect(server.url)
    retry(time, [])(lambda: get(esi, Scheduling, "default", "queue"))
    assert time.pauses == [3.0]


def test_nobody_at_the_port_is_given_up_after_the_patience() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        esi, time = connect(f"http://127.0.0.1:{taken.getsockname()[1]}"), Time()
        with pytest.raises(Away, match=r"no answer from the server \(connection refused\); gave up after 60 s"):
            retry(time, [], 60.0)(lambda: get(esi, Scheduling, "default", "queue"))
    assert time.time <= 60


@pytest.mark.parametrize("answer, kind", [
    (problem(404, "NotFound", "no"), NotFound), (problem(422, "Invalid", "no"), ApiProblem),
    (problem(504, "Timeout", "no", retryable=True), ApiProblem),
    (problem(503, "Unavailable", "never", retryable=False), Unavailable)])
def test_what_asking_again_does_not_mend_is_raised_at_once(server: Fake, answer: Answer, kind: type[ApiProblem]) -> None:
    time = Time()
    server.answer = lambda request: answer
    esi = connect(server.url)
    with pytest.raises(kind):
        retry(time, [])(lambda: get(esi, Scheduling, "default", "queue"))
    assert time.pauses == []


def test_a_connection_that_breaks_is_a_server_that_is_away() -> None:
    time, lines = Time(), []  # type: Time, list[str]
    outcomes = iter([httpx.ReadTimeout("timed out"), None])

    def call() -> str:
        if (trouble := next(outcomes)) is not None:
            raise trouble
        return "done"
    assert retry(time, lines)(call, where="http://esi") == "done"
    assert lines[0].startswith("no answer from http://esi (timed out); trying again in")
