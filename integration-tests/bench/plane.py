"""Starts and filling on a real control plane, beside their floors: the same application by hand, and the bare
kube-scheduler that binds as many pinned pods.

Times are the API server's own, from the stage timestamps of its audit log. Only the way back of a slot is read
from a watch (recorder.py), as a job pod goes away without a request of its own.
"""
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

import urllib3

import audit
import judge as judging
import objects
import processes
import starts
from api import ApiException
from control_plane import ControlPlane
from files import floor_binary, run_by_esi, run_by_hand, state
from operators import Operators, lease_flags
from patience import let_pass
from processes import Pulse, say, wait
from recording import Recording

#: slots: (nodes, slots of each). The first is the small size.
SIZES = {"6": (3, 2), "2,000": (500, 4), "10,000": (1000, 10)}
LABEL = "bench.esi/slots"


def counts(api, testbed):
    return ((api.get("Testbed", "default", testbed) or {}).get("status") or {}).get("counts") or {}


def swaps_back(file):
    """[job pod gone -> ghost bound], by node and index, from the recording."""
    with open(file, encoding="utf-8") as recording:
        lines = sorted((line for line in judging.read(recording) if line["kind"] == "Pod" and "object" in line),
                       key=lambda line: line["rv"])
    gone, bound, place_of, back = [], set(), {}, []
    for line in lines:
        pod, at = line["object"], line["at"]
        if judging.testbed_of(pod) is None or not judging.is_bound(pod):
            continue
        uid, ghost = pod["metadata"]["uid"], judging.is_ghost(pod)
        node = pod["spec"]["nodeName"]
        if line["type"] == "DELETED" or not judging.is_live(pod):
            if uid in bound and not ghost:
                gone.append((node, at))
            bound.discard(uid)
        elif uid not in bound:
            bound.add(uid)
            # Which slot of the node does not matter: as many ghosts come back as pods have gone.
            first = next((each for each in gone if ghost and each[0] == node), None)
            if first:
                gone.remove(first)
                back.append(at - first[1])
    return back


class Plane:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.plane = ControlPlane(self.folder / "cluster")
        self.operators = None
        self.log = None

    def up(self, nodes=0):
        self.plane.up(nodes=1 + nodes, cpu="32", memory="64Gi")
        self.plane.install()
        self.api = self.plane.api
        self.operators = Operators(self.plane, self.folder / "operators")
        for operator in self.operators:
            # Nobody follows them here, and a busy machine is not to end them.
            operator.flags = lease_flags(60)
        self.operators.start()
        self.log = audit.AuditLog(self.plane.audit_log)
        return self

    def down(self, keep=None):
        if self.log is not None:
            self.log.close()
        if self.operators is not None:
            for fault in self.operators.stop():
                say(fault)
        if keep and (self.folder / "cluster" / "audit.log").exists():
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.folder / "cluster" / "audit.log", keep)
            shutil.copytree(self.folder / "operators", keep / "operators", dirs_exist_ok=True)
        self.plane.down()

    def memory(self):
        return {operator.name: processes.memory(operator.pid) for operator in self.operators}


# --- starts ---

def add_small(place):
    nodes, slots = SIZES["6"]
    place.plane.add_nodes("small", nodes, labels=LABEL + "={i}")
    place.api.create("Testbed", "default", objects.testbed("slots", LABEL, slots=slots, isolation="Taint"))
    place.api.create("BatchJob", "default", objects.job("pi", seconds=0.2))
    wait("the slots", lambda: counts(place.api, "slots").get("free") == nodes * slots)
    wait("the job", lambda: state(place.api, "BatchJob", "pi") == "ReadyState")


def small_starts(place, runs, records=True):
    """Starts on six slots, in turn with the same application by hand."""
    api, slots = place.api, 6
    recording = Recording(place.plane, place.folder) if records else None
    try:
        # The first of each finds cold connections and caches; a person's second does not.
        run_by_esi(api, "warm-up", job="pi", total_slots=slots, pause=0.1)
        run_by_hand(api, "warm-up", pause=0.1)
        place.log.read()
        for number in range(runs):
            say(f"start {number + 1} of {runs}")
            run_by_esi(api, f"plan-{number}", job="pi", total_slots=slots, pause=0.1)
            run_by_hand(api, f"hand-{number}", pause=0.1)
        for number in range(3):
            run_by_esi(api, f"single-{number}", job="pi", slots=1, total_slots=slots, pause=0.1)
        violations = list(map(str, recording.catch_up().violations)) if recording else []
    finally:
        if recording:
            recording.close()
    seen = place.log.read()
    chains = [starts.chain(seen, begin, end) for _, begin, end in starts.plans(seen, "single-")]
    shortest = min(chains, key=len)
    during = [each for _, begin, end in starts.plans(seen, "plan-") for each in seen if begin <= each.at < end]
    return {"shares": starts.shares(seen, "plan-"), "hand": starts.by_hand(seen),
            "swaps": starts.swaps_in(seen, "plan-"), "back": swaps_back(recording.file) if recording else [],
            "chain": [starts.name_of(each) for each in shortest], "chain times": gaps(shortest),
            "writes": {operator.name: len(starts.writes(during, operator.name)) / runs for operator in place.operators},
            "violations": violations}


def gaps(chain):
    """[(waited before it, took)] in seconds."""
    ends = [chain[0].at, *(each.done for each in chain)] if chain else []
    return [(each.at - before, each.done - each.at) for before, each in zip(ends, chain)]


# --- large Testbeds ---

def pinned_pods(nodes, slots, prefix):
    """Pods like ghosts, made by hand: one line of JSON each."""
    for i in range(nodes):
        for index in range(slots):
            yield json.dumps({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": f"{prefix}-{i}-{index}", "namespace": "default"},
                "spec": {"terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
                         "enableServiceLinks": False,
                         "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                             "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In",
                                                                     "values": [f"{prefix}-{i}"]}]}]}}},
                         "containers": [{"name": "pause", "image": "localhost/esi-pause:1", "resources": {
                             "requests": {"cpu": "600m", "memory": "1792Mi"}}}]}})


def bare(place, prefix, nodes, slots):
    """The floor of filling: as many pinned pods, created by the same client, bound by kube-scheduler alone.
    Seconds from the first request to the last binding."""
    file = place.folder / f"{prefix}.jsonl"
    file.write_text("\n".join(pinned_pods(nodes, slots, prefix)), encoding="utf-8")
    place.log.read()
    begin = time.time()
    subprocess.run([str(floor_binary()), "create", str(place.plane.kubeconfig), str(file)], check=True, timeout=900)
    bound, made = [], nodes * slots

    def all_bound():
        bound.extend(each.done for each in place.log.read() if each.sub == "binding" and each.code < 300)
        return len(bound) >= made
    wait("the bare pods", all_bound, 900, pause=0.5)
    wait("the bare pods to go", lambda: all_gone(place.api), 900, pause=0.2)
    return max(bound) - begin


def all_gone(api):
    """Deletes some pods of the namespace; true when there were none."""
    pods = "/api/v1/namespaces/default/pods"
    try:
        api.call("DELETE", pods, query={"gracePeriodSeconds": "0", "limit": "200"}, timeout=120)
    except ApiException as error:
        # The API server gives a request a minute, and has deleted some of them by then.
        if error.status != 504:
            raise
    except urllib3.exceptions.HTTPError:
        return False
    return not api.call("GET", pods, query={"limit": "1"})["items"]


def grow(place, name, runs):
    """One large Testbed, from nothing to all bound, and some starts in it; then it goes."""
    api, (nodes, slots) = place.api, SIZES[name]
    made, prefix, testbed = nodes * slots, f"n{nodes}", place.operators["testbed"]
    label = f"bench.esi/{prefix}"
    say(f"adding {nodes} nodes")
    place.plane.add_nodes(prefix, nodes, labels=label + "={i}", cpu="16", memory="64Gi")
    let_pass(5, "what the nodes cost is no cost of the pods")
    say(f"{made} pods by hand")
    floor = bare(place, prefix, nodes, slots)
    say(f"{made} ghosts")
    known, used, pulse = processes.scrape(testbed), testbed.cpu_seconds(), Pulse(testbed)
    place.log.read()
    begin = time.time()
    api.create("Testbed", "default", objects.testbed(prefix, label, slots=slots, isolation="Taint"))
    wait("the large Testbed", lambda: counts(api, prefix).get("free") == made, timeout=1200, pause=0.5)
    shown, beats = time.time() - begin, pulse.stop()
    spent, after = testbed.cpu_seconds() - used, processes.scrape(testbed)
    seen = place.log.read()
    mine = starts.writes(seen, "testbed")
    bound = [each.done for each in seen if each.sub == "binding" and "-ghost-" in each.name and each.code < 300]
    rows = {"slots": made, "bare": floor, "bound": max(bound) - begin, "shown": shown, "cpu": spent, "livez": beats,
            "pod writes": sum(each.resource == "pods" for each in mine), "binds": len(bound),
            "status writes": sum(map(starts.is_report, mine)),
            "node writes": sum(each.resource == "nodes" for each in mine),
            "reconciles": processes.reconciles(after) - processes.reconciles(known)}
    say(f"{runs} starts in it")
    let_pass(5, "what is written after the last ghost is no cost of the starts")
    place.log.read()
    for number in range(runs):
        run_by_esi(api, f"{prefix}-plan-{number}", prefix, "pi", total_slots=made, pause=0.25)
    rows["shares"] = starts.shares(place.log.read(), f"{prefix}-plan-")
    rows["memory"] = place.memory()
    api.delete("Testbed", "default", prefix)
    wait("the ghosts to go", lambda: not api.call(
        "GET", "/api/v1/namespaces/default/pods", query={
            "limit": "1", "labelSelector": f"esi.tu-berlin.de/testbed={prefix}"})["items"], 600, pause=0.5)
    return rows


def measure(runs, large_runs, sizes, keep=None):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="esi-bench-"))
    say("starting a control plane")
    place = Plane(folder)
    try:
        place.up()
        let_pass(5, "the memory is that of operators at rest")
        found = {"memory": {"idle": place.memory()}, "large": {}}
        add_small(place)
        found["small"] = small_starts(place, runs)
        found["memory"][f"after {runs} jobs"] = place.memory()
        for name in sizes:
            # Without the recorder: its watch of all pods in Python would be measured with it.
            found["large"][name] = grow(place, name, large_runs)
            found["memory"][f"{name} slots"] = found["large"][name]["memory"]
        return found
    finally:
        place.down(keep)
        shutil.rmtree(folder, ignore_errors=True)
