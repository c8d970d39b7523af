"""Judges a recording (recorder.py) in the place of a kubelet, which kwok's nodes have not.

Replays the changes in order of resourceVersion and looks, at each of them, whether

  over-committed  the requests of a node's bound live pods exceed its allocatable (cpu, memory, pods, ...)
  slot-shared     a job pod is bound to a slot in which another live job pod, or a ghost, still is; or a
                  ghost to one whose job pod is neither on its way out nor of a run that is over
  wrong-node      a job pod is bound to another node than its annotation slot-node, or the layout, says
  unplaced        a job pod is bound without the annotations slot and slot-node
  unrecorded      a job pod lost its gate though its BatchJob never recorded a placement for it
  gap             changes are missing in the recording

It also lists who was bound where (`bindings`) and pods without a testbed's label that were bound to a
testbed's node (`strangers`): whether those are allowed is for the test to say.

A pod without the gate comes by the extender: with room beside the ghost it is bound while the ghost still
stands. Its ghost has to be gone when the Testbed says that the slot is OCCUPIED.

A ghost that comes back while its job pod is on its way out may be bound early, where the node has room
beside the slots: that over-commits nothing.

A pod is live until its phase is Succeeded or Failed or the object is gone; one that is being deleted
still counts. What a position means is read from the Testbed's status.layout, which is frozen by a hold.
"""
import dataclasses
import functools
import json

from kubernetes.utils.quantity import parse_quantity

PREFIX = "esi.tu-berlin.de/"
ENDED = ("CompletedState", "FailedState", "FailedSubmissionState")
quantity = functools.lru_cache(maxsize=4096)(parse_quantity)


@dataclasses.dataclass(frozen=True)
class Violation:
    rule: str
    rv: int
    text: str

    def __str__(self):
        return f"{self.rule} at resourceVersion {self.rv}: {self.text}"


@dataclasses.dataclass(frozen=True)
class Binding:
    """A pod of a testbed (ghost: job is None, slot is its index on the node) came to a node."""
    rv: int
    at: float
    namespace: str
    testbed: str
    job: str | None
    slot: int | None
    node: str
    pod: str
    uid: str


@dataclasses.dataclass(frozen=True)
class Stranger:
    rv: int
    namespace: str
    pod: str
    uid: str
    node: str
    testbed: str


def labels(thing):
    return thing["metadata"].get("labels") or {}


def annotations(thing):
    return thing["metadata"].get("annotations") or {}


def name_of(thing):
    return f"{thing['metadata'].get('namespace', '')}/{thing['metadata']['name']}"


def place_of(testbed, slot):
    """(node, index on the node) of a position; None where the layout has no nodes."""
    entries = layout_nodes(testbed)
    if not entries:
        return None
    places = testbed["status"]["layout"].get("places")
    if places:
        if slot >= len(places):
            return f"no node: slot {slot} is not in the layout", slot
        return entries[places[slot]]["name"], places[:slot].count(places[slot])
    nodes = [entry["name"] for entry in sorted(entries, key=lambda entry: entry["id"])]
    return nodes[slot % len(nodes)], slot // len(nodes)


def layout_nodes(testbed):
    """The nodes of a Testbed's layout with name, uid and id, from either of its two forms. None where a line
    cannot be read: operators take all or none, too."""
    layout = (testbed.get("status") or {}).get("layout") or {}
    lines = [line.split(" ") for line in layout.get("compactNodes") or []]
    try:
        compact = [{"name": name, "uid": uid, "id": int(number)} for name, uid, number, *_ in lines]
    except ValueError:
        return []
    return compact or layout.get("nodes") or []


def is_live(pod):
    return pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def is_bound(pod):
    return bool(pod["spec"].get("nodeName"))


def is_gated(pod):
    return any(gate["name"] == PREFIX + "slot" for gate in pod["spec"].get("schedulingGates") or [])


def testbed_of(pod):
    """(namespace, name) of the testbed whose ghost or job pod it is, else None."""
    name = labels(pod).get(PREFIX + "testbed")
    if name is None:
        return None
    return labels(pod).get(PREFIX + "testbed-namespace", pod["metadata"].get("namespace", "")), name


def is_ghost(pod):
    return labels(pod).get(PREFIX + "ghost") == "true"


def requests_of(pod):
    """Effective requests: the larger of all containers with sidecars and of each init container on its
    way, plus overhead (Kubernetes: pod-lifecycle of init containers, KEP-753)."""
    spec = pod["spec"]
    total, sidecars, highest = {}, {}, {}
    for container in spec.get("containers", []):
        add(total, container["requests"])
    for container in spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            add(total, container["requests"])
            add(sidecars, container["requests"])
            continue
        step = dict(sidecars)
        add(step, container["requests"])
        for resource, amount in step.items():
            highest[resource] = max(highest.get(resource, 0), amount)
    for resource, amount in highest.items():
        total[resource] = max(total.get(resource, 0), amount)
    add(total, spec.get("overhead") or {})
    return total


def add(total, amounts):
    for resource, amount in amounts.items():
        total[resource] = total.get(resource, 0) + quantity(amount)


class Judge:
    def __init__(self):
        self.pods, self.nodes, self.testbeds, self.jobs = {}, {}, {}, {}
        self.recorded = set()   # (namespace, job, slot, pod uid) that a BatchJob ever recorded
        self.on_node = {}       # node -> {pod uid}, bound and live
        self.in_slot = {}       # (namespace, testbed, node, index) -> {pod uid}, bound and live
        self.slot_of_pod = {}   # pod uid -> key of in_slot
        self.ever_gated = set()  # pod uids that were seen with ESI's gate
        self.violations, self.bindings, self.strangers = [], [], []

    def feed(self, lines):
        """Takes changes (dicts, in any order) that all belong after those of earlier calls."""
        for line in sorted(lines, key=lambda line: line["rv"]):
            self.take(line)

    def take(self, line):
        if line["type"] == "GAP":
            self.fault("gap", line["rv"], f"changes of {line['kind']}s were lost")
        elif line["type"] == "LIST":
            self.replace(line)
        elif line["type"] == "DELETED":
            self.drop(line["kind"], line["object"])
        else:
            self.put(line["kind"], line["object"], line["rv"], line["at"])

    def replace(self, line):
        kept = {thing["metadata"]["uid"] for thing in line["objects"]}
        for thing in list(self.table(line["kind"]).values()):
            if thing["metadata"]["uid"] not in kept:
                self.drop(line["kind"], thing)
        for thing in line["objects"]:
            self.put(line["kind"], thing, line["rv"], line["at"])

    def table(self, kind):
        return {"Pod": self.pods, "Node": self.nodes, "Testbed": self.testbeds, "BatchJob": self.jobs}[kind]

    def fault(self, rule, version, text):
        self.violations.append(Violation(rule, version, text))

    def drop(self, kind, thing):
        metadata = thing["metadata"]
        if kind == "Pod":
            self.leave(self.pods.pop(metadata["uid"], None))
        elif kind == "Node":
            self.nodes.pop(metadata["name"], None)
        elif kind == "Testbed":
            self.testbeds.pop((metadata["namespace"], metadata["name"]), None)
        else:
            self.jobs.pop((metadata["namespace"], metadata["name"]), None)

    def put(self, kind, thing, version, at):
        metadata = thing["metadata"]
        if kind == "Pod":
            self.put_pod(thing, version, at)
        elif kind == "Node":
            self.nodes[metadata["name"]] = thing
        elif kind == "Testbed":
            self.testbeds[metadata["namespace"], metadata["name"]] = thing
            self.judge_occupied(thing, version)
        else:
            self.jobs[metadata["namespace"], metadata["name"]] = thing
            for placement in thing.get("status", {}).get("placements") or []:
                self.recorded.add((metadata["namespace"], metadata["name"], placement["slot"],
                                   placement["podUid"]))

    def put_pod(self, pod, version, at):
        uid = pod["metadata"]["uid"]
        before = self.pods.get(uid)
        self.pods[uid] = pod
        if is_gated(pod):
            self.ever_gated.add(uid)
        is_job_pod = testbed_of(pod) is not None and not is_ghost(pod)
        if before is not None and is_job_pod and is_gated(before) and not is_gated(pod):
            self.judge_opening(pod, version)
        if not is_bound(pod) or not is_live(pod):
            self.leave(pod)
            return
        node = pod["spec"]["nodeName"]
        if uid in self.on_node.setdefault(node, set()):
            return
        self.on_node[node].add(uid)
        self.judge_room(node, pod, version)
        if testbed_of(pod) is None:
            self.note_stranger(pod, node, version)
        elif is_ghost(pod):
            self.seat_ghost(pod, node, version, at)
        else:
            self.seat_job_pod(pod, node, version, at)

    def leave(self, pod):
        if pod is None:
            return
        uid = pod["metadata"]["uid"]
        self.on_node.get(pod["spec"].get("nodeName"), set()).discard(uid)
        key = self.slot_of_pod.pop(uid, None)
        if key is not None:
            self.in_slot[key].discard(uid)

    def judge_room(self, node, pod, version):
        if node not in self.nodes:
            return  # bound to a node that is gone: nothing is left to be over-committed
        allocatable = self.nodes[node]["status"].get("allocatable") or {}
        total = {"pods": len(self.on_node[node])}
        for uid in self.on_node[node]:
            for resource, amount in requests_of(self.pods[uid]).items():
                total[resource] = total.get(resource, 0) + amount
        for resource, amount in total.items():
            limit = quantity(allocatable.get(resource, "0"))
            if amount > limit:
                others = sorted(name_of(self.pods[uid]) for uid in self.on_node[node])
                self.fault("over-committed", version,
                           f"{name_of(pod)} on {node}: {resource} {amount} of {limit}; there: {others}")

    def judge_opening(self, pod, version):
        slot = annotations(pod).get(PREFIX + "slot")
        job = labels(pod).get(PREFIX + "job")
        known = slot is not None and slot.isdecimal() and (
            pod["metadata"]["namespace"], job, int(slot), pod["metadata"]["uid"]) in self.recorded
        if not known:
            self.fault("unrecorded", version,
                       f"{name_of(pod)} was let into slot {slot} without a placement of job {job}")

    def note_stranger(self, pod, node, version):
        for (namespace, name), testbed in self.testbeds.items():
            if any(entry["name"] == node for entry in layout_nodes(testbed)):
                self.strangers.append(Stranger(version, pod["metadata"].get("namespace", ""),
                                               pod["metadata"]["name"], pod["metadata"]["uid"], node,
                                               f"{namespace}/{name}"))

    def seat_ghost(self, pod, node, version, at):
        index = int(annotations(pod).get(PREFIX + "index", "-1"))
        namespace, name = testbed_of(pod)
        self.bindings.append(Binding(version, at, namespace, name, None, index, node,
                                     pod["metadata"]["name"], pod["metadata"]["uid"]))
        self.seat(pod, (namespace, name, node, index), version)

    def seat_job_pod(self, pod, node, version, at):
        namespace, name = testbed_of(pod)
        slot = annotations(pod).get(PREFIX + "slot")
        wanted = annotations(pod).get(PREFIX + "slot-node")
        if slot is None or not slot.isdecimal() or wanted is None:
            self.fault("unplaced", version, f"{name_of(pod)} is bound to {node} without a slot")
            slot = None
        else:
            slot = int(slot)
        self.bindings.append(Binding(version, at, namespace, name, labels(pod).get(PREFIX + "job"), slot,
                                     node, pod["metadata"]["name"], pod["metadata"]["uid"]))
        if slot is None:
            return
        if wanted != node:
            self.fault("wrong-node", version, f"{name_of(pod)} is bound to {node}, not to {wanted}")
        place = place_of(self.testbeds.get((namespace, name)) or {}, slot)
        if place is None:
            return
        if place[0] != node:
            self.fault("wrong-node", version,
                       f"{name_of(pod)}: slot {slot} is on {place[0]}, it is bound to {node}")
        self.seat(pod, (namespace, name, node, place[1]), version)

    def judge_occupied(self, testbed, version):
        """Where the Testbed says OCCUPIED, the swap is done: no ghost is where the job pod is."""
        for row in (testbed.get("status") or {}).get("slots") or []:
            uid = row.get("podUId")
            if row["state"] != "OCCUPIED" or uid not in self.slot_of_pod or self.is_leaving(self.pods[uid]):
                continue
            for other in sorted(self.in_slot[self.slot_of_pod[uid]] - {uid}):
                if is_ghost(self.pods[other]):
                    self.fault("slot-shared", version, f"slot {row['position']} is OCCUPIED, and "
                               f"{name_of(self.pods[other])} is still where {name_of(self.pods[uid])} is")

    def is_leaving(self, pod):
        """Being deleted, or of a run that is no longer its job's, or not under the Testbed's hold."""
        if is_ghost(pod):
            return False
        run = annotations(pod).get(PREFIX + "run", "")
        hold = annotations(self.testbeds.get(testbed_of(pod), {"metadata": {}})).get(PREFIX + "hold")
        if hold is None or not run.startswith(hold + "."):
            return True
        job = self.jobs.get((pod["metadata"]["namespace"], labels(pod).get(PREFIX + "job")))
        if "deletionTimestamp" in pod["metadata"] or job is None:
            return True
        order = job.get("spec", {}).get("creationRequest") or {}
        return order.get("run") != run or \
            (job.get("status") or {}).get("state") in ENDED

    def seat(self, pod, key, version):
        uid = pod["metadata"]["uid"]
        others = self.in_slot.setdefault(key, set())
        for other in sorted(others):
            if is_ghost(pod) and self.is_leaving(self.pods[other]):
                continue
            if is_ghost(self.pods[other]) and uid not in self.ever_gated:
                continue
            self.fault("slot-shared", version,
                       f"{name_of(pod)} came into slot {key[3]} on {key[2]} of testbed {key[0]}/{key[1]}, "
                       f"where {name_of(self.pods[other])} still is")
        others.add(uid)
        self.slot_of_pod[uid] = key


def read(file):
    """The lines of a recording so far; a last line that is not complete is left for later."""
    lines = []
    while True:
        begin = file.tell()
        text = file.readline()
        if not text.endswith("\n"):
            file.seek(begin)
            return lines
        lines.append(json.loads(text))
