"""Judges the gangs of a recording (recorder.py): all or none, and nobody of the same priority loses a place.

Replays the changes of Pods and Nodes in order of resourceVersion and looks, at each of them, whether

  partial       a member is bound while fewer members than the minimum have a place (nominated, let in, bound or
                through), and the group has not started before
  let-in-early  a member lost its gate while fewer members than the minimum have a place, likewise
  stays-partial members of a group are bound, and after LONGEST seconds (or `longest`) still fewer than its minimum
  wrong-node    a member is bound to another node than its annotation gang-node says
  opened        a member lost its gate without that annotation
  not-gated     a member is bound that never waited at the gate
  over-promised a member was let in to a node whose bound pods and let-in members together exceed what it has
  place-taken   a pod of the same or a lower priority was bound to a node, and what is left there is less than
                the members need that were let in before
  preempted     a bound pod was preempted, whoever did it
  undeclared    a pod names a group of which the test has not said how many members it needs
  gap           changes are missing in the recording

A test says by `declare` how many members each of its groups needs: a literal, not what an object says. A group
that must never start is declared with None. `starts` lists when each group had its minimum on nodes.

As judge.py it shares no code with the operators.
"""
import dataclasses

from judge import PREFIX, Violation, annotations, is_bound, is_live, labels, name_of, quantity, requests_of

GATE = PREFIX + "gang"
NODE = PREFIX + "gang-node"
#: Members are let in one request each, and bound one by one.
LONGEST = 5.0
LABELS = ("group.batch.scheduler.tencent.com", "scheduling.x-k8s.io/pod-group")
ANNOTATION = "scheduling.k8s.io/group-name"


@dataclasses.dataclass(frozen=True)
class Start:
    """A group had its minimum of members on nodes (again), `seconds` after its first member was bound."""
    rv: int
    at: float
    seconds: float
    namespace: str
    group: str


def group_of(pod):
    """(namespace, name) of the group that the pod names; of several names the first of these ways counts."""
    named = [labels(pod)[key] for key in LABELS if key in labels(pod)]
    named += [annotations(pod)[ANNOTATION]] if ANNOTATION in annotations(pod) else []
    return (pod["metadata"]["namespace"], named[0]) if named else None


def is_gated(pod):
    return any(gate["name"] == GATE for gate in pod["spec"].get("schedulingGates") or [])


def is_let_in(pod):
    """Not bound, and on its way: the gate is gone, the node is written."""
    return not is_bound(pod) and is_live(pod) and not is_gated(pod) and NODE in annotations(pod)


def is_placed(pod):
    """On a node, or through."""
    return is_bound(pod) and pod.get("status", {}).get("phase") != "Failed"


def is_nominated(pod):
    return is_live(pod) and bool(pod.get("status", {}).get("nominatedNodeName"))


class GangJudge:
    def __init__(self, longest=LONGEST):
        self.longest = longest
        self.pods, self.nodes = {}, {}
        self.of_group = {}       # (namespace, group) -> {pod uid: pod}
        self.minimum = {}        # (namespace, group) -> members that have to start together; None: never
        self.ever_gated = set()  # pod uids
        self.on_node = {}        # node -> {pod uid}: bound and live
        self.coming = {}         # node -> {pod uid}: let in and not bound
        self.whole = set()       # groups that have their minimum on nodes now
        self.begun = set()       # groups that had it, and of which members are still there
        self.partial = {}        # groups that have some -> when the first one was bound
        self.violations, self.starts = [], []

    def declare(self, namespace, group, minimum):
        self.minimum[namespace, group] = minimum

    def feed(self, lines):
        for line in sorted(lines, key=lambda line: line["rv"]):
            self.take(line)

    def take(self, line):
        for group, since in list(self.partial.items()):
            if line["at"] - since > self.longest and group not in self.begun:
                self.partial[group] = float("inf")  # told once
                self.fault("stays-partial", line["rv"], f"{group[0]}/{group[1]}")
        if line["kind"] not in ("Pod", "Node"):
            return
        if line["type"] == "GAP":
            self.fault("gap", line["rv"], f"changes of {line['kind']}s were lost")
        elif line["type"] == "LIST":
            kept = {thing["metadata"]["uid"] for thing in line["objects"]}
            known = self.pods if line["kind"] == "Pod" else self.nodes
            for thing in list(known.values()):
                if thing["metadata"]["uid"] not in kept:
                    self.drop(line["kind"], thing)
            for thing in line["objects"]:
                self.put(line["kind"], thing, line["rv"], line["at"])
        elif line["type"] == "DELETED":
            self.drop(line["kind"], line["object"])
        else:
            self.put(line["kind"], line["object"], line["rv"], line["at"])

    def fault(self, rule, version, text):
        self.violations.append(Violation(rule, version, text))

    def drop(self, kind, thing):
        if kind == "Node":
            self.nodes.pop(thing["metadata"]["name"], None)
            return
        pod = self.pods.pop(thing["metadata"]["uid"], None)
        if pod is not None:
            self.of_group[group_of(pod)].pop(pod["metadata"]["uid"])
            self.stand(pod, gone=True)
            self.note_whole(group_of(pod), 0, 0.0)

    def put(self, kind, thing, version, at):
        if kind == "Node":
            self.nodes[thing["metadata"]["name"]] = thing
            return
        pod, uid = thing, thing["metadata"]["uid"]
        before = self.pods.get(uid)
        if before is not None:
            self.of_group[group_of(before)].pop(uid)
        self.pods[uid] = pod
        self.of_group.setdefault(group_of(pod), {})[uid] = pod
        if is_gated(pod):
            self.ever_gated.add(uid)
        self.stand(pod)
        if pod["status"].get("disruption") == "PreemptionByScheduler" and (
                before is None or before["status"].get("disruption") != "PreemptionByScheduler"):
            self.fault("preempted", version, f"{name_of(pod)} on {pod['spec'].get('nodeName')}")
        if is_bound(pod) and (before is None or not is_bound(before)) and is_live(pod):
            self.judge_taken(pod, version)
        if group_of(pod) is not None and before is not None:
            self.judge_member(before, pod, version)
        self.note_whole(group_of(pod), version, at)

    def stand(self, pod, gone=False):
        """Keeps who is on which node, and who is coming there."""
        uid = pod["metadata"]["uid"]
        for table in (self.on_node, self.coming):
            for pods in table.values():
                pods.discard(uid)
        if gone or not is_live(pod):
            return
        if is_bound(pod):
            self.on_node.setdefault(pod["spec"]["nodeName"], set()).add(uid)
        elif is_let_in(pod):
            self.coming.setdefault(annotations(pod)[NODE], set()).add(uid)

    def members(self, group):
        return list(self.of_group.get(group, {}).values())

    def judge_member(self, before, pod, version):
        group = group_of(pod)
        opened = is_gated(before) and not is_gated(pod)
        bound = is_bound(pod) and not is_bound(before)
        if not opened and not bound:
            return
        if group not in self.minimum:
            self.fault("undeclared", version, f"{name_of(pod)} names the group {group[1]}")
            return
        minimum, members = self.minimum[group], self.members(group)
        enough = 0 if group in self.begun else minimum
        if bound:
            node = pod["spec"]["nodeName"]
            if pod["metadata"]["uid"] not in self.ever_gated:
                self.fault("not-gated", version, f"{name_of(pod)} is bound to {node} and never had the gate")
                return
            wanted = annotations(pod).get(NODE)
            if wanted != node:
                self.fault("wrong-node", version, f"{name_of(pod)} is bound to {node}, not to {wanted}")
            ready = [each for each in members if is_placed(each) or is_let_in(each) or is_nominated(each)]
            if enough is None or len(ready) < enough:
                self.fault("partial", version, f"{name_of(pod)} is bound to {node}: {len(ready)} of {minimum} members "
                           f"of {group[1]} have a place: {sorted(map(name_of, ready))}")
        if opened and not is_bound(pod):
            if NODE not in annotations(pod):
                self.fault("opened", version, f"{name_of(pod)} lost its gate, and no node is written")
            ready = [each for each in members if is_placed(each) or is_let_in(each) or is_nominated(each)]
            if enough is None or len(ready) < enough:
                self.fault("let-in-early", version, f"{name_of(pod)} was let in: {len(ready)} of {minimum} members "
                           f"of {group[1]} have a place: {sorted(map(name_of, ready))}")
            lack = self.lack(annotations(pod).get(NODE))
            if lack:
                self.fault("over-promised", version, f"{name_of(pod)} was let in to {lack}")

    def judge_taken(self, pod, version):
        node, uid = pod["spec"]["nodeName"], pod["metadata"]["uid"]
        coming = [self.pods[each] for each in self.coming.get(node, set()) if each != uid]
        others = [each for each in coming if priority(each) >= priority(pod)]
        came_by_right = uid in self.ever_gated and NODE in annotations(pod)
        if others and not came_by_right:
            lack = self.lack(node)
            if lack:
                self.fault("place-taken", version, f"{name_of(pod)} was bound to {lack}")

    def lack(self, node):
        """Empty where bound pods and let-in members fit into what the node has."""
        if node not in self.nodes:
            return ""
        there = sorted(self.on_node.get(node, set()) | self.coming.get(node, set()))
        total = {"pods": len(there)}
        for uid in there:
            for resource, amount in requests_of(self.pods[uid]).items():
                total[resource] = total.get(resource, 0) + amount
        have = self.nodes[node]["status"].get("allocatable") or {}
        over = [f"{resource} {amount} of {have.get(resource, '0')}" for resource, amount in sorted(total.items())
                if amount > quantity(have.get(resource, "0"))]
        return f"{node}: {', '.join(over)}; there or coming: {sorted(name_of(self.pods[uid]) for uid in there)}" \
            if over else ""

    def note_whole(self, group, version, at):
        minimum = self.minimum.get(group)
        if group is None or minimum is None:
            return
        placed = len([pod for pod in self.members(group) if is_placed(pod)])
        if placed == 0:
            self.begun.discard(group)
            self.partial.pop(group, None)
        elif group not in self.begun and at:
            self.partial.setdefault(group, at)
        if placed < minimum:
            self.whole.discard(group)
        elif group not in self.whole:
            self.whole.add(group)
            self.begun.add(group)
            self.starts.append(Start(version, at, at - self.partial.pop(group, at), *group))


def priority(pod):
    return pod["spec"].get("priority") or 0
