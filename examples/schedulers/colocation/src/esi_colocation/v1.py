"""The interface /api/v1, as this program needs it: the same calls as interface.py, over the client package
esi_client (examples/clients/python).

Every request may be sent twice without harm: a Scheduling is created under an Idempotency-Key, notes are
changed under the version that was read. So one that got no answer is simply sent again, with growing
pauses, and a person is told. Waiting is done by the server (blocking queries): there is nothing to poll.
"""
from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager

import esi_client
from esi_client.generated import models
from esi_client.generated.api.jobs import list_jobs, patch_external_scheduler
from esi_client.generated.api.schedulings import create_scheduling, delete_scheduling, explain_scheduling
from esi_client.generated.api.testbeds import list_slots
from esi_client.generated.types import UNSET
from esi_client.objects import duration, next_version

from esi_colocation.interface import Refused, ServerAway
from esi_colocation.records import Event, Job, Notes, NotUnderstood, Scheduling, Seats, Slot, Testbed

MANY = 500  # in one answer
OVERTAKEN = 20  # times that others may change a job's notes first
LONGEST_REST = 10.0  # seconds


class InterfaceV1:
    """One namespace of one server. `esi`: what esi_client.connect() gave; the rest as for Interface."""

    def __init__(self, esi: esi_client.Client, url: str, namespace: str, clock, say, patience: float = 600.0):
        self.esi, self.url, self.namespace = esi, url.rstrip("/"), namespace
        self.clock, self.say, self.patience = clock, say, patience
        self.jobs_shown: str | None = None  # the version of the last list
        self.seen: dict[str, str] = {}  # versions of Schedulings

    # --- reading

    def testbed(self, name: str) -> Testbed | None:
        with absent() as found:
            shown = self.get(models.Testbed, name)
            slots, go_on = [], UNSET
            while True:
                part = self.ask(models.SlotList, list_slots.sync_detailed, self.namespace, name, continue_=go_on)
                slots += part.items
                go_on = part.continue_
                if not go_on:
                    break
            found.append(testbed_of(shown, slots))
        return found[0] if found else None

    def testbeds(self) -> list[Testbed]:
        return [testbed_of(each, []) for each in self.all(models.Testbed)]

    def jobs(self) -> dict[str, Job]:
        return self.listed_jobs()

    def listed_jobs(self, **waiting) -> dict[str, Job]:
        found, go_on, first = {}, UNSET, None
        while True:
            part, headers = self.answer(models.BatchJobList, list_jobs.sync_detailed, self.namespace, limit=MANY,
                                        continue_=go_on, **({} if go_on else waiting))
            first = first or headers.get("X-ESI-Index")
            found |= {each.metadata.name: job_of(each) for each in part.items}
            go_on = part.continue_
            if not go_on:
                self.jobs_shown = first
                return dict(sorted(found.items()))

    def schedulings(self) -> list[Scheduling]:
        return [scheduling_of(each) for each in self.all(models.Scheduling)]

    def scheduling(self, name: str) -> Scheduling | None:
        with absent() as found:
            found.append(self.saw(self.get(models.Scheduling, name)))
        return found[0] if found else None

    def next_scheduling(self, name: str, seconds: float) -> Scheduling | None:
        """As soon as it has another version than was seen last; None after so many seconds. esi_client.NotFound when
        it goes."""
        found = self.patiently(lambda: next_version(self.esi, models.Scheduling, self.namespace, name,
                                                    self.seen.get(name, "0"), seconds))
        return self.saw(found) if found is not None else None

    def saw(self, shown: models.Scheduling) -> Scheduling:
        found = scheduling_of(shown)
        self.seen[found.name] = found.version
        return found

    def waits_for(self, scheduling: Scheduling) -> str:
        """What the operator itself says that it waits for."""
        with absent() as found:
            told = self.ask(models.Explanation, explain_scheduling.sync_detailed, self.namespace, scheduling.name)
            found += [each.text for each in told.blockers if each.text]
        return "; ".join(found[:3])

    def rest(self, seconds: float) -> None:
        """Until jobs have changed; of a list that was never seen, so many seconds."""
        if self.jobs_shown is None:
            self.clock.sleep(seconds)
        else:
            self.listed_jobs(index=self.jobs_shown, wait=duration(LONGEST_REST))

    # --- writing

    def change_notes(self, job: Job, change: Callable[[Job], Notes | None]) -> None:
        """The notes that `change` makes of the job's; None leaves them. Where somebody else was first it is asked
        again, of what they made: no note is ever lost."""
        for _ in range(OVERTAKEN):
            notes = change(job)
            if notes is None:
                return
            patch = {key: lines for key, lines in notes.items() if job.notes.get(key) != lines}
            patch |= {key: None for key in job.notes if key not in notes}
            try:
                self.ask(models.BatchJob, patch_external_scheduler.sync_detailed, self.namespace, job.name,
                         body=models.ExternalNotesPatch.from_dict(patch), if_match=f'"{job.version}"')
                return
            except esi_client.PreconditionFailed:
                with absent() as found:
                    found.append(job_of(self.get(models.BatchJob, job.name)))
                if not found:
                    return  # the job is gone, and its notes with it
                job = found[0]
        raise Refused(412, f"the notes of {job.name} were changed by others {OVERTAKEN} times in a row")

    def post(self, scheduling: Scheduling) -> None:
        body = models.SchedulingInput.from_dict({
            "metadata": {"name": scheduling.name},
            "spec": {"testbed": {"name": scheduling.testBed}, "slotBased": {
                "mode": scheduling.mode.lower(),
                "jobs": [{"name": {"name": each.name}, "slotIds": each.slots} for each in scheduling.seats]}}})
        self.ask(models.Scheduling, create_scheduling.sync_detailed, self.namespace, body=body,
                 idempotency_key=scheduling.name)

    def delete(self, name: str) -> None:
        self.seen.pop(name, None)
        with absent():
            self.patiently(lambda: delete_scheduling.sync_detailed(self.namespace, name, client=self.esi))

    # --- one request

    def get(self, kind, name: str):
        return self.patiently(lambda: esi_client.get(self.esi, kind, self.namespace, name))

    def all(self, kind):
        return self.patiently(lambda: list(esi_client.objects(self.esi, kind, self.namespace)))

    def ask(self, kind, call, *arguments, **options):
        return self.answer(kind, call, *arguments, **options)[0]

    def answer(self, kind, call, *arguments, **options):
        """(what it answered, headers)"""
        def once():
            headers = {}

            def keep(*arguments, **options):
                answer = call(*arguments, **options)
                headers.update(answer.headers)
                return answer
            return esi_client.asked(kind, keep, *arguments, client=self.esi, **options), Lower(headers)
        return self.patiently(once)

    def patiently(self, call):
        retry = esi_client.Retry(self.patience, told=self.say, now=self.clock.now, sleep=self.clock.sleep)
        try:
            return retry(call, where=self.url)
        except (esi_client.NotFound, esi_client.PreconditionFailed):
            raise
        except esi_client.ApiProblem as no:
            raise Refused(no.status, f"{self.url}: {no}") from no
        except esi_client.Away as away:
            raise ServerAway(str(away)) from away
        except esi_client.NotUnderstood as strange:
            raise NotUnderstood(f"{self.url}: {strange}") from strange


class Lower(dict):
    """Headers, whose names are of any case."""

    def __init__(self, of):
        super().__init__({name.lower(): value for name, value in of.items()})

    def get(self, name, default=None):
        return super().get(name.lower(), default)


@contextmanager
def absent():
    """For calls about one object: a list that stays empty where there is none."""
    found = []
    try:
        yield found
    except esi_client.NotFound as gone:
        # Not the object: the namespace, or the whole path.
        if gone.code == "NamespaceNotWatched":
            raise Refused(404, str(gone)) from gone


class Waits:
    """In the place of the topics: changes as answers of blocking queries."""

    def __init__(self, interface: InterfaceV1):
        self.interface = interface

    def subscribe(self, kind: str, name: str) -> Wait:
        assert kind == "schedulings"
        return Wait(self.interface, name)


class Wait:
    live = True
    look = 30.0  # seconds of one request

    def __init__(self, interface: InterfaceV1, name: str):
        self.interface, self.name = interface, name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def next(self, seconds: float):
        """(action, record) of the first change behind the one that was seen last, None after so many seconds."""
        try:
            found = self.interface.next_scheduling(self.name, seconds)
        except esi_client.NotFound:
            return "DELETED", None
        return None if found is None else ("MODIFIED", found)


# --- records of what is shown

def text(of) -> str | None:
    return of or None  # UNSET is false


def testbed_of(shown: models.Testbed, slots: list[models.Slot]) -> Testbed:
    by_node: dict[str, list[Slot]] = {}
    for each in slots:
        by_node.setdefault(each.node_name or "", []).append(
            Slot(each.position, each.state, text(each.node_name), each.node_id, each.slot_position_on_node,
                 text(each.pod_name), text(each.pod_u_id), text(each.reserved_for)))
    layout = shown.status.layout if shown.status else UNSET
    per_node = layout.slots_per_node if layout else shown.spec.slots_per_node
    return Testbed(shown.metadata.name, text(shown.status.state) if shown.status else None, len(by_node), per_node,
                   by_node)


def job_of(shown: models.BatchJob) -> Job:
    spec, status = shown.spec, shown.status
    notes = spec.external_scheduler.to_dict() if spec.external_scheduler else None
    events = [Event(each.started or None, each.stopped or None, each.outcome == "Succeeded",
                    each.scheduling.name if each.scheduling else None) for each in (status.runs if status else [])]
    return Job(shown.metadata.name, text(status.state) if status else None, notes, events,
               esi_client.version_of(shown))


def scheduling_of(shown: models.Scheduling) -> Scheduling:
    spec, status = shown.spec, shown.status
    by_slot = spec.slot_based or None
    return Scheduling(
        shown.metadata.name, spec.testbed.name, text(status.state) if status else None,
        {each.name.name: each.state or "" for each in (status.job_states if status else []) if each.name},
        [each.name for each in spec.queue_based] if spec.queue_based else None, by_slot.mode.upper() if by_slot else None,
        [Seats(each.name.name, list(each.slot_ids)) for each in by_slot.jobs] if by_slot else [],
        esi_client.version_of(shown))
