import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from esi_client import Event, Forbidden, Mirror, NotUnderstood, Scheduling, connect, events
from fake import Answer, Fake, batchjob, problem, scheduling, sent, stream


class Script:
    """The answers of a server to the connections of one client, one after the other."""

    def __init__(self, server: Fake, *answers: Answer):
        left = iter(answers)
        server.answer = lambda request: next(left)
        self.server = server
        self.pauses: list[float] = []
        self.lines: list[str] = []

    def listen(self, **options: Any) -> Iterator[Event]:
        return events(connect(self.server.url), told=self.lines.append, sleep=self.pauses.append, **options)

    def ids(self) -> list[str | None]:
        return [each.headers.get("last-event-id") for each in self.server.asked]


GREETING = "retry: 2000\n\n"


def test_a_snapshot_then_changes(server: Fake) -> None:
    script = Script(server, stream(
        GREETING, sent("snapshot", "Scheduling", scheduling("a")), sent("sync", id_="s1"),
        sent("MODIFIED", "Scheduling", scheduling("a", 2, "CompletedState"), "s2"),
        sent("DELETED", "BatchJob", batchjob("j", 3), "s3", partial=["spec.sparkSpec"])))
    told = list(itertools.islice(script.listen(namespace="default", kinds=("schedulings", "jobs"), labels="a=b"), 4))
    assert [(each.type, each.id) for each in told] == \
        [("snapshot", ""), ("sync", "s1"), ("MODIFIED", "s2"), ("DELETED", "s3")]
    assert isinstance(told[2].object, Scheduling) and told[2].object.status
    assert told[2].object.status.state == "CompletedState"
    assert (told[3].kind, told[3].partial) == ("BatchJob", ("spec.sparkSpec",))
    asked = server.asked[0]
    assert asked.path == "/api/v1/namespaces/default/events"
    assert asked.query == {"kinds": "schedulings,jobs", "labelSelector": "a=b"}
    assert asked.headers["accept"] == "text/event-stream" and "last-event-id" not in asked.headers


def test_a_connection_that_is_cut_goes_on_behind_the_last_event(server: Fake) -> None:
    change = [sent("ADDED", "Scheduling", scheduling(name), f"s{number}") for number, name in enumerate("abc", 2)]
    script = Script(server, stream(GREETING, sent("sync", id_="s1"), change[0], change[1][:40]),
                    stream(GREETING, change[1]), stream(GREETING, sent("sync", id_="s3"), change[2]))
    told = list(itertools.islice(script.listen(), 5))
    assert [each.object.metadata.name for each in told if each.object] == ["a", "b", "c"]
    assert script.ids() == [None, "s2", "s3"]
    assert [1.6 <= pause <= 2.4 for pause in script.pauses] == [True, True]  # `retry` of the server


def test_a_heartbeat_moves_the_id_and_is_not_told(server: Fake) -> None:
    script = Script(server, stream(sent("sync", id_="s1"), ": heartbeat\nid: s7\n\n"),
                    stream(sent("sync", id_="s8")))
    assert [each.type for each in itertools.islice(script.listen(), 2)] == ["sync", "sync"]
    assert script.ids() == [None, "s7"]


def test_after_a_reset_nothing_is_resumed_and_a_broken_snapshot_begins_anew(server: Fake) -> None:
    broken = stream("id:\n" + sent("reset", reason="TooOld", detail="long ago"),
                    sent("snapshot", "Scheduling", scheduling("a")))
    script = Script(server, stream(sent("sync", id_="s1")), broken,
                    stream(sent("snapshot", "Scheduling", scheduling("b")), sent("sync", id_="s9")),
                    stream(sent("sync", id_="s10")))
    told = list(itertools.islice(script.listen(), 7))
    assert [each.type for each in told] == ["sync", "reset", "snapshot", "reset", "snapshot", "sync", "sync"]
    assert told[1].reason == "TooOld" and told[3].reason == "CutOff"
    assert script.ids() == [None, "s1", None, "s9"]


def test_pauses_grow_while_the_server_is_away_and_begin_anew_with_an_event(server: Fake) -> None:
    away = problem(503, "CachesNotSynced", "not yet", retryable=True)
    script = Script(server, away, away, away, stream(sent("sync", id_="s1")), away, stream(sent("sync", id_="s2")))
    assert len(list(itertools.islice(script.listen(), 2))) == 2
    assert [round(pause / each) for each, pause in zip((0.5, 1, 2, 0.5, 1), script.pauses, strict=True)] == [1] * 5


def test_an_end_is_said_and_the_client_comes_again(server: Fake) -> None:
    script = Script(server, stream(sent("sync", id_="s1"), sent("end", reason="Stopping", detail="come again")),
                    stream(sent("sync", id_="s2")))
    assert [each.id for each in itertools.islice(script.listen(), 2)] == ["s1", "s2"]
    assert script.lines == ["the server ended the stream: Stopping: come again"]


def test_a_right_that_is_gone_ends_it(server: Fake) -> None:
    script = Script(server, stream(sent("sync", id_="s1"), sent("end", reason="Forbidden", detail="no more")),
                    problem(403, "Forbidden", "may not watch schedulings"))
    told = script.listen()
    assert next(told).type == "sync"
    with pytest.raises(Forbidden, match="may not watch schedulings"):
        next(told)


def test_a_server_that_stays_away_is_given_up_after_the_patience(server: Fake) -> None:
    away = problem(503, "Stopping", "another one answers", retryable=True)
    clock = itertools.count(0.0, 10.0)
    script = Script(server, *[away] * 9)
    with pytest.raises(Exception, match="503 Stopping"):
        next(script.listen(patience=35.0, now=lambda: next(clock)))
    assert len(server.asked) == 4


@pytest.mark.parametrize("answer", [Answer(body={}), stream("data: [1]\n\n"), stream('data: {"kind":"Scheduling"}\n\n')])
def test_what_is_no_event_is_not_understood(server: Fake, answer: Answer) -> None:
    with pytest.raises(NotUnderstood):
        next(Script(server, answer).listen())


def test_unknown_types_and_kinds_are_told_without_an_object(server: Fake) -> None:
    script = Script(server, stream(sent("NEWS", "Comet", {"tail": 1}, "s1")))
    event = next(script.listen())
    assert (event.type, event.kind, event.object) == ("NEWS", "Comet", None)


# --- the mirror

def taken(mirror: Mirror, type_: str, *names: str, version: int = 1) -> Mirror:
    for name in names or ("",):
        found = Scheduling.from_dict(scheduling(name, version)) if name else None
        mirror.take(Event(type_, found, "Scheduling" if name else None))
    return mirror


def names(mirror: Mirror) -> list[str]:
    return sorted(name for _, _, name in mirror.objects)


def test_a_mirror_shows_all_objects_once_the_snapshot_is_whole() -> None:
    mirror = taken(Mirror(), "snapshot", "a", "b")
    assert names(mirror) == [] and not mirror.synced
    taken(mirror, "sync")
    assert names(mirror) == ["a", "b"] and mirror.synced
    taken(taken(taken(mirror, "DELETED", "a"), "ADDED", "c"), "MODIFIED", "b", version=5)
    assert names(mirror) == ["b", "c"]
    assert mirror.objects["Scheduling", "default", "b"].metadata.resource_version == "5"


def test_a_mirror_keeps_what_it_had_until_the_snapshot_after_a_reset_is_whole() -> None:
    mirror = taken(taken(Mirror(), "snapshot", "a", "b"), "sync")
    taken(taken(mirror, "reset"), "snapshot", "b")
    assert names(mirror) == ["a", "b"] and not mirror.synced
    taken(mirror, "sync")
    assert names(mirror) == ["b"] and mirror.synced


def test_a_mirror_that_is_resumed_goes_on_with_what_it_has() -> None:
    mirror = taken(taken(Mirror(), "snapshot", "a"), "sync")
    taken(taken(mirror, "ADDED", "b"), "sync")
    assert names(mirror) == ["a", "b"]
