"""Reading, waiting and changing, for the three kinds: `kind` is Testbed, BatchJob or Scheduling."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .generated import Client
from .generated.api.jobs import get_job, list_all_jobs, list_jobs, patch_external_scheduler
from .generated.api.schedulings import (get_scheduling, list_all_schedulings, list_schedulings,
                                        patch_scheduling)
from .generated.api.testbeds import get_testbed, list_all_testbeds, list_testbeds
from .generated.models import (BatchJob, BatchJobList, ExternalNotesPatch, Scheduling, SchedulingList,
                               SchedulingPatch, Testbed, TestbedList)
from .generated.types import UNSET, Response
from .problems import PreconditionFailed, TimeUp, asked

T = TypeVar("T", Testbed, BatchJob, Scheduling)

LONGEST_WAIT = 60.0  # seconds of one request; a proxy may cut off what is silent for longer
TRIES = 20  # of a change that others overtake each time


@dataclass(frozen=True)
class Calls:
    get: Callable[..., Response[Any]]
    list: Callable[..., Response[Any]]
    list_all: Callable[..., Response[Any]]
    listed: type[Any]


CALLS: dict[type[Any], Calls] = {
    Testbed: Calls(get_testbed.sync_detailed, list_testbeds.sync_detailed, list_all_testbeds.sync_detailed,
                   TestbedList),
    BatchJob: Calls(get_job.sync_detailed, list_jobs.sync_detailed, list_all_jobs.sync_detailed, BatchJobList),
    Scheduling: Calls(get_scheduling.sync_detailed, list_schedulings.sync_detailed,
                      list_all_schedulings.sync_detailed, SchedulingList)}


def version_of(of: Testbed | BatchJob | Scheduling) -> str:
    return str(of.metadata.resource_version or "")


def etag_of(of: Testbed | BatchJob | Scheduling) -> str:
    """For If-Match and If-None-Match."""
    return f'"{version_of(of)}"'


def get(esi: Client, kind: type[T], namespace: str, name: str) -> T:
    return asked(kind, CALLS[kind].get, namespace, name, client=esi)


def objects(esi: Client, kind: type[T], namespace: str | None = None, *, labels: str | None = None,
            states: str | None = None) -> Iterator[T]:
    """All of them, of a namespace or (None) of all that there are, read in parts."""
    calls, go_on = CALLS[kind], UNSET
    while True:
        call, where = (calls.list_all, ()) if namespace is None else (calls.list, (namespace,))
        part = asked(calls.listed, call, *where, client=esi, label_selector=labels or UNSET,
                     state=states or UNSET, continue_=go_on)
        yield from part.items
        go_on = part.continue_
        if not go_on:
            return


def next_version(esi: Client, kind: type[T], namespace: str, name: str, version: str,
                 seconds: float = LONGEST_WAIT) -> T | None:
    """Waits for the next change behind that version, in one request: the object, or None where nothing
    happened in time. NotFound as soon as it is gone."""
    found = asked(kind, CALLS[kind].get, namespace, name, client=esi, index=version, wait=duration(seconds))
    return None if version_of(found) == version else found


def changes(esi: Client, kind: type[T], namespace: str, name: str, *,
            now: Callable[[], float] = time.monotonic, seconds: float = float("inf")) -> Iterator[T]:
    """The object as it is, then each change of it, until it is gone (NotFound) or time is up. Of changes
    that come one upon the other the last one is told."""
    deadline = now() + seconds
    shown = get(esi, kind, namespace, name)
    yield shown
    while (left := deadline - now()) > 0:
        found = next_version(esi, kind, namespace, name, version_of(shown), min(left, LONGEST_WAIT))
        if found is not None:
            shown = found
            yield shown


def wait_for(esi: Client, kind: type[T], namespace: str, name: str, wish: str, seconds: float, *,
             now: Callable[[], float] = time.monotonic) -> T:
    """Waits until `wish` holds: "state=CompletedState", "condition:Acquired=True". TimeUp, with the state that the
    object has, when time is up; NotFound as soon as it is gone."""
    deadline = now() + seconds
    while True:
        left = max(0.0, deadline - now())
        try:
            return asked(kind, CALLS[kind].get, namespace, name, client=esi, wait_for=wish,
                         wait=duration(min(left, LONGEST_WAIT)))
        except TimeUp:
            if now() >= deadline:
                raise


def duration(seconds: float) -> str:
    return f"{max(1, int(seconds * 1000))}ms"


def update(esi: Client, namespace: str, name: str,
           change: Callable[[Scheduling], Mapping[str, Any] | None]) -> Scheduling:
    """Changes a Scheduling as `change` says, made from the version that it saw: a merge patch
    ({"spec": {"queueBased": [...]}}), or None where nothing is to be done. Where somebody else was faster it
    is asked again with what they made.

    By PATCH and not by PUT: members that this client does not know yet stay as they are."""
    for tries in range(1, TRIES + 1):
        seen = get(esi, Scheduling, namespace, name)
        patch = change(seen)
        if patch is None:
            return seen
        try:
            return asked(Scheduling, patch_scheduling.sync_detailed, namespace, name, client=esi,
                         body=SchedulingPatch.from_dict(patch), if_match=etag_of(seen))
        except PreconditionFailed:
            if tries == TRIES:
                raise
    raise AssertionError("unreachable")


def update_notes(esi: Client, namespace: str, name: str,
                 change: Callable[[BatchJob], Mapping[str, list[dict[str, str]] | None] | None]) -> BatchJob:
    """The same for a job's notes (spec.externalScheduler): keys that are given replace those that are there,
    None takes one out, all others stay."""
    for tries in range(1, TRIES + 1):
        seen = get(esi, BatchJob, namespace, name)
        patch = change(seen)
        if patch is None:
            return seen
        try:
            return asked(BatchJob, patch_external_scheduler.sync_detailed, namespace, name, client=esi,
                         body=ExternalNotesPatch.from_dict(patch), if_match=etag_of(seen))
        except PreconditionFailed:
            if tries == TRIES:
                raise
    raise AssertionError("unreachable")
