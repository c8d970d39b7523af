"""What the recorder (scenarios/recorder.py) wrote down on real nodes: times of pods, and swaps."""
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import time

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
sys.path.insert(0, str(SCENARIOS))

import judge as judging  # noqa: E402  (after the path is set)
from cluster import wait  # noqa: E402

PREFIX = judging.PREFIX
MARK = "esi-test/recorder-mark"
#: Words of a kubelet that refused a pod which somebody had bound to its node.
REFUSALS = ("OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage", "NodeAffinity", "Preempting")


@dataclasses.dataclass
class PodHistory:
    """When a pod did what for the first time, by the recorder's clock; None: never."""
    name: str
    uid: str
    labels: dict
    annotations: dict
    node: str | None = None
    created: float | None = None
    nominated: float | None = None
    bound: float | None = None
    running: float | None = None
    ended: float | None = None
    gone: float | None = None
    phase: str = ""
    reason: str = ""

    @property
    def job(self):
        return self.labels.get(PREFIX + "job")

    @property
    def is_ghost(self):
        return self.labels.get(PREFIX + "ghost") == "true"

    @property
    def place(self):
        """(node, index on the node) of a ghost or of a pod that has its slot."""
        if self.is_ghost:
            return self.node, int(self.annotations[PREFIX + "index"])
        return self.node, self.slot_index

    slot_index: int | None = None


class History:
    """A recorder process and what it wrote."""

    def __init__(self, cluster, folder):
        self.cluster = cluster
        self.file = folder / "recording.jsonl"
        self.file.write_bytes(b"")
        self.marks = 0
        self.make_marked()
        with open(folder / "recorder.log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", SCENARIOS / "recorder.py", cluster.kubeconfig, self.file],
                stdin=subprocess.PIPE, stdout=log, stderr=log)

    def make_marked(self):
        """A pod that never runs, whose changes say how far the recorder is."""
        api = self.cluster.api
        api.create("Namespace", None, {"metadata": {"name": "recorder"}})
        wait("the namespace of the recorder", lambda: api.get("ServiceAccount", "recorder", "default"), 30)
        api.create("Pod", "recorder", {"metadata": {"name": "mark"}, "spec": {
            "schedulingGates": [{"name": "esi-test/never"}],
            "containers": [{"name": "none", "image": "none"}]}})

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)

    def lines(self):
        """Everything that happened before this call, and maybe a little after."""
        self.marks += 1
        mark = f"{time.time()}-{self.marks}"
        change = {"metadata": {"annotations": {MARK: mark}}}
        self.cluster.api.patch("Node", None, "work-1", change)
        self.cluster.api.patch("Pod", "recorder", "mark", change)

        def whole():
            text = self.file.read_text(encoding="utf-8")
            lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
            seen = {line["kind"] for line in lines for thing in line.get("objects") or [line.get("object")]
                    if thing and (thing["metadata"].get("annotations") or {}).get(MARK) == mark}
            return seen == {"Pod", "Node"} and lines
        return sorted(wait("the recorder to have the marks of Pod and Node", whole, 60), key=lambda line: line["rv"])

    def violations(self):
        judge = judging.Judge()
        judge.feed(self.lines())
        return judge.violations

    def pods(self, since=0.0):
        """PodHistory of every pod that was ever seen, the first made first."""
        return [pod for pod in histories(self.lines()) if pod.created >= since]

    def refused(self):
        """Pods that a kubelet turned away."""
        return [f"{pod.name} on {pod.node}: {pod.reason}" for pod in self.pods() if pod.reason in REFUSALS]


def histories(lines):
    """Pure: recorded lines, in order of resourceVersion, to PodHistory of each pod."""
    pods, layouts = {}, {}
    for line in lines:
        if line["kind"] == "Testbed" and line.get("object"):
            nodes = judging.layout_nodes(line["object"])
            if nodes:
                layouts[line["object"]["metadata"]["name"]] = len(nodes)
        if line["kind"] != "Pod":
            continue
        for thing in line.get("objects") or [line["object"]]:
            take(pods, layouts, thing, line)
    return list(pods.values())


def take(pods, layouts, thing, line):
    metadata, status, at = thing["metadata"], thing.get("status") or {}, line["at"]
    pod = pods.get(metadata["uid"])
    if pod is None:
        pod = pods[metadata["uid"]] = PodHistory(metadata["name"], metadata["uid"], {}, {}, created=at)
    pod.labels = metadata.get("labels") or {}
    pod.annotations = metadata.get("annotations") or {}
    pod.phase, pod.reason = status.get("phase", ""), status.get("reason") or pod.reason
    pod.node = thing["spec"].get("nodeName") or pod.node
    slot = pod.annotations.get(PREFIX + "slot")
    if slot is not None and pod.labels.get(PREFIX + "testbed") in layouts:
        pod.slot_index = int(slot) // layouts[pod.labels[PREFIX + "testbed"]]

    def first(what, when):
        if when and getattr(pod, what) is None:
            setattr(pod, what, at)
    first("nominated", status.get("nominatedNodeName"))
    first("bound", thing["spec"].get("nodeName"))
    first("running", pod.phase == "Running")
    first("ended", pod.phase in ("Succeeded", "Failed"))
    first("gone", line["type"] == "DELETED")


@dataclasses.dataclass
class Swap:
    """One change of who is in a place: ghost out and job pod in, or the other way round."""
    out: PodHistory
    into: PodHistory

    @property
    def seconds(self):
        return self.into.running - min(filter(None, (self.out.ended, self.out.gone)))


def swaps(pods):
    """(ghost to job, job to ghost): Swaps of each place, in order of time."""
    places = {}
    for pod in pods:
        if pod.running is not None and (pod.is_ghost or pod.slot_index is not None):
            places.setdefault(pod.place, []).append(pod)
    ins, outs = [], []
    for there in places.values():
        there.sort(key=lambda pod: pod.running)
        for before, after in zip(there, there[1:]):
            if before.ended is None and before.gone is None:
                continue
            if before.is_ghost and not after.is_ghost:
                ins.append(Swap(before, after))
            elif after.is_ghost and not before.is_ghost:
                outs.append(Swap(before, after))
    return ins, outs


def summary(seconds):
    """Number, least, median, ninth decile and most of some times, for a table."""
    seconds = sorted(seconds)
    if not seconds:
        return "n 0"
    ninth = seconds[min(len(seconds) - 1, int(len(seconds) * 0.9))]
    return (f"n {len(seconds):3}   min {seconds[0]:6.2f}   median {statistics.median(seconds):6.2f}   "
            f"p90 {ninth:6.2f}   max {seconds[-1]:6.2f} s")
