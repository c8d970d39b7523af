"""A test's own corner for gangs: namespaces that are switched on, each with nodes of its own, and words to make
groups, to look at them and to wait.

A namespace's pods come to the nodes of that namespace only (admission plugin PodNodeSelector), so manifests are
applied as they are, and many corners are side by side on one control plane.
"""
import re

import yaml

import objects
from api import ApiException
from control_plane import ROOT
from gang_judge import GATE
from patience import PATIENCE
from scene import Scene

EXAMPLES = ROOT / "examples" / "gangs"
SUSPEND = objects.PREFIX + "suspend"
ON_PARTIAL = objects.PREFIX + "on-partial"

#: Kind of group -> (apiVersion, what of a pod names the group).
WAYS = {
    "tenstack": ("batch.scheduler.tencent.com/v1", "labels", "group.batch.scheduler.tencent.com"),
    "coscheduling": ("scheduling.x-k8s.io/v1alpha1", "labels", "scheduling.x-k8s.io/pod-group"),
    "kube-batch": ("scheduling.incubator.k8s.io/v1alpha1", "annotations", "scheduling.k8s.io/group-name"),
    "kube-batch-v1alpha2": ("scheduling.sigs.dev/v1alpha2", "annotations", "scheduling.k8s.io/group-name"),
}
PLURALS = {"PodGroup": "podgroups", "StatefulSet": "statefulsets", "ReplicaSet": "replicasets", "Job": "jobs",
           "Pod": "pods"}
OWNERS = (("apps/v1", "StatefulSet"), ("apps/v1", "ReplicaSet"), ("batch/v1", "Job"))


def url(version, kind, namespace, name=None):
    prefix = "/api/v1" if version == "v1" else f"/apis/{version}"
    return f"{prefix}/namespaces/{namespace}/{PLURALS[kind]}" + (f"/{name}" if name else "")


def group(name, minimum, way="coscheduling", notes=None, **spec):
    return {"apiVersion": WAYS[way][0], "kind": "PodGroup",
            "metadata": {"name": name, "annotations": notes or {}}, "spec": {"minMember": minimum, **spec}}


def member(name, of, way="coscheduling", cpu="1", seconds=None, notes=None, **spec):
    """A pod of the group `of`, which ends after so many seconds if that is said."""
    body = objects.pod(name, cpu=cpu, **spec)
    _, where, key = WAYS[way]
    body["metadata"]["annotations"] = dict(notes or {})
    if seconds is not None:
        body["metadata"]["annotations"]["esi-test/run-seconds"] = str(seconds)
        body["spec"]["restartPolicy"] = "Never"
    body["metadata"].setdefault(where, {})[key] = of
    return body


def stateful_set(name, of, replicas, way="coscheduling", policy="Parallel", cpu="1", **spec):
    template = member("", of, way, cpu, **spec)
    del template["metadata"]["name"], template["apiVersion"], template["kind"]
    template["metadata"].setdefault("labels", {})["app"] = name
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
            "spec": {"replicas": replicas, "serviceName": name, "podManagementPolicy": policy,
                     "selector": {"matchLabels": {"app": name}}, "template": template}}


class Corner:
    """A namespace with its nodes."""

    def __init__(self, scene, namespace):
        self.scene, self.namespace = scene, namespace
        self.plane, self.api, self.wait = scene.plane, scene.plane.api, scene.wait

    # --- making things

    def nodes(self, count, cpu="1", prefix="", **more):
        """Nodes of this corner, NAMESPACE-PREFIX0 and so on."""
        names = self.plane.add_nodes(f"{self.namespace}{prefix and '-' + prefix}", count, cpu=cpu,
                                     labels=f"corner={self.namespace}", **more)
        self.scene.made_nodes += names
        return names

    def make(self, *bodies):
        return [self.api.call("POST", url(body["apiVersion"], body["kind"], self.namespace), body) for body in bodies]

    def group(self, name, minimum, way="coscheduling", needs=..., **more):
        """A group of which `needs` members have to start together: `minimum`, unless the test says otherwise."""
        self.needs(name, minimum if needs is ... else needs)
        return self.make(group(name, minimum, way, **more))[0]

    def needs(self, name, minimum):
        """What the judge expects of a group. None: that it never starts."""
        self.scene.gangs.declare(self.namespace, name, minimum)

    def gang(self, name, count, way="coscheduling", minimum=None, needs=..., cpu="1", seconds=None, notes=None,
             spec=None, **more):
        """A group and its plain pods NAME-0, NAME-1, ..."""
        self.group(name, count if minimum is None else minimum, way, needs, notes=notes, **(spec or {}))
        return self.make(*(member(f"{name}-{number}", name, way, cpu, seconds, **more) for number in range(count)))

    def pod(self, name, cpu="1", **spec):
        return self.make(objects.pod(name, cpu=cpu, **spec))[0]

    def example(self, file, **minimums):
        """Applies a file of examples/gangs as people do; `minimums`: what the judge expects of its groups."""
        for name, minimum in minimums.items():
            self.needs(name.replace("_", "-"), minimum)
        return self.plane.kubectl("apply", "--namespace", self.namespace, "--filename", str(EXAMPLES / file))

    def example_objects(self, file):
        return list(yaml.safe_load_all((EXAMPLES / file).read_text("utf-8")))

    def delete(self, version, kind, name, **options):
        body = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", **options}
        try:
            self.api.call("DELETE", url(version, kind, self.namespace, name), body)
        except ApiException as error:
            if error.status != 404:
                raise

    def delete_pod(self, name, **options):
        self.delete("v1", "Pod", name, gracePeriodSeconds=0, **options)

    def delete_group(self, name, way="coscheduling"):
        self.delete(WAYS[way][0], "PodGroup", name)

    def note(self, name, way="coscheduling", **notes):
        """Sets annotations of a group's object: note("train", suspend="true"); None takes one away."""
        change = {"metadata": {"annotations": {objects.PREFIX + key.replace("_", "-"): value
                                               for key, value in notes.items()}}}
        return self.api.call("PATCH", url(WAYS[way][0], "PodGroup", self.namespace, name), change,
                             content_type="application/merge-patch+json")

    # --- looking

    def pods(self, beginning=""):
        """{name: pod} of those whose names begin so."""
        found = self.api.call("GET", url("v1", "Pod", self.namespace))["items"]
        return {pod["metadata"]["name"]: pod for pod in found if pod["metadata"]["name"].startswith(beginning)}

    def bound(self, beginning=""):
        """Names of pods that are on a node, or were."""
        return sorted(name for name, pod in self.pods(beginning).items() if pod["spec"].get("nodeName"))

    def nominated(self, beginning=""):
        """{name: node} of pods that wait at the gate and are nominated."""
        return {name: pod["status"]["nominatedNodeName"] for name, pod in self.pods(beginning).items()
                if pod["status"].get("nominatedNodeName") and self.gates(pod)}

    @staticmethod
    def gates(pod):
        return [gate["name"] for gate in pod["spec"].get("schedulingGates") or []]

    def group_status(self, name, way="coscheduling"):
        return self.api.call("GET", url(WAYS[way][0], "PodGroup", self.namespace, name)).get("status") or {}

    def events(self, about=None, reason=None):
        """[(type, reason, note)] of Events about an object, oldest first."""
        found = sorted(self.api.list("Event", self.namespace), key=lambda each: int(each["metadata"]["resourceVersion"]))
        return [(each.get("type"), each["reason"], each.get("note", "")) for each in found
                if (about is None or each["regarding"]["name"] == about) and (reason is None or each["reason"] == reason)]

    def starts(self):
        """Names of groups in the order in which they had their minimum on nodes, by the recording."""
        self.scene.recording.catch_up()
        return [start.group for start in self.scene.gangs.starts if start.namespace == self.namespace]

    # --- waiting

    def wait_bound(self, beginning, count, timeout=PATIENCE):
        return self.wait(f"{count} pods {beginning}* in {self.namespace} to be on nodes",
                         lambda: len(self.bound(beginning)) >= count and self.bound(beginning), timeout)

    def wait_told(self, about, reason, words="", timeout=PATIENCE):
        """Waits for an Event with that reason, and these words in its note; returns the note."""
        def told():
            return next((note for _, why, note in self.events(about) if why == reason and words in note), None)
        return self.wait(f"an Event {reason} ({words}) about {about} in {self.namespace}", told, timeout)

    def wait_nominated(self, beginning, count):
        return self.wait(f"{count} pods {beginning}* in {self.namespace} to be nominated",
                         lambda: len(self.nominated(beginning)) == count and self.nominated(beginning))

    def wait_gated(self, beginning, count):
        """The pods are there and wait at the gate."""
        return self.wait(f"{count} pods {beginning}* in {self.namespace} at the gate", lambda: len(
            [pod for pod in self.pods(beginning).values() if self.gates(pod) == [GATE]]) == count)

    def none_bound(self, beginning):
        """No pod whose name begins so is on a node."""
        assert self.bound(beginning) == [], self.scene.report()


class GangScene(Scene, Corner):
    """A scene whose own namespace is a corner, and which can have more of them."""

    def __init__(self, name, plane, operators, recording, gangs):
        self.gangs = gangs
        self.others = []
        self.first_gang_violation = len(gangs.violations)
        Scene.__init__(self, name, plane, operators, recording, namespace=self.of_corner(name))
        self.scene = self

    @staticmethod
    def of_corner(name, enabled=True):
        return {"labels": {objects.PREFIX + "gangs": "enabled"} if enabled else {},
                "annotations": {"scheduler.alpha.kubernetes.io/node-selector": f"corner={name}"}}

    def corner(self, suffix, enabled=True):
        """Another namespace with nodes of its own."""
        namespace = f"{self.name}-{suffix}"
        self.api.create("Namespace", None, {"metadata": {"name": namespace, **self.of_corner(namespace, enabled)}})
        made = Corner(self, namespace)
        self.others.append(made)
        self.wait("the namespace's default account", lambda: self.api.get("ServiceAccount", namespace, "default"))
        return made

    def corners(self, count, cpus):
        """So many namespaces, each with a node of each of these sizes."""
        made = [self.corner(str(number)) for number in range(count)]
        for index, cpu in enumerate(cpus):
            self.made_nodes += self.plane.add_nodes(f"{self.name}-n{index}", count, cpu=cpu,
                                                    labels=f"corner={self.name}-{{i}}")
        return made

    # Both bases have these names: a corner's are meant.
    nodes, pods, events, delete = Corner.nodes, Corner.pods, Corner.events, Corner.delete

    def report(self):
        """As of any scene, and the groups and pods of all corners."""
        lines = []
        for corner in (self, *self.others):
            for way, (version, _, _) in WAYS.items():
                try:
                    found = self.api.call("GET", url(version, "PodGroup", corner.namespace))["items"]
                except ApiException:
                    continue
                lines += [f"--- {corner.namespace} {way} {each['metadata']['name']} {each.get('spec')} "
                          f"{each.get('status')}" for each in found]
            lines += [f"{corner.namespace} event {kind} {reason}: {note}" for kind, reason, note in corner.events()
                      if reason not in ("SuccessfulCreate", "Scheduled")][-25:]
            if corner is not self:
                lines += [f"{corner.namespace} pod {name} node={pod['spec'].get('nodeName')} gates={self.gates(pod)} "
                          f"nominated={pod['status'].get('nominatedNodeName')}" for name, pod in corner.pods().items()]
        return "\n".join([*lines, Scene.report(self)])

    def sweep(self):
        corners = [self, *self.others]
        for corner in corners:
            for version, kind in (*OWNERS, *((each[0], "PodGroup") for each in WAYS.values())):
                self.delete_collection(version, kind, corner.namespace)
        for corner in corners:
            self.delete_collection("v1", "Pod", corner.namespace)
        self.wait("all pods to be gone", lambda: not any(corner.pods() for corner in corners))

    def delete_collection(self, version, kind, namespace):
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if kind == "Pod":
            options["gracePeriodSeconds"] = 0
        try:
            self.api.call("DELETE", url(version, kind, namespace), options)
        except ApiException as error:
            if error.status not in (404, 405):
                raise

    def close(self):
        super().close()
        for corner in self.others:
            self.api.delete("Namespace", None, corner.namespace)

    def violations(self):
        found = super().violations()
        return found + [violation for violation in self.gangs.violations[self.first_gang_violation:]
                        if not any(violation.rule == rule and part in violation.text for rule, part in self.allowed)]


def squeezed(text):
    """Runs of blanks as one, for texts that kubectl aligns."""
    return re.sub(r"[ \t]+", " ", text)
