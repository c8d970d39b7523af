"""What gangs.enabled adds to rights and policies, on a real API server: which pods get the gate and which do not,
and what the token of esi-testbed opens in namespaces that are enabled, and in others.

Every request is a dry run, as in test_27_policies.py. A control plane of its own, on which no operator runs.
"""
import json

import pytest

import objects
from api import Api, ApiException
from control_plane import MANIFESTS, ROOT, ControlPlane
from test_27_policies import (AFFINITY, AUTHOR, AUTHORS, GATE, T, ask, attempt, create, delete, meta, notes,
                              patch, pod, refused_by, spec, wait)

P = objects.PREFIX
PODGROUPS = ROOT / "integration-tests" / "fixtures" / "podgroups"
GANG = {"name": P + "gang"}
OTHER = {"name": "example.com/other"}
LABEL = {"scheduling.x-k8s.io/pod-group": "train"}
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "driver", "uid": "0-0-0-0"}
VERSIONS = {"tenstack": "batch.scheduler.tencent.com/v1", "coscheduling": "scheduling.x-k8s.io/v1alpha1",
            "kube-batch": "scheduling.incubator.k8s.io/v1alpha1"}


@pytest.fixture(scope="module")
def plane(folder):
    """Namespace `lab` is enabled, `default` is not."""
    plane = ControlPlane(folder / "gang-rights")
    plane.up(nodes=1, spark=False, crds=(PODGROUPS,))
    try:
        plane.install()
        plane.kubectl("apply", "--filename", str(MANIFESTS / "gangs"))
        plane.kubectl("create", "namespace", "lab")
        plane.kubectl("label", "namespace", "lab", P + "gangs=enabled")
        plane.kubectl("apply", "-f", "-", stdin=AUTHORS)
        wait("default accounts", lambda: all(plane.api.get("ServiceAccount", name, "default")
                                             for name in ("lab", "default")))
        plane.tokens = {T: Api(plane.account("esi-system", "esi-testbed")),
                        AUTHOR: Api(plane.account("lab", AUTHOR))}
        # The API server knows a policy a moment after it is made.
        wait("the gate", lambda: GANG in gates(made(plane, pod("probe", LABEL))))
        wait("the mark", lambda: ask(plane, FORBIDDEN["a pod with a place in a gang"][1])[0] == 403)
        furnish(plane)
        wait("rights", lambda: ask(plane, ALLOWED["a nomination"])[0] == 200)
        yield plane
    finally:
        plane.down()


def furnish(plane):
    def make(namespace, body):
        wait(body["metadata"]["name"], lambda: attempt(lambda: plane.api.create("Pod", namespace, body)))
    make("lab", pod("waits", LABEL))
    make("lab", pod("two-gates", LABEL, schedulingGates=[OTHER]))
    make("lab", pod("plain", schedulingGates=[OTHER]))
    make("lab", pod("let-in", LABEL, schedulingGates=[OTHER]))
    wait("letting in", lambda: attempt(lambda: plane.tokens[T].patch("Pod", "lab", "let-in", meta(
        annotations=notes(gang_node="node-0")) | spec(affinity=AFFINITY, schedulingGates=[OTHER]))))
    make("default", pod("gated", LABEL, schedulingGates=[GANG]))
    account = plane.api.get("ServiceAccount", "lab", "default")["metadata"]
    make("lab", pod("slotted", {P + "testbed": "tb"}, owners=[
        OWNER | {"kind": "ServiceAccount", "name": account["name"], "uid": account["uid"]}], schedulingGates=[GATE]))
    for way, version in VERSIONS.items():
        for namespace in ("lab", "default"):
            plane.api.call("POST", f"/apis/{version}/namespaces/{namespace}/podgroups", {
                "apiVersion": version, "kind": "PodGroup", "metadata": {"name": way}, "spec": {"minMember": 2}})


def made(plane, body, namespace="lab"):
    """The pod as the API server would have it."""
    return plane.api.call("POST", f"/api/v1/namespaces/{namespace}/pods", body, query={"dryRun": "All"})


def gates(body):
    return body["spec"].get("schedulingGates", [])


# --- the gate


@pytest.mark.parametrize("labels, annotations", [
    ({"group.batch.scheduler.tencent.com": "group1"}, {}),
    ({"scheduling.x-k8s.io/pod-group": "nginx"}, {}),
    ({}, {"scheduling.k8s.io/group-name": "qj-1"})], ids=["tenstack", "coscheduling", "kube-batch"])
@pytest.mark.parametrize("scheduler", [
    "default-scheduler", "kube-batch", "scheduler-plugins-scheduler", "batch-scheduler"])
def test_a_pod_that_names_a_group_gets_the_gate(plane, labels, annotations, scheduler):
    body = made(plane, pod("new", labels, annotations, schedulerName=scheduler))
    assert gates(body) == [GANG]
    assert body["metadata"]["labels"] == labels | {P + "gang": "true"}
    assert body["spec"]["schedulerName"] == "default-scheduler"


def test_the_gate_is_there_once_and_beside_others(plane):
    assert gates(made(plane, pod("new", LABEL, schedulingGates=[GANG]))) == [GANG]
    both = gates(made(plane, pod("new", LABEL, schedulingGates=[OTHER])))
    assert sorted(each["name"] for each in both) == sorted((GANG["name"], OTHER["name"]))


@pytest.mark.parametrize("name, body, namespace", [
    ("of no group", pod("new"), "lab"),
    ("of a namespace that is not enabled", pod("new", LABEL), "default"),
    ("with a label without a value", pod("new", {"scheduling.x-k8s.io/pod-group": ""}), "lab"),
    ("with an annotation without a value", pod("new", {}, {"scheduling.k8s.io/group-name": ""}), "lab"),
    ("of another scheduler", pod("new", LABEL, schedulerName="volcano"), "lab"),
    ("that names its node", pod("new", LABEL, nodeName="node-0"), "lab"),
    ("of a slot", pod("new", LABEL | {P + "testbed": "tb"}, owners=[OWNER], schedulingGates=[GATE]), "lab"),
], ids=lambda value: value if isinstance(value, str) and " " in value else "")
def test_other_pods_stay_as_they_are(plane, name, body, namespace):
    shown = made(plane, body, namespace)
    assert GANG not in gates(shown)
    assert P + "gang" not in shown["metadata"].get("labels", {})
    assert shown["spec"]["schedulerName"] == body["spec"].get("schedulerName", "default-scheduler")


# --- what esi-testbed may

STATUS = {"status": {"nominatedNodeName": "node-0"}}
LET_IN = meta(annotations=notes(gang_node="node-0")) | spec(affinity=AFFINITY, schedulingGates=None)
PODS = "esi-testbed-pods"

ALLOWED = {
    "a nomination": patch(T, "Pod", "waits", STATUS, "status"),
    "no nomination where gangs are not started any more": patch(
        T, "Pod", "gated", {"status": {"nominatedNodeName": None}}, "status", "default"),
    "a nomination by a plan": patch(T, "Pod", "waits", STATUS | meta(annotations=notes(gang_plan="a/b/1")), "status"),
    "a touch": patch(T, "Pod", "waits", meta(annotations=notes(nomination_shown="17"))),
    "letting in": patch(T, "Pod", "waits", LET_IN),
    "the gate beside another one": patch(T, "Pod", "two-gates", meta(
        annotations=notes(gang_node="node-0")) | spec(affinity=AFFINITY, schedulingGates=[OTHER])),
    "a nomination after letting in": patch(T, "Pod", "let-in", STATUS, "status"),
    "deletion of a member that waits": delete(T, "Pod", "waits"),
    "deletion of a member that was let in": delete(T, "Pod", "let-in"),
    "people take the gate away": patch(AUTHOR, "Pod", "waits", spec(schedulingGates=None)),
    "people take a mark away": patch(AUTHOR, "Pod", "let-in", meta(annotations=notes(gang_node=None))),
}

FORBIDDEN = {
    "a pod with a place in a gang": ("esi-pod-marks", create(AUTHOR, "Pod", pod(
        "new", notes=notes(gang_node="node-0")))),
    "a place in a gang": ("esi-pod-marks", patch(AUTHOR, "Pod", "waits", meta(annotations=notes(gang_node="node-0")))),
    "a place in a gang where gangs are not started": ("esi-pod-marks", create(AUTHOR, "Pod", pod(
        "new", notes=notes(gang_node="node-0")), "default")),
    "the label of a member": ("esi-pod-marks", create(AUTHOR, "Pod", pod("new", {P + "gang": "true"}), "default")),
    "the label of a member, later": ("esi-pod-marks", patch(AUTHOR, "Pod", "plain", meta(labels={P + "gang": "true"}))),
    "a nomination elsewhere": ("esi-testbed-pod-status", patch(T, "Pod", "gated", STATUS, "status", "default")),
    "another annotation with a nomination": ("esi-testbed-pod-status", patch(
        T, "Pod", "waits", STATUS | meta(annotations={"a": "b"}), "status")),
    "a plan for the pod of a slot": ("esi-testbed-pod-status", patch(
        T, "Pod", "slotted", STATUS | meta(annotations=notes(gang_plan="a/b/1")), "status")),
    "a plan without a nomination": (PODS, patch(T, "Pod", "waits", meta(annotations=notes(gang_plan="a/b/1")))),
    "a plan by people": ("esi-pod-marks", patch(AUTHOR, "Pod", "waits", meta(annotations=notes(gang_plan="a/b/1")))),
    "letting in elsewhere": (PODS, patch(T, "Pod", "gated", LET_IN, namespace="default")),
    "deletion elsewhere": (PODS, delete(T, "Pod", "gated", "default")),
    "a nomination of a pod of no gang": ("esi-testbed-pod-status", patch(T, "Pod", "plain", STATUS, "status")),
    "a touch of a pod of no gang": (PODS, patch(T, "Pod", "plain", meta(annotations=notes(nomination_shown="1")))),
    "deletion of a pod of no gang": (PODS, delete(T, "Pod", "plain")),
    "another gate": (PODS, patch(T, "Pod", "two-gates", spec(schedulingGates=None))),
    "a slot for a member": (PODS, patch(T, "Pod", "waits", meta(annotations=notes(slot="0", slot_node="node-0")))),
    "a label of a member": (PODS, patch(T, "Pod", "waits", meta(labels={"a": "b"}))),
    "an annotation of a member": (PODS, patch(T, "Pod", "waits", meta(annotations={"a": "b"}))),
    "a node selector of a member": (PODS, patch(T, "Pod", "waits", spec(nodeSelector={"a": "b"}))),
    "the end of a member": ("esi-testbed-pod-status", patch(T, "Pod", "waits", {"status": {"phase": "Failed"}}, "status")),
    "a pod of a gang": (PODS, create(T, "Pod", pod("new", LABEL))),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(plane, name):
    code, message = ask(plane, ALLOWED[name])
    assert code in (200, 201) and not message, f"{code} {message}"


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden(plane, name):
    policy, request = FORBIDDEN[name]
    answer = ask(plane, request)
    assert refused_by(answer) == policy, answer


def write(plane, way, change, namespace="lab", sub=None):
    """(code, message) of a patch of a PodGroup by esi-testbed."""
    target = f"/apis/{VERSIONS[way]}/namespaces/{namespace}/podgroups/{way}" + (f"/{sub}" if sub else "")
    try:
        answer = plane.tokens[T].raw("PATCH", target, change, query={"dryRun": "All"},
                                     content_type="application/merge-patch+json")
    except ApiException as error:
        return error.status, json.loads(error.body)["message"]
    answer.read()
    answer.release_conn()
    return answer.status, ""


@pytest.mark.parametrize("way, sub", [("coscheduling", "status"), ("kube-batch", None), ("tenstack", None)])
def test_the_status_of_a_group_is_written_and_nothing_else(plane, way, sub):
    assert write(plane, way, {"status": {"phase": "Pending"}}, sub=sub) == (200, "")
    assert refused_by(write(plane, way, {"status": {"phase": "Pending"}}, "default", sub)) == "esi-testbed-podgroups"
    if not sub:
        # A sub-resource takes nothing else.
        assert refused_by(write(plane, way, {"metadata": {"labels": {"a": "b"}}})) == "esi-testbed-podgroups"
        assert refused_by(write(plane, way, {"spec": {"minMember": 9}})) == "esi-testbed-podgroups"
    code, message = write(plane, way, {"spec": {"minMember": 9}})
    assert code == 403, message


def test_the_api_server_finds_nothing_wrong_with_types(plane):
    def checked():
        found = json.loads(plane.kubectl("get", "validatingadmissionpolicies", "-o", "json"))["items"]
        return all(each.get("status", {}).get("observedGeneration") == each["metadata"]["generation"]
                   for each in found) and found
    for each in wait("the type checks", checked):
        assert not each["status"].get("typeChecking", {}).get("expressionWarnings"), each["metadata"]["name"]
