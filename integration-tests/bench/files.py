"""The operators against a recorded cluster (server.py): start-up, memory, the cost of events, starts, failover.

Everything here is the operators' own work and little else, since the server's answers cost next to nothing:
beside each figure is the floor of the same run, the same lists and watches without an operator (floor.cpp).
"""
import contextlib
import pathlib
import statistics
import threading
import time

import requests

import objects
import processes
import starts
from operators import Operator, binaries
from patience import let_pass, rests
from product import OPERATORS as NAMES
from processes import Floor, say, wait
from server import FileServer, total

#: What each operator lists: kind, or kind/label.
KINDS = {"testbed": ("testbeds", "batchjobs", "schedulings", "nodes", "pods"),
         "batchjob": ("batchjobs", "testbeds", "schedulings", "pods/esi.tu-berlin.de/job"),
         "scheduling": ("schedulings", "testbeds", "batchjobs", "pods/esi.tu-berlin.de/testbed")}
#: Beside more objects than these a list takes seconds: everything that waits is given more time.
PATIENCE = 600
WRITES = ("create", "update", "patch", "delete")


def floor_binary():
    return binaries().parent / "integration-tests" / "bench" / "esi-bench-floor"


class Town:
    """A file server with operators beside it. Their leases are long: what a list of 200,000 pods keeps an
    operator busy is measured, and is not to end it on a machine that has other work."""

    def __init__(self, world, folder, worlds, lease=60, flags=None):
        self.world = world
        self.flags = flags or {}
        self.lease = lease
        self.folder = pathlib.Path(folder)
        self.server = FileServer(world, folder, worlds)
        self.api = self.server.api
        self.running = {}

    def start(self, name, replica=0):
        operator = Operator(name, self.server.kubeconfig, self.folder, replica=replica, lease_seconds=self.lease,
                            flags=self.flags.get(name, ()))
        self.running[operator.label] = operator.start()
        return operator

    def start_all(self):
        for name in NAMES:
            self.start(name)
        for operator in self.running.values():
            operator.ready(PATIENCE)
        self.settle()
        return [self.running[name] for name in NAMES]

    def stop(self, label):
        self.running.pop(label).stop()

    def stop_all(self):
        for label in list(self.running):
            self.stop(label)

    def counts(self):
        return ((self.api.get("Testbed", "default", "slots") or {}).get("status") or {}).get("counts") or {}

    def settle(self, quiet=1.5):
        """Waits until all slots are free and no operator has written anything for so long."""
        wait("the slots", lambda: self.counts().get("free") == total(self.world), PATIENCE, pause=0.2)
        seen = []

        def written():
            seen.extend(starts.writes(self.server.log.read()))
            return len(seen)
        rests("the number of writes", written, quiet, pause=0.3)

    def close(self):
        self.stop_all()
        self.server.stop()


@contextlib.contextmanager
def town(world, folder, worlds, lease=60, flags=None):
    found = Town(world, folder, worlds, lease, flags)
    try:
        yield found
    finally:
        found.close()


# --- start-up ---

def bait(place, name, number):
    """Something that the operator has to decide first when it is started; how its first write is known."""
    if name == "testbed":
        ghosts = place.api.call("GET", "/api/v1/namespaces/default/pods",
                                query={"labelSelector": "esi.tu-berlin.de/ghost=true", "limit": "1"})["items"]
        place.server.forget("default/" + ghosts[0]["metadata"]["name"])
    elif name == "batchjob":
        place.api.create("BatchJob", "default", objects.job(f"bait-{number}"))
    else:
        # Suspended: it is taken in, and nothing starts.
        place.api.create("Scheduling", "default", objects.queue(f"bait-{number}", "slots", ["job-0000"], suspend=True))


def start_up(place, name, number):
    """One start of one operator beside both floors, each alone on the machine. Seconds from the exec on."""
    bait(place, name, number)
    place.server.log.read()
    begin = time.time()
    operator = place.start(name)
    pulse = processes.Pulse(operator)
    first, seen = place.server.await_request(
        f"the first decision of esi-{name}",
        lambda each: each.operator == name and each.verb in WRITES and each.resource not in starts.SIDE,
        PATIENCE)
    # The last round of lists counts: what was begun before the lease was held is thrown away.
    lists = {each.resource: each for each in seen
             if each.operator == name and each.verb in ("watchlist", "list") and not each.name}
    listed = max(each.done for each in lists.values()) - begin
    out = {"listed": listed, "decided": first.at - begin, "cpu": processes.cpu_seconds(operator.pid)}
    place.settle(1)
    out["deaf"] = pulse.stop()[-1]
    out["memory"] = processes.memory(operator.pid)
    place.stop(name)
    if name == "scheduling":
        place.api.delete("Scheduling", "default", f"bait-{number}")
        place.start(name)
        wait("the Scheduling to go", lambda: not place.api.get("Scheduling", "default", f"bait-{number}"), PATIENCE)
        place.stop(name)
    for what in ("parse", "keep"):
        place.server.log.read()
        begin = time.time()
        floor = Floor(floor_binary(), place.server.url, what, KINDS[name], place.folder / "floor.log")
        out[what + " objects"] = floor.listed()
        out[what] = time.time() - begin
        lists = [each for each in place.server.log.read() if each.agent == f"floor-{what}"]
        out[what + " listed"] = max(each.done for each in lists) - begin
        out[what + " cpu"] = processes.cpu_seconds(floor.pid)
        out[what + " memory"] = processes.memory(floor.pid)
        floor.stop()
    return out


def start_ups(place, runs):
    """{operator: [start_up]}"""
    found = {name: [] for name in NAMES}
    place.start_all()
    place.stop_all()
    for number in range(runs):
        for name in NAMES:
            say(f"start-up of esi-{name}, {number + 1} of {runs}")
            found[name].append(start_up(place, name, number))
    return found


# --- events ---

def cost_of_events(place, rate, seconds):
    """What changes of pods on testbed nodes cost each operator and the floor, while all of them run."""
    floors = {what: Floor(floor_binary(), place.server.url, what, KINDS["testbed"], place.folder / "floor.log")
              for what in ("parse", "keep")}
    for floor in floors.values():
        floor.listed()
    pids = {**{f"esi-{name}": place.running[name].pid for name in NAMES},
            **{f"floor-{what}": floor.pid for what, floor in floors.items()}}

    def cpu():
        return {name: processes.cpu_seconds(pid) for name, pid in pids.items()}

    # It asks all the time, also while the machine is at rest: what its questions cost is no cost of events.
    pulse = processes.Pulse(place.running["testbed"])
    before, begin = cpu(), time.monotonic()
    let_pass(seconds, "what they use at rest is measured")
    rest = {name: (value - before[name]) / (time.monotonic() - begin) for name, value in cpu().items()}
    found = {"at rest": {"cpu": rest}}
    for kind in ("status", "life"):
        say(f"{rate} events a second ({kind}) for {seconds} s")
        place.server.log.read()
        numbers = {name: processes.scrape(place.running[name]) for name in NAMES}
        before, begin = cpu(), time.monotonic()
        pulse.times.clear()
        events = place.server.feed(kind, rate, seconds)
        let_pass(1, "the last events are handled")
        used, took = cpu(), time.monotonic() - begin
        after = {name: processes.scrape(place.running[name]) for name in NAMES}
        found[kind] = {
            "events": events,
            "cpu": {name: max(0.0, used[name] - before[name] - rest[name] * took) / events for name in pids},
            "busy": {name: (used[name] - before[name]) / took for name in pids},
            **processes.counted(numbers, after),
            "writes": len(starts.writes(place.server.log.read())),
            "livez": processes.quantiles(pulse.times),
        }
    pulse.stop()
    for floor in floors.values():
        floor.stop()
    return found


# --- starts ---

def state(api, kind, name):
    return ((api.get(kind, "default", name) or {}).get("status") or {}).get("state")


def run_by_esi(api, plan, testbed="slots", job="job-0000", slots=2, pause=0.05, total_slots=None):
    """One start to its end. Looks rarely: the log has the times, and looking takes a core's time."""
    api.create("Scheduling", "default", objects.queue(plan, testbed, [job] * slots))
    wait(f"{plan} to complete", lambda: state(api, "Scheduling", plan) == "CompletedState", PATIENCE, pause=pause)
    api.delete("Scheduling", "default", plan)
    wait("the release", lambda: not api.get("Scheduling", "default", plan)
         and state(api, "BatchJob", job) == "ReadyState"
         and (((api.get("Testbed", "default", testbed) or {}).get("status") or {}).get("counts") or {}).get("free")
         == total_slots, PATIENCE, pause=pause)


def run_by_hand(api, name, pause=0.05):
    spec = objects.spark_spec(seconds=0.2)
    spec["executor"] = {"instances": 2, "cores": 1, "coreRequest": "600m", "memory": "1g"}
    api.create("SparkApplication", "default", {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
        "metadata": {"name": name}, "spec": spec})
    wait(f"{name} to complete", lambda: (((api.get("SparkApplication", "default", name) or {}).get("status") or {})
                                         .get("applicationState") or {}).get("state") == "COMPLETED", pause=pause)
    api.delete("SparkApplication", "default", name)
    wait("its end", lambda: not api.list("Pod", "default", labels=f"sparkoperator.k8s.io/app-name={name}"), pause=pause)


def starts_of(place, runs):
    """Starts in a town where the operators run: shares, chain, writes and looks of one start."""
    everything = total(place.world)
    run_by_esi(place.api, "warm-up", total_slots=everything)
    run_by_hand(place.api, "warm-up")
    place.server.log.read()
    numbers = {name: processes.scrape(place.running[name]) for name in NAMES}
    used = {name: processes.cpu_seconds(place.running[name].pid) for name in NAMES}
    seen = []
    for number in range(runs):
        run_by_esi(place.api, f"plan-{number}", total_slots=everything)
        seen += place.server.log.read()
    after = {name: processes.scrape(place.running[name]) for name in NAMES}
    spent = {name: processes.cpu_seconds(place.running[name].pid) - used[name] for name in NAMES}
    for number in range(runs):
        run_by_hand(place.api, f"hand-{number}")
    hand = starts.by_hand(place.server.log.read())
    place.settle(1)
    rest = []
    for number in range(3):
        run_by_esi(place.api, f"single-{number}", slots=1, total_slots=everything)
        rest += place.server.log.read()
    chains = [starts.chain(rest, begin, end) for _, begin, end in starts.plans(rest, "single-")]
    return {
        "shares": starts.shares(seen, "plan-"), "hand": hand,
        "swaps": starts.swaps_in(seen, "plan-"),
        "writes": {name: len(starts.writes(seen, name)) / runs for name in NAMES},
        "chain": [starts.name_of(each) for each in min(chains, key=len)],
        "cpu": {name: spent[name] / runs for name in NAMES},
        **processes.counted(numbers, after, runs),
    }


# --- filling ---

def filling(place):
    """An empty Testbed until each slot has its ghost: writes, and the time of the operator."""
    place.server.log.read()
    operator = place.start("testbed").ready(PATIENCE)
    begin = time.monotonic()
    wait("the slots", lambda: place.counts().get("free") == total(place.world), PATIENCE, pause=0.1)
    took = time.monotonic() - begin
    let_pass(1, "what is written after the last ghost counts, too")
    seen = place.server.log.read()
    mine = starts.writes(seen, "testbed")
    ghosts = total(place.world)
    return {"ghosts": ghosts, "seconds": took, "cpu": processes.cpu_seconds(operator.pid),
            "pod writes": sum(each.resource == "pods" for each in mine),
            "binds": sum(each.sub == "binding" for each in seen),
            "status writes": sum(map(starts.is_report, mine)),
            "node writes": sum(each.resource == "nodes" for each in mine),
            "reconciles": processes.reconciles(processes.scrape(operator)),
            "looks": processes.looks(processes.scrape(operator), "testbed")}


# --- failover ---

def failover(place, runs):
    """Seconds from kill -9 of the leader until its lease is taken, and to the first write of who takes it."""
    found = []
    for number in range(runs):
        place.start("testbed").ready(PATIENCE)
        place.settle(1)
        place.start("testbed", replica=1).ready(PATIENCE)
        bait(place, "testbed", number)
        # The leader mends this; what is broken while it is dead is for the other.
        place.settle(1)
        place.server.log.read()
        begin = time.time()
        place.running.pop("testbed").kill()
        bait(place, "testbed", number)
        lease, seen = place.server.await_request(
            "the lease", lambda each: each.operator == "testbed" and each.resource == "leases" and each.verb == "update"
            and each.code < 300, PATIENCE)
        first, _ = place.server.await_request(
            "the first decision of the follower",
            lambda each: each.operator == "testbed" and each.verb in WRITES
            and each.resource not in starts.SIDE, PATIENCE)
        found.append({"lease": lease.done - begin, "decided": first.at - begin})
        place.stop("testbed-1")
    return found


def memory_of_all(place):
    return {name: processes.memory(place.running[name].pid) for name in NAMES}


def middle(rows, key):
    return statistics.median(row[key] for row in rows)


# --- the interface ---

def rest(place, count=200, at_a_time=8):
    """GET /external/testbeds of esi-scheduling, several at a time: seconds each, bytes, CPU seconds of each."""
    operator = place.running["scheduling"]
    times, lock, size, cut = [], threading.Lock(), [], []

    def ask():
        with requests.Session() as session:
            for _ in range(count // at_a_time):
                begin = time.monotonic()
                try:
                    answer = session.get(operator.url + "/external/testbeds", timeout=PATIENCE)
                    answer.raise_for_status()
                except requests.RequestException:
                    # Of answers that are not taken fast enough the operator keeps only so much.
                    cut.append(begin)
                    continue
                with lock:
                    times.append(time.monotonic() - begin)
                    size.append(len(answer.content))
    used = processes.cpu_seconds(operator.pid)
    crowd = [threading.Thread(target=ask) for _ in range(at_a_time)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    return {"times": times, "bytes": max(size, default=0), "cut": len(cut),
            "cpu": (processes.cpu_seconds(operator.pid) - used) / (len(times) + len(cut))}
