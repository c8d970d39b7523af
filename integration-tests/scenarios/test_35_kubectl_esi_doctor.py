"""`kubectl esi doctor`: faults are planted, the command that it prints is run as it is, and the fault is gone. On the
control plane of the other tests, whose operators run as processes with the files of helm/manifests, and on one where
Helm has installed ESI. There `kubectl esi explain` also meets a pod that waits at the gate of gangs."""
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

import objects
from api import Api
from control_plane import MANIFESTS, ROOT, ControlPlane
from patience import PATIENCE, wait
from test_35_kubectl_esi import Esi

BINDING = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/esi-slices"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/esi-slices"
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/schedulings.esi.tu-berlin.de"
OLDER = [{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/"
                                  "activeDeadlineSeconds"}]
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"
CLAIM = {"shapes": [{"name": "executors", "count": 2, "resources": {"cpu": "1", "memory": "1Gi"}}]}
PODGROUPS = ROOT / "integration-tests" / "fixtures" / "podgroups"


class Repository:
    """A folder like that of the repository, with helm in the PATH: where a person runs the remedies."""

    def __init__(self, folder, environment):
        self.folder = folder
        (folder / "helm").mkdir()
        for name in ("crds", "examples", "helm/esi"):
            (folder / name).symlink_to(ROOT / name)
        shutil.copytree(MANIFESTS, folder / "helm" / "manifests")  # kubectl lists no folder behind a link
        helm = folder / "bin" / "helm"
        helm.parent.mkdir()
        helm.write_text(f'#!/bin/sh\nexec {os.environ["ESI_CLUSTER"]} helm "$@"\n', "utf-8")
        helm.chmod(0o755)
        self.environment = environment

    def run(self, command, editor=None):
        """`editor`: what a person does in `kubectl edit`, as a script of sed."""
        environment = dict(self.environment, PATH=f"{self.folder / 'bin'}:{self.environment['PATH']}")
        if editor:
            environment["KUBE_EDITOR"] = f"sed -i -e '{editor}'"
        done = subprocess.run(["bash", "-ec", command], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout


def findings(esi):
    done = esi.run("doctor", "-o", "json")
    found = json.loads(done.stdout)
    assert (done.returncode == 0) == found["ok"], done
    return [each for each in found["findings"] if each["severity"] != "unknown"]


class Mended:
    """What a fault looks like, and what a person does beside the printed command."""

    def __init__(self, check, words, editor=None, then=lambda: None, clear=lambda: None, commanded=True):
        self.check, self.words, self.editor = check, words, editor
        self.then, self.clear, self.commanded = then, clear, commanded


class Faults:
    """Each plants a fault."""

    def __init__(self, scene, plane, operators, esi):
        self.scene, self.plane, self.operators, self.api = scene, plane, operators, plane.api
        self.esi = esi

    def label(self, node, label, value):
        self.api.patch("Node", None, node, {"metadata": {"labels": {label: value}}})

    def unlabel(self, label):
        self.plane.kubectl("label", "nodes", "--all", f"{label}-")

    def clear(self, testbed, label):
        def clear():
            self.scene.delete("Testbed", testbed)
            self.unlabel(label)
        return clear

    def delete(self, kind, name):
        return lambda: self.scene.delete(kind, name)

    def an_older_definition(self):
        # Of a kind that the recorder does not watch: a change of a definition ends its watches.
        self.api.call("PATCH", CRD, OLDER, content_type=JSON_PATCH)
        return Mended("definitions", "spec.activeDeadlineSeconds")

    def a_priority_class_that_is_missing(self):
        self.api.delete("PriorityClass", None, "esi-job")
        return Mended("priority classes", "esi-job: it does not exist")

    def a_class_above_ghosts(self):
        self.api.create("PriorityClass", None, {"metadata": {"name": "vip"}, "value": 5000000})

        def clear():
            self.api.delete("PriorityClass", None, "vip")
            self.plane.kubectl("patch", "testbed", "slots", "-n", self.scene.namespace, "--type=merge", "-p",
                               '{"spec":{"isolation":"None"}}')
        return Mended("priority classes", "vip: its value 5000000", clear=clear)

    def a_policy_that_is_missing(self):
        self.api.call("DELETE", POLICY)
        return Mended("policies", "esi-slices: it does not exist")

    def a_policy_without_a_binding(self):
        self.api.call("DELETE", BINDING)
        return Mended("policies", "esi-slices: it has no binding")

    def a_policy_that_only_audits(self):
        self.api.call("PATCH", BINDING, {"spec": {"validationActions": ["Audit"]}}, content_type=MERGE)
        return Mended("policies", "esi-slices: its binding does not deny")

    def an_operator_that_does_not_run(self):
        assert self.operators["batchjob"].stop() == 0
        # How it was started is known to the test alone.
        return Mended("leases", "no replica of esi-batchjob leads", commanded=False,
                      then=lambda: self.operators["batchjob"].start().ready())

    def a_testbed_without_nodes(self):
        label = f"{self.scene.label}-empty"
        self.scene.apply(objects.testbed("empty", label))
        return Mended("testbeds", f"no node has its label {label}", clear=self.clear("empty", label))

    def a_label_that_is_no_number(self):
        label = f"{self.scene.label}-words"
        self.scene.apply(objects.testbed("words", label))
        self.label(self.scene.node(1), label, "first")
        return Mended("testbeds", f"has the label {label}=first", clear=self.clear("words", label))

    def two_testbeds_with_one_label(self):
        self.scene.apply(objects.testbed("second", self.scene.label))
        return Mended("testbeds", "is also that of the older Testbed",
                      clear=self.clear("second", f"{self.scene.label.split('/')[0]}/{self.scene.namespace}-second"))

    def two_labels_on_one_node(self):
        label = f"{self.scene.label}-both"
        self.scene.apply(objects.testbed("both", label))
        self.label(self.scene.node(0), label, "0")
        self.label(self.scene.node(1), label, "1")
        return Mended("testbeds", f"nodes {self.scene.node(0)} have the label of the older Testbed",
                      clear=self.clear("both", label))

    def a_node_that_is_cordoned(self):
        name = self.scene.node(0)
        self.plane.kubectl("cordon", name)
        return Mended("testbeds", f"no slot on node {name} can be used: it is cordoned")

    def slots_without_room(self):
        label = f"{self.scene.label}-large"
        self.scene.apply(objects.testbed("large", label, cpu="100"))
        self.label(self.scene.node(1), label, "0")
        return Mended("testbeds", f"Testbed {self.scene.namespace}/large", editor='s/cpu: .*/cpu: 100m/',
                      clear=self.clear("large", label))

    def a_quota_that_refuses_ghosts(self):
        url = f"/api/v1/namespaces/{self.scene.namespace}/resourcequotas"
        self.api.call("POST", url, {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"},
                                    "spec": {"hard": {"pods": "2"}}})
        self.scene.wait("the quota to be counted", lambda: self.api.call("GET", f"{url}/small").get("status", {}).get(
            "used") == {"pods": "2"})
        label = f"{self.scene.label}-more"
        self.scene.apply(objects.testbed("more", label, slots=2))
        self.label(self.scene.node(1), label, "0")

        def clear():
            self.api.call("DELETE", f"{url}/small")
            self.clear("more", label)()
        return Mended("testbeds", "small: it refuses 2 ghosts of Testbed more", clear=clear)

    def a_plan_whose_claim_is_refused(self):
        self.scene.apply({"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Scheduling", "metadata": {"name": "c1"},
                          "spec": {"claim": CLAIM, "queueBased": [{"name": "a"}], "releaseOnCompletion": True}})
        told = self.scene.wait("the refusal", lambda: (
            status := self.scene.status("Scheduling", "c1")).get("reason") == "ClaimRefused" and status)
        blocker, = self.esi.json("explain", "scheduling", "c1")["blockers"]
        assert (blocker["reason"], blocker["text"]) == ("ClaimRefused", told["waitingFor"])
        return Mended("plans", "are claims switched on (claims.enabled=true of the chart)?",
                      then=lambda: self.scene.wait("its Testbed", lambda: self.scene.get("Testbed", "c1")),
                      clear=self.delete("Scheduling", "c1"))

    def claims_that_are_switched_off(self):
        self.scene.apply({"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed", "metadata": {"name": "claimed"},
                          "spec": {"claim": CLAIM}})
        testbed = self.operators["testbed"]
        flags = testbed.flags

        def restart(*more):
            assert testbed.stop() == 0
            testbed.flags = (*flags, *more)
            testbed.start().ready()

        def clear():
            self.scene.delete("Testbed", "claimed")
            restart()
            self.plane.kubectl("delete", "-f", str(MANIFESTS / "claims"))
        return Mended("testbeds", "its claim has no places (Disabled)", then=lambda: restart("--claims"), clear=clear)

    def no_node_for_drivers(self):
        self.plane.kubectl("label", "nodes", "--all", "--overwrite", f"{self.scene.label}=9")
        self.label(self.scene.node(0), self.scene.label, "0")
        self.label(self.scene.node(1), self.scene.label, "10")

        def clear():
            for each in self.api.list("Node"):
                if each["metadata"]["name"] != self.scene.node(0):
                    self.label(each["metadata"]["name"], self.scene.label, None)
            self.scene.testbed_ready()
        return Mended("driver nodes", "drivers and JobManagers of its jobs stay Pending", clear=clear)

    def a_job_that_has_failed(self):
        self.scene.apply(objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
        self.scene.job_state("bad", "ReadyState")
        self.scene.queue("fails", ["bad"], releaseOnCompletion=True)
        self.scene.scheduling_state("fails", "FinishedState")
        self.scene.delete("Scheduling", "fails")
        return Mended("jobs", "it has failed and is not started again", clear=self.delete("BatchJob", "bad"))

    def a_spec_that_is_refused(self):
        wrong = objects.job("wrong")
        wrong["spec"]["sparkSpec"]["sparkVersoin"] = "4"
        self.scene.apply(wrong)
        return Mended("jobs", "sparkVersoin", editor="/^    sparkVersoin:/d", clear=self.delete("BatchJob", "wrong"))

    def an_account_that_is_missing(self):
        job = objects.job("lonely")
        job["spec"]["sparkSpec"]["driver"]["serviceAccount"] = "nobody"
        self.scene.apply(job)
        return Mended("accounts", f"ServiceAccount {self.scene.namespace}/nobody",
                      clear=self.delete("BatchJob", "lonely"))

    def a_plan_whose_testbed_is_missing(self):
        self.scene.queue("lost", ["a"], testbed="nowhere")
        return Mended("plans", "TestbedMissing")

    def a_plan_whose_job_is_missing(self):
        self.scene.queue("waits", ["a", "gone"], releaseOnCompletion=True)
        return Mended("plans", "JobMissing", clear=self.delete("Scheduling", "waits"))

    def a_plan_that_can_never_start(self):
        self.scene.queue("wide", ["a"] * 9)
        return Mended("plans", "TooManySlots")

    def a_plan_that_holds_for_nothing(self):
        self.scene.queue("held", ["a"])
        return Mended("plans", "and it still holds Testbed")

    def a_backend_that_is_missing(self):
        if self.plane.has_flink:
            return None
        self.scene.apply(objects.flink_job("flows"))
        # The Flink operator has a chart of its own.
        return Mended("backends", "flinkdeployments.flink.apache.org: it does not exist", commanded=False,
                      then=self.delete("BatchJob", "flows"))


FAULTS = [name for name in vars(Faults) if name.startswith(("a_", "an_", "slots_", "two_", "claims_", "no_"))]


def test_what_doctor_prints_mends_each_planted_fault(scene, plane, operators, tmp_path):
    esi = Esi(scene, plane)
    esi.environment["PATH"] = f"{plane.folder / 'bin'}:{esi.environment['PATH']}"
    repository = Repository(tmp_path, esi.environment)
    scene.may_restart = True
    # test_08 makes a class whose pods evict ghosts, which is a fault by itself.
    plane.kubectl("delete", "priorityclass", "esi-test-above", "--ignore-not-found")
    scene.nodes(2)
    scene.api.patch("Node", None, scene.node(1), {"metadata": {"labels": {scene.label: None}}})
    scene.testbed(slots=2)
    scene.jobs("a", seconds=0)
    faults = Faults(scene, plane, operators, esi)
    scene.wait("nothing to be wrong", lambda: not findings(esi))
    mended = 0
    for name in FAULTS:
        began = time.monotonic()
        fault = getattr(faults, name)()
        if fault is None:
            continue

        def seen():
            return [each for each in findings(esi)
                    if each["check"] == fault.check and fault.words in f"{each['object']}: {each['text']}"]
        found = wait(f"doctor to find {name}", seen, 60, told=lambda: esi.run("doctor").stdout)
        print(f"{name}: {found[0]['object']}: {found[0]['text']}\n    {found[0]['remedy']}")
        assert found[0]["severity"] in ("error", "warning") and found[0]["remedy"], found
        if fault.commanded:
            repository.run(found[0]["remedy"], fault.editor)
        fault.then()
        wait(f"{name} to be mended", lambda: not seen(), 60, told=lambda: esi.run("doctor").stdout)
        fault.clear()
        wait(f"nothing to be wrong after {name}", lambda: not findings(esi), 60, told=lambda: esi.run("doctor").stdout)
        print(f"    {time.monotonic() - began:.1f} s")
        mended += 1
    assert mended >= 23
    assert "What mends it" not in esi("doctor")
    # Operators without leader election, as those of the demo: no Lease, no Deployment, and no fault.
    told, = esi.json("doctor", "--operators-namespace", "default")["findings"]
    assert (told["check"], told["severity"]) == ("leases", "unknown") and "helm install" not in told["remedy"], told


# --- with Helm

class Place:
    """What Esi asks of a scene."""
    namespace = "a"


@pytest.fixture(scope="module")
def helm_plane(folder):
    """ESI installed by Helm from a registry of its own. Its pods are played by kwok: no operator runs."""
    plane = ControlPlane(folder / "helm" / "cluster")
    plane.folder.parent.mkdir()
    try:
        plane.command("up", "--nodes", "2", "--node-cpu", "32", "--parent-pid", str(os.getpid()),
                      f"--crds={PODGROUPS / 'coscheduling.yaml'}", timeout=4 * PATIENCE)
        plane.kubeconfig = pathlib.Path(plane.status()["kubeconfig"])
        plane.api = Api(plane.kubeconfig)
        plane.kubectl("create", "namespace", Place.namespace)
        yield plane
    finally:
        plane.down()


@pytest.fixture(scope="module")
def released(helm_plane, tmp_path_factory):
    """(Esi, Repository) of the release `blue` in the namespace `esi-system`."""
    esi = Esi(Place, helm_plane)
    esi.environment["PATH"] = f"{helm_plane.folder / 'bin'}:{esi.environment['PATH']}"
    repository = Repository(tmp_path_factory.mktemp("repository"), esi.environment)
    gangs = helm_plane.serves("admissionregistration.k8s.io/v1", "mutatingadmissionpolicies")
    repository.run("helm install blue helm/esi -n esi-system --create-namespace --set fullnameOverride=esi "
                   f"--set image.registry=reg.example.org/esi,gangs.enabled={str(gangs).lower()}")
    return esi, repository


UPGRADE = "helm upgrade blue helm/esi -n esi-system --reset-then-reuse-values"


def test_what_helm_has_installed_is_mended_by_helm(helm_plane, released):
    esi, repository = released
    api = helm_plane.api
    slices = "ValidatingAdmissionPolicy esi-slices"

    def preempting():
        """A class that another tool has made in the place of the release's."""
        api.delete("PriorityClass", None, "esi-job")
        api.create("PriorityClass", None, {"metadata": {"name": "esi-job"}, "value": 1000200})

    faults = (
        (lambda: api.call("DELETE", BINDING), slices, UPGRADE),
        (lambda: api.call("PATCH", BINDING, {"spec": {"validationActions": ["Audit"]}}, content_type=MERGE), slices,
         f"kubectl delete validatingadmissionpolicybinding esi-slices && {UPGRADE} --set policies.mode=Enforce"),
        (lambda: api.call("DELETE", POLICY), slices, UPGRADE),
        (preempting, "PriorityClass esi-job", f"kubectl delete priorityclass esi-job && {UPGRADE}"),
        (lambda: api.call("PATCH", CRD, OLDER, content_type=JSON_PATCH),
         "CustomResourceDefinition schedulings.esi.tu-berlin.de",
         f"{UPGRADE} --force-conflicts   # Helm 3 does not have this flag or need it"),
    )
    for plant, broken, remedy in faults:
        def seen():
            return [each for each in findings(esi) if each["object"] == broken]
        assert not seen(), broken
        plant()
        found, = wait(f"doctor to find {broken}", seen, 60)
        assert found["remedy"] == remedy
        repository.run(found["remedy"])
        wait(f"{broken} to be mended", lambda: not seen(), 60)
    # The rule about images of ghosts is still that of the release, and Helm goes on.
    rule = helm_plane.kubectl("get", "validatingadmissionpolicy", "esi-testbed-pods", "-o", "json")
    assert "reg.example.org/esi/esi-pause:1" in rule and "localhost" not in rule
    repository.run(UPGRADE)


def test_a_pod_at_the_gate_of_gangs_says_what_it_waits_for(helm_plane, released):
    esi, _ = released
    if not helm_plane.serves("admissionregistration.k8s.io/v1", "mutatingadmissionpolicies"):
        pytest.skip("gangs need MutatingAdmissionPolicies of Kubernetes 1.36")
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "g"},
             "spec": {"minMember": 2}}
    pod = objects.pod("waits")
    pod["metadata"].setdefault("labels", {})["scheduling.x-k8s.io/pod-group"] = "g"
    kubectl, ns = helm_plane.kubectl, Place.namespace
    kubectl("label", "namespace", ns, "esi.tu-berlin.de/gangs=enabled")

    def gated():
        kubectl("delete", "pod", "waits", "-n", ns, "--ignore-not-found", "--force", "--grace-period=0")
        kubectl("apply", "-n", ns, "-f", "-", stdin=json.dumps(pod))
        gates = kubectl("get", "pod", "waits", "-n", ns, "-o", "jsonpath={.spec.schedulingGates}")
        return "esi.tu-berlin.de/gang" in gates
    wait("the admission policy to give the gate", gated, 60)

    def why():
        told = esi.json("explain", "pod", "waits")
        return told["reason"], told["waitsFor"], told["text"]
    at = {"kind": "PodGroup", "namespace": ns, "name": "g"}
    assert why() == ("GroupMissing", at, "there is no PodGroup g")
    kubectl("apply", "-n", ns, "-f", "-", stdin=json.dumps(group))
    assert why() == ("MembersMissing", at, "1 of 2 members are there")
    assert "Waits for:   PodGroup/g" in esi("explain", "pod", "waits", "--exit-code", code=3)
    kubectl("label", "namespace", ns, "esi.tu-berlin.de/gangs-")
    assert why()[0] == "NotEnabled"
