"""Somebody's run, and people with few rights who mean it harm (test_28_attacks.py).

    namespace `attacks`        the victim's: Testbed `slots` (four slots on two nodes, no taint), held by the
                               Scheduling `plan`: `pi` runs in slots 0 and 1, `next` waits for three slots;
                               `later` is a Scheduling that waits for the Testbed with the job `spare`.
                               Testbed `side` (ten slots, with the taint), held by `shared`, which runs jobs of
                               several authors: `mine` is the victim's. Testbed `solo` (two slots) is free.
    namespace `attacks-evil`   the attackers' own

Each attacker may write one kind of objects, in both namespaces, and nothing else; he knows what the role
view shows.
"""
import json
import typing

import yaml

import objects
from api import Api, ApiException
from patience import PATIENCE, Timeout, wait
from scene import Scene

STAY = "attacks.example/stay"  # a finalizer that nobody but its author takes off
EVIL = "attacks-evil"
PODS = 20  # that a node of the Testbed `slots` takes
#: Who -> (group, what he may write in namespaces that he has a part in).
PEOPLE = {
    "pod-author": ("", ["pods"]),
    "job-author": ("esi.tu-berlin.de", ["batchjobs"]),
    "scheduler": ("esi.tu-berlin.de", ["schedulings"]),
    "testbed-owner": ("esi.tu-berlin.de", ["testbeds"]),
}
VERBS = ["get", "list", "watch", "create", "update", "patch", "delete"]


class Answer(typing.NamedTuple):
    code: int
    message: str
    body: dict

    @property
    def policy(self):
        """Name of the admission policy that refused, without esi-."""
        marker = "ValidatingAdmissionPolicy 'esi-"
        return self.message.split(marker)[1].split("'")[0] if marker in self.message else None

    @property
    def uid(self):
        return self.body["metadata"]["uid"]


class Person(Api):
    """One attacker: what the API server answers to him, refusals too."""

    def __init__(self, plane, name):
        super().__init__(plane.kubeconfig)
        self.client.set_default_header("Impersonate-User", name)

    def ask(self, act, *arguments, **more):
        try:
            return Answer(200, "", act(*arguments, **more))
        except ApiException as error:
            return Answer(error.status, message_of(error.body), {})

    def makes(self, body, namespace=EVIL):
        return self.ask(self.create, body["kind"], namespace, body)

    def changes(self, kind, name, change, namespace=EVIL, sub=None):
        return self.ask(self.patch, kind, namespace, name, change, sub)


def message_of(body):
    try:
        return json.loads(body)["message"]
    except (ValueError, KeyError):
        return str(body)


def rights():
    """Roles of the attackers and their bindings in both namespaces."""
    out = []
    for person, (group, resources) in PEOPLE.items():
        role = f"attacks-{person}"
        out.append({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": role},
                    "rules": [{"apiGroups": [group], "resources": resources, "verbs": VERBS}]})
        for namespace in ("attacks", EVIL):
            out.append({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                "metadata": {"name": role, "namespace": namespace},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": person}]})
    return yaml.safe_dump_all(out)


def owner(kind, name, uid, version=objects.GROUP, controller=True):
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": controller}


#: Jobs of the plan `shared` that are the job author's; each is attacked by its test.
GUESTS = {
    "clears": {}, "deepens": {}, "flips": {}, "stays": {}, "deletes": {},
    "crowd": {"driver": {"esi-test/executors": "12"}},
    "marked": {"executor": {
        "labels": {objects.PREFIX + "testbed": "slots", objects.PREFIX + "job": "pi"},
        "annotations": {objects.PREFIX + "slot": "3", objects.PREFIX + "slots": "0,1,2,3",
                        objects.PREFIX + "slot-node": "attacks-1", objects.PREFIX + "run": "x.1.1"},
        "template": {"metadata": {"finalizers": [STAY], "annotations": {objects.PREFIX + "slot": "3"}}}},
        "sparkConf": {"spark.kubernetes.executor.annotation.esi.tu-berlin.de/slot": "3",
                      "spark.kubernetes.executor.label.esi.tu-berlin.de/ghost": "true"}},
    "lingers": {"executor": {
        "annotations": {"esi-test/termination-seconds": "86400"}, "terminationGracePeriodSeconds": 86400,
        "template": {"spec": {"terminationGracePeriodSeconds": 86400}}}},
    "jumps": {"executor": {
        "schedulerName": "default-scheduler", "priorityClassName": "system-node-critical",
        "template": {"spec": {"nodeName": "attacks-0", "priorityClassName": "system-node-critical",
                              "priority": 2000001000, "preemptionPolicy": "PreemptLowerPriority",
                              "schedulerName": "external-scheduler"}}}},
}


class Lab:
    def __init__(self, plane, operators, recording):
        self.plane, self.operators = plane, operators
        self.scene = Scene("attacks", plane, operators, recording)
        self.api = self.scene.api
        self.before = None

    def furnish(self):
        scene = self.scene
        self.api.create("Namespace", None, {"metadata": {"name": EVIL}})
        self.plane.kubectl("apply", "-f", "-", stdin=rights())
        self.people = {name: Person(self.plane, name) for name in PEOPLE}
        scene.nodes(2, cpu="2", pods=str(PODS))
        for name, cpu in (("side", "6200m"), ("solo", "2"), ("bait", "2")):
            scene.made_nodes += self.plane.add_nodes(f"attacks-{name}", 1, labels=f"lab.esi/attacks-{name}={{i}}",
                                                     cpu=cpu, memory="32Gi")
        scene.testbed("slots", ready=False)
        scene.testbed("side", ready=False, label="lab.esi/attacks-side", slots=10, isolation="Taint")
        scene.testbed("solo", ready=False, label="lab.esi/attacks-solo")
        for name in ("pi", "next", "spare", "mine"):
            scene.apply(objects.job(name, seconds=600))
        for name, more in GUESTS.items():
            assert self.people["job-author"].makes(objects.job(name, seconds=600, **more), scene.namespace).code == 200
        for name in ("slots", "side", "solo"):
            scene.testbed_ready(name)
        #: {(node, index): name}; who has seen a ghost knows the name of the next one.
        self.ghost_names = {place: ghost["metadata"]["name"] for place, ghost in scene.ghosts("side").items()}
        scene.queue("plan", ["pi", "pi", "next", "next", "next"], releaseOnCompletion=True)
        scene.queue("shared", [*GUESTS, "mine"], "side")
        for name in ("pi", "mine"):
            scene.job_state(name, "RunningState")
        scene.queue("later", ["spare"], releaseOnCompletion=True)
        scene.wait_condition("Scheduling", "later", "Acquired", "False", "TestbedHeld")
        scene.wait("executors in their slots", lambda: [
            row["state"] for row in scene.slots().values()] == ["OCCUPIED", "OCCUPIED", "FREE", "FREE"])
        self.before = self.look()

    def look(self):
        """What the victim has and must keep."""
        scene = self.scene
        out = {}
        bed = scene.get("Testbed", "slots")
        out["Testbed"] = {"spec": bed["spec"], "layout": bed["status"]["layout"], "labels": bed["metadata"]["labels"],
                          "annotations": bed["metadata"]["annotations"], "uid": bed["metadata"]["uid"],
                          "deletion": bed["metadata"].get("deletionTimestamp"),
                          "finalizers": bed["metadata"]["finalizers"]}
        out["slots"] = {place: (row["state"], row.get("nodeName"), row.get("podName"))
                        for place, row in scene.slots().items()}
        for name in ("pi", "next", "spare", "mine"):
            job = scene.get("BatchJob", name)
            status = job["status"]
            out[f"job {name}"] = (job["metadata"]["uid"], job["spec"].get("activeScheduling"),
                                  job["spec"].get("creationRequest"), job["spec"]["sparkSpec"], status["state"],
                                  status.get("placements"))
        for name in ("plan", "later"):
            plan = scene.get("Scheduling", name)
            out[f"plan {name}"] = (plan["metadata"]["uid"], plan["spec"], plan["status"]["state"],
                                   plan["status"].get("assignments"), plan["metadata"].get("deletionTimestamp"))
        barrier = scene.node(1), 1
        out["ghosts"] = {place: uid for place, uid in scene.bound_ghosts().items() if place != barrier}
        out["pods"] = {pod["metadata"]["name"]: (pod["metadata"]["uid"], pod["spec"].get("nodeName"))
                       for job in ("pi", "mine") for pod in self.pods_of(job)}
        out["applications"] = {name: self.api.get("SparkApplication", scene.namespace, name)["metadata"]["uid"]
                               for name in ("pi", "mine")}
        for node in (scene.node(0), scene.node(1)):
            found = self.api.get("Node", None, node)
            out[node] = found["metadata"]["labels"], found["spec"].get("taints")
        return out

    def pods_of(self, job):
        """Driver and executors of one of the victim's jobs."""
        scene = self.scene
        seated = [each for each in scene.job_pods(job) if each["metadata"]["name"] in {
            placement["podName"] for placement in scene.status("BatchJob", job).get("placements") or []}]
        return [scene.get("Pod", f"{job}-driver"), *seated]

    def unharmed(self):
        """The victim has all that it had."""
        def has_all():
            nonlocal now
            now = self.look()
            return now == self.before
        now = None
        try:
            wait("the victim to have all that it had", has_all, 60)  # rows of a status are late
        except Timeout:
            wrong = {key: (self.before[key], now[key]) for key in self.before if self.before[key] != now[key]}
            self.before = now  # a harm is told once
            raise AssertionError(f"the victim is worse off (before, now): {wrong}") from None

    def acted(self, patience=PATIENCE):
        """Waits until the operators have acted on what came later than all before: a ghost that goes is there
        again, and a note on a job has been looked at."""
        scene = self.scene
        place = scene.node(1), 1
        ghost = scene.ghosts()[place]
        self.api.delete("Pod", scene.namespace, ghost["metadata"]["name"], grace=0)
        self.api.patch("BatchJob", scene.namespace, "pi", {
            "spec": {"externalScheduler": {"note": [{"at": ghost["metadata"]["uid"]}]}}})

        def seen():
            job = scene.get("BatchJob", "pi")
            return scene.bound_ghosts().get(place) not in (None, ghost["metadata"]["uid"]) and \
                job["status"]["observedGeneration"] == job["metadata"]["generation"]
        scene.wait("the operators to act on something later", seen, patience)

    def ends(self, kind, name):
        """An attacker's object goes when it is deleted."""
        self.api.delete(kind, EVIL, name)
        self.scene.wait(f"the end of {kind} {EVIL}/{name}", lambda: not self.api.get(kind, EVIL, name))

    def nothing_comes_of_it(self):
        self.acted()
        self.unharmed()

    def resource_version(self, kind, name):
        return self.scene.get(kind, name)["metadata"]["resourceVersion"]

    def condition(self, kind, name, which, namespace=EVIL):
        found = self.api.get(kind, namespace, name) or {}
        for each in (found.get("status") or {}).get("conditions") or []:
            if each["type"] == which:
                return each
        return {}

    def told(self, kind, name, which, reason, namespace=EVIL):
        """The condition of an attacker's object, when it says that."""
        return self.scene.wait(f"{kind} {namespace}/{name} to be told {which}: {reason}", lambda: (
            lambda found: found.get("reason") == reason and found)(self.condition(kind, name, which, namespace)))

    def executor(self, job="pi"):
        """A real executor of the victim's."""
        return self.pods_of(job)[1]

    def look_alike(self, name, labels=True, **spec):
        """A pod with all labels of a real executor and its run, of nobody; at the gate."""
        real = self.executor()
        body = objects.pod(name, cpu="10m", memory="1Mi", **spec)
        body["metadata"] |= {
            "labels": dict(real["metadata"]["labels"]) if labels else {},
            "annotations": {objects.PREFIX + "run": real["metadata"]["annotations"][objects.PREFIX + "run"],
                            objects.PREFIX + "slots": "0,1,2,3"}}
        body["spec"].setdefault("schedulingGates", [{"name": objects.PREFIX + "slot"}])
        return body

    def is_shut_out(self, name, namespace):
        """The pod waits at the gate or is gone, and no placement has its uid."""
        pod = self.api.get("Pod", namespace, name)
        if pod:
            assert pod["spec"].get("schedulingGates") and not pod["spec"].get("nodeName"), pod
            assert objects.PREFIX + "slot" not in pod["metadata"].get("annotations", {}), pod
            placed = [each["podUid"] for job in self.api.list("BatchJob", self.scene.namespace)
                      for each in (job.get("status") or {}).get("placements") or []]
            assert pod["metadata"]["uid"] not in placed

    def forge(self, *bodies):
        """What the pod author makes where no policy keeps marks of pods from him. Takes a moment."""
        author = self.people["pod-author"]

        def home(body):
            return body["metadata"].get("namespace", EVIL)
        made = [self.scene.forge(body, lambda each: author.create("Pod", home(each), each)) for body in bodies]

        def refused():
            return author.ask(author.call, "POST", f"/api/v1/namespaces/{home(bodies[0])}/pods", bodies[0],
                              query={"dryRun": "All"}).policy == "pod-marks"
        self.scene.wait("the policy to be in force again", refused)
        return made

    def solo(self, name, jobs, **more):
        """A plan of the victim's on the free Testbed `solo`."""
        self.scene.queue(name, jobs, "solo", **more)

    def solo_is_whole(self, *plans, patience=PATIENCE):
        """The plans on `solo` go when they are deleted, and all of its slots are free."""
        scene = self.scene
        for name in plans:
            scene.delete("Scheduling", name)
        scene.wait("nobody to hold solo", lambda: scene.holder("solo") is None, patience)
        scene.testbed_ready("solo", patience)

    def release_shared(self):
        """Ends the plan `shared`. What is left of the job `lingers` would stay for the two minutes that it gets."""
        self.api.delete("Scheduling", self.scene.namespace, "shared")

        def ended():
            pods = [pod for pod in self.scene.job_pods("lingers") if "deletionTimestamp" in pod["metadata"]]
            for pod in pods:
                assert pod["metadata"]["deletionGracePeriodSeconds"] <= 120
                self.api.delete("Pod", self.scene.namespace, pod["metadata"]["name"], grace=0)
            return not self.scene.get("Scheduling", "shared")
        self.scene.wait("the release of the plan shared", ended)

    def clear(self):
        """Takes the attackers' finalizers off, and their namespace away."""
        for namespace in (self.scene.namespace, EVIL):
            for kind in ("Pod", "Scheduling", "BatchJob", "Testbed"):
                for thing in self.api.list(kind, namespace):
                    kept = thing["metadata"].get("finalizers") or []
                    if STAY in kept:
                        self.api.patch(kind, namespace, thing["metadata"]["name"], {
                            "metadata": {"finalizers": [each for each in kept if each != STAY]}})
        self.release_shared()
        for kind in ("Scheduling", "BatchJob", "Testbed", "Pod"):
            self.api.delete_all(kind, EVIL)
            self.scene.wait(f"no {kind} of the attackers", lambda kind=kind: not self.api.list(kind, EVIL))
        self.api.delete("Namespace", None, EVIL)

    def close(self):
        try:
            self.clear()
        finally:
            self.scene.close()
            self.plane.kubectl("delete", "clusterrole", *(f"attacks-{person}" for person in PEOPLE))
