"""The profiler: runs pairs of jobs side by side on its testbed and notes how long each took.

A round is one Scheduling, with as many disjoint pairs as the testbed has nodes: those with the fewest
samples. Run times are those of the jobs' events (`stop` - `start`, from their pods); this program's
own clock never counts. A pair of which one job failed is marked, and counts for neither.
"""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from esi_colocation import notes, pairing
from esi_colocation.matrix import Matrix
from esi_colocation.own import Own, Unusable, pairs_in, places, side_by_side
from esi_colocation.pairing import Pair
from esi_colocation.records import Job, Scheduling

GIVE_UP = 3  # a pair, after so many runs in this process that gave no sample
SETTLES = 10.0  # seconds for the events of jobs to be complete when their Scheduling is


@dataclass(frozen=True)
class Outcome:
    pair: Pair
    seconds: tuple[float, ...] | None  # None: no sample
    why: str = ""


def due(matrix: Matrix, names: list[str], target: int, given_up=()) -> list[Pair]:
    """Pairs that still want samples, the fewest first; of equals those that can share a round."""
    found = [(matrix.count(*pair), number, pair) for pair, number in pairing.rounds(names).items()
             if pair not in given_up and (target == 0 or matrix.count(*pair) < target)]
    return [pair for _, _, pair in sorted(found)]


def next_round(pairs: list[Pair], size: int) -> list[Pair]:
    """The first `size` pairs that have no job in common."""
    taken: set[str] = set()
    found = []
    for pair in pairs:
        if len(found) < size and not taken & set(pair):
            found.append(pair)
            taken |= set(pair)
    return found


def outcome(pair: Pair, jobs: dict[str, Job | None], scheduling: str) -> Outcome | None:
    """What the jobs' events say of their runs under that Scheduling; None while one is open."""
    seconds = []
    for name in pair:
        job = jobs.get(name)
        if job is None:
            return Outcome(pair, None, f"{name} is gone")
        runs = job.runs_under(scheduling)
        if not runs or runs[-1].stop is None:
            return None
        if runs[-1].seconds is None:
            return Outcome(pair, None, f"{name} failed")
        seconds.append(runs[-1].seconds)
    return Outcome(pair, tuple(seconds))


class Profiler:
    """`target`: samples wanted for each pair, 0 for ever more of them."""

    def __init__(self, own: Own, testbed: str, target: int):
        self.own, self.testbed, self.target = own, testbed, target
        self.misses: Counter[Pair] = Counter()
        self.begun = own.clock.now()
        self.runs = 0

    def run(self) -> bool:
        """Until nothing is due. False if pairs are left without their samples."""
        own = self.own
        errors = 0
        while True:
            ready, others = own.jobs()
            everyone = ready | others
            matrix = Matrix.of(everyone)
            given_up = {pair for pair, count in self.misses.items() if count >= GIVE_UP}
            pairs = due(matrix, sorted(ready), self.target, given_up)
            if not pairs:
                return self.farewell(matrix, everyone, others)
            _, free = own.testbed(self.testbed)
            chosen = next_round(pairs, len(free))
            plan = side_by_side(own.profile_name(own.new_id()), self.testbed, chosen, free)
            own.say(self.progress(matrix, sorted(ready), pairs, chosen, len(free)))
            ended = own.run(plan)
            if ended is None:
                own.say(f"somebody deleted {plan.name}: its runs do not count")
                continue
            errors = errors + 1 if ended.state == "Error" else 0
            self.runs += 1
            self.harvest(ended)
            own.let_go(ended)
            if errors >= GIVE_UP:
                raise Unusable(f"{errors} Schedulings in a row ended in Error on {self.testbed}: "
                               f"see `kubectl describe sched` and `kubectl describe tb {self.testbed}`")

    def progress(self, matrix, names, pairs, chosen, size) -> str:
        text = ", ".join(" + ".join(pair) for pair in chosen)
        if self.target == 0:
            return f"profiling {text} (at least {min(matrix.count(*pair) for pair in pairs)} samples of each)"
        total = len(names) * (len(names) - 1) // 2 * self.target
        left = sum(self.target - matrix.count(*pair) for pair in pairs)
        per_run = (self.own.clock.now() - self.begun) / self.runs if self.runs else None
        rest = ""
        if per_run:
            seconds = per_run * left / max(1, min(size, len(names) // 2))
            rest = f", about {seconds:.0f} s left" if seconds < 180 else f", about {seconds / 60:.0f} min left"
        return f"profiling {text} ({total - left} of {total} samples{rest})"

    def take_up(self, scheduling: Scheduling) -> None:
        """A Scheduling of an earlier process: waits for its end and counts what is not counted yet."""
        self.own.say(f"taking up {scheduling.name}: {', '.join(each.name for each in scheduling.seats)}")
        ended = self.own.ended(scheduling.name)
        if ended is not None:
            self.harvest(ended)
            self.own.let_go(ended)

    def harvest(self, scheduling: Scheduling) -> list[Outcome]:
        """Writes the samples of an ended Scheduling into the jobs' notes. Safe to do twice."""
        own = self.own
        testbed = own.interface.testbed(scheduling.testBed)
        pairs = [pair for pair in pairs_in(scheduling, places(testbed) if testbed else [])
                 if len(pair) == 2]
        deadline = own.clock.now() + SETTLES
        while True:
            jobs = own.interface.jobs()
            found = {pair: outcome(pair, jobs, scheduling.name) for pair in pairs}
            if None not in found.values() or scheduling.state == "Error" or own.clock.now() > deadline:
                break
            own.clock.sleep(0.25)
        results = []
        for pair, result in found.items():
            if result is None:
                result = Outcome(pair, None, f"no complete record of the run ({scheduling.state})")
            else:
                self.note(jobs, result, scheduling.name)
            results.append(result)
            if result.seconds is None:
                self.misses[pair] += 1
                own.say(f"{' + '.join(pair)}: {result.why}; not counted")
            else:
                own.say(", ".join(f"{name} {taken:.1f} s beside {other}" for name, other, taken in
                                  zip(pair, reversed(pair), result.seconds)))
        return results

    def note(self, jobs: dict[str, Job], result: Outcome, scheduling: str) -> None:
        a, b = result.pair
        for name, other, taken in ((a, b, (result.seconds or (None, None))[0]),
                                   (b, a, (result.seconds or (None, None))[1])):
            if name in jobs:
                self.own.interface.change_notes(jobs[name], lambda job, other=other, taken=taken:
                                                notes.with_run(job, other, scheduling, taken))

    def farewell(self, matrix: Matrix, everyone: dict[str, Job], others: dict[str, Job]) -> bool:
        missing = [pair for pair in pairing.rounds(sorted(everyone))
                   if matrix.count(*pair) < self.target]
        for name, job in others.items():
            if any(name in pair for pair in missing):
                self.own.say(f"left out: {name}, which is in {job.state}{advice(job.state)}")
        for pair in sorted(missing):
            if self.misses[pair] >= GIVE_UP:
                self.own.say(f"gave up on {' + '.join(pair)} after {self.misses[pair]} runs without a sample")
        self.own.say(f"profiling is done: {self.runs} rounds" +
                     (f", {len(missing)} pairs without their {self.target} samples" if missing else ""))
        return not missing


def advice(state: str | None) -> str:
    if state in ("FailedState", "FailedSubmissionState"):
        return " (reset it: kubectl annotate bj NAME esi.tu-berlin.de/reset=\"$(date +%s)\" --overwrite)"
    return " (another Scheduling holds it)"
