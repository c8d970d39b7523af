"""Admission policies: what each operator's key opens, and what people cannot write, on a real API server.

Every request is sent with the token of the account that it is about, as a dry run: it passes all of admission
and changes nothing. A control plane of its own, on which no operator runs.
"""
import copy
import json
import pathlib

import pytest
import yaml

import audit
import objects
from api import Api, ApiException, path
from control_plane import CRDS, MANIFESTS, ControlPlane
from patience import wait

P = objects.PREFIX
T, B, S = "testbed", "batchjob", "scheduling"
#: May do everything with pods, Testbeds, BatchJobs and Schedulings of namespace `lab`, and of `default`.
AUTHOR = "author"
GHOST = "tb-ghost-0123456789"
HASHED = "tb-ghost-abcdefabcd"
RUN = "hold-uid.7.1"

AUTHORS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: author}
rules:
- {apiGroups: [esi.tu-berlin.de], resources: [testbeds, batchjobs, schedulings, testbedslotslices], verbs: ["*"]}
- {apiGroups: [""], resources: [pods, pods/status, pods/binding, pods/resize, bindings], verbs: ["*"]}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: author, namespace: lab}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: author}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: author}
subjects: [{kind: ServiceAccount, name: author, namespace: lab}]
"""

#: A second class for claims, as claims.priorities makes it.
BELOW_ZERO = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: esi-claim-minus-5}
value: -5
preemptionPolicy: Never
"""

# --- what the requests are about


def changed(body, changes):
    """The body with these changes, as a merge patch makes them."""
    out = copy.deepcopy(body)
    for key, value in changes.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = changed(out[key], value)
        else:
            out[key] = value
    return out


def owner(kind, name, uid="00000000-0000-0000-0000-000000000001", version=objects.GROUP, controller=True):
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": controller,
            "blockOwnerDeletion": False}


CONTAINER = {"name": "ghost", "image": "localhost/esi-pause:1", "resources": {"requests": {"cpu": "1m"}},
             "imagePullPolicy": "IfNotPresent",
             "securityContext": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                 "capabilities": {"drop": ["ALL"]}}}
NODE_TERM = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-0"]}]}
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [NODE_TERM]}}}
#: As operators/testbed/room/ghosts.cpp makes it.
GHOST_BODY = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": GHOST, "labels": {P + "testbed": "tb", P + "testbed-namespace": "lab", P + "ghost": "true"},
                 "annotations": {P + "node": "node-0", P + "index": "0", P + "ghost-image": "localhost/esi-pause:1"},
                 "ownerReferences": [owner("Testbed", "tb")]},
    "spec": {"automountServiceAccountToken": False, "priorityClassName": "esi-ghost", "affinity": AFFINITY,
             "enableServiceLinks": False, "terminationGracePeriodSeconds": 0,
             "tolerations": [{"key": key, "operator": "Exists"} for key in (
                 P + "testbed", *(f"node.kubernetes.io/{each}" for each in (
                     "not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure")))],
             "securityContext": {"runAsNonRoot": True, "runAsUser": 65535, "runAsGroup": 65535,
                                 "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [CONTAINER]}}


def ghost(**changes):
    return changed(GHOST_BODY, changes)


def ghost_container(**changes):
    return ghost(spec={"containers": [changed(CONTAINER, changes)]})


def pod(name, labels=None, notes=None, owners=None, **spec):
    body = objects.pod(name, **spec)
    body["metadata"] |= {"labels": labels or {}, "annotations": notes or {}, "ownerReferences": owners or []}
    return body


JOB_LABELS = {P + "job": "pi", P + "testbed": "tb", P + "testbed-namespace": "lab"}
DRIVER = [owner("ConfigMap", "driver", version="v1")]
GATE = {"name": P + "slot"}


PLACES = {"claim": {"shapes": [{"name": "executors", "count": 2, "resources": {"cpu": "1", "memory": "1Gi"}}]}}


def claim(name="plan", owners=None, body=None):
    """The Testbed that esi-scheduling makes for a Scheduling with a claim of its own."""
    body = objects.esi("Testbed", name, body or PLACES)
    body["metadata"]["ownerReferences"] = [owner("Scheduling", name)] if owners is None else owners
    return body


def job_pod(name, **spec):
    return pod(name, JOB_LABELS, {P + "run": RUN, P + "slots": "0"}, DRIVER, **spec)


def application(kind, name="new", owners=None):
    version, spec = {"SparkApplication": ("sparkoperator.k8s.io/v1beta2", objects.spark_spec()),
                     "FlinkDeployment": ("flink.apache.org/v1beta1", {"job": {"jarURI": "local:///x.jar"}})}[kind]
    return {"apiVersion": version, "kind": kind,
            "metadata": {"name": name, "ownerReferences": [owner("BatchJob", name)] if owners is None else owners},
            "spec": spec}


def event(controller):
    return {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "happened"},
            "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": controller, "reportingInstance": "a",
            "type": "Normal", "reason": "Tested", "action": "Tested", "note": "a note",
            "regarding": {"apiVersion": "v1", "kind": "Pod", "name": "other", "namespace": "lab"}}


SERIES = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}}


def lease(name):
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}}


def taints(*each):
    return {"spec": {"taints": [{"key": key, "value": "x", "effect": effect} for key, effect in each]}}


def notes(**values):
    """annotations of ESI: notes(slot_node="a") is esi.tu-berlin.de/slot-node."""
    return {P + key.replace("_", "-"): value for key, value in values.items()}


OURS, OTHERS = (P + "testbed", "NoSchedule"), ("example.com/mine", "NoSchedule")
ORDER = {"testbedName": {"name": "tb", "namespace": "lab"}, "slotIds": [0], "run": RUN}
ACTIVE = {"name": "plan", "namespace": "lab", "uid": "an-uid"}
HOLD = {"labels": notes(active_scheduling_name="plan", active_scheduling_namespace="lab"),
        "annotations": notes(hold="hold-uid.7")}


def slot_slice(name="tb-0", owners=None, testbed="tb", uid="00000000-0000-0000-0000-000000000001"):
    body = objects.esi("TestbedSlotSlice", name, {"testbed": {"name": testbed, "uid": uid}, "layoutRevision": 1,
                                                  "first": 0, "count": 1, "rows": ["FREE - - -"]})
    body["metadata"]["ownerReferences"] = [owner("Testbed", "tb")] if owners is None else owners
    return body


def create(account, kind, body, namespace="lab"):
    return account, "POST", kind, namespace, None, None, body


def patch(account, kind, name, change, sub=None, namespace="lab", form="merge-patch"):
    return account, form, kind, None if kind == "Node" else namespace, name, sub, change


def image(account, name, new, notes_=None, container="main"):
    """A patch that knows containers by their names."""
    change = meta(annotations=notes_ or {}) | spec(containers=[{"name": container, "image": new}])
    return patch(account, "Pod", name, change, form="strategic-merge-patch")


def binding(name, **metadata):
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": "lab", **metadata},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "node-0"}}


def bind(name, **metadata):
    """What a scheduler of AUTHOR's own does; metadata of the binding becomes the pod's."""
    return AUTHOR, "POST", "Pod", "lab", name, "binding", binding(name, **metadata)


def resize(name, container="main"):
    return patch(AUTHOR, "Pod", name, spec(containers=[
        {"name": container, "resources": {"requests": {"cpu": "2m"}}}]), "resize", form="strategic-merge-patch")


def many(count):
    return {f"l{number:x}": "" for number in range(count)}


def delete(account, kind, name, namespace="lab"):
    return account, "DELETE", kind, namespace, name, None, None


def meta(**fields):
    return {"metadata": fields}


def spec(**fields):
    return {"spec": fields}


ONLY_GHOSTS = ("testbed-pods", "makes ghosts only")
ONE_CONTAINER = ("testbed-pods", "a ghost has one container")
BARE = ("testbed-pods", "a ghost has no finalizers, and nothing else in its metadata")
ONE_NODE = ("testbed-pods", "a ghost names its one node and no other pods")
TOLERATIONS = ("testbed-pods", "a ghost tolerates only the taint of ESI")
NOTHING_OF_THE_HOST = ("testbed-pods", "a ghost has no volumes")
NO_PRIVILEGES = ("testbed-pods", "a ghost runs without privileges")
CLASS = ("testbed-pods", "a ghost has the class esi-ghost")
LABELLED = ("testbed-pods", "changes only pods with the label")
FEW_FIELDS = ("testbed-pods", "changes of a pod only affinity, gate and annotations")
GATES = ("testbed-pods", "takes no scheduling gate away but")
POD_NOTES = ("testbed-pods", "writes of the metadata of a pod only its own annotations")
DELETES = ("testbed-pods", "deletes only pods with the label")
STATUS = ("testbed-pod-status", "writes of the status of a pod only nominatedNodeName")
NODE_TAINTS = ("testbed-nodes", "sets and removes only the taint esi.tu-berlin.de/testbed:NoSchedule")
NODE_LABELS = ("testbed-nodes", "writes no label of kubernetes.io and k8s.io")
TESTBED = ("testbed-testbeds", "writes of a Testbed only its finalizer")
SLICES = ("testbed-slices", "makes slices only in the namespaces that it works on, with one owner")
ROWS = ("slices", "what is in the slots of a Testbed is written only by")
RESET = ("testbed-batchjobs", "writes of a BatchJob only the annotation esi.tu-berlin.de/reset")
LEASES = ("operator-leases", "has one lease, of its own name")
EVENTS = ("operator-events", "reports in its own name")
APPLICATIONS = ("batchjob-applications", "only applications whose controller is the BatchJob of the same name")
POD_OF_RUN = ("batchjob-pods", "only deletes pods, and only those of a run")
HOLDS = ("scheduling-testbeds", "writes of the metadata of a Testbed only the hold")
CLAIMS = ("scheduling-testbeds", "makes and deletes only Testbeds with a claim whose one owner is the Scheduling")
CLAIM_USE = ("scheduling-testbeds", "makes Testbeds only in the namespaces that it works on, without allowedNamespaces")
CLAIM_SPEC = ("scheduling-testbeds", "changes of the spec of a Testbed only priority and suspend of a claim")
ORDERS = ("scheduling-batchjobs", "only activeScheduling, creationRequest, externalScheduler and the annotations")
PLANS = ("scheduling-schedulings", "outside the namespace of the original interface, default, only with")
SCHEDULING = ("scheduling-schedulings", "writes of the metadata of a Scheduling only its finalizer")
PLAIN_NODE = ("scheduling-nodes", "writes of a node only labels")
LABELS_BY_INTERFACE = ("scheduling-nodes", "writes no label of kubernetes.io and k8s.io")
ASKED = {"annotations": notes(requested_by="anna")}
MARKS = ("pod-marks", "are written only by")
MEMBER = ("pod-marks", "belong to pods of a run, which have an owner")
FIXED = ("pod-marks", "are given at creation and do not change")
RESIZE = ("resizes", "keep the size that they were made with")
BOUND = {name: ("bounds", f"has more {name} than an object of ESI may have, {most}") for name, most in (
    ("labels", 100), ("annotations", 100), ("finalizers", 32), ("ownerReferences", 16))}
RBAC = (None, "cannot ")

#: name -> ((policy, words of the refusal), request)
FORBIDDEN = {
    # esi-testbed: pods that are no ghosts
    "a privileged pod in kube-system": (ONLY_GHOSTS, create(T, "Pod", pod("root", containers=[
        {"name": "a", "image": "a", "securityContext": {"privileged": True}}]), "kube-system")),
    "a pod of anybody's": (ONLY_GHOSTS, create(T, "Pod", pod("plain"))),
    "a ghost without a Testbed": (ONLY_GHOSTS, create(T, "Pod", ghost(metadata={"ownerReferences": []}))),
    "a ghost of a Deployment": (ONLY_GHOSTS, create(T, "Pod", ghost(metadata={
        "ownerReferences": [owner("Deployment", "tb", version="apps/v1")]}))),
    "a ghost of another group's Testbed": (ONLY_GHOSTS, create(T, "Pod", ghost(metadata={
        "ownerReferences": [owner("Testbed", "tb", version="example.com/v1")]}))),
    "a ghost with two owners": (ONLY_GHOSTS, create(T, "Pod", ghost(metadata={"ownerReferences": [
        owner("Testbed", "tb"), owner("ConfigMap", "x", "00000000-0000-0000-0000-000000000002", "v1", False)]}))),
    "a ghost without its label": (ONLY_GHOSTS, create(T, "Pod", ghost(metadata={"labels": {P + "ghost": None}}))),
    "a ghost with another Testbed's name": (ONLY_GHOSTS, create(T, "Pod", ghost(
        metadata={"labels": {P + "testbed": "other"}}))),
    "a ghost of a Testbed elsewhere": (ONLY_GHOSTS, create(T, "Pod", ghost(), "default")),
    "a ghost of another image": (ONE_CONTAINER, create(T, "Pod", ghost_container(image="example.com/miner"))),
    "a ghost with a command": (ONE_CONTAINER, create(T, "Pod", ghost_container(command=["/bin/sh"]))),
    "a ghost with arguments": (ONE_CONTAINER, create(T, "Pod", ghost_container(args=["-c"]))),
    "a ghost with a hook": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        lifecycle={"preStop": {"exec": {"command": ["x"]}}}))),
    "a ghost with a second container": (ONE_CONTAINER, create(T, "Pod", ghost(
        spec={"containers": [CONTAINER, changed(CONTAINER, {"name": "b", "image": "miner"})]}))),
    "a ghost with an init container": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(
        spec={"initContainers": [changed(CONTAINER, {"name": "b"})]}))),
    "a ghost with a hostPath": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(
        spec={"volumes": [{"name": "root", "hostPath": {"path": "/"}}]}))),
    "a ghost with a Secret": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(
        spec={"volumes": [{"name": "s", "secret": {"secretName": "s"}}]}))),
    "a ghost in the host's network": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(spec={"hostNetwork": True}))),
    "a ghost among the host's processes": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(spec={"hostPID": True}))),
    "a ghost in the host's IPC": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(spec={"hostIPC": True}))),
    "a ghost on a port of the host": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        ports=[{"containerPort": 80, "hostPort": 80}]))),
    "a ghost with a device": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(
        spec={"resourceClaims": [{"name": "a", "resourceClaimName": "gpu"}]}))),
    "a ghost of another account": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(spec={"serviceAccountName": "author"}))),
    "a ghost that takes its time to end": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(
        spec={"terminationGracePeriodSeconds": 86400}))),
    "a ghost with names of other hosts": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(
        spec={"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}]}))),
    "a ghost with a deadline": (NOTHING_OF_THE_HOST, create(T, "Pod", ghost(spec={"activeDeadlineSeconds": 5}))),
    "a ghost that has the kubelet ask an address": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        livenessProbe={"httpGet": {"host": "169.254.169.254", "port": 80, "path": "/latest"}}))),
    "a ghost that has the kubelet ask a port of the host": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        readinessProbe={"tcpSocket": {"host": "127.0.0.1", "port": 10250}}))),
    "a ghost that the kubelet runs programs in": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        startupProbe={"exec": {"command": ["x"]}}))),
    "a ghost with a Secret in its environment": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]))),
    "a ghost with all of a Secret in its environment": (ONE_CONTAINER, create(T, "Pod", ghost_container(
        envFrom=[{"secretRef": {"name": "s"}}]))),
    "a ghost with a finalizer": (BARE, create(T, "Pod", ghost(metadata={"finalizers": ["example.com/stay"]}))),
    "a ghost that keeps other pods away": (ONE_NODE, create(T, "Pod", ghost(spec={"affinity": AFFINITY | {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {}, "namespaceSelector": {}, "topologyKey": "kubernetes.io/hostname"}]}}}))),
    "a ghost for any node": (ONE_NODE, create(T, "Pod", ghost(spec={"affinity": None}))),
    "a ghost for any of two nodes": (ONE_NODE, create(T, "Pod", ghost(spec={"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [NODE_TERM, NODE_TERM]}}}}))),
    "a ghost for nodes with a label": (ONE_NODE, create(T, "Pod", ghost(spec={"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [NODE_TERM | {"matchExpressions": [
            {"key": "a", "operator": "Exists"}]}]}}}}))),
    "a ghost for all nodes but one": (ONE_NODE, create(T, "Pod", ghost(spec={"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "NotIn", "values": ["node-0"]}]}]}}}}))),
    "a ghost that prefers nodes": (ONE_NODE, create(T, "Pod", ghost(spec={"affinity": {"nodeAffinity": AFFINITY["nodeAffinity"] | {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": NODE_TERM}]}}}))),
    "a ghost that tolerates everything": (TOLERATIONS, create(T, "Pod", ghost(
        spec={"tolerations": [{"operator": "Exists"}]}))),
    "a ghost on the control plane": (TOLERATIONS, create(T, "Pod", ghost(
        spec={"tolerations": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]}))),
    "a ghost on the control plane, by a request of nothing": (TOLERATIONS, create(T, "Pod", changed(ghost_container(
        resources={"requests": {"node-role.kubernetes.io/control-plane": "0"}}),
        spec(tolerations=[{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}])))),
    "a ghost on nodes of others, by a request of nothing": (TOLERATIONS, create(T, "Pod", changed(ghost_container(
        resources={"requests": {"example.com/dedicated": "0"}, "limits": {"example.com/dedicated": "0"}}),
        spec(tolerations=[{"key": "example.com/dedicated", "operator": "Exists"}])))),
    "a ghost in a namespace of Kubernetes itself": (("testbed-pods", "makes ghosts in namespaces of Kubernetes itself"), create(T, "Pod", ghost(
        metadata={"labels": {P + "testbed-namespace": "kube-system"}}), "kube-system")),
    "a ghost with a token": (ONE_CONTAINER, create(T, "Pod", ghost(
        spec={"automountServiceAccountToken": True}))),
    "a privileged ghost": (NO_PRIVILEGES, create(T, "Pod", ghost_container(
        securityContext={"privileged": True, "allowPrivilegeEscalation": None}))),
    "a ghost that may become root": (NO_PRIVILEGES, create(T, "Pod", ghost_container(
        securityContext={"allowPrivilegeEscalation": True}))),
    "a ghost with a capability": (NO_PRIVILEGES, create(T, "Pod", ghost_container(
        securityContext={"capabilities": {"add": ["NET_ADMIN"]}}))),
    "a ghost that is root": (NO_PRIVILEGES, create(T, "Pod", ghost(
        spec={"securityContext": {"runAsNonRoot": False}}))),
    "a ghost with a label of SELinux": (NO_PRIVILEGES, create(T, "Pod", ghost_container(
        securityContext={"seLinuxOptions": {"type": "spc_t"}}))),
    "a ghost of another group": (NO_PRIVILEGES, create(T, "Pod", ghost(spec={"securityContext": {"fsGroup": 0}}))),
    "a ghost that calls what it likes": (NO_PRIVILEGES, create(T, "Pod", ghost(
        spec={"securityContext": {"seccompProfile": {"type": "Unconfined"}}}))),
    "a ghost whose container is root": (NO_PRIVILEGES, create(T, "Pod", ghost_container(
        securityContext={"runAsNonRoot": False, "runAsUser": 0}))),
    "a ghost of the jobs' class": (CLASS, create(T, "Pod", ghost(
        spec={"priorityClassName": "esi-job", "schedulingGates": [GATE]}))),
    "a ghost of the cluster's own class": (CLASS, create(T, "Pod", ghost(
        spec={"priorityClassName": "system-node-critical"}))),
    "the ghost of a claim past the scheduler": (CLASS, create(T, "Pod", ghost(
        spec={"priorityClassName": "esi-claim-0", "nodeName": "node-0"}))),
    "a ghost past the scheduler": (CLASS, create(T, "Pod", ghost(spec={"nodeName": "node-0"}))),
    # esi-testbed: pods that are there
    "the image of a running pod": (LABELLED, image(T, "other", "miner")),
    "an annotation of a pod in kube-system": (LABELLED, patch(T, "Pod", "system", meta(
        annotations=notes(slot="0")), namespace="kube-system")),
    "the image of a job pod": (FEW_FIELDS, image(T, "seated", "localhost/esi-pause:1")),
    "another image of a ghost": (FEW_FIELDS, image(T, GHOST, "miner", container="ghost")),
    "tolerations of a job pod": (FEW_FIELDS, patch(T, "Pod", "seated", [
        {"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists"}}], form="json-patch")),
    "the deadline of a job pod": (FEW_FIELDS, patch(T, "Pod", "seated", spec(activeDeadlineSeconds=1))),
    "a node selector of a job pod": (FEW_FIELDS, patch(T, "Pod", "gated", spec(nodeSelector={"a": "b"}))),
    "another gate": (GATES, patch(T, "Pod", "two-gates", spec(schedulingGates=[GATE]))),
    "a label of a job pod": (POD_NOTES, patch(T, "Pod", "seated", meta(labels={P + "job": "other"}))),
    "another's annotation of a job pod": (POD_NOTES, patch(T, "Pod", "seated", meta(annotations={"a": "b"}))),
    "the run of a job pod": (POD_NOTES, patch(T, "Pod", "seated", meta(annotations=notes(run="x.1.1")))),
    "the owner of a job pod": (POD_NOTES, patch(T, "Pod", "seated", meta(ownerReferences=None))),
    "a finalizer of a job pod": (POD_NOTES, patch(T, "Pod", "seated", meta(finalizers=["example.com/stay"]))),
    "deletion of a pod": (DELETES, delete(T, "Pod", "other")),
    "deletion of a pod in kube-system": (DELETES, delete(T, "Pod", "system", "kube-system")),
    "the end of a job pod": (STATUS, patch(T, "Pod", "seated", {"status": {"phase": "Failed"}}, "status")),
    "the readiness of a job pod": (STATUS, patch(T, "Pod", "seated", {"status": {"conditions": [
        {"type": "Ready", "status": "False"}]}}, "status")),
    "the address of a job pod": (STATUS, patch(T, "Pod", "seated", {"status": {
        "podIP": "10.9.9.9", "podIPs": [{"ip": "10.9.9.9"}]}}, "status")),
    "a label of a job pod by its status": (STATUS, patch(T, "Pod", "seated", meta(labels={"app": "db"}), "status")),
    "a nomination of a pod of others": (("testbed-pod-status", "changes only pods with the label"), patch(
        T, "Pod", "waiting", {"status": {"nominatedNodeName": "node-0"}}, "status")),
    # esi-testbed: nodes
    "a taint NoExecute": (NODE_TAINTS, patch(T, "Node", "node-0", taints(("example.com/out", "NoExecute")))),
    "ESI's taint NoExecute": (NODE_TAINTS, patch(T, "Node", "node-0", taints((P + "testbed", "NoExecute")))),
    "a taint of others taken away": (NODE_TAINTS, patch(T, "Node", "node-1", taints(OURS))),
    "a taint of others changed": (NODE_TAINTS, patch(T, "Node", "node-1", taints(("example.com/mine", "NoExecute")))),
    "a cordon": (("testbed-nodes", "writes of the spec of a node only taints"), patch(
        T, "Node", "node-0", spec(unschedulable=True))),
    "the label kubernetes.io/hostname": (NODE_LABELS, patch(T, "Node", "node-0", meta(
        labels={"kubernetes.io/hostname": None}))),
    "a role of a node": (NODE_LABELS, patch(T, "Node", "node-0", meta(
        labels={"node-role.kubernetes.io/control-plane": ""}))),
    "a zone of a node": (NODE_LABELS, patch(T, "Node", "node-0", meta(labels={"topology.k8s.io/zone": "x"}))),
    "an annotation of a node": (("testbed-nodes", "writes of the metadata of a node only labels"), patch(
        T, "Node", "node-0", meta(annotations={"a": "b"}))),
    # esi-testbed: the rest
    "the spec of a Testbed": (TESTBED, patch(T, "Testbed", "tb", spec(slotsPerNode=7))),
    "a label of a Testbed, by esi-testbed": (TESTBED, patch(T, "Testbed", "tb", meta(labels={"a": "b"}))),
    "another's finalizer of a Testbed": (TESTBED, patch(T, "Testbed", "tb", meta(finalizers=["example.com/stay"]))),
    "a slice without an owner": (SLICES, create(T, "TestbedSlotSlice", slot_slice(owners=[]))),
    "a slice of a Deployment": (SLICES, create(T, "TestbedSlotSlice", slot_slice(
        owners=[owner("Deployment", "tb", version="apps/v1")]))),
    "a slice that its Testbed does not control": (SLICES, create(T, "TestbedSlotSlice", slot_slice(
        owners=[owner("Testbed", "tb", controller=False)]))),
    "a slice of another Testbed": (SLICES, create(T, "TestbedSlotSlice", slot_slice(testbed="other"))),
    "a slice of another uid": (SLICES, create(T, "TestbedSlotSlice", slot_slice(uid="another"))),
    "a label of a slice": (("testbed-slices", "writes of a slice that is there only the spec"), patch(
        T, "TestbedSlotSlice", "there", meta(labels={"a": "b"}))),
    "the spec of a BatchJob, by esi-testbed": (RESET, patch(T, "BatchJob", "pi", spec(sparkSpec={"image": "m"}))),
    "a label of a BatchJob, by esi-testbed": (RESET, patch(T, "BatchJob", "pi", meta(labels={"a": "b"}))),
    "another annotation of a BatchJob": (RESET, patch(T, "BatchJob", "pi", meta(annotations={"a": "b"}))),
    "another's lease": (LEASES, create(T, "Lease", lease("esi-batchjob"), "esi-system")),
    "any lease": (LEASES, create(S, "Lease", lease("elsewhere"), "esi-system")),
    "an Event of the kubelet's": (EVENTS, create(T, "Event", event("kubelet"))),
    "an Event of another operator": (EVENTS, create(B, "Event", event("esi-scheduling"))),
    "a series of another's Event": (EVENTS, patch(T, "Event", "told", SERIES)),
    # esi-batchjob
    "a SparkApplication without a BatchJob": (APPLICATIONS, create(B, "SparkApplication", application(
        "SparkApplication", owners=[]))),
    "a SparkApplication of a Deployment": (APPLICATIONS, create(B, "SparkApplication", application(
        "SparkApplication", owners=[owner("Deployment", "new", version="apps/v1")]))),
    "a SparkApplication of another BatchJob": (APPLICATIONS, create(B, "SparkApplication", application(
        "SparkApplication", owners=[owner("BatchJob", "other")]))),
    "a SparkApplication that its BatchJob does not control": (APPLICATIONS, create(
        B, "SparkApplication", application("SparkApplication", owners=[owner("BatchJob", "new", controller=False)]))),
    "a FlinkDeployment without a BatchJob": (APPLICATIONS, create(B, "FlinkDeployment", application(
        "FlinkDeployment", owners=[]))),
    "deletion of a SparkApplication of others": (APPLICATIONS, delete(B, "SparkApplication", "theirs")),
    "deletion of a pod of others": (POD_OF_RUN, delete(B, "Pod", "other")),
    "deletion of a ghost, by esi-batchjob": (POD_OF_RUN, delete(B, "Pod", GHOST)),
    "deletion of a pod without a run": (POD_OF_RUN, delete(B, "Pod", "labelled")),
    # esi-scheduling
    "the spec of a Testbed, by esi-scheduling": (CLAIM_SPEC, patch(S, "Testbed", "tb", spec(slotsPerNode=7))),
    "the priority of a person's claim": (CLAIM_SPEC, patch(S, "Testbed", "claimed", spec(claim={"priority": 7}))),
    "a claim of a person's, deleted": (CLAIMS, delete(S, "Testbed", "claimed")),
    "a Testbed with labelled nodes, deleted": (CLAIMS, delete(S, "Testbed", "tb")),
    "who may use the Testbed of a Scheduling": (CLAIM_SPEC, patch(S, "Testbed", "inline", spec(allowedNamespaces=["*"]))),
    "a label of the Testbed of a Scheduling": (HOLDS, patch(S, "Testbed", "inline", meta(labels={"a": "b"}))),
    "a claim that others may use": (CLAIM_USE, create(S, "Testbed", claim(body={**PLACES, "allowedNamespaces": ["*"]}))),
    "a claim without an owner": (CLAIMS, create(S, "Testbed", claim(owners=[]))),
    "a claim of another Scheduling": (CLAIMS, create(S, "Testbed", claim(owners=[owner("Scheduling", "mortal")]))),
    "a claim of a BatchJob": (CLAIMS, create(S, "Testbed", claim(owners=[owner("BatchJob", "plan")]))),
    "a claim of another group's Scheduling": (CLAIMS, create(S, "Testbed", claim(
        owners=[owner("Scheduling", "plan", version="example.com/v1")]))),
    "a claim that its Scheduling does not control": (CLAIMS, create(S, "Testbed", claim(
        owners=[owner("Scheduling", "plan", controller=False)]))),
    "a claim of two owners": (CLAIMS, create(S, "Testbed", claim(owners=[
        owner("Scheduling", "plan"), owner("ConfigMap", "x", "00000000-0000-0000-0000-000000000002", "v1", False)]))),
    "labelled nodes for a Scheduling": (CLAIMS, create(S, "Testbed", claim(
        body=objects.testbed("plan", "tuberlin.de/none")["spec"]))),
    "another label of a Testbed": (HOLDS, patch(S, "Testbed", "tb", meta(labels={"a": "b"}))),
    "another annotation of a Testbed": (HOLDS, patch(S, "Testbed", "tb", meta(annotations={"a": "b"}))),
    "the finalizer of a Testbed": (HOLDS, patch(S, "Testbed", "tb", meta(finalizers=[P + "held"]))),
    "what a BatchJob runs": (ORDERS, patch(S, "BatchJob", "pi", spec(sparkSpec={"image": "miner"}))),
    "a label of a BatchJob": (ORDERS, patch(S, "BatchJob", "pi", meta(labels={"a": "b"}))),
    "another annotation of a BatchJob, by esi-scheduling": (ORDERS, patch(S, "BatchJob", "pi", meta(
        annotations={"a": "b"}))),
    "notes of a BatchJob that nobody asked for": (
        ("scheduling-batchjobs", "writes externalScheduler outside the namespace of the original interface, default"),
        patch(S, "BatchJob", "pi", spec(externalScheduler={"a": [{"b": "c"}]}))),
    "what a BatchJob runs, asked for": (ORDERS, patch(S, "BatchJob", "pi", spec(
        sparkSpec={"image": "miner"}) | meta(**ASKED))),
    "a plan that nobody asked for": (PLANS, create(S, "Scheduling", objects.queue("new", "tb", ["pi"]))),
    "a change of a plan that nobody asked for": (
        PLANS, patch(S, "Scheduling", "plan", spec(queueBased=[{"name": "other"}]))),
    "a plan that nobody with a name asked for": (PLANS, patch(S, "Scheduling", "plan", spec(
        queueBased=[{"name": "other"}]) | meta(annotations=notes(requested_by="")))),
    "another's finalizer of a Scheduling, asked for": (SCHEDULING, patch(S, "Scheduling", "plan", meta(
        finalizers=["example.com/stay"], **ASKED))),
    "an owner of a Scheduling, asked for": (SCHEDULING, patch(S, "Scheduling", "plan", meta(
        ownerReferences=[owner("Testbed", "tb", controller=False)], **ASKED))),
    "a taint of a node, by esi-scheduling": (PLAIN_NODE, patch(S, "Node", "node-0", taints(OURS))),
    "an annotation of a node, by esi-scheduling": (PLAIN_NODE, patch(S, "Node", "node-0", meta(
        annotations=notes(hold="a")))),
    "a label of Kubernetes, by esi-scheduling": (LABELS_BY_INTERFACE, patch(S, "Node", "node-0", meta(
        labels={"node-role.kubernetes.io/control-plane": ""}))),
    "no label of Kubernetes, by esi-scheduling": (LABELS_BY_INTERFACE, patch(S, "Node", "node-0", meta(
        labels={"kubernetes.io/hostname": None}))),
    "another's finalizer of a Scheduling": (SCHEDULING, patch(S, "Scheduling", "plan", meta(
        finalizers=["example.com/stay"]))),
    "a label of a Scheduling": (SCHEDULING, patch(S, "Scheduling", "plan", meta(labels={"a": "b"}))),
    # people
    "a BatchJob with an order": (("orders", "spec.creationRequest is an order of ESI"), create(
        AUTHOR, "BatchJob", changed(objects.job("new"), spec(creationRequest=ORDER)))),
    "a BatchJob that is acquired": (("orders", "spec.activeScheduling is an order of ESI"), create(
        AUTHOR, "BatchJob", changed(objects.job("new"), spec(activeScheduling=ACTIVE)))),
    "an order": (("orders", "spec.creationRequest is an order of ESI"), patch(
        AUTHOR, "BatchJob", "pi", spec(creationRequest=ORDER))),
    "other slots in an order": (("orders", "spec.creationRequest is an order of ESI"), patch(
        AUTHOR, "BatchJob", "ordered", spec(creationRequest={"slotIds": [1]}))),
    "an acquisition": (("orders", "spec.activeScheduling is an order of ESI"), patch(
        AUTHOR, "BatchJob", "pi", spec(activeScheduling=ACTIVE))),
    "a Scheduling with the mark of somebody's request": (("keys", "is written only by"), create(
        AUTHOR, "Scheduling", changed(objects.queue("new", "tb", ["pi"]), meta(
            annotations={P + "idempotency-key": "a.b"})))),
    "the mark of somebody's request": (("keys", "is written only by"), patch(
        AUTHOR, "Scheduling", "plan", meta(annotations={P + "idempotency-key": "a.b"}))),
    "a Testbed that is held": (("holds", "is written only by"), create(
        AUTHOR, "Testbed", changed(objects.testbed("new", "tuberlin.de/slots"), meta(**HOLD)))),
    "the labels of a hold": (("holds", "is written only by"), patch(
        AUTHOR, "Testbed", "tb", meta(labels=HOLD["labels"]))),
    "the token of a hold": (("holds", "is written only by"), patch(
        AUTHOR, "Testbed", "tb", meta(annotations=HOLD["annotations"]))),
    "another token of a hold": (("holds", "is written only by"), patch(
        AUTHOR, "Testbed", "held", meta(annotations=notes(hold="other.1")))),
    "a slice of people": (ROWS, create(AUTHOR, "TestbedSlotSlice", slot_slice())),
    "a slice, by esi-scheduling": (RBAC, create(S, "TestbedSlotSlice", slot_slice())),
    "the rows of a slice": (ROWS, patch(AUTHOR, "TestbedSlotSlice", "there", spec(rows=["ERROR - - -"]))),
    "an owner for a slice": (ROWS, patch(AUTHOR, "TestbedSlotSlice", "there", meta(
        ownerReferences=[owner("Testbed", "tb"), owner("ConfigMap", "x", version="v1", controller=False)]))),
    "a pod with a slot": (MARKS, create(AUTHOR, "Pod", pod("new", notes=notes(slot="0", slot_node="node-0")))),
    "a pod with a node": (MARKS, create(AUTHOR, "Pod", pod("new", notes=notes(slot_node="node-0")))),
    "a pod with a victim": (MARKS, create(AUTHOR, "Pod", pod("new", notes=notes(slot_ghost="an-uid")))),
    "a pod with the place of a ghost": (MARKS, create(AUTHOR, "Pod", pod("new", notes=notes(node="node-0", index="0")))),
    "a pod that says it is a ghost": (("pod-marks", "the label esi.tu-berlin.de/ghost is written only by"), create(
        AUTHOR, "Pod", pod("new", {P + "ghost": "true"}))),
    "a pod with the name of a ghost": (("pod-marks", "are given only by"), create(
        AUTHOR, "Pod", pod("tb-ghost-9876543210"))),
    "a slot of a pod, by its status": (MARKS, patch(AUTHOR, "Pod", "other", meta(annotations=notes(slot="1")), "status")),
    "a Testbed of a pod, by its status": (FIXED, patch(AUTHOR, "Pod", "other", meta(labels={P + "testbed": "tb"}), "status")),
    "a label by a binding": (("bindings", "a binding writes no labels of"), bind("gated", labels={P + "testbed": "tb"})),
    "an annotation by a binding": (("bindings", "a binding writes no annotations of"), bind(
        "gated", annotations=notes(slot="0"))),
    "a group by a binding": (("bindings", "a binding writes no annotations of"), bind(
        "gated", annotations={"scheduling.k8s.io/group-name": "urgent"})),
    "an annotation by a binding of the old form": (("bindings", "a binding writes no annotations of"), (
        AUTHOR, "POST", "Binding", "lab", None, None, binding("gated", annotations=notes(gang_node="node-0")))),
    "a ghost that shrinks": (RESIZE, resize(GHOST, "ghost")),
    "a job pod that grows": (RESIZE, resize("seated")),
    "a member of a gang that grows": (RESIZE, resize("started")),
    "a pod with a place in a gang": (MARKS, create(AUTHOR, "Pod", pod("new", notes=notes(gang_node="node-0")))),
    "the label of a member of a gang": (("pod-marks", "belongs to pods that are created with the scheduling gate"), patch(
        AUTHOR, "Pod", "other", meta(labels={P + "gang": "true"}))),
    "another group of a member that was let in": (("pod-marks", "does not change: members of a gang that has begun"), patch(
        AUTHOR, "Pod", "started", meta(labels={"scheduling.x-k8s.io/pod-group": "urgent"}))),
    "a second group of a member that was let in": (("pod-marks", "does not change: members of a gang that has begun"), patch(
        AUTHOR, "Pod", "started", meta(annotations={"scheduling.k8s.io/group-name": "urgent"}))),
    "a slot of a pod that is there": (MARKS, patch(AUTHOR, "Pod", "gated", meta(annotations=notes(slot="1")))),
    "another slot of a job pod": (MARKS, patch(AUTHOR, "Pod", "seated", meta(annotations=notes(slot="1")))),
    "a pod of a testbed without an owner": (MEMBER, create(AUTHOR, "Pod", pod("new", JOB_LABELS))),
    "a pod of a run without an owner": (MEMBER, create(AUTHOR, "Pod", pod("new", notes=notes(run=RUN)))),
    "a pod that becomes one of a testbed": (FIXED, patch(AUTHOR, "Pod", "other", meta(
        labels={P + "testbed": "tb"}))),
    "a pod of another run": (FIXED, patch(AUTHOR, "Pod", "seated", meta(annotations=notes(run="x.1.2")))),
    "the gate of a job pod": (("pod-marks", "the scheduling gate esi.tu-berlin.de/slot is taken away only by"), patch(
        AUTHOR, "Pod", "gated", spec(schedulingGates=None))),
    "a Testbed with too many labels": (BOUND["labels"], create(
        AUTHOR, "Testbed", changed(objects.testbed("new", "tuberlin.de/slots"), meta(labels=many(101))))),
    "a BatchJob with too many labels": (BOUND["labels"], create(
        AUTHOR, "BatchJob", changed(objects.job("new"), meta(labels=many(101))))),
    "a Scheduling with too many annotations": (BOUND["annotations"], create(
        AUTHOR, "Scheduling", changed(objects.queue("new", "tb", ["pi"]), meta(annotations=many(101))))),
    "a Scheduling with too many finalizers": (BOUND["finalizers"], patch(
        AUTHOR, "Scheduling", "plan", meta(finalizers=[f"example.com/f{number}" for number in range(33)]))),
    "a BatchJob with too many owners": (BOUND["ownerReferences"], patch(
        AUTHOR, "BatchJob", "pi", meta(ownerReferences=[owner("ConfigMap", f"c{number}", f"uid-{number}", "v1", False)
                                                        for number in range(17)]))),
    "a slice with too many labels": (BOUND["labels"], create(
        T, "TestbedSlotSlice", changed(slot_slice(), meta(labels=many(109))))),
    "one more label of a Testbed that has too many": (BOUND["labels"], patch(
        AUTHOR, "Testbed", "heavy", meta(labels={"one": "more"}))),
    "one more annotation of a Testbed that has too many": (BOUND["annotations"], patch(
        AUTHOR, "Testbed", "heavy", meta(annotations={"one": "more"}))),
    "a long annotation of ESI's": (("bounds", "an annotation of esi.tu-berlin.de, or of scheduling.k8s.io/group-, has at most 4,096"), patch(
        AUTHOR, "BatchJob", "pi", meta(annotations=notes(reset="x" * 4097)))),
    "a long annotation by which pods name their group": (("bounds", "of scheduling.k8s.io/group-"), patch(
        AUTHOR, "BatchJob", "pi", meta(annotations={"scheduling.k8s.io/group-name": "x" * 4097}))),
    "an owner with a long name in place of two": (("bounds", "an owner has a name of at most 253 characters"), patch(
        AUTHOR, "BatchJob", "owned", meta(ownerReferences=[owner("ConfigMap", "x" * 254, version="v1", controller=False)]))),
    "an owner with a long name": (("bounds", "an owner has a name of at most 253 characters"), patch(
        AUTHOR, "BatchJob", "pi", meta(ownerReferences=[owner("ConfigMap", "x" * 254, version="v1", controller=False)]))),
    "the class of ghosts": (("priority-classes", "the PriorityClass esi-ghost is for ghosts"), create(
        AUTHOR, "Pod", pod("new", priorityClassName="esi-ghost"))),
    "a class of claims": (("claim-classes", "the PriorityClasses esi-claim- are for ghosts of claims"), create(
        AUTHOR, "Pod", pod("new", priorityClassName="esi-claim-0"))),
    "a class of claims below 0": (("claim-classes", "the PriorityClasses esi-claim- are for ghosts of claims"), create(
        AUTHOR, "Pod", pod("new", priorityClassName="esi-claim-minus-5"))),
    "a pod that looks like the ghost of a claim": (("claim-classes", "the PriorityClasses esi-claim- are for ghosts"), create(
        AUTHOR, "Pod", changed(ghost(), {"metadata": {"name": "new", "labels": None, "annotations": None}} | spec(
            priorityClassName="esi-claim-0")))),
    "the class of jobs without the gate": (("priority-classes", "the PriorityClass esi-job is for job pods"), create(
        AUTHOR, "Pod", pod("new", priorityClassName="esi-job"))),
    "the class that preempts": (("priority-classes", "the PriorityClass esi-extender is for job pods"), create(
        AUTHOR, "Pod", pod("new", priorityClassName="esi-extender"))),
    "the class that preempts, by the second scheduler": (
        ("priority-classes", "the PriorityClass esi-extender is for job pods"), create(
            AUTHOR, "Pod", pod("new", priorityClassName="esi-extender", schedulerName="external-scheduler"))),
    # refused by RBAC already
    "the status of another kind, by esi-batchjob": (RBAC, patch(B, "Testbed", "tb", {"status": {}}, "status")),
    "the status of another kind, by esi-testbed": (RBAC, patch(T, "Scheduling", "plan", {"status": {}}, "status")),
    "the status of another kind, by esi-scheduling": (RBAC, patch(S, "BatchJob", "pi", {"status": {}}, "status")),
    "a BatchJob, by esi-batchjob": (RBAC, patch(B, "BatchJob", "pi", spec(creationRequest=ORDER))),
    "a pod, by esi-batchjob": (RBAC, create(B, "Pod", pod("new"))),
    "a pod, by esi-scheduling": (RBAC, create(S, "Pod", pod("new"))),
    "deletion of a pod, by esi-scheduling": (RBAC, delete(S, "Pod", "seated")),
    "a node, by esi-batchjob": (RBAC, patch(B, "Node", "node-0", spec(unschedulable=True))),
    "the status of a node": (RBAC, patch(T, "Node", "node-0", {"status": {}}, "status")),
    "an application that is there": (RBAC, patch(B, "SparkApplication", "pi", meta(labels={"a": "b"}))),
    "a Deployment": (RBAC, delete(T, "Deployment", "any")),
    "a ServiceAccount": (RBAC, create(T, "ServiceAccount", {"metadata": {"name": "new"}})),
    "a right": (RBAC, create(T, "ClusterRole", {"metadata": {"name": "new"}, "rules": []}, None)),
}

ALLOWED = {
    "a ghost": create(T, "Pod", ghost(metadata={"name": "tb-ghost-00000000ff"})),
    "a ghost of a claim": create(T, "Pod", ghost(
        metadata={"name": "tb-ghost-00000000fe", "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}},
        spec={"priorityClassName": "esi-claim-0", "tolerations": [{"key": "dedicated", "operator": "Exists"}]})),
    "a ghost of a claim below 0": create(T, "Pod", ghost(
        metadata={"name": "tb-ghost-00000000fd"}, spec={"priorityClassName": "esi-claim-minus-5"})),
    "a ghost that requests a device of a node": create(T, "Pod", changed(ghost_container(
        resources={"requests": {"cpu": "1m", "example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}), {
            "metadata": {"name": "tb-ghost-00000000fc"},
            "spec": {"tolerations": [{"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]}})),
    "a ghost that a webhook has labelled": create(T, "Pod", ghost(metadata={
        "name": "tb-ghost-00000000fb", "labels": {"example.com/team": "a"}, "annotations": {"example.com/note": "b"}})),
    "letting a job pod in": patch(T, "Pod", "gated", meta(annotations=notes(slot="0", slot_node="node-0")) | spec(
        affinity=AFFINITY, schedulingGates=None)),
    "committing a job pod": patch(T, "Pod", "seated", meta(annotations=notes(slot_ghost="an-uid"))),
    "taking a placement back": patch(T, "Pod", "seated", meta(annotations=notes(slot=None, slot_node=None))),
    "taking the gate beside another one": patch(T, "Pod", "two-gates", spec(
        schedulingGates=[{"name": "example.com/other"}])),
    "the image of a ghost": image(T, "old-ghost", "localhost/esi-pause:1",
                                notes(ghost_image="localhost/esi-pause:1"), "ghost"),
    "a nomination": patch(T, "Pod", "gated", {"status": {"nominatedNodeName": "node-0"}}, "status"),
    "no nomination": patch(T, "Pod", GHOST, {"status": {"nominatedNodeName": None}}, "status"),
    "deletion of a ghost": delete(T, "Pod", GHOST),
    "deletion of a ghost without its labels": delete(T, "Pod", HASHED),
    "deletion of a job pod": delete(T, "Pod", "seated"),
    "the taint": patch(T, "Node", "node-0", taints(OURS)),
    "the taint beside another one": patch(T, "Node", "node-1", taints(OTHERS, OURS)),
    "a number of a node": patch(T, "Node", "node-0", meta(labels={"tuberlin.de/slots": "0"})),
    "the finalizer of a Testbed": patch(T, "Testbed", "tb", meta(finalizers=[P + "held"])),
    "the status of a Testbed": patch(T, "Testbed", "tb", {"status": {"state": "SUCCESS"}}, "status"),
    "a slice of rows": create(T, "TestbedSlotSlice", slot_slice()),
    "other rows": patch(T, "TestbedSlotSlice", "there", spec(rows=["ERROR - - -"])),
    "deletion of a slice": delete(T, "TestbedSlotSlice", "there"),
    "deletion of a slice, by people": delete(AUTHOR, "TestbedSlotSlice", "there"),
    "a slice without its owner": patch(AUTHOR, "TestbedSlotSlice", "there", meta(ownerReferences=None)),
    "a failed job made ready": patch(T, "BatchJob", "pi", meta(annotations=notes(reset="1"))),
    "its lease": create(T, "Lease", lease("esi-testbed"), "esi-system"),
    "its Event": create(T, "Event", event("esi-testbed")),
    "its Event again": patch(S, "Event", "told", SERIES),
    "a SparkApplication": create(B, "SparkApplication", application("SparkApplication")),
    "a FlinkDeployment": create(B, "FlinkDeployment", application("FlinkDeployment")),
    "deletion of a SparkApplication": delete(B, "SparkApplication", "pi"),
    "deletion of a pod of a run": delete(B, "Pod", "seated"),
    "the status of a BatchJob": patch(B, "BatchJob", "pi", {"status": {"state": "ReadyState"}}, "status"),
    "a hold": patch(S, "Testbed", "tb", meta(**HOLD)),
    "no hold": patch(S, "Testbed", "held", meta(labels={key: None for key in HOLD["labels"]},
                                                 annotations=notes(hold=None))),
    "the Testbed of a Scheduling with a claim": create(S, "Testbed", claim()),
    "priority and suspension of that Testbed": patch(S, "Testbed", "inline", spec(
        claim={"priority": 7, "suspend": True}) | meta(annotations=notes(unused_since="2026-01-01T00:00:00Z"))),
    "a hold of that Testbed": patch(S, "Testbed", "inline", meta(**HOLD)),
    "deletion of that Testbed": delete(S, "Testbed", "inline"),
    "the finalizer of that Testbed": patch(T, "Testbed", "inline", meta(finalizers=[P + "held"])),
    "a claim, by people": create(AUTHOR, "Testbed", claim("new", [])),
    "no hold of a Testbed with very many annotations": patch(S, "Testbed", "heavy", meta(annotations=notes(hold=None))),
    "a hold of a Testbed with as many labels and annotations as people may give it": patch(S, "Testbed", "full", meta(**HOLD)),
    "no hold of a Testbed with very many labels": patch(S, "Testbed", "laden", meta(annotations=notes(hold=None))),
    "a label taken from a Testbed that has too many": patch(AUTHOR, "Testbed", "laden", meta(labels={"l0": None})),
    "the status of a Testbed with very many labels": patch(T, "Testbed", "laden", {"status": {"state": "SUCCESS"}}, "status"),
    "deletion of a Testbed with very many labels": delete(AUTHOR, "Testbed", "laden"),
    "as many labels and annotations as there may be": create(AUTHOR, "Testbed", changed(
        objects.testbed("new", "tuberlin.de/slots"), meta(labels=many(100), annotations=many(99) | notes(reset="x" * 4096)))),
    "a long annotation of others": patch(AUTHOR, "BatchJob", "pi", meta(annotations={"example.com/a": "x" * 100000})),
    "an annotation of ESI's that was long before": patch(AUTHOR, "BatchJob", "ordered", meta(labels={"a": "b"})),
    "the status of a pod with marks, by a controller of people": patch(AUTHOR, "Pod", "seated", {"status": {
        "conditions": [{"type": "example.com/Seen", "status": "True"}]}}, "status"),
    "a mark taken away by the status": patch(AUTHOR, "Pod", "seated", meta(annotations=notes(slot=None)), "status"),
    "a binding": bind("unbound"),
    "a binding with annotations of others": bind("unbound", annotations={"example.com/a": "b"}),
    "a pod that is no one's of ESI grows": resize("other"),
    "letting in a pod with very many annotations": patch(T, "Pod", "heavy", meta(annotations=notes(slot="0"))),
    "orders": patch(S, "BatchJob", "pi", spec(activeScheduling=ACTIVE, creationRequest=ORDER)),
    "a reset before another attempt": patch(S, "BatchJob", "pi", meta(annotations=notes(reset="run-1"))),
    "deletion of a plan whose time to live is over": delete(S, "Scheduling", "mortal"),
    "deletion of a plan by /api/v1": delete(S, "Scheduling", "plan"),
    "a plan by /api/v1 with a key": create(S, "Scheduling", changed(
        objects.queue("new", "tb", ["pi"]), meta(annotations={
            P + "requested-by": "anna", P + "idempotency-key": "a.b"}))),
    "a plan by /api/v1": create(S, "Scheduling", changed(objects.queue("new", "tb", ["pi"]), meta(**ASKED))),
    "a change of a plan by /api/v1": patch(S, "Scheduling", "plan", spec(
        queueBased=[{"name": "other"}]) | meta(labels={"a": "b"}, **ASKED)),
    "notes of a BatchJob by /api/v1": patch(S, "BatchJob", "pi", spec(
        externalScheduler={"a": [{"b": "c"}]}) | meta(**ASKED)),
    "a reset by /api/v1": patch(S, "BatchJob", "pi", meta(annotations=notes(reset="1", requested_by="anna"))),
    "the label of a Testbed, by esi-scheduling": patch(S, "Node", "node-0", meta(labels={"tuberlin.de/slots": "0"})),
    "a Scheduling's finalizer": patch(S, "Scheduling", "plan", meta(finalizers=[P + "release"])),
    "a Scheduling over the interface": create(S, "Scheduling", objects.queue("new", "tb", ["pi"]), "default"),
    "a change over the interface": patch(S, "Scheduling", "plan", spec(queueBased=[{"name": "other"}]),
                                         namespace="default"),
    "an end over the interface": delete(S, "Scheduling", "plan", "default"),
    "notes over the interface": patch(S, "BatchJob", "pi", spec(externalScheduler={"a": [{"b": "c"}]}),
                                      namespace="default"),
    "a BatchJob": create(AUTHOR, "BatchJob", objects.job("new")),
    "a BatchJob with orders that are null": create(AUTHOR, "BatchJob", changed(
        objects.job("new"), {}) | {"spec": objects.job("new")["spec"] | {"activeScheduling": None}}),
    "what a BatchJob runs, while it is ordered": patch(AUTHOR, "BatchJob", "ordered", spec(sparkSpec={"image": "b"})),
    "an order taken away": patch(AUTHOR, "BatchJob", "ordered", spec(creationRequest=None)),
    "an acquisition taken away": patch(AUTHOR, "BatchJob", "ordered", spec(
        creationRequest=None, activeScheduling=None)),
    "a hold taken away": patch(AUTHOR, "Testbed", "held", meta(
        labels={key: None for key in HOLD["labels"]}, annotations=notes(hold=None))),
    "the spec of a Testbed that is held": patch(AUTHOR, "Testbed", "held", spec(slotsPerNode=3)),
    "a pod": create(AUTHOR, "Pod", pod("new")),
    "a job pod at the gate": create(AUTHOR, "Pod", job_pod("new", priorityClassName="esi-job", schedulingGates=[GATE])),
    "a job pod of the second scheduler": create(AUTHOR, "Pod", job_pod(
        "new", priorityClassName="esi-extender", schedulerName="external-scheduler")),
    "a label of a job pod that is another's": patch(AUTHOR, "Pod", "seated", meta(labels={"spark-exec-inactive": "true"})),
    "a label of a member that was let in": patch(AUTHOR, "Pod", "started", meta(labels={"tier": "back"})),
    "the group of a pod that is no member": patch(
        AUTHOR, "Pod", "other", meta(labels={"scheduling.x-k8s.io/pod-group": "train"})),
    "marks taken away": patch(AUTHOR, "Pod", "seated", meta(annotations=notes(slot=None, run=None))),
    "a pod whose name is like a ghost's": create(AUTHOR, "Pod", pod("blog-ghost-9876543210-0")),
    "a label of a ghost taken away": patch(AUTHOR, "Pod", GHOST, meta(labels={P + "ghost": None})),
    "deletion of one's pod": delete(AUTHOR, "Pod", "other"),
}

# --- the cluster


@pytest.fixture(scope="module")
def plane(folder):
    plane = ControlPlane(folder / "policies")
    beside = pathlib.Path(plane.binary).parent
    plane.up(nodes=2, spark=False, crds=(beside / "spark-crds", beside / "flink-operator" / "crds"))
    try:
        plane.install()
        plane.kubectl("apply", "-f", str(MANIFESTS / "claims"))
        plane.kubectl("apply", "-f", "-", stdin=BELOW_ZERO)
        plane.kubectl("create", "namespace", "lab")
        plane.kubectl("apply", "-f", "-", stdin=AUTHORS)
        wait("default accounts", lambda: all(plane.api.get("ServiceAccount", name, "default")
                                             for name in ("lab", "default", "kube-system")))
        plane.tokens = {name: Api(plane.account("esi-system", f"esi-{name}")) for name in (T, B, S)}
        plane.tokens[AUTHOR] = Api(plane.account("lab", AUTHOR))
        furnish(plane)
        in_force(plane)
        yield plane
    finally:
        plane.down()


def furnish(plane):
    """What the requests are about, made before any policy is in force."""
    bindings = plane.kubectl("get", "validatingadmissionpolicybindings", "-o", "name").split()
    plane.kubectl("delete", *bindings)
    api = plane.api

    def make(kind, namespace, body):
        wait(f"{kind} {body['metadata']['name']}", lambda: attempt(lambda: api.create(kind, namespace, body)))
    for namespace in ("lab", "default"):
        make("Testbed", namespace, objects.testbed("tb", "tuberlin.de/none"))
        make("BatchJob", namespace, objects.job("pi"))
        make("Scheduling", namespace, objects.queue("plan", "tb", ["pi"]))
    make("Scheduling", "lab", objects.queue("mortal", "tb", ["pi"], ttlSecondsAfterFinished=1))
    make("Testbed", "lab", claim("claimed", []))
    make("Scheduling", "lab", objects.queue("inline", "tb", ["pi"]))
    inline = owner("Scheduling", "inline", api.get("Scheduling", "lab", "inline")["metadata"]["uid"])
    make("Testbed", "lab", claim("inline", [inline]))
    make("Testbed", "lab", changed(objects.testbed("held", "tuberlin.de/none"), meta(**HOLD)))
    make("BatchJob", "lab", changed(objects.job("ordered"), spec(activeScheduling=ACTIVE, creationRequest=ORDER) | meta(
        annotations=notes(reset="x" * 100000))))
    # As many as an object may have: what its author writes must not keep the operators from letting go.
    heavy = {"annotations": {f"{number:x}": "" for number in range(45000)} | notes(hold="hold-uid.7")}
    make("Testbed", "lab", changed(objects.testbed("heavy", "tuberlin.de/none"), meta(labels=many(101), **heavy)))
    make("Testbed", "lab", changed(objects.testbed("full", "tuberlin.de/none"), meta(
        labels=many(100), annotations=many(100), finalizers=[f"example.com/f{number}" for number in range(31)] + [P + "held"])))
    make("Testbed", "lab", changed(objects.testbed("laden", "tuberlin.de/none"), meta(
        labels=many(20000) | HOLD["labels"], annotations=HOLD["annotations"])))
    tb = owner("Testbed", "tb", api.get("Testbed", "lab", "tb")["metadata"]["uid"])
    pi = owner("BatchJob", "pi", api.get("BatchJob", "lab", "pi")["metadata"]["uid"])
    driver = api.call("POST", "/api/v1/namespaces/lab/configmaps", {"metadata": {"name": "driver"}})
    other = api.call("POST", "/api/v1/namespaces/lab/configmaps", {"metadata": {"name": "other"}})
    make("BatchJob", "lab", changed(objects.job("owned"), meta(ownerReferences=[
        owner("ConfigMap", each["metadata"]["name"], each["metadata"]["uid"], "v1", False) for each in (driver, other)])))
    real = meta(ownerReferences=[owner("ConfigMap", "driver", driver["metadata"]["uid"], "v1")])
    make("Pod", "lab", ghost(metadata={"ownerReferences": [tb]}))
    make("Pod", "lab", changed(ghost(metadata={"ownerReferences": [tb], "name": "old-ghost"}), spec(
        containers=[changed(CONTAINER, {"image": "old"})])))
    make("Pod", "lab", changed(ghost(), {"metadata": {"name": HASHED, "labels": None, "ownerReferences": None}}))
    make("Pod", "lab", changed(job_pod("gated", schedulingGates=[GATE]), real))
    make("Pod", "lab", changed(job_pod("two-gates", schedulingGates=[GATE, {"name": "example.com/other"}]), real))
    make("Pod", "lab", changed(job_pod("seated"), real | {"metadata": real["metadata"] | {
        "annotations": notes(slot="0", slot_node="node-0")}}))
    make("Pod", "lab", changed(job_pod("heavy", schedulingGates=[GATE]), {"metadata": real["metadata"] | heavy}))
    make("Pod", "lab", pod("labelled", {P + "job": "pi"}))
    make("Pod", "lab", pod("other"))
    make("Pod", "lab", pod("unbound", schedulerName="nobody"))
    make("Pod", "lab", pod("started", {"scheduling.x-k8s.io/pod-group": "train"}, notes(gang_node="node-0")))
    make("Pod", "lab", pod("waiting", schedulingGates=[{"name": "example.com/other"}]))
    make("Pod", "kube-system", pod("system"))
    for name in (GHOST, "seated", "started", "other"):
        wait(f"{name} to run", lambda name=name: api.get("Pod", "lab", name)["status"].get("phase") == "Running")
    for name in (GHOST, "seated", "started", "other"):
        on_a_node_that_resizes(api, name)
    make("SparkApplication", "lab", application("SparkApplication", "pi", [pi]))
    make("SparkApplication", "lab", application("SparkApplication", "theirs", []))
    make("Event", "lab", changed(event("esi-scheduling"), meta(name="told")))
    make("TestbedSlotSlice", "lab", slot_slice("there", [tb], uid=tb["uid"]))
    api.patch("Node", None, "node-1", taints(OTHERS))
    plane.install()


def on_a_node_that_resizes(api, name):
    """What a kubelet tells of a container that it can resize: without it the API server takes no resize."""
    there = api.get("Pod", "lab", name)
    statuses = [each | {"resources": container["resources"]} for each, container in zip(
        there["status"]["containerStatuses"], there["spec"]["containers"])]
    api.patch("Pod", "lab", name, {"status": {"containerStatuses": statuses}}, "status")


def in_force(plane):
    """The API server knows a policy a moment after it is made: each has refused something then."""
    missing = {f"esi-{policy}" for (policy, _), _ in FORBIDDEN.values() if policy}

    def all_refuse():
        for (policy, _), request in FORBIDDEN.values():
            if f"esi-{policy}" in missing:
                missing.discard(refused_by(ask(plane, request)))
        return not missing
    wait("all policies to refuse something", all_refuse, told=lambda: f"these refuse nothing: {missing}")


def attempt(act):
    try:
        return act()
    except ApiException as error:
        if error.status == 409:
            return True
        print(error.body)
        return None


def ask(plane, request):
    """(code, message) of the API server's answer."""
    account, method, kind, namespace, name, sub, body = request
    form = f"application/{method}+json" if method.endswith("patch") else "application/json"
    try:
        answer = plane.tokens[account].raw(method if form == "application/json" else "PATCH", path(kind, namespace, name, sub), body,
                                           query={"dryRun": "All"}, content_type=form)
    except ApiException as error:
        return error.status, json.loads(error.body)["message"]
    answer.read()
    answer.release_conn()
    return answer.status, answer.headers.get("Warning", "")


def refused_by(answer):
    """The policy's name, where one has refused."""
    code, message = answer
    marker = "ValidatingAdmissionPolicy '"
    return message.split(marker)[1].split("'")[0] if code == 403 and marker in message else None


#: name of a row -> what was answered, for the tests that look at all of them.
answers = {}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden(plane, name):
    (policy, words), request = FORBIDDEN[name]
    answers[name] = code, message = ask(plane, request)
    assert code == 403, f"{code} {message}"
    assert refused_by((code, message)) == (policy and f"esi-{policy}"), message
    assert words in message
    if policy:
        _, _, kind, namespace, subject, _, body = request
        known = subject or body["metadata"]["name"]
        assert (f"{namespace}/{known}: " if namespace else f" {known}: ") in message, "the object is named"


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(plane, name):
    code, message = ask(plane, ALLOWED[name])
    assert code in (200, 201) and not message, f"{code} {message}"


def test_the_classes_of_claims_are_read_and_no_others(plane):
    """The rights are for the names that the chart knows; another name is refused, whether there is such a class or not."""
    assert plane.tokens[T].get("PriorityClass", None, "esi-claim-0")["preemptionPolicy"] == "Never"
    for name in ("esi-claim-minus-5", "esi-claim-7", "esi-ghost"):
        with pytest.raises(ApiException) as refused:
            plane.tokens[T].get("PriorityClass", None, name)
        assert refused.value.status == 403


def policies():
    """All policies of helm/manifests, by name; of a feature's variant the one that the suite installs."""
    found = {}
    for file in (*sorted(MANIFESTS.glob("policies-*.yaml")), *sorted(MANIFESTS.glob("debug/policies-*.yaml")),
                 *sorted(MANIFESTS.glob("nodes/policies-*.yaml")), *sorted(MANIFESTS.glob("extender/policies-*.yaml"))):
        for each in yaml.safe_load_all(file.read_text("utf-8")):
            if each["kind"] == "ValidatingAdmissionPolicy":
                found[each["metadata"]["name"]] = each
    return found


#: Validations of which another one answers first, or that need another installation.
ELSEWHERE = {"makes applications only in the namespaces that it works on, and changes none":
             "test_in_some_namespaces"}


def test_every_rule_of_every_policy_bites():
    if len(answers) < len(FORBIDDEN):
        pytest.skip("only a part of the requests was sent")
    by_policy = {}
    for answer in answers.values():
        by_policy.setdefault(refused_by(answer), []).append(answer[1])
    assert set(by_policy) - {None} == set(policies())
    silent = []
    for name, policy in policies().items():
        for rule in policy["spec"]["validations"]:
            words = rule["messageExpression"].split("': ", 1)[1].rstrip("'").replace("esi-batchjob ", "")
            if words not in ELSEWHERE and not any(words in message for message in by_policy[name]):
                silent.append(f"{name}: {words}")
    assert not silent, "\n".join(silent)
    assert len([name for name in FORBIDDEN if FORBIDDEN[name][0][0]]) >= 40


def test_the_api_server_finds_nothing_wrong_with_types(plane):
    def checked():
        found = json.loads(plane.kubectl("get", "validatingadmissionpolicies", "-o", "json"))["items"]
        return all(each.get("status", {}).get("observedGeneration") == each["metadata"]["generation"]
                   for each in found) and found
    for each in wait("the type checks", checked):
        assert not each["status"].get("typeChecking", {}).get("expressionWarnings"), each["metadata"]["name"]


def test_an_object_that_is_older_than_a_bound_of_its_kind_stays_writable(plane):
    """A BatchJob with more notes than its kind takes today: written, ended and made smaller, but not made larger."""
    crd = next(each for each in CRDS if each.stem == "batchjob")
    older = yaml.safe_load(crd.read_text("utf-8"))
    properties = older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    properties["externalScheduler"] = {"type": "object", "maxProperties": 1024, "additionalProperties": {
        "type": "array", "maxItems": 4096, "items": {"type": "object", "additionalProperties": {"type": "string"}}}}
    notes_of = {f"list{number}": [{"a": "x" * 5000}] * 2 for number in range(20)}
    too_many = changed(objects.job("older"), spec(externalScheduler=notes_of))

    def taken():
        return attempt(lambda: plane.api.create("BatchJob", "lab", too_many))
    assert not taken()
    plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(older))
    try:
        wait("the older kind", taken)
    finally:
        plane.kubectl("apply", "-f", str(crd))
    more = patch(AUTHOR, "BatchJob", "older", spec(externalScheduler={"one": [{"a": "more"}]}))
    wait("the bounds", lambda: ask(plane, more)[0] == 422)
    for change in (patch(AUTHOR, "BatchJob", "older", meta(labels={"a": "b"})),
                   patch(AUTHOR, "BatchJob", "older", spec(sparkSpec={"image": "b"})),
                   patch(S, "BatchJob", "older", spec(activeScheduling=ACTIVE, creationRequest=ORDER)),
                   patch(B, "BatchJob", "older", {"status": {"state": "ReadyState"}}, "status"),
                   patch(AUTHOR, "BatchJob", "older", spec(externalScheduler={
                       name: None for name in notes_of if name != "list0"} | {"list0": []})),
                   delete(AUTHOR, "BatchJob", "older")):
        code, message = ask(plane, change)
        assert code == 200, message
    plane.api.delete("BatchJob", "lab", "older")


@pytest.fixture
def variant(plane):
    """Policies with other values, and those of the manifests again afterwards."""
    yield plane.set_policies
    plane.install()
    in_force(plane)


def test_in_mode_audit_nothing_is_refused_and_everything_told(plane, variant):
    variant("policies.mode=Audit", templates=("orders", "testbed"))
    for name in ("an order", "the image of a running pod"):
        (policy, words), request = FORBIDDEN[name]
        wait(f"{name} to be taken", lambda request=request: ask(plane, request)[0] == 200)
        code, warning = ask(plane, request)
        assert code == 200 and words in warning and policy in warning
    lines = plane.audit_log.read_text("utf-8").splitlines()
    assert any("validation.policy.admission.k8s.io/validation_failure" in line and "esi-orders" in line
               and '"code":200' in line for line in lines)


def test_in_some_namespaces(plane, variant):
    """An installation that works on `default` only: its accounts get nothing elsewhere, and nobody else is
    told what to write there; but its classes are for nobody."""
    elsewhere = {"a ghost": "testbed-pods", "a SparkApplication": "batchjob-applications"}
    # The policy about classes refuses a ghost, too, and the API server names one of the two: it comes last.
    variant("watchNamespaces={default}", templates=("testbed", "batchjob", "orders", "pods"))
    for name, policy in elsewhere.items():
        wait(f"{name} to be refused", lambda name=name, policy=policy: refused_by(
            ask(plane, ALLOWED[name])) == f"esi-{policy}")
    variant("watchNamespaces={default}", templates=("priority-classes",))
    wait("a job pod at the gate to be refused", lambda: refused_by(
        ask(plane, ALLOWED["a job pod at the gate"])) == "esi-priority-classes")
    message = ask(plane, ALLOWED["a SparkApplication"])[1]
    assert "makes applications only in the namespaces that it works on" in message
    message = ask(plane, ALLOWED["a job pod at the gate"])[1]
    assert "are for the namespaces that it works on (watchNamespaces)" in message
    for name in ("an order", "a pod with a slot", "the token of a hold"):
        wait(f"{name} to be taken", lambda name=name: ask(plane, FORBIDDEN[name][1])[0] in (200, 201))
    # Another installation of ESI uses these classes there.
    variant("watchNamespaces={default}", "priorityClasses.alsoIn={lab}", templates=("priority-classes",))
    wait("the class to be taken", lambda: ask(plane, ALLOWED["a job pod at the gate"])[0] == 201)


def test_ghosts_can_be_kept_to_namespaces_with_a_label(plane, variant):
    variant("policies.ghostNamespaces=Labelled", templates=("testbed",))
    wait("a ghost to be refused", lambda: refused_by(ask(plane, ALLOWED["a ghost"])) == "esi-testbed-pods")
    assert "namespaces with the label esi.tu-berlin.de/testbeds=enabled" in ask(plane, ALLOWED["a ghost"])[1]
    _, request = FORBIDDEN["a ghost in a namespace of Kubernetes itself"]
    for namespace, wanted in (("lab", ALLOWED["a ghost"]), ("kube-system", request)):
        plane.kubectl("label", "namespace", namespace, "esi.tu-berlin.de/testbeds=enabled")
        try:
            wait(f"a ghost in {namespace} to be taken", lambda wanted=wanted: ask(plane, wanted)[0] == 201)
        finally:
            plane.kubectl("label", "namespace", namespace, "esi.tu-berlin.de/testbeds-")


def test_without_debug_and_extender_less_is_allowed(plane, variant):
    variant(templates=("nodes", "priority-classes"))
    for name, policy, words in (
            ("a number of a node", "testbed-nodes", "writes no metadata of a node without debugEndpoints.enabled"),
            ("a job pod of the second scheduler", "priority-classes", "the extender path, which is off")):
        wait(f"{name} to be refused", lambda name=name, policy=policy: refused_by(
            ask(plane, ALLOWED[name])) == f"esi-{policy}")
        assert words in ask(plane, ALLOWED[name])[1]
    assert ask(plane, ALLOWED["the taint"])[0] == 200


def test_refusals_are_in_the_audit_log_by_name(plane):
    """By what the suite finds, at its end, that none of its operators was refused anything."""
    ask(plane, FORBIDDEN["a cordon"][1])
    log = audit.AuditLog(plane.audit_log)
    found = [each for each in log.read() if each.operator == T and each.name == "node-0" and each.policies]
    log.close()
    assert found and {policy for each in found for policy in each.policies} == {"esi-testbed-nodes"}
