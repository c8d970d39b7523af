"""How long ESI takes, and how much memory: the numbers of docs/performance.md, as a markdown table.

    integration-tests/scenarios/bench.sh [--runs 20] [--nodes 500]

Times of requests are the API server's own, from its audit log (stage ResponseComplete); times of swaps
are those at which a watch showed them (recorder.py). "By hand" is the same SparkApplication, created
with the API by nobody's help, on the same cluster.
"""
import argparse
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

import audit
import judge as judging
import objects
from control_plane import ControlPlane
from operators import Operators
from recording import Recording

LABEL = "bench.esi/slots"


def wait(what, probe, timeout=60):
    deadline = time.monotonic() + timeout
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {timeout} s for {what}")
        time.sleep(0.02)


def state(api, kind, name):
    return ((api.get(kind, "default", name) or {}).get("status") or {}).get("state")


def all_free(api, testbed, total):
    status = (api.get("Testbed", "default", testbed) or {}).get("status") or {}
    return (status.get("counts") or {}).get("free") == total


def run_by_esi(api, number):
    plan = f"plan-{number}"
    api.create("Scheduling", "default", objects.queue(plan, "slots", ["pi", "pi"]))
    wait(f"{plan} to complete", lambda: state(api, "Scheduling", plan) == "CompletedState")
    api.delete("Scheduling", "default", plan)
    wait("the release", lambda: not api.get("Scheduling", "default", plan)
         and state(api, "BatchJob", "pi") == "ReadyState" and all_free(api, "slots", 2))


def run_by_hand(api, number):
    name = f"hand-{number}"
    spec = objects.spark_spec(seconds=0.2)
    spec["executor"] = {"instances": 2, "cores": 1, "coreRequest": "600m", "memory": "1g"}
    api.create("SparkApplication", "default", {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
        "metadata": {"name": name}, "spec": spec})
    wait(f"{name} to complete", lambda: (((api.get("SparkApplication", "default", name) or {}).get("status") or {})
                                         .get("applicationState") or {}).get("state") == "COMPLETED")
    api.delete("SparkApplication", "default", name)
    wait("its end", lambda: not api.list("Pod", "default", labels=f"sparkoperator.k8s.io/app-name={name}"))


def executors(requests_, begin, end):
    """{pod: (created, bound)} of executors whose creation lies in that time."""
    created = {each.name: each.done for each in requests_ if each.verb == "create" and each.resource == "pods"
               and not each.sub and "-exec-" in each.name and begin <= each.at <= end}
    bound = {each.name: each.done for each in requests_ if each.resource == "pods" and each.sub == "binding"
             and each.code < 300}
    return {name: (made, bound[name]) for name, made in created.items() if name in bound}


def shares(requests_):
    """[(Scheduling -> application, pod created -> bound, Scheduling -> last bound)] in seconds."""
    found = []
    ours = sorted((each for each in requests_ if each.resource == "schedulings" and each.verb == "create"),
                  key=lambda each: each.done)
    for place, plan in enumerate(ours):
        end = ours[place + 1].at if place + 1 < len(ours) else float("inf")
        made = [each.done for each in requests_ if each.resource == "sparkapplications" and each.verb == "create"
                and each.operator == "batchjob" and not each.dry_run and plan.at <= each.at < end]
        pods = executors(requests_, plan.at, end)
        if made and len(pods) == 2:
            swap = max(bound - created for created, bound in pods.values())
            found.append((made[0] - plan.done, swap, max(bound for _, bound in pods.values()) - plan.done))
    return found


def by_hand(requests_):
    found = []
    ours = sorted((each for each in requests_ if each.resource == "sparkapplications" and each.verb == "create"
                   and each.operator is None and each.name.startswith("hand-")), key=lambda each: each.done)
    for place, application in enumerate(ours):
        end = ours[place + 1].at if place + 1 < len(ours) else float("inf")
        pods = {name: times for name, times in executors(requests_, application.at, end).items()
                if name.startswith(application.name)}
        if len(pods) == 2:
            found.append(max(bound for _, bound in pods.values()) - application.done)
    return found


def swaps(file):
    """([ghost gone -> job pod bound], [job pod gone -> ghost bound]) from the recording."""
    with open(file, encoding="utf-8") as recording:
        lines = sorted((line for line in judging.read(recording) if line["kind"] == "Pod" and "object" in line),
                       key=lambda line: line["rv"])
    place_of, ghost_gone, pod_gone, bound, into, back = {}, {}, {}, set(), [], []
    for line in lines:
        pod, at = line["object"], line["at"]
        if judging.testbed_of(pod) is None or not judging.is_bound(pod):
            continue
        uid, ghost = pod["metadata"]["uid"], judging.is_ghost(pod)
        notes = judging.annotations(pod)
        # One node: a slot's position is its index.
        place = notes.get(judging.PREFIX + ("index" if ghost else "slot"))
        if line["type"] == "DELETED" or not judging.is_live(pod):
            if uid in bound:
                bound.discard(uid)
                (ghost_gone if ghost else pod_gone)[place] = at
        elif uid not in bound:
            bound.add(uid)
            place_of[uid] = place
            if ghost and place in pod_gone:
                back.append(at - pod_gone.pop(place))
            if not ghost and place in ghost_gone:
                into.append(at - ghost_gone.pop(place))
    return into, back


def row(name, values):
    if not values:
        return f"| {name} | - | - | 0 |"
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]
    return f"| {name} | {statistics.median(ordered) * 1000:.0f} ms | {p95 * 1000:.0f} ms | {len(ordered)} |"


def memory(operators):
    return {operator.name: operator.resident_kib() / 1024 for operator in operators}


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--nodes", type=int, default=500, help="nodes of the large testbed, 0 = none")
    options = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="esi-bench-"))
    plane = ControlPlane(folder / "cluster").up(nodes=1, cpu="32", memory="64Gi")
    operators = recording = None
    try:
        plane.install()
        operators = Operators(plane, folder / "operators").start()
        recording = Recording(plane, folder)
        api = plane.api
        time.sleep(2)
        idle = memory(operators)
        plane.add_nodes("bench", 1, labels=f"{LABEL}={{i}}")
        api.create("Testbed", "default", objects.testbed("slots", LABEL, isolation="Taint"))
        api.create("BatchJob", "default", objects.job("pi", seconds=0.2))
        wait("the slots", lambda: all_free(api, "slots", 2))
        wait("the job", lambda: state(api, "BatchJob", "pi") == "ReadyState")
        for number in range(options.runs):
            print(f"run {number + 1} of {options.runs}", file=sys.stderr)
            run_by_esi(api, number)
            run_by_hand(api, number)
        recording.catch_up()
        log = audit.AuditLog(plane.audit_log)
        requests_ = log.read()
        log.close()
        found = shares(requests_)
        into, back = swaps(recording.file)
        print("| | median | p95 | n |\n|---|---|---|---|")
        print(row("ESI's share of a start", [first + second for first, second, _ in found]))
        print(row("- Scheduling created -> application created", [first for first, _, _ in found]))
        print(row("- job pod created -> bound", [second for _, second, _ in found]))
        print(row("whole: Scheduling created -> last executor bound", [whole for _, _, whole in found]))
        print(row("by hand: application created -> last executor bound", by_hand(requests_)))
        print(row("ghost gone -> job pod bound", into))
        print(row("job pod gone -> ghost bound", back))
        large = None
        if options.nodes:
            plane.add_nodes("large", options.nodes, labels="bench.esi/large={i}", cpu="4", memory="16Gi")
            begin = time.monotonic()
            api.create("Testbed", "default", objects.testbed("large", "bench.esi/large", slots=4))
            wait("the large testbed", lambda: all_free(api, "large", 4 * options.nodes), timeout=300)
            print(f"\n{4 * options.nodes} ghosts on {options.nodes} nodes: bound and shown free in "
                  f"{time.monotonic() - begin:.1f} s")
            time.sleep(5)
            large = memory(operators)
        print(f"\n| resident memory | idle | {options.nodes} nodes x 4 slots |\n|---|---|---|")
        for name, amount in idle.items():
            print(f"| esi-{name} | {amount:.1f} MiB | {f'{large[name]:.1f} MiB' if large else '-'} |")
        if recording.catch_up().violations:
            print("\nthe recorder found: " + "; ".join(map(str, recording.judge.violations[:5])))
            return 1
        return 0
    finally:
        if recording is not None:
            recording.close()
        if operators is not None:
            operators.stop()
        plane.down()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
