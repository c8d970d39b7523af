"""What this program works with: testbeds, jobs and Schedulings as typed records.

`read` takes them from the original's interface, as strictly as its clients do: an unknown field or an
unknown state is refused, so that a misunderstanding shows at once and not as a wrong decision later. A
field that is missing counts as null. v1.py makes the same records of what /api/v1 shows.
"""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime

TESTBED_STATES = {"INITIAL", "IN_PROGRESS", "SUCCESS", "RUNNING", "ERROR"}
SLOT_STATES = {"FREE", "OCCUPIED", "ERROR", "RESERVED"}
JOB_STATES = {"ReadyState", "PendingDeletion", "InQueueState", "SubmittedState", "ScheduledState",
              "RunningState", "CompletedState", "FailedState", "FailedSubmissionState", "UnknownState"}
SCHEDULING_STATES = {"FailedState", "InitialState", "AcquireState", "CompletedState",
                     "ConfirmationState", "FinishedState", "SubmissionState",
                     "AwaitingCompletionState", "Error"}
PROGRESS = {"Acquiring", "InQueue", "Submitted", "Scheduled", "Completed"}

Notes = dict[str, list[dict[str, str]]]


class NotUnderstood(Exception):
    """The server said something that this reader does not know."""


@dataclass(frozen=True)
class Slot:
    position: int
    state: str | None = None
    nodeName: str | None = None
    nodeId: int | None = None
    slotPositionOnNode: int = 0
    podName: str | None = None
    podUId: str | None = None
    reservedFor: str | None = None

    @classmethod
    def read(cls, raw) -> Slot:
        raw = fields_of(cls, raw)
        one_of(raw.get("state"), SLOT_STATES, "slot state")
        return cls(**raw)


@dataclass(frozen=True)
class Testbed:
    name: str
    state: str | None = None
    numberOfNodes: int = 0
    numberOfSlotsPerNode: int = 0
    slotsByNode: dict[str, list[Slot]] = field(default_factory=dict)

    @classmethod
    def read(cls, raw) -> Testbed:
        raw = fields_of(cls, raw)
        one_of(raw.get("state"), TESTBED_STATES, "testbed state")
        by_node = raw.get("slotsByNode") or {}
        return cls(**raw | {"slotsByNode": {node: [Slot.read(slot) for slot in slots]
                                            for node, slots in by_node.items()}})


@dataclass(frozen=True)
class Event:
    """One run of a job. `start` and `stop` come from the job's pods."""
    start: datetime | None
    stop: datetime | None
    successful: bool
    scheduling: str | None  # the name of the Scheduling that started the run

    @classmethod
    def read(cls, raw) -> Event:
        if not isinstance(raw, dict) or set(raw) - {"start", "stop", "successful", "scheduling"}:
            raise NotUnderstood(f"an event with other fields: {raw}")
        return cls(moment(raw.get("start")), moment(raw.get("stop")), bool(raw.get("successful")),
                   (raw.get("scheduling") or {}).get("name"))

    @property
    def seconds(self) -> float | None:
        """How long the run took; None while it runs and where it did not end well."""
        if self.start is None or self.stop is None or not self.successful:
            return None
        return max(0.0, (self.stop - self.start).total_seconds())


@dataclass(frozen=True)
class Job:
    name: str
    state: str | None = None
    externalScheduler: Notes | None = None
    scheduledEvents: list[Event] = field(default_factory=list)
    version: str = field(default="", metadata={"shown": False})  # of /api/v1

    @classmethod
    def read(cls, raw) -> Job:
        raw = fields_of(cls, raw)
        one_of(raw.get("state"), JOB_STATES, "job state")
        events = [Event.read(event) for event in raw.get("scheduledEvents") or []]
        return cls(**raw | {"scheduledEvents": events})

    @property
    def notes(self) -> Notes:
        return self.externalScheduler or {}

    def runs_under(self, scheduling: str) -> list[Event]:
        return [event for event in self.scheduledEvents if event.scheduling == scheduling]


@dataclass(frozen=True)
class Seats:
    """A job and the slots that it is to take."""
    name: str
    slots: list[int]


@dataclass(frozen=True)
class Scheduling:
    name: str
    testBed: str
    state: str | None = None
    jobStatus: dict[str, str] = field(default_factory=dict)
    queue: list[str] | None = None
    mode: str | None = None
    seats: list[Seats] = field(default_factory=list)
    version: str = field(default="", metadata={"shown": False})  # of /api/v1

    @classmethod
    def read(cls, raw) -> Scheduling:
        if not isinstance(raw, dict) or \
                set(raw) - {"name", "state", "jobStatus", "testBed", "queue", "slots"}:
            raise NotUnderstood(f"a Scheduling with other fields: {raw}")
        one_of(raw.get("state"), SCHEDULING_STATES, "Scheduling state")
        status = {each["name"]: each["state"] for each in raw.get("jobStatus") or []}
        for state in status.values():
            one_of(state, PROGRESS, "job status")
        slots = raw.get("slots") or {}
        return cls(name=raw["name"], testBed=raw["testBed"], state=raw.get("state"), jobStatus=status,
                   queue=raw.get("queue"), mode=slots.get("mode"),
                   seats=[Seats(each["name"], list(each["slots"])) for each in slots.get("jobs") or []])

    def request(self) -> dict:
        """The body to POST. What the server fills in (state, jobStatus) is left out."""
        return {"name": self.name, "testBed": self.testBed, "queue": self.queue,
                "slots": {"mode": self.mode,
                          "jobs": [{"name": each.name, "slots": each.slots} for each in self.seats]}}


def fields_of(cls, raw) -> dict:
    known = {each.name for each in dataclasses.fields(cls) if each.metadata.get("shown", True)}
    if not isinstance(raw, dict):
        raise NotUnderstood(f"{cls.__name__}: not an object: {raw!r}")
    if unknown := set(raw) - known:
        raise NotUnderstood(f"{cls.__name__} with unknown fields {sorted(unknown)}")
    return dict(raw)


def one_of(value, known: set[str], what: str) -> None:
    if value is not None and value not in known:
        raise NotUnderstood(f"unknown {what}: {value!r}")


def moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise NotUnderstood(f"not a time: {text!r}") from None
