"""The samples, kept where they belong: in the notes of the job that they are about.

Each job has, for each job that it ran beside, a line in the format of the Java original:

    externalScheduler.profiler    [{"spark-job-2": "24 (16)"}, ...]    mean seconds (samples)

and, as a mean in whole seconds cannot be carried on exactly, a second one with the sum:

    externalScheduler.colocation  [{"job": "spark-job-2", "seconds": "387.412", "samples": "16",
                                    "failed": "1", "last": "colocation-profile-t2k9"}, ...]

`last` names the Scheduling that was counted last. It is written in the same PUT as the sample, so a
program that was killed half-way counts a run neither twice nor not at all. Where the two lines
contradict each other, somebody else has written `profiler`, and that line counts.
"""
from __future__ import annotations

import re
from dataclasses import dataclass, replace

from esi_colocation.records import Job, Notes

PROFILER, DETAIL = "profiler", "colocation"
LINE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*\((\d+)\)\s*")


@dataclass(frozen=True)
class Samples:
    """Runs of one job beside one other."""
    seconds: float = 0.0  # their sum
    count: int = 0
    failed: int = 0  # runs of the pair that did not count, as one of the two failed
    last: str = ""

    @property
    def mean(self) -> float | None:
        return self.seconds / self.count if self.count else None

    @property
    def line(self) -> str:
        return f"{int(self.seconds / self.count + 0.5)} ({self.count})"


def read(job: Job) -> dict[str, Samples]:
    """{other job: samples}."""
    found: dict[str, Samples] = {}
    for each in job.notes.get(DETAIL) or []:
        try:
            samples = Samples(float(each["seconds"]), int(each["samples"]),
                              int(each.get("failed", "0")), each.get("last", ""))
        except (KeyError, ValueError):
            continue  # not ours
        if each.get("job") and samples.seconds >= 0 and samples.count >= 0:
            found[each["job"]] = samples
    lines = {other: text for each in job.notes.get(PROFILER) or [] for other, text in each.items()}
    for other, text in lines.items():
        match = LINE.fullmatch(text)
        known = found.get(other, Samples())
        if match and (known.count == 0 or known.line != text.strip()):
            mean, count = float(match[1]), int(match[2])
            found[other] = replace(known, seconds=mean * count, count=count)
    for other in found:
        if other not in lines:  # somebody took the line away: start again
            found[other] = replace(found[other], seconds=0.0, count=0)
    return found


def write(notes: Notes, samples: dict[str, Samples]) -> Notes:
    """The notes with these samples; everything else in them stays."""
    return {**notes,
            PROFILER: [{other: each.line} for other, each in sorted(samples.items()) if each.count],
            DETAIL: [{"job": other, "seconds": f"{each.seconds:.3f}", "samples": str(each.count),
                      "failed": str(each.failed), "last": each.last}
                     for other, each in sorted(samples.items())]}


def with_run(job: Job, other: str, scheduling: str, seconds: float | None) -> Notes | None:
    """The job's notes after a run beside `other`; `seconds` None marks one that failed. None if this
    run is in them already."""
    samples = read(job)
    known = samples.get(other, Samples())
    if known.last == scheduling:
        return None
    if seconds is None:
        samples[other] = replace(known, failed=known.failed + 1, last=scheduling)
    else:
        samples[other] = replace(known, seconds=known.seconds + seconds, count=known.count + 1,
                                 last=scheduling)
    return write(job.notes, samples)
