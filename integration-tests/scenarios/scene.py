"""One test's own corner of the cluster: a namespace, a node label, nodes; and the words to act there.

A scene makes everything under names of its own and takes everything away at its end, and asserts then
that the operators left nothing behind.
"""
import json
import os
import random
import time

import yaml

import objects
import patience
from api import ApiException
from patience import PATIENCE


def chances():
    """Chance from the clock, or from ESI_SEED: what a run that failed has printed."""
    seed = int(os.environ.get("ESI_SEED") or time.time())
    print(f"ESI_SEED={seed}")
    return random.Random(seed)


def finish(api, namespace, *jobs, seconds=0):
    """Ends running applications: the stand-ins of drivers and JobManagers look at their annotations all the time."""
    for job in jobs:
        managers = api.list("Pod", namespace, labels=f"app={job},component=jobmanager")
        for name in [pod["metadata"]["name"] for pod in managers] or [f"{job}-driver"]:
            api.patch("Pod", namespace, name, {"metadata": {"annotations": {"esi-test/run-seconds": str(seconds)}}})


class Scene:
    def __init__(self, name, plane, operators, recording, namespace=None):
        """`namespace`: labels and annotations of the namespace."""
        self.name = name
        self.namespace = name
        self.label = f"lab.esi/{name}"
        self.plane, self.api = plane, plane.api
        self.operators, self.recording = operators, recording
        self.made_nodes = []
        self.allowed = []  # [(rule, part of its text)]: what the judge may find in this test
        self.meanwhile = lambda: None  # is called again and again while the test waits
        self.log_begin = {operator.label: operator.size() for operator in operators}
        self.first_violation = len(recording.judge.violations)
        self.first_binding = len(recording.judge.bindings)
        self.first_stranger = len(recording.judge.strangers)
        self.api.create("Namespace", None, {"metadata": {"name": self.namespace, **(namespace or {})}})
        self.wait("the namespace's default account",
                  lambda: self.api.get("ServiceAccount", self.namespace, "default"))
        for account in ("spark", "flink"):
            self.api.create("ServiceAccount", self.namespace, {"metadata": {"name": account}})

    # --- making things

    def nodes(self, count, labelled=True, **more):
        """Nodes NAME-0, NAME-1, ...; their number is also their id in this scene's testbeds."""
        labels = f"{self.label}={{i}},lab={self.name}" if labelled else f"lab={self.name}"
        names = self.plane.add_nodes(self.name, count, labels=labels, **more)
        self.made_nodes += names
        return names

    def node(self, number):
        return f"{self.name}-{number}"

    def apply(self, body, namespace=None):
        return self.api.create(body["kind"], namespace or self.namespace, body)

    def pod_marks(self, *actions):
        """What the API server does where the policy that keeps marks of pods from people is not met."""
        self.api.call("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/esi-pod-marks",
                      {"spec": {"validationActions": actions}}, content_type="application/merge-patch+json")

    def forge(self, body, make=None):
        """Makes a pod with marks that the policies keep from people: what ESI does where there is none.
        `make`: who makes it."""
        def made():
            try:
                return (make or self.apply)(body)
            except ApiException as error:
                if error.status == 403:
                    return None
                raise
        self.pod_marks("Audit")
        try:
            return self.wait("the API server to take a forged pod", made)
        finally:
            self.pod_marks("Deny", "Audit")

    def testbed(self, name="slots", ready=True, **more):
        more.setdefault("label", self.label)
        made = self.apply(objects.testbed(name, **more))
        if ready:
            self.testbed_ready(name)
        return made

    def testbed_ready(self, name="slots", timeout=PATIENCE):
        """Waits until all slots are free, as the Testbed's status says."""
        def all_free():
            found = self.get("Testbed", name)
            status = found.get("status", {})
            counts = status.get("counts") or {}
            if status.get("observedGeneration", 0) < found.get("metadata", {}).get("generation", 0):
                return None  # it speaks of the spec before
            return status.get("state") == "SUCCESS" and counts.get("total", 0) > 0 and \
                counts.get("free") == counts.get("total") and status
        return self.wait(f"testbed {name} to be whole and free", all_free, timeout)

    def jobs(self, *names, **more):
        for name in names:
            self.apply(objects.job(name, **more))
        for name in names:
            self.job_state(name, "ReadyState")

    def queue(self, name, jobs, testbed="slots", **more):
        return self.apply(objects.queue(name, testbed, jobs, **more))

    def slot_plan(self, name, mode, jobs, testbed="slots", **more):
        return self.apply(objects.slot_plan(name, testbed, mode, jobs, **more))

    def finish(self, *jobs, seconds=0, namespace=None):
        """Ends running applications, now or when they have run for so many seconds."""
        finish(self.api, namespace or self.namespace, *jobs, seconds=seconds)

    def drive(self, job, **notes):
        """Annotations of the driver, which its stand-in looks at all the time: drive("pi", executors=3)."""
        self.api.patch("Pod", self.namespace, f"{job}-driver", {"metadata": {"annotations": {
            f"esi-test/{name.replace('_', '-')}": str(value) for name, value in notes.items()}}})

    def pods(self, *names, **more):
        more.setdefault("node_selector", {"lab": self.name})
        return [self.apply(objects.pod(name, **more)) for name in names]

    # --- looking

    def get(self, kind, name):
        found = self.api.get(kind, self.namespace, name)
        return {} if found is None else found

    def status(self, kind, name):
        return self.get(kind, name).get("status") or {}

    def condition(self, kind, name, which):
        """The condition as a dict; empty where it is not there."""
        for condition in self.status(kind, name).get("conditions") or []:
            if condition["type"] == which:
                return condition
        return {}

    def progress(self, scheduling):
        found = self.status("Scheduling", scheduling).get("progress") or {}
        return {key: found.get(key, 0) for key in ("done", "failed", "total")}

    def ghosts(self, testbed="slots"):
        """{(node, index): pod} of the ghosts that are there."""
        found = self.api.list("Pod", self.namespace,
                              labels=f"esi.tu-berlin.de/testbed={testbed},esi.tu-berlin.de/ghost=true")
        return {(pod["metadata"]["annotations"]["esi.tu-berlin.de/node"],
                 int(pod["metadata"]["annotations"]["esi.tu-berlin.de/index"])): pod for pod in found}

    def bound_ghosts(self, testbed="slots"):
        """{(node, index): uid} of ghosts that are bound, to the node that they are bound to."""
        return {(pod["spec"]["nodeName"], place[1]): pod["metadata"]["uid"]
                for place, pod in self.ghosts(testbed).items()
                if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]}

    def job_pods(self, job=None):
        """Executors and TaskManagers; a driver has the job's label too, but no testbed's."""
        labels = "esi.tu-berlin.de/testbed,esi.tu-berlin.de/job" + (f"={job}" if job else "")
        return self.api.list("Pod", self.namespace, labels=labels)

    def slots(self, testbed="slots"):
        """{position: row} of the Testbed's status."""
        return {row["position"]: row for row in self.status("Testbed", testbed).get("slots") or []}

    def holder(self, testbed="slots"):
        labels = self.get("Testbed", testbed).get("metadata", {}).get("labels") or {}
        return labels.get("esi.tu-berlin.de/active-scheduling-name")

    def events(self, about=None):
        """[(reason, name of the object)] in this namespace, oldest first."""
        found = sorted(self.api.list("Event", self.namespace),
                       key=lambda event: int(event["metadata"]["resourceVersion"]))
        return [(event["reason"], event["regarding"]["name"]) for event in found
                if about is None or event["regarding"]["name"] == about]

    def seats(self, job, distinct=True):
        """{slot: node} where the job's pods were bound in this scene, by the recording."""
        found = [(each.slot, each.node) for each in self.bindings() if each.job == job]
        if distinct:
            assert len(found) == len(set(found)), f"a slot of {job} was taken twice: {found}"
        return dict(found)

    def bindings(self):
        judge = self.recording.catch_up()
        return [each for each in judge.bindings[self.first_binding:]
                if each.namespace == self.namespace and each.job is not None]

    def order_of_starts(self):
        """Jobs in the order in which their first pods were bound, by the recording."""
        seen = []
        for binding in self.bindings():
            if binding.job not in seen:
                seen.append(binding.job)
        return seen

    def strangers(self):
        judge = self.recording.catch_up()
        return [each for each in judge.strangers[self.first_stranger:] if each.namespace == self.namespace]

    # --- waiting

    def wait(self, what, probe, timeout=PATIENCE):
        """Returns the first truthy value of probe(); says what it saw last when it takes too long."""
        def asked():
            self.meanwhile()
            try:
                return probe()
            except ApiException as error:
                if error.status not in (404, 409, 429, 500, 503, 504):
                    raise
                return None
        return patience.wait(what, asked, timeout, told=self.report)

    def stays(self, what, probe, seconds):
        """Asserts that probe() holds for so long: for what nothing that happens can show."""
        return patience.stays(what, probe, seconds, told=self.report)

    def job_state(self, name, *wanted, timeout=PATIENCE):
        return self.wait(f"job {name} in {' or '.join(wanted)}",
                         lambda: self.status("BatchJob", name).get("state") in wanted
                         and self.get("BatchJob", name), timeout)

    def scheduling_state(self, name, *wanted, timeout=PATIENCE):
        return self.wait(f"scheduling {name} in {' or '.join(wanted)}",
                         lambda: self.status("Scheduling", name).get("state") in wanted
                         and self.get("Scheduling", name), timeout)

    def wait_condition(self, kind, name, which, status, reason=None, timeout=PATIENCE):
        def probe():
            condition = self.condition(kind, name, which)
            return condition.get("status") == status and \
                (reason is None or condition.get("reason") == reason) and condition
        return self.wait(f"{kind} {name}: {which}={status} {reason or ''}", probe, timeout)

    def gone(self, kind, name, timeout=PATIENCE):
        self.wait(f"{kind} {name} to be gone", lambda: not self.get(kind, name), timeout)

    def delete(self, kind, name, wait=True, grace=None):
        self.api.delete(kind, self.namespace, name, grace)
        if wait:
            self.gone(kind, name)

    def released(self, testbed="slots", jobs=(), failed=(), applications=0):
        """Waits until nothing is held: all slots are ghosts, the jobs are ready, no application is left."""
        for job in jobs:
            self.job_state(job, "ReadyState")
        for job in failed:
            self.job_state(job, "FailedState", "FailedSubmissionState")
        if testbed:
            self.wait(f"nobody to hold {testbed}", lambda: self.holder(testbed) is None)
            self.testbed_ready(testbed)
        self.wait("all applications and job pods to be gone",
                  lambda: len(self.applications()) == applications and not self.job_pods())
        for job in [*jobs, *failed]:
            spec = self.get("BatchJob", job)["spec"]
            assert not spec.get("activeScheduling"), spec
            assert not spec.get("creationRequest"), spec

    # --- the end

    def report(self):
        """What a person would look at first: objects, pods, events, the operators' last words."""
        lines = []
        for kind in ("Scheduling", "BatchJob", "Testbed"):
            for thing in self.api.list(kind, self.namespace):
                meta = thing["metadata"]
                status = dict(thing.get("status") or {})
                status.pop("slots", None) if kind == "Testbed" and len(status.get("slots", [])) > 12 else None
                lines.append(f"--- {kind} {meta['name']} generation {meta['generation']} "
                             f"{'DELETING ' if 'deletionTimestamp' in meta else ''}"
                             f"{json.dumps({k: v for k, v in (meta.get('labels') or {}).items()})}")
                if kind == "BatchJob":
                    spec = {k: v for k, v in thing["spec"].items() if not k.endswith("Spec")}
                    lines.append(json.dumps(spec))
                lines.append(yaml.safe_dump(status, width=160, sort_keys=False).rstrip())
        lines.append("--- pods")
        for pod in self.api.list("Pod", self.namespace):
            marks = {k.removeprefix(objects.PREFIX): v for k, v in
                     (pod["metadata"].get("annotations") or {}).items() if k.startswith(objects.PREFIX)}
            words = [c.get("message", "") for c in pod["status"].get("conditions") or []
                     if c["type"] == "PodScheduled" and c["status"] == "False"]
            lines.append(f"{pod['metadata']['name']} {pod['spec'].get('nodeName', '-')} "
                         f"{pod['status'].get('phase')} gates={len(pod['spec'].get('schedulingGates') or [])} "
                         f"nominated={pod['status'].get('nominatedNodeName', '-')} {marks} {words}")
        lines.append("--- applications")
        for app in self.applications():
            status = app.get("status") or {}
            words = {key: status[key] for key in ("applicationState", "lifecycleState", "jobStatus",
                                                  "jobManagerDeploymentStatus", "error") if key in status}
            lines.append(f"{app['metadata']['name']} {json.dumps(words)}")
        lines.append("--- events")
        for event in self.api.list("Event", self.namespace)[-25:]:
            lines.append(f"{event.get('type')} {event.get('reason')} {event['regarding'].get('kind')}/"
                         f"{event['regarding'].get('name')}: {event.get('note', '')[:200]}")
        for operator in self.operators:
            state = "" if operator.alive() else " (it does not run)"
            lines.append(f"--- last words of esi-{operator.label}{state}, all in {operator.log}")
            lines.append(operator.tail(20, self.log_begin.get(operator.label, 0)))
        return "\n".join(lines)

    def close(self):
        """Takes everything away. What does not go is a fault of the operators, and raises."""
        try:
            self.sweep()
        finally:
            for kind in ("Scheduling", "Testbed"):
                for thing in self.api.list(kind, self.namespace):  # do not let one test spoil the others
                    self.api.take_finalizers(kind, self.namespace, thing["metadata"]["name"])
            for name in self.made_nodes:
                self.api.delete("Node", None, name)
            self.api.delete("Namespace", None, self.namespace)

    def sweep(self):
        if not self.api.get("Namespace", None, self.namespace) or \
                "deletionTimestamp" in self.get_namespace()["metadata"]:
            return
        for kind in ("Scheduling", "BatchJob", "Testbed", "Deployment", "Pod"):
            self.api.delete_all(kind, self.namespace)
            if kind == "Scheduling":
                self.wait("all schedulings to be released", lambda: not self.left("Scheduling"))
        self.wait("everything to be gone", lambda: not any(
            self.left(kind) for kind in ("BatchJob", "Testbed", "Pod")) and not self.applications())

    def get_namespace(self):
        return self.api.get("Namespace", None, self.namespace) or {"metadata": {}}

    def applications(self):
        return [thing for kind in self.plane.applications() for thing in self.api.list(kind, self.namespace)]

    def left(self, kind):
        return [thing["metadata"]["name"] for thing in self.api.list(kind, self.namespace)]

    def violations(self):
        """What the judge found in this scene's time, without what the test allows."""
        judge = self.recording.catch_up()
        return [violation for violation in judge.violations[self.first_violation:]
                if not any(violation.rule == rule and part in violation.text
                           for rule, part in self.allowed)]
