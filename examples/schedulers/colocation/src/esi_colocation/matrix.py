"""Run times side by side: row = a job, column = the job that ran beside it."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from esi_colocation import notes
from esi_colocation.notes import Samples
from esi_colocation.records import Job


@dataclass(frozen=True)
class Matrix:
    names: list[str]
    samples: dict[tuple[str, str], Samples]

    @classmethod
    def of(cls, jobs: dict[str, Job]) -> Matrix:
        names = sorted(jobs)
        return cls(names, {(name, other): found for name in names
                           for other, found in notes.read(jobs[name]).items()
                           if other in jobs and other != name})

    def mean(self, job: str, other: str) -> float | None:
        found = self.samples.get((job, other))
        return found.mean if found else None

    def count(self, a: str, b: str) -> int:
        """Samples of a pair: what the one of the two has that has fewer."""
        return min(self.samples.get((a, b), Samples()).count, self.samples.get((b, a), Samples()).count)

    def expected(self, job: str, other: str) -> float:
        """Seconds of `job` beside `other`: the measured mean, or else a guess from what is known, the
        job's own mean times how much `other` slows down its neighbours on average. 1 if nothing is."""
        measured = self.mean(job, other)
        if measured is not None:
            return measured
        if not self.rows:
            return 1.0
        return self.rows.get(job, fmean(self.rows.values())) * self.slows.get(other, 1.0)

    @cached_property
    def rows(self) -> dict[str, float]:
        """{job: its mean beside all others}, of the jobs that were measured."""
        found = {name: [mean for other in self.names if (mean := self.mean(name, other)) is not None]
                 for name in self.names}
        return {name: fmean(row) for name, row in found.items() if row}

    @cached_property
    def slows(self) -> dict[str, float]:
        """{job: how much longer than their own mean others take beside it}."""
        found = {other: [mean / self.rows[name] for name in self.rows
                         if self.rows[name] and (mean := self.mean(name, other)) is not None]
                 for other in self.names}
        return {other: fmean(column) for other, column in found.items() if column}

    def alone(self, job: str) -> float:
        """Seconds without a neighbour, which is never measured: at most as long as beside the best."""
        return min((self.expected(job, other) for other in self.names if other != job), default=1.0)

    def text(self) -> str:
        """As a table. A cell is mean seconds (samples), `!n` where n runs failed and none counted."""
        if not self.names:
            return "no jobs"
        cells = [["run time in s (samples)", "beside " + "1", *map(str, range(2, len(self.names) + 1))]]
        for number, name in enumerate(self.names, 1):
            cells.append([f"{number} {name}", *(self.cell(name, other) for other in self.names)])
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        return "\n".join("  ".join([row[0].ljust(widths[0]),
                                    *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
                         for row in cells)

    def cell(self, job: str, other: str) -> str:
        found = self.samples.get((job, other))
        if job == other:
            return "-"
        if found is None or (not found.count and not found.failed):
            return "."
        return f"{found.mean:.1f} ({found.count})" if found.count else f"!{found.failed}"
