"""Jobs, plans and what became of them, on a cluster of real nodes."""
import datetime
import subprocess
import threading
import time

from cluster import ROOT, wait
from patience import let_pass

NAMESPACE = "default"
TESTBED = "real-slots"
#: The slots of examples/real: place on the node and node go round.
NODE_OF_SLOT = {0: "testbed-1", 1: "testbed-2", 2: "testbed-1", 3: "testbed-2"}


def spark(name, *arguments, image="localhost/spark:4.0.1", annotations=None, **more):
    """A BatchJob that throws darts: arguments tasks, millions of darts, megabytes kept."""
    return {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
            "metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"sparkSpec": {
                "type": "Java", "mode": "cluster", "sparkVersion": "4.0.1", "image": image,
                "imagePullPolicy": "IfNotPresent", "mainClass": "esi.Pi",
                "mainApplicationFile": "local:///opt/spark/examples/jars/esi-pi.jar",
                "arguments": [str(each) for each in arguments], "restartPolicy": {"type": "Never"},
                "driver": {"cores": 1, "coreRequest": "2", "memory": "512m", "serviceAccount": "spark",
                           **({"annotations": annotations} if annotations else {})},
                "executor": more.pop("executor", {}), **more}}}


def slots(name, placed, mode="relaxed"):
    """A Scheduling: {job: [slot, ...]}."""
    return scheduling(name, slotBased={"mode": mode, "jobs": [
        {"name": {"name": job}, "slotIds": where} for job, where in placed.items()]})


def queue(name, *jobs):
    return scheduling(name, queueBased=[{"name": job} for job in jobs])


def scheduling(name, **plan):
    return {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Scheduling",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"testbed": {"name": TESTBED}, "releaseOnCompletion": True, **plan}}


def put(cluster, *things):
    for thing in things:
        cluster.api.create(thing["kind"], NAMESPACE, thing)


def status(cluster, kind, name):
    return (cluster.api.get(kind, NAMESPACE, name) or {}).get("status") or {}


def state(cluster, kind, name):
    return status(cluster, kind, name).get("state")


def last_run(cluster, name):
    runs = status(cluster, "BatchJob", name).get("runs") or [{}]
    return runs[-1]


def wait_finished(cluster, *plans, patience=400):
    for plan in plans:
        wait(f"Scheduling {plan} to end", lambda plan=plan: state(cluster, "Scheduling", plan) in
             ("FinishedState", "Error"), patience)
        assert state(cluster, "Scheduling", plan) == "FinishedState", status(cluster, "Scheduling", plan)


def rows(cluster):
    return sorted(status(cluster, "Testbed", TESTBED).get("slots") or [], key=lambda row: row["position"])


def wait_free(cluster, patience=120):
    """Until each slot has its ghost, and the ghost runs."""
    def free():
        ghosts = cluster.api.list("Pod", NAMESPACE, labels="esi.tu-berlin.de/ghost=true")
        return [row["state"] for row in rows(cluster)] == ["FREE"] * 4 and len(ghosts) == 4 and \
            all(ghost["status"].get("phase") == "Running" for ghost in ghosts)
    wait("four ghosts to run in four free slots", free, patience)


def job_pods(cluster, name, role=None):
    labels = f"esi.tu-berlin.de/job={name}" + (f",spark-role={role}" if role else "")
    return cluster.api.list("Pod", NAMESPACE, labels=labels)


def wait_running(cluster, name, count, patience=240):
    """Until so many pods of the job run in slots; returns them."""
    def running():
        pods = [pod for pod in job_pods(cluster, name)
                if (pod["metadata"].get("annotations") or {}).get("esi.tu-berlin.de/slot") is not None
                and pod["status"].get("phase") == "Running"]
        return pods if len(pods) == count else None
    return wait(f"{count} pods of {name} to run", running, patience)


def clear(cluster):
    """Takes plans and jobs of a test away, and waits until nothing of them is left."""
    for kind in ("Scheduling", "BatchJob"):
        cluster.api.delete_all(kind, NAMESPACE)
    wait("plans, jobs and their pods to go", lambda: not [
        pod for kind in ("Scheduling", "BatchJob") for pod in cluster.api.list(kind, NAMESPACE)] and not [
        pod for pod in cluster.api.list("Pod", NAMESPACE)
        if (pod["metadata"].get("labels") or {}).get("esi.tu-berlin.de/ghost") != "true"], 180)


class Log:
    """
    What all pods of a job with a role write, each followed from the moment that it has a log: pods are gone when a
    run is over, and a job's pods do not come at the same time.
    """

    def __init__(self, cluster, labels, patience=600):
        self.texts = {}
        self.thread = threading.Thread(target=self.watch, args=(cluster, labels, patience), daemon=True)
        self.thread.start()

    def watch(self, cluster, labels, patience):
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                names = [pod["metadata"]["name"] for pod in cluster.api.list("Pod", NAMESPACE, labels=labels)]
            except Exception:  # the API server may be away
                names = []
            for name in names:
                if name not in self.texts:
                    self.texts[name] = ""
                    threading.Thread(target=self.follow, args=(cluster, name, deadline), daemon=True).start()
            let_pass(0.5, "pods may come as long as the test has patience")

    def follow(self, cluster, pod, deadline):
        """Until the whole log was read: without one yet, kubectl says that its container waits to start."""
        while time.monotonic() < deadline:
            done = subprocess.run([cluster.binary, "kubectl", "logs", "-n", NAMESPACE, "--follow", pod],
                                  capture_output=True, text=True, check=False, env=cluster.environment())
            self.texts[pod] += done.stdout
            if (done.returncode == 0 and done.stdout) or "not found" in done.stderr:
                return
            let_pass(0.5, "its container may start meanwhile")

    def wait(self, words, patience=60):
        try:
            wait("a log", lambda: any(words in text for text in self.texts.values()), patience)
        except RuntimeError:
            ends = {pod: text[-1000:] for pod, text in self.texts.items()}
            raise RuntimeError(f"no log has {words!r}; their ends are: {ends}") from None


def apply_example(cluster, *files):
    for file in files:
        cluster.kubectl("apply", "-f", ROOT / "examples" / "real" / file)


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
