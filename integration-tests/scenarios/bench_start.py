"""How long ESI takes, and how much memory and CPU: the numbers of docs/performance.md, as markdown.

    integration-tests/scenarios/bench.sh [--runs 20] [--nodes 500] [--keep FOLDER]

Times are the API server's own, from the stage timestamps of its audit log: an object was created, a pod
was bound, a ghost was deleted when the request that did it was answered. Only the way back of a slot is
read from a watch (recorder.py), as a job pod goes away without a request of its own. "By hand" is the
same SparkApplication, created in the same cluster with nothing of ESI in its way; its runs take turns
with ESI's. Progress goes to stderr, the tables to stdout.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time

import requests

import audit
import judge as judging
import objects
from control_plane import ControlPlane
from operators import Operators
from recording import Recording

LABEL = "bench.esi/slots"
LARGE = "bench.esi/large"
SLOTS = 4  # per node of the large testbed
TICK = os.sysconf("SC_CLK_TCK")


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def wait(what, probe, timeout=60, pause=0.02):
    deadline = time.monotonic() + timeout
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {timeout} s for {what}")
        time.sleep(pause)


# --- what is run ---

def state(api, kind, name):
    return ((api.get(kind, "default", name) or {}).get("status") or {}).get("state")


def all_free(api, testbed, total):
    status = (api.get("Testbed", "default", testbed) or {}).get("status") or {}
    return (status.get("counts") or {}).get("free") == total


def run_by_esi(api, plan, testbed="slots", slots=2, pause=0.1):
    """One start to its end. Looks rarely: the audit log has the times, and looking takes a core's time."""
    api.create("Scheduling", "default", objects.queue(plan, testbed, ["pi", "pi"]))
    wait(f"{plan} to complete", lambda: state(api, "Scheduling", plan) == "CompletedState", pause=pause)
    api.delete("Scheduling", "default", plan)
    wait("the release", lambda: not api.get("Scheduling", "default", plan)
         and state(api, "BatchJob", "pi") == "ReadyState" and all_free(api, testbed, slots), pause=pause)


def run_by_hand(api, name, pause=0.1):
    spec = objects.spark_spec(seconds=0.2)
    spec["executor"] = {"instances": 2, "cores": 1, "coreRequest": "600m", "memory": "1g"}
    api.create("SparkApplication", "default", {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
        "metadata": {"name": name}, "spec": spec})
    wait(f"{name} to complete", lambda: (((api.get("SparkApplication", "default", name) or {}).get("status") or {})
                                         .get("applicationState") or {}).get("state") == "COMPLETED", pause=pause)
    api.delete("SparkApplication", "default", name)
    wait("its end", lambda: not api.list("Pod", "default", labels=f"sparkoperator.k8s.io/app-name={name}"),
         pause=pause)


# --- what the audit log says ---

def executors(requests_, application, begin, end):
    """{pod: (created, bound)} of the application's executors that were created in that time."""
    mine = re.compile(re.escape(application) + r"-[0-9a-f]+-exec-\d+$")
    created = {each.name: each.done for each in requests_ if each.verb == "create" and each.resource == "pods"
               and not each.sub and each.code < 300 and begin <= each.at <= end and mine.match(each.name)}
    bound = {each.name: each.done for each in requests_ if each.resource == "pods" and each.sub == "binding"
             and each.code < 300}
    return {name: (made, bound[name]) for name, made in created.items() if name in bound}


def plans(requests_, prefix):
    """[(name, created, deleted)] of the Schedulings with that prefix: from the answer to the request."""
    made = {each.name: each.done for each in requests_ if each.resource == "schedulings" and not each.sub
            and each.verb == "create" and each.code < 300 and each.name.startswith(prefix)}
    gone = {each.name: each.at for each in requests_ if each.resource == "schedulings" and not each.sub
            and each.verb == "delete" and each.code < 300}
    return sorted(((name, at, gone.get(name, float("inf"))) for name, at in made.items()),
                  key=lambda plan: plan[1])


def shares(requests_, prefix):
    """[(Scheduling -> application, pod created -> bound, Scheduling -> last bound)] in seconds.

    Of the two executors the one counts that waits longer.
    """
    found = []
    for _, begin, end in plans(requests_, prefix):
        made = [each.done for each in requests_ if each.resource == "sparkapplications" and each.verb == "create"
                and each.operator == "batchjob" and not each.dry_run and each.code < 300 and begin <= each.at < end]
        pods = executors(requests_, "pi", begin, end)
        if made and len(pods) == 2:
            found.append((made[0] - begin, max(bound - created for created, bound in pods.values()),
                          max(bound for _, bound in pods.values()) - begin))
    return found


def by_hand(requests_):
    """[(application -> last bound, pod created -> bound)] in seconds."""
    found = []
    for each in requests_:
        if (each.resource, each.verb, each.sub) != ("sparkapplications", "create", "") \
                or each.operator or not each.name.startswith("hand-"):
            continue
        pods = executors(requests_, each.name, each.at, float("inf"))
        if len(pods) == 2:
            found.append((max(bound for _, bound in pods.values()) - each.done,
                          max(bound - created for created, bound in pods.values())))
    return found


def swaps_in(requests_, prefix):
    """[ghost deleted -> job pod bound]: the testbed operator deletes a ghost, then lets that pod in."""
    found = []
    for _, begin, end in plans(requests_, prefix):
        during = [each for each in requests_ if each.resource == "pods" and begin <= each.at <= end]
        gone = sorted(each.done for each in during if each.verb == "delete" and each.operator == "testbed"
                      and "-ghost-" in each.name and each.code < 300)
        bound = sorted(at for _, at in executors(requests_, "pi", begin, end).values())
        if len(gone) == len(bound):
            found += [in_ - out for out, in_ in zip(gone, bound)]
    return found


def count(requests_, begin, end, **wanted):
    return sum(begin <= each.at <= end and all(getattr(each, key) == value for key, value in wanted.items())
               for each in requests_)


# --- what the watch says ---

def swaps_back(file):
    """[job pod gone -> ghost bound] on the one node of the small testbed, from the recording."""
    with open(file, encoding="utf-8") as recording:
        lines = sorted((line for line in judging.read(recording) if line["kind"] == "Pod" and "object" in line),
                       key=lambda line: line["rv"])
    pod_gone, bound, back = {}, set(), []
    for line in lines:
        pod, at = line["object"], line["at"]
        if judging.testbed_of(pod) is None or not judging.is_bound(pod):
            continue
        uid, ghost = pod["metadata"]["uid"], judging.is_ghost(pod)
        notes = judging.annotations(pod)
        # One node: a slot's position is its index.
        place = notes.get(judging.PREFIX + ("index" if ghost else "slot"))
        if line["type"] == "DELETED" or not judging.is_live(pod):
            if uid in bound and not ghost:
                pod_gone[place] = at
            bound.discard(uid)
        elif uid not in bound:
            bound.add(uid)
            if ghost and place in pod_gone:
                back.append(at - pod_gone.pop(place))
    return back


# --- what the processes say ---

def memory(operators):
    """{operator: (resident, of that its own)} in MB (10^6 bytes)."""
    out = {}
    for operator in operators:
        lines = pathlib.Path(f"/proc/{operator.pid}/status").read_text(encoding="ascii").splitlines()
        kib = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        out[operator.name] = (kib["VmRSS"] * 1024 / 1e6, kib["RssAnon"] * 1024 / 1e6)
    return out


def cpu_seconds(operator):
    fields = pathlib.Path(f"/proc/{operator.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def reconciles(operator):
    """{upper bound in seconds: count so far} of the operator's own histogram; inf holds all."""
    text = requests.get(operator.url + "/metrics", timeout=10).text
    name = re.escape(f'controller_runtime_reconcile_time_seconds_bucket{{controller="{operator.name}"')
    return {float(bound.replace("+Inf", "inf")): float(value)
            for bound, value in re.findall(name + r',le="([^"]+)"\} (\S+)', text)}


def quantile(before, after, which):
    """The bucket's upper bound under which that share of the reconciles between the two looks lies."""
    counts = {bound: value - before.get(bound, 0) for bound, value in after.items()}
    for bound in sorted(counts):
        if counts[bound] >= which * counts[float("inf")]:
            return bound, int(counts[float("inf")])
    return float("nan"), 0


class Pulse(threading.Thread):
    """Asks an operator for /livez all the time: how long its one thread is deaf at most."""

    def __init__(self, operator):
        super().__init__(daemon=True)
        self.url = operator.url + "/livez"
        self.times = []
        self.over = threading.Event()
        self.start()

    def run(self):
        with requests.Session() as session:
            while not self.over.wait(0.02):
                begin = time.monotonic()
                session.get(self.url, timeout=60)
                self.times.append(time.monotonic() - begin)

    def stop(self):
        self.over.set()
        self.join()
        return sorted(self.times)


# --- tables ---

def p95(values):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))]


def row(name, values):
    if not values:
        return f"| {name} | - | - | 0 |"
    return f"| {name} | {statistics.median(values) * 1000:.0f} ms | {p95(values) * 1000:.0f} ms | {len(values)} |"


def table_of_starts(requests_, back):
    found, hand = shares(requests_, "plan-"), by_hand(requests_)
    print("\n| one job of two slots | median | p95 | n |\n|---|---|---|---|")
    print(row("**ESI's share of a start** (sum of the next two)", [first + second for first, second, _ in found]))
    print(row("Scheduling created -> application created", [first for first, _, _ in found]))
    print(row("job pod created -> bound, the later of two", [second for _, second, _ in found]))
    print(row("whole start: Scheduling created -> both executors bound", [whole for _, _, whole in found]))
    print(row("by hand: application created -> both executors bound", [whole for whole, _ in hand]))
    print(row("by hand: executor created -> bound, the later of two", [second for _, second in hand]))
    print(row("ghost deleted -> job pod bound", swaps_in(requests_, "plan-")))
    print(row("job pod gone -> ghost bound (seen by a watch)", back))


def grow(api, plane, operators, nodes, log):
    """The large testbed, from nothing to all bound; its table. Returns what the audit log said."""
    total, testbed = SLOTS * nodes, operators["testbed"]
    say(f"adding {nodes} nodes")
    plane.add_nodes("large", nodes, labels=LARGE + "={i}", cpu="4", memory="16Gi")
    time.sleep(5)
    begin, used, known, pulse = time.time(), cpu_seconds(testbed), reconciles(testbed), Pulse(testbed)
    log.read()
    api.create("Testbed", "default", objects.testbed("large", LARGE, slots=SLOTS, isolation="Taint"))
    wait("the large testbed", lambda: all_free(api, "large", total), timeout=600, pause=0.25)
    shown, beats = time.time(), pulse.stop()
    spent = cpu_seconds(testbed) - used
    requests_ = log.read()
    bound = [each.done for each in requests_ if each.sub == "binding" and each.name.startswith("large-ghost-")
             and each.code < 300]
    p99, looks = quantile(known, reconciles(testbed), 0.99)
    writes = count(requests_, begin, shown, operator="testbed", resource="testbeds", sub="status")
    print(f"\n| {nodes} nodes x {SLOTS} slots, isolation Taint | |\n|---|---|")
    print(f"| Testbed created -> last of {len(bound)} ghosts bound | {max(bound) - begin:.1f} s |")
    print(f"| Testbed created -> status shows {total} free slots | {shown - begin:.1f} s |")
    print(f"| CPU time of esi-testbed | {spent:.1f} s |")
    print(f"| writes of the Testbed's status | {writes} |")
    print(f"| reconciles: number, p99 (they include their writes) | {looks}, at most {p99:g} s |")
    print(f"| /livez meanwhile: median, p99, longest | {statistics.median(beats) * 1000:.0f} ms, "
          f"{beats[round(0.99 * (len(beats) - 1))] * 1000:.0f} ms, {beats[-1] * 1000:.0f} ms |")
    time.sleep(5)
    used = cpu_seconds(testbed)
    time.sleep(10)
    print(f"| CPU of esi-testbed at rest afterwards | {(cpu_seconds(testbed) - used) * 10:.1f} % |", flush=True)


def start_in_large(api, nodes, runs, log):
    total = SLOTS * nodes
    for number in range(runs):
        say(f"start {number + 1} of {runs} in the large testbed")
        run_by_esi(api, f"large-plan-{number}", "large", total, pause=0.25)
    found = shares(log.read(), "large-plan-")
    print(f"\n| one job of two slots, in the testbed of {total} slots | median | p95 | n |\n|---|---|---|---|")
    print(row("**ESI's share of a start**", [first + second for first, second, _ in found]))
    print(row("Scheduling created -> application created", [first for first, _, _ in found]))
    print(row("job pod created -> bound, the later of two", [second for _, second, _ in found]), flush=True)


def measure(options, folder, plane, operators):
    api = plane.api
    time.sleep(5)
    idle = memory(operators)
    recording = Recording(plane, folder)
    log = audit.AuditLog(plane.audit_log)
    try:
        plane.add_nodes("bench", 1, labels=LABEL + "={i}")
        api.create("Testbed", "default", objects.testbed("slots", LABEL, isolation="Taint"))
        api.create("BatchJob", "default", objects.job("pi", seconds=0.2))
        wait("the slots", lambda: all_free(api, "slots", 2))
        wait("the job", lambda: state(api, "BatchJob", "pi") == "ReadyState")
        # The first of each finds cold connections and caches; a person's second does not.
        run_by_esi(api, "warm-up")
        run_by_hand(api, "warm-up")
        for number in range(options.runs):
            say(f"start {number + 1} of {options.runs}")
            run_by_esi(api, f"plan-{number}")
            run_by_hand(api, f"hand-{number}")
        violations = recording.catch_up().violations
    finally:
        recording.close()
    table_of_starts(log.read(), swaps_back(recording.file))
    sys.stdout.flush()
    after = memory(operators)
    large = None
    if options.nodes:
        # Without the recorder: its watch of all pods in Python would be measured with it.
        grow(api, plane, operators, options.nodes, log)
        large = memory(operators)
        start_in_large(api, options.nodes, options.large_runs, log)
    log.close()
    shown = f"{options.nodes} nodes x {SLOTS} slots" if large else "(no large testbed)"
    print(f"\n| resident memory in MB (of that not shared with files) | idle | after {options.runs} jobs | {shown} |"
          "\n|---|---|---|---|")
    for name in idle:
        cells = [f"{all_:.1f} ({own:.1f})" for all_, own in
                 (idle[name], after[name], *([large[name]] if large else []))]
        print(f"| esi-{name} | " + " | ".join(cells) + (" |" if large else " | - |"))
    if violations:
        print("\nthe recorder found: " + "; ".join(map(str, violations[:5])))
    return 1 if violations else 0


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=20)
    options.add_argument("--nodes", type=int, default=500, help="nodes of the large testbed, 0 = none")
    options.add_argument("--large-runs", type=int, default=5, help="starts in the large testbed")
    options.add_argument("--keep", type=pathlib.Path, help="keep audit log and logs in this folder")
    options = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="esi-bench-"))
    say("starting a control plane")
    plane, operators = ControlPlane(folder / "cluster"), None
    try:
        plane.up(nodes=1, cpu="32", memory="64Gi")
        plane.install()
        operators = Operators(plane, folder / "operators").start()
        return measure(options, folder, plane, operators)
    finally:
        if operators is not None:
            for fault in operators.stop():
                say(fault)
        if options.keep and (folder / "cluster" / "audit.log").exists():
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "cluster" / "audit.log", options.keep)
            shutil.copytree(folder / "operators", options.keep / "operators", dirs_exist_ok=True)
        plane.down()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
