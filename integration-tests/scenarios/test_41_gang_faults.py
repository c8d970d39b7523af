"""Faults that gang schedulers have had, one test for each, named after it: none of them may come back.

Where a fault was told of is in each test's first line (issues by repository and number). The rest of what is judged is
in every test: the recording, by gang_judge.py.
"""
import re
import time

import pytest

import objects
from api import ApiException
from gang_judge import NODE
from gang_scene import ON_PARTIAL, member, stateful_set
from operators import Operator
from patience import wait

SHOWN = objects.PREFIX + "nomination-shown"
HIGH = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gangs-high}
value: 1000
preemptionPolicy: Never
"""


def whole(corner, *groups, count):
    """The first of these groups that has so many pods on nodes."""
    return corner.wait(f"one of {groups} to run", lambda: next(
        (each for each in groups if len(corner.bound(each)) == count), None))


# --- who waits for whom

def test_deadlock_of_two_half_placed_gangs(corner):
    """scheduler-plugins#114, #117, koordinator#872, kube-batch#514: each held half of the room and waited for the rest."""
    corner.nodes(3, cpu="2")
    corner.group("left", 4, "tenstack")
    corner.group("right", 4, "coscheduling")
    for number in range(4):  # in turn, so that a scheduler that takes pod by pod has both half placed
        corner.make(member(f"left-{number}", "left", "tenstack"), member(f"right-{number}", "right"))
    first = whole(corner, "left", "right", count=4)
    second = "right" if first == "left" else "left"
    corner.wait_told(second, "NoRoom", "2 of 4 members fit")
    corner.none_bound(second)
    for number in range(4):
        corner.delete_pod(f"{first}-{number}")
    corner.wait_bound(second, 4)
    assert corner.starts() == [first, second]


def test_one_large_group_that_blocks_small_ones(corner):
    """kube-batch#492, #561: a group that did not fit kept what it had found, and nobody behind it started."""
    corner.nodes(2, cpu="4")
    corner.pod("busy", cpu="2")
    corner.wait_bound("busy", 1)
    corner.gang("large", 8)
    corner.wait_told("large", "NoRoom", "6 of 8 members fit")
    for number in range(3):
        corner.gang(f"small-{number}", 2)
    corner.wait_bound("small", 6)
    corner.none_bound("large")
    for number in range(3):
        for each in range(2):
            corner.delete_pod(f"small-{number}-{each}")
    corner.delete_pod("busy")
    corner.wait_bound("large", 8)
    assert corner.starts()[-1] == "large"


def test_a_small_stream_that_starves_a_large_group(corner, switched):
    """The other side of the same: small groups that keep coming, and a large one that is always a little too large."""
    corner.may_restart = True
    switched.restart("--gang-reserve-after=2s")
    corner.nodes(2, cpu="2")
    stream = []

    def small():
        name = f"small-{len(stream)}"
        stream.append(name)
        corner.gang(name, 2, seconds=1 + len(stream) % 2)  # seldom do two of them end together
    for _ in range(5):
        small()
    corner.wait_bound("small", 4)
    corner.gang("large", 4, "tenstack")

    def flow():
        waiting = [name for name, pod in corner.pods("small").items() if not pod["spec"].get("nodeName")]
        if len(waiting) < 6 and len(stream) < 200:
            small()
    corner.meanwhile = flow
    corner.wait_bound("large", 4, timeout=60)
    corner.meanwhile = lambda: None
    starts = corner.starts()
    assert "large" in starts
    assert len(starts) - 1 < len(stream), "no small group waited while the large one started"


def test_freed_room_not_seen(corner):
    """tenstack's deny cache: a group that was refused once was not looked at for 20 seconds, whatever became free."""
    corner.nodes(1, cpu="2")
    corner.pod("busy", cpu="1")
    corner.wait_bound("busy", 1)
    corner.gang("train", 2)
    corner.wait_told("train", "NoRoom", "1 of 2 members fit")
    begin = time.monotonic()
    corner.delete_pod("busy")
    corner.wait_bound("train", 2)
    assert time.monotonic() - begin < 10


def test_a_recreated_member_rejects_its_group(corner):
    """tenstack: the callback of an eviction fired when one pod was made anew, and the whole group was refused."""
    corner.nodes(3, cpu="1")
    corner.group("web", 3, "tenstack")
    corner.make(stateful_set("web", "web", 3, "tenstack"))
    corner.wait_bound("web", 3)
    before = {name: pod["metadata"]["uid"] for name, pod in corner.pods("web").items()}
    node = corner.pods("web")["web-1"]["spec"]["nodeName"]

    def made_again(bound):
        pod = corner.pods("web").get("web-1")
        return pod and pod["metadata"]["uid"] != before["web-1"] and (pod["spec"].get("nodeName") or not bound)
    corner.delete_pod("web-1")
    corner.wait("web-1 to be back", lambda: made_again(True))

    # A group that waits for the same room comes after a member that is made again.
    before["web-1"] = corner.pods("web")["web-1"]["metadata"]["uid"]
    corner.api.patch("Node", None, node, {"spec": {"unschedulable": True}})
    corner.delete_pod("web-1")
    corner.wait("web-1 to be made again", lambda: made_again(False))
    corner.gang("other", 1)
    corner.wait_told("other", "NoRoom")
    corner.api.patch("Node", None, node, {"spec": {"unschedulable": None}})
    corner.wait("web-1 to be back", lambda: made_again(True))
    after = {name: pod["metadata"]["uid"] for name, pod in corner.pods("web").items()}
    assert (after["web-0"], after["web-2"]) == (before["web-0"], before["web-2"])
    corner.none_bound("other")


# --- what counts as room

def test_fragmentation_counted_as_room(corner):
    """tenstack compared with the sum of the cluster: 4.5 CPUs are room for four pods of one, three nodes of 1.5 are not."""
    corner.nodes(3, cpu="1500m")
    corner.gang("train", 4)
    note = corner.wait_told("train", "NeverFits", "3 of 4 members fit")
    assert re.search(r"most cpu left on one node: 500m", note), note
    corner.none_bound("train")
    corner.nodes(1, cpu="1", prefix="more")
    corner.wait_bound("train", 4)


def test_taints_and_affinity_ignored(corner):
    """cosmin's and tenstack's sums knew neither: pods were let in that no node would take."""
    [_, tainted] = corner.nodes(2, cpu="1")
    corner.api.patch("Node", None, tainted, {"spec": {"taints": [
        {"key": "lab/only", "value": "mine", "effect": "NoSchedule"}]}})
    disk = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "lab/disk", "operator": "In", "values": ["ssd"]}]}]}}}
    corner.gang("plain", 2)
    corner.gang("picky", 1, affinity=disk)
    note = corner.wait_told("plain", "NeverFits", "1 of 2 members fit")
    assert "untolerated taint" in note, note
    note = corner.wait_told("picky", "NeverFits", "0 of 1 members fit")
    assert "node affinity/selector" in note, note
    corner.none_bound("")
    for number in range(2):
        corner.delete_pod(f"plain-{number}")
    corner.gang("tolerant", 2, tolerations=[{"key": "lab/only", "operator": "Exists"}])
    corner.wait_bound("tolerant", 2)
    corner.nodes(1, cpu="1", prefix="ssd")
    corner.api.patch("Node", None, f"{corner.namespace}-ssd-0", {"metadata": {"labels": {"lab/disk": "ssd"}}})
    corner.wait_bound("picky", 1)


# --- what goes wrong on the way

BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
LOST_BIND = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: lost-bind}}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {namespace}}}}}
    resourceRules:
    - {{apiGroups: [""], apiVersions: [v1], resources: [pods/binding], operations: [CREATE]}}
  validations:
  - {{expression: "object.metadata.name != 'train-1'", message: this bind is lost}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: lost-bind}}
spec: {{policyName: lost-bind, validationActions: [Deny]}}
"""


def is_nominated_after_a_failure(status, place):
    failed = any(each["type"] == "PodScheduled" and each["status"] == "False" for each in status.get("conditions", []))
    return failed and status.get("nominatedNodeName") == place


def test_partial_gang_after_a_lost_bind(corner, switched):
    """kube-batch bound each pod in a goroutine of its own, scheduler-plugins#930: one bind failed, and the gang was
    partial for ever. kube-scheduler forgets the nomination of a pod whose bind has failed and tries again after a
    pause; the nomination is set again, so that no stranger takes the place in between."""
    kubectl = switched.plane.kubectl
    corner.nodes(3, cpu="1")
    policy = LOST_BIND.format(namespace=corner.namespace)
    kubectl("apply", "--filename", "-", stdin=policy)
    try:
        def refused():
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "train-1"},
                       "target": {"apiVersion": "v1", "kind": "Node", "name": f"{corner.namespace}-0"}}
            try:
                corner.api.call("POST", f"/api/v1/namespaces/{corner.namespace}/pods/train-1/binding", binding,
                                query={"dryRun": "All"})
            except ApiException as error:
                return b"this bind is lost" in error.body
            return False
        corner.make(objects.pod("train-1", schedulingGates=[{"name": "esi-test/probe"}]))
        corner.wait("the API server to refuse the bind", refused)
        corner.delete_pod("train-1")
        corner.wait("the probe to be gone", lambda: not corner.pods())
        corner.group("train", 2)
        corner.make(stateful_set("train", "train", 2))
        corner.wait_bound("train-0", 1)
        corner.wait("kube-scheduler to have tried the bind", lambda: corner.events("train-1", "FailedScheduling"))
        member = corner.pods("train-1")["train-1"]["metadata"]
        place = member["annotations"][NODE]
        corner.allowed.append(("stays-partial", "train"))
        # kube-scheduler writes that it failed and takes the nomination away in one request, after its Event.
        corner.wait("the nomination to be set again", lambda: is_nominated_after_a_failure(
            corner.pods("train-1")["train-1"]["status"], place))
        corner.pod("stranger", nodeSelector={"kubernetes.io/hostname": place})
        corner.wait("the stranger to be refused", lambda: corner.events("stranger", "FailedScheduling"))
        # By one request: with each bind that is lost the stranger has a moment to take the place.
        corner.api.call("DELETE", f"{BINDINGS}/lost-bind")
    finally:
        kubectl("delete", "--ignore-not-found", "--filename", "-", stdin=policy)
    corner.wait_bound("train", 2)
    assert corner.pods("train-1")["train-1"]["metadata"]["uid"] == member["uid"]
    assert not corner.bound("stranger")


#: Where esi-testbed is killed: what the request is, how many of them go before, before or after it is done.
MOMENTS = {
    "after the first nomination": (r"/pods/[^/]+/status", r'"nominatedNodeName":\s*"', 0, False),
    "before the last nomination": (r"/pods/[^/]+/status", r'"nominatedNodeName":\s*"', 2, True),
    "before anybody is let in": (r"/pods/[^/?]+(\?|$)", "gang-node", 0, True),
    "after the first was let in": (r"/pods/[^/?]+(\?|$)", "gang-node", 0, False),
    "before the last is let in": (r"/pods/[^/?]+(\?|$)", "gang-node", 2, True),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_operator_restarted_in_the_middle(corner, switched, moment):
    """kube-batch kept what it had allocated in memory: a restart forgot it, with half of a gang bound."""
    corner.may_restart = True
    target, words, passing, before = MOMENTS[moment]
    seen = []

    def met(request):
        if f"/{corner.namespace}/" in request.target and request.method == "PATCH" and \
                re.search(target, request.target) and re.search(words, request.body):
            seen.append(request)
            return len(seen) > passing
        return False
    point = switched.proxy.break_at(met, switched.testbed.kill, before)
    corner.nodes(3, cpu="1")
    corner.gang("train", 3)
    corner.gang("other", 3, "tenstack")  # wants the same room
    corner.wait("esi-testbed to be killed", point.hit.is_set)
    if "nomination" not in moment:  # all have their nominations, which keep the room while nobody leads
        corner.pod("stranger")
    switched.revive()
    first = whole(corner, "train", "other", count=3)
    corner.none_bound("other" if first == "train" else "train")
    assert corner.bound("stranger") == []


@pytest.fixture
def reserved(corner, switched):
    """A group that waits for a full node, and has the room that will be free there; a stranger waits for it too."""
    corner.may_restart = True
    switched.restart("--gang-reserve-after=1s", "--gang-reserve-for=60s")
    corner.nodes(1, cpu="2")
    corner.pod("busy", cpu="2")
    corner.wait_bound("busy", 1)
    corner.gang("train", 2)
    corner.wait_nominated("train", 2)
    corner.wait_told("train", "ReservationBegun")
    for number in range(3):
        corner.pod(f"stranger-{number}")
    return corner


def shown(corner):
    return {name: (pod["metadata"].get("annotations") or {}).get(SHOWN) for name, pod in corner.pods("train").items()}


def test_kube_scheduler_restarted_while_a_group_is_reserved(reserved, switched):
    """A scheduler that has started anew knows of no nomination of a gated pod until the pod changes."""
    before = shown(reserved)
    switched.kill_scheduler()
    switched.start_scheduler()
    reserved.wait("both members to be shown to the new scheduler", lambda: all(
        value and value != before[name] for name, value in shown(reserved).items()))
    reserved.delete_pod("busy")
    reserved.wait_bound("train", 2)
    assert reserved.bound("stranger") == []


def test_group_deleted_while_reserved(reserved):
    """yunikorn-core#556, koordinator#1741, k8s-spark-scheduler#27: what was reserved outlived those that it was for."""
    reserved.delete_group("train")
    reserved.wait("nothing to be nominated", lambda: reserved.nominated() == {})
    reserved.delete_pod("busy")
    reserved.wait_bound("stranger", 2)
    reserved.none_bound("train")


def test_a_reservation_that_ends(corner, switched):
    """Room is not kept for ever for a group that waits for a pod that never ends."""
    corner.may_restart = True
    switched.restart("--gang-reserve-after=1s", "--gang-reserve-for=2s")
    corner.nodes(1, cpu="2")
    corner.pod("busy", cpu="1")
    corner.wait_bound("busy", 1)
    corner.gang("train", 2)
    corner.wait_nominated("train", 2)
    corner.wait("the reservation to end", lambda: corner.nominated() == {})
    corner.pod("stranger")
    corner.wait_bound("stranger", 1)


SECOND_LEASE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: lease, namespace: second-leader}
rules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: lease, namespace: second-leader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: lease}
subjects: [{kind: ServiceAccount, name: esi-testbed, namespace: esi-system}]
"""


@pytest.fixture
def second_leader(switched):
    """A second esi-testbed with a lease of its own, in a namespace that the policies do not have it in."""
    plane = switched.plane

    def lease_policy(*actions):
        plane.api.call("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/"
                       "esi-operator-leases", {"spec": {"validationActions": actions}},
                       content_type="application/merge-patch+json")
    plane.api.create("Namespace", None, {"metadata": {"name": "second-leader"}})
    plane.kubectl("apply", "--filename", "-", stdin=SECOND_LEASE)
    lease_policy("Audit")
    second = Operator("testbed", switched.operators.kubeconfigs["testbed"], switched.operators.folder, replica=2,
                      flags=switched.flags, lease_namespace="second-leader")
    try:
        second.start()
        wait("the second one to lead", lambda: (plane.api.get("Lease", "second-leader", "esi-testbed") or {}).get(
            "spec", {}).get("holderIdentity"), told=second.tail)
        yield second.ready()
        assert second.stop() == 0
    finally:
        second.kill()
        lease_policy("Deny", "Audit")
        plane.api.delete("Namespace", None, "second-leader")


def test_two_leaders_throughout(corner, switched, second_leader):
    """Both believe that they lead from the beginning to the end: each write is guarded, and no gang is let in twice."""
    labs = corner.corners(4, ("3", "2"))
    for lab in labs:
        for name in ("one", "two", "three"):
            lab.gang(name, 3)
    for lab in labs:
        for _ in range(3):
            first = whole(lab, "one", "two", "three", count=3)
            for number in range(3):
                lab.delete_pod(f"{first}-{number}")
            lab.wait(f"{first} to be gone", lambda lab=lab, first=first: not lab.pods(first))
    for lab in labs:
        assert sorted(lab.starts()) == ["one", "three", "two"]
    for operator in (switched.testbed, second_leader):
        held = corner.api.get("Lease", operator.lease_namespace, "esi-testbed")["spec"]["holderIdentity"]
        assert held.startswith(f"esi-{operator.label}_"), held


def test_a_place_that_a_higher_priority_took(corner, switched):
    """After the look a pod of higher priority may take the place of a member, as it may take any: the member is made
    again elsewhere where its controller makes pods, and what is left is told or deleted where not."""
    switched.plane.kubectl("apply", "--filename", "-", stdin=HIGH)
    labs = {name: corner.corner(name) for name in ("again", "keep", "delete")}
    # Also what is deleted in the end: an attempt lasts ten seconds at least.
    corner.allowed += [("stays-partial", f"-{name}") for name in ("again/web", "keep/train", "delete/train")]
    for lab in labs.values():
        corner.made_nodes += corner.plane.add_nodes(lab.namespace, 2, cpu="1", labels=f"corner={lab.namespace}")
    switched.plane.stop("kube-scheduler", "STOP")
    try:
        for lab in labs.values():
            lab.pod("high", priorityClassName="gangs-high",
                    nodeSelector={"kubernetes.io/hostname": f"{lab.namespace}-0"})
        labs["again"].group("web", 2)
        labs["again"].make(stateful_set("web", "web", 2))
        for name, choice in (("keep", None), ("delete", "Delete")):
            labs[name].gang("train", 2, notes={ON_PARTIAL: choice} if choice else None,
                            spec={"scheduleTimeoutSeconds": 2})
        for lab in labs.values():
            lab.wait("both members to be let in", lambda lab=lab: 2 == len([
                pod for pod in lab.pods().values() if NODE in (pod["metadata"].get("annotations") or {})]))
    finally:
        switched.plane.stop("kube-scheduler", "CONT")
    for lab in labs.values():
        lab.wait_bound("high", 1)
    labs["keep"].wait("phase Unknown", lambda: labs["keep"].group_status("train").get("phase") == "Unknown")
    labs["keep"].wait_told("train", "PartialStart", "1 of 2 members are bound")
    labs["delete"].wait("the members to be deleted", lambda: not labs["delete"].pods("train"))
    again = labs["again"]
    corner.made_nodes += corner.plane.add_nodes(f"{again.namespace}-more", 1, cpu="1", labels=f"corner={again.namespace}")
    again.wait_bound("web", 2)
    assert len(labs["keep"].bound("train")) == 1


def test_suspended_while_reserved(reserved):
    """A group that is suspended gives back what is reserved for it."""
    reserved.note("train", suspend="true")
    reserved.wait("nothing to be nominated", lambda: reserved.nominated() == {})
    reserved.delete_pod("busy")
    reserved.wait_bound("stranger", 2)
    reserved.none_bound("train")


def test_namespace_switched_off_while_a_group_is_reserved(reserved):
    """What is reserved is given back; the members wait at their gate."""
    reserved.api.patch("Namespace", None, reserved.namespace, {"metadata": {"labels": {objects.PREFIX + "gangs": None}}})
    reserved.wait("nothing to be nominated", lambda: reserved.nominated() == {})
    reserved.delete_pod("busy")
    reserved.wait_bound("stranger", 2)
    reserved.none_bound("train")
    reserved.wait_told("train", "NotEnabled")
