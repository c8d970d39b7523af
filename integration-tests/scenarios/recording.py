"""A recorder process and the judge that follows it; one for all tests of a session.

`catch_up()` makes sure that everything that happened before the call is in the recording and judged:
it touches one object of each watched kind (the marks) and waits until their changes were written down.
"""
import pathlib
import subprocess
import sys

import judge as judging
from patience import PATIENCE, wait

NAMESPACE = "recorder"
MARK = "esi-test/recorder-mark"


class Recording:
    def __init__(self, plane, folder, also=()):
        """`also`: further judges, which get the same changes."""
        self.also = also
        self.api = plane.api
        self.file = pathlib.Path(folder) / "recording.jsonl"
        self.file.write_bytes(b"")  # ESI_SCENARIOS_DIR may hold that of an earlier session
        self.reader = open(self.file, encoding="utf-8")
        self.judge = judging.Judge()
        self.waiting = []  # read, but later than what is sure to be complete
        self.marks = 0
        self.make_marked(plane)
        with open(pathlib.Path(folder) / "recorder.log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-B", str(pathlib.Path(__file__).with_name("recorder.py")),
                 str(plane.kubeconfig), str(self.file)],
                stdin=subprocess.PIPE, stdout=log, stderr=log)
        self.catch_up()

    def make_marked(self, plane):
        plane.add_nodes("recorder", 1, cpu="1", memory="1Gi")
        self.api.patch("Node", None, "recorder-0", {"spec": {"unschedulable": True}})
        self.api.create("Namespace", None, {"metadata": {"name": NAMESPACE}})
        wait("the namespace's default account", lambda: self.api.get("ServiceAccount", NAMESPACE, "default"))
        self.api.create("Pod", NAMESPACE, {
            "metadata": {"name": "mark"},
            "spec": {"schedulingGates": [{"name": "esi-test/never"}],
                     "containers": [{"name": "none", "image": "none"}]}})
        self.api.create("Testbed", NAMESPACE, {
            "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed", "metadata": {"name": "mark"},
            "spec": {"slotsPerNode": 1, "nodeLabel": "esi-test/never",
                     "resourcesPerSlot": {"cpu": "1", "memory": "1Gi"}}})
        self.api.create("BatchJob", NAMESPACE, {
            "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob", "metadata": {"name": "mark"},
            "spec": {"flinkSpec": {"jarFile": "./none.jar"}}})

    def catch_up(self, timeout=PATIENCE):
        """Judges all that happened before this call; returns the judge."""
        self.marks += 1
        change = {"metadata": {"annotations": {MARK: str(self.marks)}}}
        written = [int(self.api.patch(kind, namespace, name, change)["metadata"]["resourceVersion"])
                   for kind, namespace, name in (("Pod", NAMESPACE, "mark"), ("Node", None, "recorder-0"),
                                                 ("Testbed", NAMESPACE, "mark"),
                                                 ("BatchJob", NAMESPACE, "mark"))]
        sure = min(written)
        missing = {"Pod", "Node", "Testbed", "BatchJob"}

        def has_all():
            for line in judging.read(self.reader):
                self.waiting.append(line)
                for thing in line.get("objects") or [line.get("object")]:
                    if thing and (thing["metadata"].get("annotations") or {}).get(MARK) == str(self.marks):
                        missing.discard(line["kind"])
            if missing and self.process.poll() is not None:
                raise RuntimeError(f"the recorder ended with {self.process.returncode}")
            return not missing
        wait("the recorder", has_all, timeout, pause=0.02, fault=RuntimeError,
             told=lambda: f"it is behind: no {sorted(missing)}")
        for judge in (self.judge, *self.also):
            judge.feed([line for line in self.waiting if line["rv"] <= sure])
        self.waiting = [line for line in self.waiting if line["rv"] > sure]
        return self.judge

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.close()
