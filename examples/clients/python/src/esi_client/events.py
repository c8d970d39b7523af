"""The stream of events: all changes, resumed where it was cut off.

    for event in events(esi, namespace="default"):
        mirror.take(event)
"""
from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
from httpx_sse import EventSource, SSEError

from .connection import CONNECT_TIMEOUT
from .generated import Client
from .generated.models import BatchJob, Scheduling, Testbed
from .problems import ApiProblem, NotUnderstood
from .retry import Pauses, trouble_of

Object = Testbed | BatchJob | Scheduling

MODELS: dict[str, type[Any]] = {"Testbed": Testbed, "BatchJob": BatchJob, "Scheduling": Scheduling}
#: The server says something every 15 s; a connection that is silent for so long is dead.
SILENCE = 45.0
CHANGES = {"ADDED", "MODIFIED", "DELETED"}


@dataclass(frozen=True)
class Event:
    """`type`: snapshot (an object as it is), sync (all that there is was told; changes follow), ADDED, MODIFIED,
    DELETED, or reset (all that was told before is void, a snapshot follows). Pass over others."""
    type: str
    object: Object | None = None
    kind: str | None = None  # of the object
    #: What the object lacks here; a GET of it has that.
    partial: tuple[str, ...] = ()
    #: Goes on behind this event; empty: there is none.
    id: str = ""
    reason: str = ""
    detail: str = ""


def events(esi: Client, *, kinds: tuple[str, ...] = (), namespace: str | None = None,
           labels: str | None = None, last_id: str = "", patience: float = float("inf"),
           told: Callable[[str], object] = lambda line: None, now: Callable[[], float] = time.monotonic,
           sleep: Callable[[float], object] = time.sleep) -> Iterator[Event]:
    """All events of those kinds ("testbeds", "jobs", "schedulings"; none: all that one may see), without an
    end. A connection that breaks is made again, with growing pauses, and goes on behind the last event. Raises
    what asking again does not mend (Unauthorized, Forbidden), and the last trouble after `patience` seconds
    without an event."""
    pauses, deadline, begun = Pauses(), now() + patience, False
    while True:
        wished = None
        if begun and not last_id:
            yield Event("reset", reason="CutOff", detail="the connection broke before the snapshot was whole")
        try:
            for event in connection(esi, kinds, namespace, labels, last_id):
                if event.type == "retry":
                    pauses.first = float(event.detail)
                    continue
                last_id, begun = event.id, True
                pauses.start_anew()
                deadline = now() + patience
                if event.type == "HEARTBEAT":
                    continue
                if event.type == "end":
                    told(f"the server ended the stream: {event.reason}: {event.detail}")
                    break
                yield event
        except (httpx.TransportError, ApiProblem) as error:
            trouble, wished = trouble_of(error, "the server")
            if trouble is None or now() > deadline:
                raise
            told(trouble)
        sleep(pauses.next(wished))


def connection(esi: Client, kinds: tuple[str, ...], namespace: str | None, labels: str | None,
               last_id: str) -> Iterator[Event]:
    """The events of one connection, until it ends. Each has the id from which the next one goes on."""
    path = "/api/v1/events" if namespace is None else f"/api/v1/namespaces/{quote(namespace, safe='')}/events"
    asked = {name: value for name, value in (("kinds", ",".join(kinds)), ("labelSelector", labels)) if value}
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
    if last_id:
        headers["Last-Event-ID"] = last_id
    with esi.get_httpx_client().stream("GET", path, params=asked, headers=headers,
                                       timeout=httpx.Timeout(SILENCE, connect=CONNECT_TIMEOUT)) as response:
        try:
            for told in EventSource(response).iter_sse():
                if told.retry is not None:
                    yield Event("retry", detail=str(told.retry / 1000))
                if told.event == "reset":
                    last_id = ""
                elif told.id:
                    last_id = told.id
                if told.data:
                    yield read(told.data, last_id)
                elif told.id:
                    yield Event("HEARTBEAT", id=last_id)
        except SSEError as error:
            raise NotUnderstood(f"no stream of events: {error}") from None


def read(data: str, last_id: str) -> Event:
    try:
        raw = json.loads(data)
        kind = raw.get("kind")
        model = MODELS.get(kind)
        return Event(raw["type"], model.from_dict(raw["object"]) if model else None, kind,
                     tuple(raw.get("partial", ())), last_id, raw.get("reason", ""), raw.get("detail", ""))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotUnderstood(f"an event that is none ({error!r}): {data[:200]}") from None


class Mirror:
    """What a client has made of a stream: all objects as they are. After a reset the old ones stay until the new
    snapshot is whole, so `objects` is never half."""

    def __init__(self) -> None:
        #: {(kind, namespace, name): object}
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.synced = False
        self.snapshot: dict[tuple[str, str, str], Object] = {}
        self.anew = True

    def take(self, event: Event) -> None:
        if event.type == "reset":
            self.snapshot, self.anew, self.synced = {}, True, False
        elif event.type == "sync":
            if self.anew:
                self.objects, self.snapshot, self.anew = self.snapshot, {}, False
            self.synced = True
        elif event.object is not None and event.kind is not None:
            meta = event.object.metadata
            key = (event.kind, str(meta.namespace or ""), meta.name)
            if event.type == "snapshot":
                self.snapshot[key] = event.object
            elif event.type == "DELETED":
                self.objects.pop(key, None)
            elif event.type in CHANGES:
                self.objects[key] = event.object
