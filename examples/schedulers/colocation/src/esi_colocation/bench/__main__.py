"""esi-colocation-bench: what placing jobs by measured pairs is worth, on the model of interference.

For each seed a set of jobs is drawn, then this package's own profiler and scheduler run against a
simulated ESI in virtual time. The same jobs on the same testbed are then placed at random many times,
and once each way as the Java original did it (jobs in random order, each with the best partner left).
"""
from __future__ import annotations

import argparse
import math
import random
import sys
from statistics import fmean

from esi_colocation import pairing
from esi_colocation.bench.model import Model
from esi_colocation.bench.simulated import Simulated
from esi_colocation.interface import Interface
from esi_colocation.matrix import Matrix
from esi_colocation.own import Own
from esi_colocation.profiler import Profiler
from esi_colocation.scheduler import Plan, Scheduler, run_of

TESTBED = "scheduler-slots"


class Room:
    """One simulated installation, and this program pointed at it."""

    def __init__(self, model: Model, nodes: int, seed: int = 1):
        self.world = Simulated(model, {"profiler-slots": (nodes, 2), TESTBED: (nodes, 2)}, seed)
        interface = Interface("http://esi", self.world.clock, lambda text: None, session=self.world.session())
        self.own = Own(interface, self.world.topics(), self.world.clock, lambda text: None)
        self.scheduler = Scheduler(self.own, TESTBED)

    def profile(self, samples: int) -> Matrix:
        if not Profiler(self.own, "profiler-slots", samples).run():
            raise RuntimeError("profiling did not end well")
        return Matrix.of(self.own.jobs()[0])

    def place(self, waves: list[list[pairing.Pair]]) -> tuple[float, float]:
        """(sum of run times, makespan) of these waves, by the jobs' events."""
        plan = Plan(self.own.new_id(), TESTBED, waves)
        for number, wave in enumerate(waves, 1):
            self.scheduler.run_wave(plan, number, wave)
        jobs = self.own.interface.jobs()
        runs = [run for number in range(1, len(waves) + 1) for name in plan.jobs
                if (run := run_of(jobs[name], self.own.wave_name(plan.id, number)))]
        if len(runs) != len(plan.jobs):
            raise RuntimeError("a job did not run")
        took = max(run.stop for run in runs) - min(run.start for run in runs)
        return sum(run.seconds for run in runs), took.total_seconds()


def in_waves(pairs: list[pairing.Pair], nodes: int) -> list[list[pairing.Pair]]:
    return [pairs[at:at + nodes] for at in range(0, len(pairs), nodes)]


def at_random(names: list[str], chance: random.Random) -> list[pairing.Pair]:
    mixed = chance.sample(names, len(names))
    return [tuple(mixed[at:at + 2]) for at in range(0, len(mixed), 2)]


def greedy(matrix: Matrix, names: list[str], chance: random.Random) -> list[pairing.Pair]:
    left, found = chance.sample(names, len(names)), []
    while left:
        job = left.pop()
        partner = min(left, key=lambda other: matrix.expected(job, other), default=None)
        if partner:
            left.remove(partner)
        found.append((job, partner) if partner else (job,))
    return found


def one_seed(seed: int, jobs: int, nodes: int, samples: int, pairings: int) -> dict[str, float]:
    model = Model.drawn(jobs, seed)
    room = Room(model, nodes, seed)
    matrix = room.profile(samples)
    profiled = room.world.clock.now()
    names = sorted(model.jobs)
    chance = random.Random(f"pairings {seed}")
    # Each measured as an installation of its own, so that noise and start times do not depend on what ran before.
    best = Room(model, nodes, seed).place(pairing.waves(matrix, pairing.pairs(matrix, names), nodes))
    blind = [Room(model, nodes, seed).place(in_waves(at_random(names, chance), nodes)) for _ in range(pairings)]
    like_original = [Room(model, nodes, seed).place(in_waves(greedy(matrix, names, chance), nodes))
                     for _ in range(max(1, pairings // 10))]
    errors = [abs(matrix.mean(a, b) - model.truth(a, b)) / model.truth(a, b)
              for a in names for b in names if a != b]
    return {
        "run time": best[0] / fmean(each[0] for each in blind),
        "makespan": best[1] / fmean(each[1] for each in blind),
        "greedy run time": fmean(each[0] for each in like_original) / fmean(each[0] for each in blind),
        "greedy makespan": fmean(each[1] for each in like_original) / fmean(each[1] for each in blind),
        "better": sum(each[0] < best[0] for each in blind) / len(blind),
        "mean error": fmean(errors), "largest error": max(errors), "profiling": profiled / 60}


def program(argv: list[str] | None = None) -> int:
    new = argparse.ArgumentParser(prog="esi-colocation-bench", description=__doc__.split("\n\n")[0])
    new.add_argument("--seeds", type=int, default=20, help="sets of jobs (default: %(default)s)")
    new.add_argument("--jobs", type=int, default=12, help="jobs in a set (default: %(default)s)")
    new.add_argument("--nodes", type=int, default=3, help="nodes of each testbed (default: %(default)s)")
    new.add_argument("--samples", type=int, default=3, help="samples of each pair (default: %(default)s)")
    new.add_argument("--pairings", type=int, default=200, help="random pairings of a set (default: %(default)s)")
    options = new.parse_args(argv)
    rows = []
    print("seed  run time  makespan  random pairings with less run time")
    for seed in range(1, options.seeds + 1):
        row = one_seed(seed, options.jobs, options.nodes, options.samples, options.pairings)
        rows.append(row)
        print(f"{seed:4}  {row['run time']:8.3f}  {row['makespan']:8.3f}  {row['better']:.1%}", flush=True)

    def mean(what):
        return math.exp(fmean(math.log(row[what]) for row in rows))
    print(f"\n{options.jobs} jobs on {options.nodes} nodes, {options.seeds} seeds, "
          f"{options.pairings} random pairings each; ratios to their mean, geometric means over the seeds:")
    print(f"  by matching   run time {mean('run time'):.3f}   makespan {mean('makespan'):.3f}")
    print(f"  by greed      run time {mean('greedy run time'):.3f}   makespan {mean('greedy makespan'):.3f}"
          "   (the original's way)")
    print(f"  random pairings with less run time than the matching: {fmean(row['better'] for row in rows):.2%}")
    print(f"  measured against the model's truth ({options.samples} samples): mean error "
          f"{fmean(row['mean error'] for row in rows):.1%}, largest {max(row['largest error'] for row in rows):.1%};"
          f" profiling takes {fmean(row['profiling'] for row in rows):.0f} min of the cluster")
    return 0


if __name__ == "__main__":
    sys.exit(program())
