"""What ESI is for, on real processors: two jobs that only compute slow each other down on one node.

Each node of the testbed is confined to 0.6 of a core, of which jobs in neighbouring slots share what is
there. What this shows: a placement decided by slots decides who competes, and the times that ESI
records tell. What it does not show: caches, memory bandwidth, disks and networks of real machines.
"""
import re
import statistics

import pytest

import jobs
from cluster import wait

CORES = 0.6
COMPUTES = (2, 800)     # tasks, millions of darts
ROUNDS = 3


@pytest.fixture
def confined(esi):
    for name in ("testbed-1", "testbed-2"):
        esi[name].confine(CORES)
    yield esi
    for name in ("testbed-1", "testbed-2"):
        esi[name].confine(None)


def seconds(cluster, plan, placed):
    """Longest run time, as ESI recorded it, of jobs placed in these slots at once."""
    jobs.put(cluster, jobs.slots(plan, placed))
    jobs.wait_finished(cluster, plan, patience=600)
    runs = [jobs.last_run(cluster, name) for name in placed]
    assert all(run["outcome"] == "Succeeded" for run in runs), runs
    cluster.api.delete("Scheduling", jobs.NAMESPACE, plan)
    return max(lasted(run) for run in runs)


def lasted(run):
    began, ended = (jobs.moment(run[key]) for key in ("started", "stopped"))
    return (ended - began).total_seconds()


def test_neighbours_take_longer_than_jobs_apart(confined, capsys):
    jobs.put(confined, jobs.spark("left", *COMPUTES), jobs.spark("right", *COMPUTES))
    apart, together = [], []
    for number in range(ROUNDS):
        apart.append(seconds(confined, f"apart-{number}", {"left": [0], "right": [1]}))
        together.append(seconds(confined, f"together-{number}", {"left": [0], "right": [2]}))
    with capsys.disabled():
        print(f"\napart {apart}, together {together} s")
    assert statistics.median(together) > 1.3 * statistics.median(apart)


def test_the_example_scheduler_sees_it_and_places_by_it(confined, capsys):
    """Two jobs that compute, two that mostly wait: measured in pairs, then placed as unlike pairs."""
    for name in ("computes-1", "computes-2"):
        jobs.put(confined, jobs.spark(name, *COMPUTES))
    for name in ("waits-1", "waits-2"):
        jobs.put(confined, jobs.spark(name, 2, 1, 0, 15))
    confined.helm("upgrade", "esi", jobs.ROOT / "helm" / "esi", "--namespace", "esi-system", "--reuse-values",
                  "--set", "exampleScheduler.enabled=true,interface.api.plainTokens=true", "--set-json",
                  'exampleScheduler.args=["--samples=1","--profiler-testbed=real-slots",'
                  '"--scheduler-testbed=real-slots"]')
    try:
        [pod] = wait("the example scheduler", lambda: [
            pod for pod in confined.api.list("Pod", "esi-system")
            if "example-scheduler" in pod["metadata"]["name"]], 60)
        name = pod["metadata"]["name"]
        wait("the example scheduler to end", lambda: confined.api.get("Pod", "esi-system", name)["status"]
             ["phase"] in ("Succeeded", "Failed"), 1500, every=2)
        text = confined.kubectl("logs", "-n", "esi-system", name, "-c", "esi-colocation")
    finally:
        confined.helm("upgrade", "esi", jobs.ROOT / "helm" / "esi", "--namespace", "esi-system",
                      "--reuse-values", "--set", "exampleScheduler.enabled=false")
    with capsys.disabled():
        print("\n" + text)
    beside = {(one, other): float(time) for one, time, other in re.findall(
        r"(\S+) ([0-9.]+) s beside ([^\s,]+)", text)}
    assert beside["computes-1", "computes-2"] > 1.2 * min(beside["computes-1", "waits-1"],
                                                          beside["computes-1", "waits-2"])
    placed = re.findall(r"wave \d+: (\S+) \([^)]*\) \+ (\S+) \(", text)
    assert len(placed) == 2, text
    for pair in placed:
        assert {each.split("-")[0] for each in pair} == {"computes", "waits"}, text
