"""The Schedulings of this program: their names, their slots, waiting for them, letting go of them.

Everything that must outlive this process is in the server: the Schedulings themselves, under names
that only this program gives, and the jobs' notes. A process that is killed leaves its Scheduling
running; the next one finds it by its name (`standing`) and goes on with it.

    PREFIX-profile-ID        pairs that are being measured
    PREFIX-wave-ID-NUMBER    a wave of plan ID
"""
from __future__ import annotations

import re

from esi_colocation.records import Job, Scheduling, Seats, Testbed

ENDED = {"CompletedState", "FinishedState", "FailedState", "Error"}
READY, FAILED = {"ReadyState"}, {"FailedState", "FailedSubmissionState"}
SETTLING = {None, "UnknownState", "PendingDeletion"}  # will be something else in a moment
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

POLL = 1.0  # seconds between two looks where nobody tells
APPEARS = 10.0  # a posted Scheduling is seen after at most so long
SETTLES = 60.0  # for jobs to become ready after a release
REMINDER = 60.0  # how often a wait that goes on is mentioned

Places = list[tuple[list[int], list[int]]]


class Unusable(Exception):
    """The testbed, or what became of a Scheduling, makes going on pointless."""


def places(testbed: Testbed) -> Places:
    """For each node the slots of the first and of the second job: half of the node each, so that the
    two are side by side on it and on no other node."""
    found = []
    for _, slots in sorted(testbed.slotsByNode.items(), key=lambda item: min(
            (slot.position for slot in item[1]), default=0)):
        usable = [slot.position for slot in sorted(slots, key=lambda slot: slot.slotPositionOnNode)
                  if slot.state != "ERROR"]
        half = testbed.numberOfSlotsPerNode // 2
        if half and len(usable) >= 2 * half:
            found.append((usable[:half], usable[half:2 * half]))
    return found


def side_by_side(name: str, testbed: str, pairs, places: Places) -> Scheduling:
    """A Scheduling that runs each of these pairs on a node of its own, all at once."""
    seats = [Seats(job, slots) for pair, place in zip(pairs, places, strict=False)
             for job, slots in zip(pair, place, strict=False)]
    return Scheduling(name=name, testBed=testbed, mode="RELAXED", seats=seats)


def pairs_in(scheduling: Scheduling, places: Places) -> list[tuple[str, ...]]:
    """The pairs of a Scheduling made by side_by_side, also by a process before this one."""
    node = {slot: number for number, place in enumerate(places) for half in place for slot in half}
    on: dict[int, list[str]] = {}
    for seat in scheduling.seats:
        on.setdefault(node.get(seat.slots[0], -1 - seat.slots[0]), []).append(seat.name)
    return [tuple(sorted(jobs)) for jobs in on.values()]


class Own:
    """`interface` and `topics`: InterfaceV1 and Waits, or Interface and Topics of the original."""

    def __init__(self, interface, topics, clock, say, prefix: str = "colocation",
                 chosen: list[str] | None = None):
        self.interface, self.topics, self.clock, self.say = interface, topics, clock, say
        self.prefix, self.chosen = prefix, chosen
        self.last_stamp = 0

    # --- names

    def new_id(self) -> str:
        """Never the same twice, so that a run is known by the name of its Scheduling for ever."""
        self.last_stamp = max(self.last_stamp + 1, self.clock.stamp())
        number, text = self.last_stamp, ""
        while number:
            number, digit = divmod(number, 36)
            text = DIGITS[digit] + text
        return text

    def profile_name(self, number: str) -> str:
        return f"{self.prefix}-profile-{number}"

    def wave_name(self, plan: str, wave: int) -> str:
        return f"{self.prefix}-wave-{plan}-{wave}"

    def is_profile(self, name: str) -> bool:
        return re.fullmatch(re.escape(self.prefix) + "-profile-[0-9a-z]+", name) is not None

    def is_wave(self, name: str) -> bool:
        return re.fullmatch(re.escape(self.prefix) + "-wave-[0-9a-z]+-[0-9]+", name) is not None

    def standing(self) -> list[Scheduling]:
        return [each for each in self.interface.schedulings()
                if self.is_profile(each.name) or self.is_wave(each.name)]

    # --- what there is

    def testbed(self, name: str) -> tuple[Testbed, Places]:
        """The testbed and its places for pairs; Unusable, in words, if there is none."""
        found = self.interface.testbed(name)
        if found is None:
            there = ", ".join(each.name for each in self.interface.testbeds()) or "none"
            raise Unusable(f"there is no testbed {name}; there are: {there}")
        if not (free := places(found)):
            raise Unusable(f"testbed {name} has no node with two usable slots "
                           f"({found.numberOfNodes} nodes, {found.numberOfSlotsPerNode} slots each, "
                           f"state {found.state})")
        return found, free

    def jobs(self) -> tuple[dict[str, Job], dict[str, Job]]:
        """Jobs that can be started now, and the others. Waits a moment for those between two states."""
        deadline = self.clock.now() + SETTLES
        while True:
            found = {name: job for name, job in self.interface.jobs().items()
                     if self.chosen is None or name in self.chosen}
            settling = [name for name, job in found.items() if job.state in SETTLING]
            if not settling or self.clock.now() > deadline:
                break
            self.interface.rest(POLL / 2)
        return ({name: job for name, job in found.items() if job.state in READY},
                {name: job for name, job in found.items() if job.state not in READY})

    # --- one Scheduling

    def run(self, scheduling: Scheduling) -> Scheduling | None:
        """Posts it and waits for its end."""
        self.interface.post(scheduling)
        return self.ended(scheduling.name)

    def ended(self, name: str) -> Scheduling | None:
        """Waits until it has ended; None if somebody deleted it."""
        begun = self.clock.now()
        reminded, seen = begun, False
        with self.topics.subscribe("schedulings", name) as topic:
            while True:
                # Subscribed first, looked at second: what happens in between is told.
                now = self.interface.scheduling(name)
                while now is not None:
                    seen = True
                    if now.state in ENDED:
                        return now
                    told = topic.next(topic.look if topic.live else POLL)
                    if told is None:
                        break
                    action, now = told
                    if action == "DELETED":
                        now = None
                if now is None:
                    if seen or self.clock.now() > begun + APPEARS:
                        if self.interface.scheduling(name) is None:
                            return None
                    self.clock.sleep(0.1)
                elif self.clock.now() > reminded + REMINDER:
                    reminded = self.clock.now()
                    self.say(f"{name} is still in {now.state} after {self.clock.now() - begun:.0f} s"
                             f"{self.others_on(now)}")

    def others_on(self, scheduling: Scheduling) -> str:
        if scheduling.state not in (None, "InitialState", "AcquireState"):
            return ""
        what = self.interface.waits_for(scheduling)
        return f", waiting for {what}" if what else ""

    def let_go(self, scheduling: Scheduling) -> None:
        """Deletes it and waits until its jobs are free again."""
        self.interface.delete(scheduling.name)
        deadline = self.clock.now() + SETTLES
        names = {each.name for each in scheduling.seats}
        with self.topics.subscribe("schedulings", scheduling.name) as topic:
            while self.interface.scheduling(scheduling.name) is not None:
                if self.clock.now() > deadline:
                    self.say(f"{scheduling.name} is still being deleted after {SETTLES:.0f} s")
                    deadline = self.clock.now() + SETTLES
                topic.next(POLL)
        while any(job.state not in READY | FAILED for name, job in self.interface.jobs().items()
                  if name in names):
            if self.clock.now() > deadline:
                self.say(f"jobs of {scheduling.name} are not ready {SETTLES:.0f} s after its end")
                return
            self.interface.rest(POLL / 4)

    def abandon(self) -> list[str]:
        """Deletes what stands, without waiting; the names."""
        names = [each.name for each in self.standing()]
        for name in names:
            self.interface.delete(name)
        return names
