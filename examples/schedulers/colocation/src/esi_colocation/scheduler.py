"""The scheduler: makes a plan of waves, and runs it.

The plan is written into the notes of one of its jobs (the first by name) before anything of it is
started, in one PUT. So a process that is killed at any moment leaves either no plan or a whole one,
and which of its jobs have run is in their own events: the next process goes on where it stopped.

    externalScheduler.PREFIX-plan  [{"plan": "t2ka", "testbed": "scheduler-slots"},
                                    {"wave": "1", "jobs": "spark-job-1 spark-job-4"}, ...]
"""
from __future__ import annotations

from dataclasses import dataclass

from esi_colocation import pairing
from esi_colocation.matrix import Matrix
from esi_colocation.own import FAILED, Own, Unusable, side_by_side
from esi_colocation.pairing import Pair
from esi_colocation.profiler import advice
from esi_colocation.records import Event, Job, Notes, Scheduling

TRIES = 3  # of a wave that ends in Error or is deleted by somebody


@dataclass(frozen=True)
class Plan:
    id: str
    testbed: str
    waves: list[list[Pair]]

    @property
    def jobs(self) -> list[str]:
        return sorted(name for wave in self.waves for pair in wave for name in pair)

    def lines(self) -> list[dict[str, str]]:
        return [{"plan": self.id, "testbed": self.testbed},
                *({"wave": str(number), "jobs": " ".join(pair)}
                  for number, wave in enumerate(self.waves, 1) for pair in wave)]

    @classmethod
    def read(cls, lines: list[dict[str, str]]) -> Plan | None:
        try:
            waves: dict[int, list[Pair]] = {}
            for line in lines[1:]:
                waves.setdefault(int(line["wave"]), []).append(tuple(line["jobs"].split()))
            return cls(lines[0]["plan"], lines[0]["testbed"], [waves[number] for number in sorted(waves)])
        except (KeyError, ValueError, IndexError):
            return None  # somebody wrote something else there


class Scheduler:
    def __init__(self, own: Own, testbed: str):
        self.own, self.testbed = own, testbed
        self.key = f"{own.prefix}-plan"

    # --- the plan

    def make(self, ready: dict[str, Job], everyone: dict[str, Job], number: str) -> Plan:
        _, free = self.own.testbed(self.testbed)
        matrix = Matrix.of(everyone)
        pairs = pairing.pairs(matrix, sorted(ready))
        return Plan(number, self.testbed, pairing.waves(matrix, pairs, len(free)))

    def unfinished(self) -> tuple[Plan, str] | None:
        """The newest plan in the notes, and the job that has it."""
        found = [(plan, name) for name, job in self.own.interface.jobs().items()
                 if (plan := Plan.read(job.notes.get(self.key) or []))]
        return max(found, key=lambda each: (len(each[0].id), each[0].id), default=None)

    def will_take_up(self, wave: str) -> bool:
        """Whether `run` will come to this wave."""
        found = self.unfinished()
        return found is not None and wave in {self.own.wave_name(found[0].id, number)
                                              for number in range(1, len(found[0].waves) + 1)}

    def keep(self, plan: Plan, jobs: dict[str, Job]) -> None:
        self.own.interface.change_notes(jobs[plan.jobs[0]], lambda job: {**job.notes, self.key: plan.lines()})

    def forget(self) -> None:
        """Takes every plan out of the notes."""
        for job in self.own.interface.jobs().values():
            if self.key in job.notes:
                self.own.interface.change_notes(job, self.without_plan)

    def without_plan(self, job: Job) -> Notes:
        return {key: lines for key, lines in job.notes.items() if key != self.key}

    # --- running it

    def run(self) -> bool:
        """All ready jobs once, or what an earlier process left of a plan. False if a job failed."""
        own = self.own
        if found := self.unfinished():
            plan, where = found
            own.say(f"taking up plan {plan.id} (in the notes of {where})")
        else:
            ready, others = own.jobs()
            for name, job in others.items():
                own.say(f"left out: {name}, which is in {job.state}{advice(job.state)}")
            if not ready:
                own.say("no job is ready: nothing to place")
                return not others
            plan = self.make(ready, ready | others, own.new_id())
            own.say(describe(plan, Matrix.of(ready | others)))
            self.keep(plan, ready)
        for number, wave in enumerate(plan.waves, 1):
            self.run_wave(plan, number, wave)
        good = self.report(plan)
        self.forget()
        return good

    def run_wave(self, plan: Plan, number: int, wave: list[Pair]) -> None:
        own = self.own
        name, errors = own.wave_name(plan.id, number), 0
        while True:
            if own.interface.scheduling(name):  # of an earlier process
                own.say(f"taking up {name}")
                ended = own.ended(name)
                if ended is not None:
                    own.let_go(ended)
            if not (left := self.left(wave, name)):
                return
            if errors >= TRIES:
                raise Unusable(f"{name} did not run after {TRIES} tries: see `kubectl describe sched` and "
                               f"`kubectl describe tb {plan.testbed}`; the plan stays in the notes")
            _, free = own.testbed(plan.testbed)
            chosen = left[:len(free)]  # all of them, unless nodes were lost since the plan was made
            own.say(f"wave {number} of {len(plan.waves)}: {', '.join(' + '.join(pair) for pair in chosen)}")
            ended = own.run(side_by_side(name, plan.testbed, chosen, free))
            if ended is None:
                own.say(f"somebody deleted {name}")
            else:
                own.let_go(ended)
            errors = errors + 1 if self.left(chosen, name) else 0

    def take_up(self, scheduling: Scheduling) -> None:
        """A wave of an earlier process that `run` will not come to: it only has to end."""
        self.own.say(f"taking up {scheduling.name}: {', '.join(each.name for each in scheduling.seats)}")
        ended = self.own.ended(scheduling.name)
        if ended is not None:
            self.own.let_go(ended)

    def left(self, wave: list[Pair], scheduling: str) -> list[Pair]:
        """What of the wave has not run yet. A job that failed, or is gone, is not waited for."""
        jobs = self.own.interface.jobs()
        pairs = [tuple(name for name in pair if name in jobs and jobs[name].state not in FAILED
                       and run_of(jobs[name], scheduling) is None) for pair in wave]
        return [pair for pair in pairs if pair]

    def report(self, plan: Plan) -> bool:
        """Says what became of each job; True if all of them ran."""
        own, jobs = self.own, self.own.interface.jobs()
        matrix, runs, failed = Matrix.of(jobs), [], []
        for number, wave in enumerate(plan.waves, 1):
            for pair in wave:
                expected = pairing.seconds(matrix, pair)
                for name in pair:
                    run = run_of(jobs[name], own.wave_name(plan.id, number)) if name in jobs else None
                    if run is None:
                        failed.append(name)
                        own.say(f"  {name}: failed or gone")
                        continue
                    runs.append(run)
                    beside = next((other for other in pair if other != name), "nobody")
                    own.say(f"  {name}: {run.seconds:.1f} s beside {beside} (expected {expected[name]:.1f} s)")
        if runs:
            took = max(run.stop for run in runs) - min(run.start for run in runs)
            own.say(f"plan {plan.id} is done: {len(runs)} jobs, {sum(run.seconds for run in runs):.1f} s of "
                    f"run time in all, {took.total_seconds():.1f} s from the first start to the last end")
        if failed:
            own.say(f"{len(failed)} jobs did not run to their end: {', '.join(failed)}")
        return not failed


def run_of(job: Job, scheduling: str) -> Event | None:
    """The job's run under that Scheduling, if it ended well."""
    return next((run for run in job.runs_under(scheduling) if run.seconds is not None), None)


def describe(plan: Plan, matrix: Matrix) -> str:
    lines = [f"plan {plan.id} on {plan.testbed}:"]
    for number, wave in enumerate(plan.waves, 1):
        for pair in wave:
            expected = pairing.seconds(matrix, pair)
            guessed = len(pair) == 1 or any(matrix.mean(*pair[::step]) is None for step in (1, -1))
            lines.append(f"  wave {number}: " + " + ".join(f"{name} ({expected[name]:.1f} s)" for name in pair)
                         + (" (estimated)" if guessed else ""))
    return "\n".join(lines)
