"""Gangs of pods: all or none, on an unmodified kube-scheduler, with the manifests of the projects that people come from.

    ESI_RACES=50 integration-tests/scenarios/run.sh test_40_gangs.py -k race_of_many

runs tenstack's race fifty times side by side; the default is a few.
"""
import os
import re

import pytest
import requests

import objects
from api import ApiException
from gang_judge import GATE, NODE
from gang_scene import SUSPEND, WAYS, group, member, squeezed, stateful_set
from patience import later_than

RACES = int(os.environ.get("ESI_RACES") or 6)
RACERS = {"group1": "web-group-race1", "group2": "web-group-race2"}
TENSTACK = WAYS["tenstack"][0]


def statuses(corner, name, way, **wanted):
    """Waits until the group's status has these values."""
    return corner.wait(f"status {wanted} of {name}", lambda: wanted.items() <= corner.group_status(name, way).items()
                       and corner.group_status(name, way))


# --- the examples, as they are

def test_tenstacks_race_as_people_see_it(corner, switched):
    corner.nodes(1, cpu="5", prefix="a")
    corner.nodes(1, cpu="3", prefix="b")
    corner.pod("system", cpu="900m")  # the README's cluster: 8 CPUs, of which 0.9 are taken
    corner.wait_bound("system", 1)
    corner.example("tenstack-race.yaml", group1=5, group2=5)
    first = corner.wait("one group to run", lambda: next(
        (each for each, pods in RACERS.items() if len(corner.bound(pods)) == 5), None))
    second = "group2" if first == "group1" else "group1"
    corner.wait_told(second, "NoRoom", "2 of 5 members fit")
    corner.none_bound(RACERS[second])
    kubectl = switched.plane.kubectl
    listed = squeezed(kubectl("get", "pods", "-n", corner.namespace, "--no-headers"))
    assert listed.count("1/1 Running") == 6 and listed.count("0/1 SchedulingGated") == 5, listed

    statuses(corner, first, "tenstack", phase="Running", running=5, scheduled=5)
    statuses(corner, second, "tenstack", phase="PreScheduling")
    assert not corner.group_status(second, "tenstack").get("running")
    described = squeezed(kubectl("describe", "podgroups.batch.scheduler.tencent.com", second, "-n", corner.namespace))
    assert "Phase: PreScheduling" in described, described
    assert "Warning NoRoom" in described and "2 of 5 members fit" in described, described
    assert "2 Insufficient cpu" in described, described
    explained = requests.get(f"{switched.testbed.url}/debug/gangs", timeout=30).text
    assert re.search(rf"{corner.namespace}/{second} \(tenstack\): Waiting since .*; NoRoom: 2 of 5 members fit", explained)

    told = squeezed(kubectl("get", "events", "-n", corner.namespace, "--field-selector", "reason=NoRoom"))
    assert f"podgroup/{second}" in told, told

    corner.delete("apps/v1", "StatefulSet", RACERS[first])
    corner.delete_group(first, "tenstack")
    corner.wait_bound(RACERS[second], 5)
    statuses(corner, second, "tenstack", phase="Running", running=5)
    assert corner.starts() == [first, second]


def test_tenstacks_race_of_many(corner):
    """Each on 8 CPUs of its own, all at once; which group is first is open, that it is one is not."""
    races = corner.corners(RACES, ("5", "3"))
    for race in races:
        for name in RACERS:
            race.needs(name, 5)
    for race in races:
        race.make(*race.example_objects("tenstack-race.yaml"))

    def winner(race):
        return next((each for each, pods in RACERS.items() if len(race.bound(pods)) == 5), None)
    first = {race: race.wait("one group to run", lambda race=race: winner(race)) for race in races}
    for race in races:
        second = "group2" if first[race] == "group1" else "group1"
        race.wait_told(second, "NoRoom", "3 of 5 members fit")
        race.none_bound(RACERS[second])
        race.delete("apps/v1", "StatefulSet", RACERS[first[race]])
    for race in races:
        second = "group2" if first[race] == "group1" else "group1"
        race.wait_bound(RACERS[second], 5)
        assert race.starts() == [first[race], second]
    spread = sorted(start.seconds for start in corner.gangs.starts if start.namespace.startswith(f"{corner.namespace}-"))
    print(f"\n{len(races)} races, {len(spread)} starts; from the first member bound to the last: "
          f"median {spread[len(spread) // 2]:.3f} s, longest {spread[-1]:.3f} s")


def test_kube_batchs_tutorial_job(corner, switched):
    """Six pods of 1 CPU, minMember 6: on 5 CPUs none starts, and it says why; one CPU more, and all do."""
    corner.nodes(2, cpu="2")
    corner.nodes(1, cpu="1", prefix="small")
    corner.example("kube-batch-job.yaml", qj_1=6)
    corner.wait_gated("qj-1", 6)
    corner.wait_told("qj-1", "NeverFits", "5 of 6 members fit")
    status = statuses(corner, "qj-1", "kube-batch", phase="Pending")
    [condition] = status["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == \
        ("Unschedulable", "True", "NotEnoughResources"), condition
    assert "5 of 6 members fit" in condition["message"]
    corner.none_bound("qj-1")

    corner.nodes(1, cpu="1", prefix="more")
    corner.wait_bound("qj-1", 6)
    done = corner.wait("the Job to be complete", lambda: corner.api.call(
        "GET", f"/apis/batch/v1/namespaces/{corner.namespace}/jobs/qj-1")["status"].get("succeeded") == 6)
    assert done
    statuses(corner, "qj-1", "kube-batch", succeeded=6)
    assert all(pod["spec"]["schedulerName"] == "default-scheduler" for pod in corner.pods("qj-1").values())


def test_coschedulings_tutorial(corner, switched):
    """Room for three of six pods: with minMember 3 three run, with minMember 4 none."""
    corner.nodes(3, cpu="3")
    corner.example("coscheduling-nginx.yaml", nginx=3)
    corner.wait_bound("nginx", 3)
    statuses(corner, "nginx", "coscheduling", phase="Running", running=3)
    listed = switched.plane.kubectl("get", "podgroups.scheduling.x-k8s.io", "-n", corner.namespace)
    assert squeezed(listed.splitlines()[1]).startswith("nginx Running 3 3 "), listed

    four = corner.corner("four")
    four.plane.add_nodes(f"{four.namespace}", 3, cpu="3", labels=f"corner={four.namespace}")
    corner.made_nodes += [f"{four.namespace}-{number}" for number in range(3)]
    bodies = four.example_objects("coscheduling-nginx.yaml")
    bodies[0]["spec"]["minMember"] = 4
    four.needs("nginx", 4)
    four.make(*bodies)
    four.wait_told("nginx", "NeverFits", "3 of 4 members fit")
    four.none_bound("nginx")
    assert len(corner.bound("nginx")) == 3


def test_annotations_alone(corner):
    corner.nodes(1, cpu="3")
    corner.example("annotation-alone.yaml", four_together=4)
    corner.wait_gated("four-together", 4)
    first = corner.wait("an Event about a pod of the group", lambda: next(
        (name for name in corner.pods("four-together") if corner.events(name, "NeverFits")), None))
    [(kind, _, note)] = corner.events(first, "NeverFits")
    assert kind == "Warning" and "3 of 4 members fit" in note
    corner.none_bound("four-together")
    corner.nodes(1, cpu="1", prefix="more")
    corner.wait_bound("four-together", 4)


# --- who waits, and for what

def test_a_suspended_group_waits_until_it_is_let_go(corner):
    corner.nodes(1, cpu="4")
    corner.gang("train", 2, notes={SUSPEND: "true"})
    corner.needs("alone", 2)
    corner.make(*(member(f"alone-{number}", "alone", "kube-batch", notes={
        "scheduling.k8s.io/group-min-member": "2", **({SUSPEND: "true"} if number else {})}) for number in range(2)))
    corner.wait_told("train", "Suspended")
    corner.wait("an Event about a member", lambda: any(corner.events(f"alone-{number}", "Suspended") for number in (0, 1)))
    corner.none_bound("")
    corner.note("train", suspend=None)
    corner.wait_bound("train", 2)
    assert corner.bound("alone") == []
    corner.api.patch("Pod", corner.namespace, "alone-1", {"metadata": {"annotations": {SUSPEND: None}}})
    corner.wait_bound("alone", 2)


def test_members_beyond_the_minimum_come_when_nobody_waits(corner):
    """Room for four: both groups of two start before anybody gets a third member."""
    corner.gang("wide", 4, minimum=2, notes={SUSPEND: "true"})
    corner.gang("small", 2, way="tenstack", notes={SUSPEND: "true"})
    corner.nodes(1, cpu="3")
    corner.note("wide", suspend=None)
    corner.wait_bound("wide", 3)  # the third is beyond the minimum, and nobody waits
    corner.note("small", "tenstack", suspend=None)
    corner.wait_told("small", "NoRoom", "0 of 2 members fit")
    corner.nodes(1, cpu="1", prefix="b")
    corner.nodes(1, cpu="1", prefix="c")
    corner.wait_bound("small", 2)
    assert len(corner.bound("wide")) == 3
    corner.nodes(1, cpu="1", prefix="d")
    corner.wait_bound("wide", 4)


def test_the_order_is_priority_then_age(corner, switched):
    """Three groups wait for one place; the last one has the highest class."""
    switched.plane.kubectl("apply", "--filename", "-", stdin="""
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gangs-high}
value: 1000
preemptionPolicy: Never
""")
    for name in ("first", "second"):
        made = corner.gang(name, 2)
        corner.wait_told(name, "NeverFits")
        later_than(*made)
    corner.gang("urgent", 2, priorityClassName="gangs-high")
    corner.wait_told("urgent", "NeverFits")
    corner.nodes(1, cpu="2")
    for name in ("urgent", "first", "second"):
        corner.wait_bound(name, 2)
        for number in range(2):
            corner.delete_pod(f"{name}-{number}")
    assert corner.starts() == ["urgent", "first", "second"]


def test_a_stateful_set_that_makes_its_pods_one_by_one_is_told(corner):
    """By the condition at once; an Event comes after 30 seconds, as any controller needs a moment for its pods."""
    corner.nodes(1, cpu="3")
    corner.group("web", 3, "kube-batch")
    corner.make(stateful_set("web", "web", 3, "kube-batch", policy="OrderedReady"))

    def told():
        return [each for each in corner.group_status("web", "kube-batch").get("conditions") or []
                if each["reason"] == "NotEnoughTasks"]
    [condition] = corner.wait("the condition NotEnoughTasks", told)
    assert "1 of 3 members are there" in condition["message"], condition
    assert "StatefulSet web makes its next pod only when the one before is ready" in condition["message"], condition
    assert "podManagementPolicy is Parallel" in condition["message"], condition
    corner.none_bound("web")


VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {name}}}
spec:
  capacity: {{storage: 1Gi}}
  accessModes: [ReadWriteMany]
  storageClassName: ""
  csi: {{driver: lab.esi, volumeHandle: {name}}}
  claimRef: {{namespace: {namespace}, name: data}}
  nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [
    {{key: kubernetes.io/hostname, operator: In, values: [{node}]}}]}}]}}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: {namespace}}}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: ""
  volumeName: {name}
  resources: {{requests: {{storage: 1Gi}}}}
"""


def test_members_go_where_their_volume_is_and_wait_for_what_is_not_planned(corner, switched):
    """The volume is on the second node, which has room for two; a claim that no volume has is not planned."""
    [_, there] = corner.nodes(2, cpu="2")
    volume = VOLUME.format(name=corner.namespace, namespace=corner.namespace, node=there)
    mounts = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    switched.plane.kubectl("apply", "--filename", "-", stdin=volume)
    try:
        corner.wait("the claim to be bound", lambda: corner.api.call(
            "GET", f"/api/v1/namespaces/{corner.namespace}/persistentvolumeclaims/data")["status"]["phase"] == "Bound")
        corner.gang("train", 2, **mounts)
        corner.wait_bound("train", 2)
        assert {pod["spec"]["nodeName"] for pod in corner.pods("train").values()} == {there}
        corner.gang("own", 1, resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
        corner.wait_told("own", "ConstraintNotPlanned")
        corner.none_bound("own")
    finally:
        for number in range(2):
            corner.delete_pod(f"train-{number}")
        switched.plane.kubectl("delete", "--filename", "-", "--wait=false", stdin=volume)


# --- what is not a member

def test_pods_from_before_the_label_are_told_and_not_started(corner):
    """A pod without the gate is not ESI's to start: the scheduler may bind it at any moment."""
    before = corner.corner("before", enabled=False)
    before.needs("train", 2)
    before.make(group("train", 2), *(member(f"train-{number}", "train") for number in range(2)))
    corner.api.patch("Namespace", None, before.namespace, {"metadata": {"labels": {objects.PREFIX + "gangs": "enabled"}}})
    before.wait_told("train", "NotGated", "pod train-0 is one of them")
    assert before.nominated() == {}


def test_a_namespace_that_is_not_switched_on_is_as_ever(corner):
    plain = corner.corner("plain", enabled=False)
    corner.made_nodes += corner.plane.add_nodes(plain.namespace, 1, cpu="2", labels=f"corner={plain.namespace}")
    plain.needs("train", 9)
    corner.allowed.append(("not-gated", f"{plain.namespace}/"))
    plain.make(group("train", 9), *(member(f"train-{number}", "train") for number in range(2)))
    plain.wait_bound("train", 2)  # each by itself, as the cluster's scheduler does without gangs
    plain.make(member("gated", "train", schedulingGates=[{"name": GATE}]))
    plain.wait("an Event NotEnabled", lambda: plain.events(None, "NotEnabled"))
    assert plain.bound("gated") == [] and plain.nominated() == {}
    assert not plain.group_status("train").get("phase")


# --- people who mean no good

#: minMember of a group -> (way, reason that is told, words of it).
MINIMUMS = {
    "huge": ("coscheduling", 2**31 - 1, "TooManyMembers", "2147483647"),
    "negative": ("coscheduling", -1, "MinMemberInvalid", "-1"),
    "zero": ("kube-batch", 0, "MinMemberInvalid", "0"),
    "word": ("tenstack", "five", "MinMemberInvalid", "no whole number"),
    "beyond": ("tenstack", 2**63 - 1, "TooManyMembers", "9223372036854775807"),
    "fraction": ("tenstack", 1.5, "MinMemberInvalid", "no whole number"),
    "list": ("tenstack", [1], "MinMemberInvalid", "no whole number"),
}


def test_minimums_that_are_none_start_nobody_and_stop_nobody(corner):
    corner.nodes(1, cpu="4")
    for name, (way, minimum, _, _) in MINIMUMS.items():
        corner.gang(name, 2, way, minimum=minimum, cpu="100m", needs=None)
    corner.gang("honest", 2)
    corner.wait_bound("honest", 2)
    for name, (_, _, reason, words) in MINIMUMS.items():
        corner.wait_told(name, reason, words)
    assert corner.bound() == ["honest-0", "honest-1"]


def one_later_is_all_that_starts(corner):
    """esi-testbed has looked at all that was there before."""
    corner.gang("later", 1)
    corner.wait_bound("later", 1)
    assert corner.bound() == ["later-0"], corner.report()


def test_a_pod_that_names_several_groups_is_a_member_of_one(corner):
    """It cannot be counted for two groups, and so let two half gangs in."""
    corner.nodes(1, cpu="4")
    everywhere = member("everywhere", "one", "tenstack")
    everywhere["metadata"]["labels"][WAYS["coscheduling"][2]] = "two"
    everywhere["metadata"]["annotations"] = {WAYS["kube-batch"][2]: "three"}
    for name, way in (("one", "tenstack"), ("two", "coscheduling"), ("three", "kube-batch")):
        corner.group(name, 2, way)
    corner.make(everywhere, member("two-0", "two"), member("three-0", "three", "kube-batch"))
    corner.wait_told("everywhere", "NamesSeveralGroups", "it counts for")
    one_later_is_all_that_starts(corner)
    corner.make(member("one-0", "one", "tenstack"))
    corner.wait("group one to be whole", lambda: corner.bound() == ["everywhere", "later-0", "one-0"])


def test_nobody_lets_himself_in_by_writing_the_mark(corner):
    corner.nodes(1, cpu="4")
    corner.gang("train", 1, minimum=2)
    forged = member("forged", "train", notes={NODE: f"{corner.namespace}-0"})
    for write in (lambda: corner.make(forged),
                  lambda: corner.api.patch("Pod", corner.namespace, "train-0", {"metadata": {"annotations": {
                      NODE: f"{corner.namespace}-0"}}})):
        with pytest.raises(ApiException) as refused:
            write()
        assert refused.value.status == 403 and b"are written only by" in refused.value.body, refused.value.body
    one_later_is_all_that_starts(corner)


def test_a_status_that_another_controller_writes_is_left_to_it(corner):
    """The pods are started all the same."""
    corner.nodes(1, cpu="2")
    corner.gang("train", 3)
    url = f"/apis/{WAYS['coscheduling'][0]}/namespaces/{corner.namespace}/podgroups/train/status"

    def overwrite():
        if corner.group_status("train").get("phase") != "Theirs":
            corner.api.call("PATCH", url, {"status": {"phase": "Theirs"}}, content_type="application/merge-patch+json")
    corner.meanwhile = overwrite
    corner.wait_told("train", "ForeignController")
    corner.nodes(1, cpu="1", prefix="more")
    corner.wait_bound("train", 3)
    corner.meanwhile = lambda: None
    assert corner.group_status("train")["phase"] == "Theirs"


# --- what it costs

def test_a_gang_of_three_costs_three_nominations_and_three_openings(corner, switched):
    """Requests of esi-testbed about these pods, by the proxy that it talks through."""
    corner.nodes(1, cpu="3")
    seen = []

    def note(request):
        if f"/{corner.namespace}/" in request.target and request.method != "GET":
            seen.append(request)
        return False
    switched.proxy.break_at(note, lambda: None)
    corner.gang("train", 3)
    corner.wait_bound("train", 3)
    statuses(corner, "train", "coscheduling", phase="Running", running=3)
    pods = [each for each in seen if "/pods/" in each.target]
    nominations = [each for each in pods if "/status" in each.target]
    assert len(nominations) == 3 and len(pods) == 6, [(each.method, each.target) for each in pods]
    groups = [each for each in seen if "/podgroups/" in each.target]
    assert 1 <= len(groups) <= 3, [(each.method, each.target, each.body) for each in groups]


def test_a_kind_that_was_installed_while_esi_testbed_ran(corner):
    """The fixture has installed it after esi-testbed was ready; this is the last test, as that looks again by and by."""
    corner.nodes(2, cpu="3")
    corner.example("kube-batch-job-v1alpha2.yaml", qj_1=6)
    corner.wait_bound("qj-1", 6)
    statuses(corner, "qj-1", "kube-batch-v1alpha2", succeeded=6)
