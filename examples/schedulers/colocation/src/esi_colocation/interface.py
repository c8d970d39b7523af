"""The REST interface of the Java original (--legacy), as a client of it needs it.

Every request here may be sent twice without harm: a GET reads, a PUT and a POST say how something
shall be, a DELETE of what is gone answers 304. So a request without an answer is simply sent again,
with growing pauses, and a person is told. What the server refuses (4xx) is never tried again.
"""
from __future__ import annotations

import random
from collections.abc import Callable
from urllib.parse import quote

import requests

from esi_colocation.records import Job, Notes, NotUnderstood, Scheduling, Testbed

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds
CONNECT_TIMEOUT, ANSWER_TIMEOUT = 3.05, 30.0  # a POST may wait 10 s for a deletion to end


class ServerAway(Exception):
    """No usable answer for as long as the caller was ready to wait."""


class Refused(Exception):
    """The server understood and said no."""

    def __init__(self, status: int, text: str):
        super().__init__(text)
        self.status = status


class Interface:
    """One server. `clock` tells the time and sleeps, `say` prints a line for people, `patience` is
    how many seconds of a server that is away are borne."""

    def __init__(self, url: str, clock, say, patience: float = 600.0, session=None):
        self.url = url.rstrip("/")
        self.clock, self.say, self.patience = clock, say, patience
        self.session = session or requests.Session()

    # --- reading

    def testbed(self, name: str) -> Testbed | None:
        answer = self.ask("GET", f"/external/testbeds/{quote(name)}", accept=(200, 404))
        return Testbed.read(self.json(answer)) if answer.status_code == 200 else None

    def testbeds(self) -> list[Testbed]:
        return [Testbed.read(each) for each in self.json(self.ask("GET", "/external/testbeds"))]

    def jobs(self) -> dict[str, Job]:
        found = self.json(self.ask("GET", "/external/jobs"))
        return {name: Job.read(each) for name, each in sorted(found.items())}

    def job(self, name: str) -> Job | None:
        answer = self.ask("GET", f"/external/jobs/{quote(name)}", accept=(200, 404))
        return Job.read(self.json(answer)) if answer.status_code == 200 else None

    def schedulings(self) -> list[Scheduling]:
        return [Scheduling.read(each) for each in self.json(self.ask("GET", "/external/schedulings"))]

    def scheduling(self, name: str) -> Scheduling | None:
        answer = self.ask("GET", f"/external/schedulings/{quote(name)}", accept=(200, 404))
        return Scheduling.read(self.json(answer)) if answer.status_code == 200 else None

    def waits_for(self, scheduling: Scheduling) -> str:
        """What keeps it from starting, as far as can be seen: who else has the testbed or its jobs."""
        names = {each.name for each in scheduling.seats}
        others = [each.name for each in self.schedulings() if each.name != scheduling.name and
                  (each.testBed == scheduling.testBed or
                   names & {*(each.queue or []), *(seat.name for seat in each.seats)})]
        return f"testbed or jobs that others hold: {', '.join(others)}" if others else ""

    def rest(self, seconds: float) -> None:
        """Until jobs may have changed."""
        self.clock.sleep(seconds)

    # --- writing

    def change_notes(self, job: Job, change: Callable[[Job], Notes | None]) -> None:
        """The notes that `change` makes of the job's; None leaves them. Nothing guards two programs that do
        this at the same moment."""
        notes = change(job)
        if notes is not None:
            self.put_notes(job.name, notes)

    def put_notes(self, job: str, notes: Notes) -> None:
        """Replaces all notes of the job: hand over what was there too."""
        self.ask("PUT", "/external/jobs/", {"name": job, "externalScheduler": notes})

    def post(self, scheduling: Scheduling) -> None:
        self.ask("POST", "/external/schedulings", scheduling.request())

    def delete(self, name: str) -> None:
        self.ask("DELETE", f"/external/schedulings/{quote(name)}", accept=(200, 304, 404))

    # --- one request

    def ask(self, method: str, path: str, body=None, accept=(200,)):
        deadline = self.clock.now() + self.patience
        pause, complained = FIRST_PAUSE, False
        while True:
            wait = None
            try:
                answer = self.session.request(method, self.url + path, json=body,
                                              timeout=(CONNECT_TIMEOUT, ANSWER_TIMEOUT))
            except (requests.ConnectionError, requests.Timeout) as gone:
                trouble = f"no answer from {self.url} ({reason(gone)})"
            else:
                if answer.status_code in accept:
                    if complained:
                        self.say(f"{self.url} answers again")
                    return answer
                if answer.status_code < 500 and answer.status_code != 429:
                    raise Refused(answer.status_code, words(method, path, answer))
                trouble = f"{method} {path}: the server says {answer.status_code}"
                wait = retry_after(answer)
            wait = wait or pause * random.uniform(0.8, 1.2)
            if self.clock.now() + wait > deadline:
                raise ServerAway(f"{trouble}; gave up after {self.patience:.0f} s")
            self.say(f"{trouble}; trying again in {wait:.1f} s")
            complained = True
            self.clock.sleep(wait)
            pause = min(pause * 2, LONGEST_PAUSE)

    @staticmethod
    def json(answer):
        try:
            return answer.json()
        except ValueError:
            raise NotUnderstood(f"{answer.url} did not answer with JSON: is this ESI's port?") from None


def reason(error: Exception) -> str:
    text = str(error)
    for known in ("Connection refused", "timed out", "Name or service not known",
                  "No route to host", "Connection reset", "Remote end closed"):
        if known in text:
            return known.lower()
    return type(error).__name__


def retry_after(answer) -> float | None:
    try:
        return min(max(float(answer.headers.get("Retry-After", "")), 0.1), LONGEST_PAUSE)
    except ValueError:
        return None


def words(method: str, path: str, answer) -> str:
    if answer.status_code == 403:
        return (f"{method} {path}: 403. ESI serves peers on its own machine only: use kubectl "
                "port-forward, or start esi-scheduling with --legacy-open")
    try:
        messages = answer.json().get("messages") or []
    except (ValueError, AttributeError):
        messages = []
    told = "; ".join(map(str, messages)) if isinstance(messages, list) else str(messages)
    return f"{method} {path}: {answer.status_code} {answer.reason or ''} {told}".rstrip()
