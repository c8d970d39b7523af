"""Gangs by the thousand, beside the same pods without groups and beside coscheduling of scheduler-plugins.

Each side has a control plane of its own, one after the other, all of one version of Kubernetes: etcd, kube-apiserver,
controllers and kube-scheduler are real and have the limits that they have by default (kube-scheduler's client: 50
requests a second, 100 at once). Nodes are objects without kubelets, which kwok keeps ready; it writes that their pods run.

    bare          kube-scheduler, and the pods of the gangs as ordinary pods
    coscheduling  kube-scheduler with that plugin (../cluster/coscheduling), PodGroups, the plugin's defaults. Its
                  controller, which writes the status of PodGroups, does not run
    esi           kube-scheduler, PodGroups, esi-testbed with --gangs. The members carry gate and label themselves, as
                  the admission policy that adds them needs Kubernetes 1.36

On each: ordinary pods that stay; ordinary pods that come and go; then gangs of three at a steady pace ("steady"), then
all others at once ("storm"). Times are the API server's (audit log). Who was bound when, and who lost a place, is
judged from a watch (recorder.py, gang_judge.py).
"""
import collections
import concurrent.futures
import contextlib
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import audit
import judge as judging
import processes
from api import Api, ApiException
from control_plane import MANIFESTS, ROOT, ControlPlane
from files import floor_binary
from gang_judge import GATE, GangJudge
from gang_scene import group, url
from objects import PREFIX, pod
from operators import Operators, lease_flags
from patience import let_pass
from processes import say, wait

#: nodes; ordinary pods that stay; gangs of three and gangs of many that come at once, and how many many is; gangs of
#: three that come before, one after the other.
Size = collections.namedtuple("Size", "nodes standing threes large members steady")
SMALL = Size(50, 50, 50, 2, 20, 20)
FULL = Size(500, 500, 1000, 20, 100, 60)

SIDES = ("bare", "coscheduling", "esi")
#: The minor version of ../cluster/coscheduling/go.mod.
KUBERNETES = "1.34"
#: Ordinary pods a second, and how long each has its place.
CHURN, LIFE = 4, 10.0
#: Seconds between two gangs of the steady part.
PACE = 0.5
GANGS, OTHERS = "gangs", "others"
SCHEDULER = "system:kube-scheduler"
#: What changes a gang's pods and groups; Events are counted apart.
KINDS = {"pods/binding": "binds", "pods": "pods", "pods/status": "status of pods", "podgroups/status": "status of groups",
         "podgroups": "status of groups"}


def build():
    """The path of esi-cluster, with the control plane of KUBERNETES and the scheduler of coscheduling beside it."""
    done = subprocess.run([ROOT / "integration-tests" / "cluster" / "build.sh"], stdout=subprocess.PIPE, text=True,
                          check=True, env=dict(os.environ, K8S=KUBERNETES, COSCHEDULING="1"))
    return done.stdout.splitlines()[-1]


# --- the gangs ---

def gangs_of(size):
    """({name: members} of the steady part, the same of the storm, in the order in which they come)."""
    storm, each = {}, max(1, size.threes // max(1, size.large))
    for number in range(size.threes):
        storm[f"three-{number}"] = 3
        if number % each == each - 1 and number // each < size.large:
            storm[f"large-{number // each}"] = size.members
    return {f"steady-{number}": 3 for number in range(size.steady)}, storm


def member(side, gang, number):
    body = pod(f"{gang}-{number}", cpu="1")
    body["metadata"]["namespace"] = GANGS
    if side != "bare":
        body["metadata"]["labels"] = {"scheduling.x-k8s.io/pod-group": gang}
    if side == "esi":
        body["metadata"]["labels"][PREFIX + "gang"] = "true"
        body["spec"]["schedulingGates"] = [{"name": GATE}]
    return body


def gang_of(name):
    """three-17 of three-17-2."""
    return name.rpartition("-")[0]


class Follower(threading.Thread):
    """Reads the recording as it grows: which pods have been bound since when."""

    def __init__(self, file):
        super().__init__(daemon=True)
        self.file = open(file, encoding="utf-8")
        self.bound = {}  # (namespace, name) -> when
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(0.1):
            for line in judging.read(self.file):
                if line["kind"] == "Pod" and "object" in line and line["object"]["spec"].get("nodeName"):
                    meta = line["object"]["metadata"]
                    self.bound.setdefault((meta["namespace"], meta["name"]), line["at"])

    def members(self, gangs):
        return sum((GANGS, f"{name}-{number}") in self.bound for name, count in gangs.items() for number in range(count))

    def stop(self):
        self.over.set()
        self.join()
        self.file.close()


class Churn(threading.Thread):
    """Ordinary pods: CHURN a second come, each goes when it had its place for LIFE seconds."""

    def __init__(self, kubeconfig, follower):
        super().__init__(daemon=True)
        self.api, self.follower = Api(kubeconfig), follower
        self.alive, self.ended, self.failed = [], set(), None
        self.over = threading.Event()
        self.start()

    def run(self):
        try:
            number, due = 0, time.monotonic()
            while not self.over.wait(max(0.0, due - time.monotonic())):
                due += 1 / CHURN
                name = f"ordinary-{number}"
                self.ask("POST", url("v1", "Pod", OTHERS), pod(name, cpu="1"))
                self.alive.append(name)
                number += 1
                self.end_old()
        except Exception as error:  # told by stop()
            self.failed = error

    def end_old(self):
        until = time.time() - LIFE
        for name in [name for name in self.alive if self.follower.bound.get((OTHERS, name), until + 1) <= until]:
            self.ended.add(name)
            if self.ask("DELETE", url("v1", "Pod", OTHERS, name), query={"gracePeriodSeconds": "0"}):
                self.alive.remove(name)

    def ask(self, *request, **more):
        """False where the API server did not come to it in its minute, as on a busy machine; it may have done it by then."""
        try:
            self.api.call(*request, **more)
        except ApiException as error:
            if error.status == 404:
                return True
            if error.status not in (429, 504):
                raise
            return False
        return True

    def stop(self):
        self.over.set()
        self.join()
        if self.failed:
            raise RuntimeError("ordinary pods could not come and go") from self.failed


# --- a side ---

class Place:
    """A control plane with the scheduler of one side, its nodes, and a recorder."""

    def __init__(self, side, size, folder):
        self.side, self.size, self.folder = side, size, pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.operators = self.scheduler = self.recorder = self.testbed = None
        self.plane = ControlPlane(self.folder / "cluster").up(
            nodes=0, spark=False, crds=[ROOT / "integration-tests" / "fixtures" / "podgroups" / "coscheduling.yaml"])
        self.api = self.plane.api

    def start(self):
        self.schedule()
        members = sum(sum(each.values()) for each in gangs_of(self.size))
        # Room for all at once, wherever kube-scheduler has put those that come and go.
        coming = 3 * CHURN * LIFE
        cpu = math.ceil((members + self.size.standing + coming) / self.size.nodes) + 1
        self.plane.add_nodes("node", self.size.nodes, cpu=str(cpu), memory="64Gi")
        wait("the nodes", lambda: self.nodes_ready() == self.size.nodes, pause=1)
        for name, labels in ((GANGS, {PREFIX + "gangs": "enabled"}), (OTHERS, {})):
            self.api.create("Namespace", None, {"metadata": {"name": name, "labels": labels}})
            wait("an account", lambda name=name: self.api.get("ServiceAccount", name, "default"))
        if self.side == "esi":
            self.install()
        file = self.folder / "recording.jsonl"
        file.touch()
        with open(self.folder / "recorder.log", "ab") as log:
            self.recorder = subprocess.Popen(
                [sys.executable, "-B", ROOT / "integration-tests" / "scenarios" / "recorder.py", self.plane.kubeconfig, file],
                stdin=subprocess.PIPE, stdout=log, stderr=log)
        self.recording = file
        # From here on each change of a pod is a line of its own.
        wait("the recorder", lambda: '"kind": "Pod"' in file.read_text("utf-8") and '"kind": "Node"' in file.read_text("utf-8"))
        return self

    def nodes_ready(self):
        return sum(any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", []))
                   and not node["spec"].get("taints")
                   for node in self.api.call("GET", "/api/v1/nodes")["items"])

    def schedule(self):
        """kube-scheduler as it is by default: elected, with the default limits of its client."""
        file = self.plane.folder / "config" / "kube-scheduler.yaml"
        config = json.loads(file.read_text("utf-8"))
        for limit in ("qps", "burst"):
            del config["clientConnection"][limit]
        # Long, as a busy machine is not to end it.
        config["leaderElection"] = {"leaderElect": True, "resourceNamespace": "kube-system",
                                    "resourceName": "kube-scheduler", "leaseDuration": "120s",
                                    "renewDeadline": "100s", "retryPeriod": "1s"}
        if self.side == "coscheduling":
            # As scheduler-plugins' manifests/coscheduling/scheduler-config.yaml has it.
            plugin = [{"name": "Coscheduling"}]
            config["profiles"] = [{"schedulerName": "default-scheduler", "plugins": {
                "multiPoint": {"enabled": plugin}, "queueSort": {"enabled": plugin, "disabled": [{"name": "*"}]}}}]
        file.write_text(json.dumps(config), encoding="utf-8")
        self.plane.stop("kube-scheduler", "TERM")
        if self.side == "coscheduling":
            self.start_coscheduling(file)
        else:
            self.plane.start("kube-scheduler")
        wait("kube-scheduler to lead", lambda: (self.api.get("Lease", "kube-system", "kube-scheduler") or {}).get(
            "spec", {}).get("holderIdentity"))

    def start_coscheduling(self, config):
        self.api.create("ClusterRole", None, {"metadata": {"name": "coscheduling"}, "rules": [
            {"apiGroups": ["scheduling.x-k8s.io"], "resources": ["podgroups", "podgroups/status"],
             "verbs": ["get", "list", "watch", "create", "delete", "update", "patch"]}]})
        self.api.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": "coscheduling"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "coscheduling"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SCHEDULER}]})
        client = json.loads(config.read_text("utf-8"))["clientConnection"]["kubeconfig"]
        binary = pathlib.Path(self.plane.binary).with_name("kube-scheduler-coscheduling")
        with open(self.folder / "kube-scheduler-coscheduling.log", "ab") as log:
            self.scheduler = subprocess.Popen(
                [binary, f"--config={config}", f"--authentication-kubeconfig={client}",
                 f"--authorization-kubeconfig={client}", "--bind-address=127.0.0.1",
                 f"--secure-port={self.plane.status()['ports']['scheduler']}",
                 f"--cert-dir={self.plane.folder / 'run' / 'kube-scheduler'}"], stdout=log, stderr=log)

    def scheduler_pid(self):
        if self.scheduler is not None:
            return self.scheduler.pid
        return next(each["pid"] for each in self.plane.status()["components"] if each["name"] == "kube-scheduler")

    def install(self):
        self.plane.install()
        for file in sorted((MANIFESTS / "gangs").glob("*.yaml")):
            parts = [part for part in file.read_text("utf-8").split("\n---\n")
                     if "\nkind: MutatingAdmissionPolicy" not in "\n" + part
                     or self.plane.serves("admissionregistration.k8s.io/v1", "mutatingadmissionpolicies")]
            self.plane.kubectl("apply", "-f", "-", stdin="\n---\n".join(parts))
        self.operators = Operators(self.plane, self.folder / "operators", names=("testbed",))
        self.testbed = self.operators["testbed"]
        self.testbed.flags = (*lease_flags(60), "--gangs", "--gang-scheduler-lease=kube-system/kube-scheduler")
        self.operators.start()

    def create(self, name, bodies):
        """All pods at once, by a client with 16 requests under way; the seconds that took."""
        file = self.folder / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, bodies)), encoding="utf-8")
        begin = time.monotonic()
        subprocess.run([floor_binary(), "create", self.plane.kubeconfig, file], check=True, timeout=1800)
        return time.monotonic() - begin

    def create_groups(self, gangs):
        if self.side == "bare":
            return
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda each: self.api.call("POST", url("scheduling.x-k8s.io/v1alpha1", "PodGroup", GANGS),
                                                     group(each[0], each[1])), gangs.items()))

    def close(self, keep=None):
        faults = self.operators.stop() if self.operators else []
        if self.recorder:
            self.recorder.stdin.close()
            self.recorder.wait(10)
        if self.scheduler:
            self.scheduler.send_signal(signal.SIGKILL)
            self.scheduler.wait()
        if keep:
            target = keep / self.side
            target.mkdir(parents=True, exist_ok=True)
            for file in [self.plane.audit_log, *self.folder.glob("*.log"), *self.folder.glob("*.jsonl"),
                         *(self.folder / "operators").glob("*.log"), *(self.plane.folder / "logs").glob("*")]:
                shutil.copy(file, target)
        self.plane.down()
        return faults


def run(side, size, folder, keep=None, patience=1800):
    """What was measured of one side."""
    place = Place(side, size, folder)
    try:
        say(f"{side}: {size.nodes} nodes")
        place.start()
        found = measure_side(place, patience)
    finally:
        faults = place.close(keep)
    found["faults"] += faults
    if keep:
        (keep / side / "found.json").write_text(json.dumps(found), encoding="utf-8")
    return found


def measure_side(place, patience):
    side, size = place.side, place.size
    steady, storm = gangs_of(size)
    with contextlib.ExitStack() as stack:
        follower = Follower(place.recording)
        stack.callback(follower.stop)
        place.create("standing", [dict(pod(f"standing-{number}", cpu="1"), metadata={
            "name": f"standing-{number}", "namespace": OTHERS}) for number in range(size.standing)])
        wait("the standing pods", lambda: len(follower.bound) >= size.standing, patience, pause=0.5)
        churn = Churn(place.plane.kubeconfig, follower)
        used = processes.cpu_seconds(place.scheduler_pid()), place.testbed.cpu_seconds() if place.testbed else 0.0
        let_pass(LIFE, "from then on as many of the churn's pods end as begin")
        say(f"{side}: {len(steady)} gangs, one after the other")
        due = time.monotonic()
        for name, count in steady.items():
            let_pass(due - time.monotonic(), "one after the other")
            due += PACE
            place.create_groups({name: count})
            for number in range(count):
                place.api.call("POST", url("v1", "Pod", GANGS), member(side, name, number))
        await_all(follower, steady, patience)
        say(f"{side}: {len(storm)} gangs at once")
        place.create_groups(storm)
        creating = place.create("storm", [member(side, name, number) for name, count in storm.items()
                                          for number in range(count)])
        missing = await_all(follower, storm, patience)
        say(f"{side}: all but {missing} members are bound")
        let_pass(2, "what is written after a start counts, too")
        churn.stop()
        spent = processes.cpu_seconds(place.scheduler_pid()) - used[0]
        own = place.testbed.cpu_seconds() - used[1] if place.testbed else 0.0
    memory = processes.memory(place.testbed.pid) if place.testbed else None
    requests = audit.AuditLog(place.plane.audit_log)
    try:
        log = requests.read()
    finally:
        requests.close()
    with open(place.recording, encoding="utf-8") as file:
        lines = sorted(judging.read(file), key=lambda line: line["rv"])
    found = told_by_log(log, steady, storm) | told_by_watch(lines, side, steady | storm, churn.ended)
    return found | {"creating": creating, "cpu": {"kube-scheduler": spent, "esi-testbed": own}, "memory": memory,
                    "version": place.plane.version(), "size": size._asdict(), "churned": len(churn.ended)}


def await_all(follower, gangs, patience):
    """How many members were not bound in that time, or in 180 seconds since the last one was."""
    deadline, all_, before, since = time.monotonic() + patience, sum(gangs.values()), -1, time.monotonic()
    while (seen := follower.members(gangs)) < all_ and time.monotonic() < deadline:
        if seen != before:
            before, since = seen, time.monotonic()
        if time.monotonic() - since > 180:
            break
        let_pass(0.25, "looking takes a core's time")
    return all_ - seen


# --- what it comes to ---

def told_by_log(log, steady, storm):
    """Times and writes, from the audit log."""
    made, begun, bound, others = {}, {}, {}, {}
    for each in log:
        if each.resource != "pods" or each.code >= 300 or each.dry_run or each.verb != "create":
            continue
        if each.sub == "binding":
            bound[each.namespace, each.name] = each.done
        elif not each.sub:
            made[each.namespace, each.name], begun[each.namespace, each.name] = each.done, each.at
    waits, parts, ends = {}, {}, {}
    for name, count in (steady | storm).items():
        pods = [(GANGS, f"{name}-{number}") for number in range(count)]
        if all(each in bound and each in made for each in pods):
            ends[name] = max(bound[each] for each in pods)
            waits[name] = ends[name] - max(made[each] for each in pods)
            parts[name] = ends[name] - min(bound[each] for each in pods)
    first = min((begun[GANGS, f"{name}-0"] for name in storm if (GANGS, f"{name}-0") in begun), default=0.0)
    last = max((ends[name] for name in storm if name in ends), default=first)
    storm_began = first or float("inf")
    for key, at in made.items():
        if key[0] == OTHERS and key[1].startswith("ordinary-") and key in bound:
            others.setdefault("storm" if storm_began <= at <= last else "steady", []).append(bound[key] - at)

    def kinds(names):
        return {"steady": [name for name in names if name.startswith("steady-")],
                "threes": [name for name in names if name.startswith("three-")],
                "large": [name for name in names if name.startswith("large-")]}
    return {"gangs": {kind: len(names) for kind, names in kinds(steady | storm).items()},
            "started": {kind: len(names) for kind, names in kinds(waits).items()},
            "storm": last - first, "storm started": sum(name in ends for name in storm),
            "waits": {kind: [waits[name] for name in names] for kind, names in kinds(waits).items()},
            "parts": {kind: [parts[name] for name in names] for kind, names in kinds(parts).items()},
            "ordinary": others, **told_of_writes(log, steady | storm)}


def told_of_writes(log, gangs):
    """Requests of the scheduler and of esi-testbed that change something, for each gang, by what they change; refused
    ones too. Events are those of all pods, as an Event's request does not name what it is about."""
    writes = {kind: {} for kind in ("steady", "threes", "large")}
    sizes = {"steady": "steady-", "threes": "three-", "large": "large-"}
    events = refused = 0
    for each in log:
        if each.verb not in audit.WRITES or each.resource == "leases" or each.namespace not in (GANGS, OTHERS, ""):
            continue
        if each.user != SCHEDULER and each.operator is None:
            continue
        if each.resource == "events":
            events += each.namespace == GANGS
            continue
        name = each.name if each.name in gangs else gang_of(each.name)
        if name not in gangs or each.namespace != GANGS:
            continue
        refused += each.code >= 300
        what = each.resource + (f"/{each.sub}" if each.sub else "")
        kind = next(kind for kind, prefix in sizes.items() if name.startswith(prefix))
        row = writes[kind]
        row[KINDS.get(what, what)] = row.get(KINDS.get(what, what), 0) + 1
    count = {kind: sum(name.startswith(prefix) for name in gangs) for kind, prefix in sizes.items()}
    return {"writes": {kind: {what: total / count[kind] for what, total in row.items()} for kind, row in writes.items()},
            "refused": refused, "events": events / sum(gangs.values())}


def told_by_watch(lines, side, gangs, ended):
    """Who lost a place; of ESI's gangs also whatever gang_judge.py finds."""
    had, lost, faults = {}, [], []
    on, partial = {name: set() for name in gangs}, 0
    for line in lines:
        if line["type"] == "GAP":
            faults.append(f"changes of {line['kind']}s were not seen")
        if line["kind"] != "Pod" or line["type"] in ("GAP", "LIST"):
            continue
        thing = line["object"]
        meta, status = thing["metadata"], thing["status"]
        key = (meta["namespace"], meta["name"])
        if thing["spec"].get("nodeName"):
            had[key] = thing["spec"]["nodeName"]
            if gang_of(meta["name"]) in on and key[0] == GANGS:
                on[gang_of(meta["name"])].add(meta["name"])
        gone = line["type"] == "DELETED" or status.get("phase") == "Failed" or "disruption" in status
        if gone and key in had and not (key[0] == OTHERS and key[1] in ended) and key[0] in (GANGS, OTHERS):
            lost.append(f"{'/'.join(key)} on {had[key]}")
            had.pop(key)
    partial = sum(0 < len(on[name]) < count for name, count in gangs.items())
    if side == "esi":
        # How long a gang is bound in part is a time, which is reported and not judged.
        judge = GangJudge(longest=float("inf"))
        for name, count in gangs.items():
            judge.declare(GANGS, name, count)
        judge.feed(lines)
        faults += map(str, judge.violations)
    return {"lost": lost, "partial": partial, "faults": faults}


def violations(found):
    """What must not be on any side, one sentence each."""
    wrong = []
    for side, of in found.items():
        for kind, count in of["gangs"].items():
            if of["started"][kind] != count:
                wrong.append(f"{side}: {of['started'][kind]} of {count} gangs ({kind}) have started")
        if of["partial"]:
            wrong.append(f"{side}: {of['partial']} gangs are bound in part")
        wrong += [f"{side}: {each} has lost its place" for each in of["lost"]]
        wrong += [f"{side}: {each}" for each in of["faults"]]
    return wrong


def measure(size, sides=SIDES, keep=None):
    """{side: what was measured}"""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="esi-gangs-"))
    try:
        found = {side: run(side, size, folder / side, keep) for side in sides}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for each in violations(found):
        say(each)
    return found


def measure_sides(size, sides, keep=None):
    """With coscheduling among them on Kubernetes KUBERNETES, whatever other parts run on; else on the one that they have."""
    if "coscheduling" not in sides:
        return measure(size, sides, keep)
    kept = {name: os.environ.get(name) for name in ("ESI_CLUSTER", "K8S")}
    os.environ.update(ESI_CLUSTER=build(), K8S=KUBERNETES)
    try:
        return measure(size, sides, keep)
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
