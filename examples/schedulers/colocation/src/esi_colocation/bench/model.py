"""A model of interference: how long a job takes, depending on who runs beside it.

Each job has some work (its seconds alone on a node), and for each of four resources of a node (CPU,
memory bandwidth, disk, network) a pressure that it puts on it and a sensitivity to pressure by others,
both from 0 to 1. While b runs, a is slowed down by

    1 + sum over resources of sensitivity(a) * pressure(b)

and when b has ended, a goes on at full speed. This is a model, not a measurement of any cluster; what
it has in common with real ones is that jobs of one kind hurt each other more than others do, and not
symmetrically.

Noise: the work of each single run is drawn from +-`noise` around the job's work, evenly, from a seed
that only depends on the job and the number of the run.
"""
from __future__ import annotations

import random
from dataclasses import dataclass

KINDS = ("cpu", "memory", "disk", "network")


@dataclass(frozen=True)
class Work:
    """One job."""
    name: str
    seconds: float
    pressure: tuple[float, ...]
    sensitivity: tuple[float, ...]


@dataclass(frozen=True)
class Model:
    jobs: dict[str, Work]
    noise: float = 0.05
    seed: int = 1

    @classmethod
    def drawn(cls, count: int, seed: int, noise: float = 0.05) -> Model:
        """`count` jobs of 20 to 120 s, each mainly of one kind."""
        chance = random.Random(f"jobs {seed}")
        jobs = {}
        for number in range(1, count + 1):
            kind = chance.randrange(len(KINDS))
            pressure = [chance.uniform(0.0, 0.25) for _ in KINDS]
            sensitivity = [chance.uniform(0.0, 0.25) for _ in KINDS]
            pressure[kind], sensitivity[kind] = chance.uniform(0.5, 1.0), chance.uniform(0.5, 1.0)
            name = f"{KINDS[kind]}-{number:02}"
            jobs[name] = Work(name, chance.uniform(20, 120), tuple(pressure), tuple(sensitivity))
        return cls(jobs, noise, seed)

    def slowdown(self, job: str, beside: list[str]) -> float:
        return 1.0 + sum(own * self.jobs[other].pressure[i] for other in beside
                         for i, own in enumerate(self.jobs[job].sensitivity))

    def truth(self, job: str, other: str) -> float:
        """Seconds of `job` when both start together, without noise."""
        slow, other_slow = self.slowdown(job, [other]), self.slowdown(other, [job])
        end, other_end = self.jobs[job].seconds * slow, self.jobs[other].seconds * other_slow
        if end <= other_end:
            return end
        return other_end + self.jobs[job].seconds - other_end / slow

    def work_of_run(self, job: str, run: int) -> float:
        chance = random.Random(f"{self.seed} {job} {run}")
        return self.jobs[job].seconds * (1.0 + chance.uniform(-self.noise, self.noise))
