"""Attacks by five accounts with few rights on somebody else's run: pod author, job author, scheduler,
testbed owner (attackers.py), and a peer on the network.

Each test is one attack, or one kind of them. What the attacker gets is looked at, and that the victim is
not worse off; at the end, with all that the attackers made still there, the victim's plans come to their
end, are released and deleted. More of the peer: test_25, test_26; requests that policies refuse: test_27.
"""
import contextlib
import gzip
import json
import re
import socket
import ssl

import pytest

import objects
import stomp_wire
from api import path
from attackers import EVIL, GUESTS, PODS, STAY, Lab, owner
from hostile_clients import STRANGER, Probe
from operators import Operator
from patience import PATIENCE, later_than
from stomp_wire import Stomp
from test_26_certificates import make_certificate

P = objects.PREFIX
GATE = {"name": P + "slot"}
ANYWHERE = [{"operator": "Exists"}]
MEMORY_KIB = 64 << 10
LARGE_JOBS = 24
DEBUG = "X-ESI-Debug: 1"


@pytest.fixture(scope="module")
def lab(plane, operators, recording):
    operators.ensure()
    recording.catch_up()
    made = Lab(plane, operators, recording)
    # The judge goes by the marks that a pod carries, which ESI does not.
    made.scene.allowed += [(rule, "/forged-") for rule in ("unplaced", "slot-shared", "wrong-node")]
    try:
        made.furnish()
        yield made
    finally:
        made.close()
    violations = made.scene.violations()
    assert not violations, "\n".join(map(str, violations))


@pytest.fixture(autouse=True)
def nobody_dies(operators):
    pids = {operator.label: operator.pid for operator in operators}
    yield
    assert all(operator.alive() for operator in operators)
    assert pids == {operator.label: operator.pid for operator in operators}


@pytest.fixture
def pods(lab):
    return lab.people["pod-author"]


@pytest.fixture
def jobs(lab):
    return lab.people["job-author"]


@pytest.fixture
def plans(lab):
    return lab.people["scheduler"]


@pytest.fixture
def beds(lab):
    return lab.people["testbed-owner"]


def run_of(lab, job="pi"):
    return lab.scene.get("BatchJob", job)["spec"]["creationRequest"]["run"]


def uid_of(lab, kind, name):
    return lab.scene.get(kind, name)["metadata"]["uid"]


def marked(name, labels=None, notes=None, owners=None, **spec):
    """A pod with marks of ESI: `labels` and `notes` without its prefix."""
    body = objects.pod(name, cpu="0", memory="0", **spec)
    body["metadata"] |= {"labels": {P + key: value for key, value in (labels or {}).items()},
                         "annotations": {P + key: value for key, value in (notes or {}).items()},
                         "ownerReferences": owners or []}
    return body


VICTIMS = {"testbed": "slots", "testbed-namespace": "attacks", "job": "pi"}


# --- pod author: creates, changes and deletes pods

FORBIDDEN_PODS = {
    "one in a slot, on the node past the scheduler": ("pod-marks", "are written only by", lambda lab: marked(
        "a", VICTIMS, {"run": run_of(lab), "slot": "3", "slot-node": "attacks-1"}, nodeName="attacks-1")),
    "one of a run, without an owner": ("pod-marks", "belong to pods of a run, which have an owner", lambda lab: marked(
        "b", VICTIMS, {"run": run_of(lab)})),
    "a ghost of the victim's Testbed": ("pod-marks", "the label esi.tu-berlin.de/ghost is written only", lambda lab: marked(
        "c", VICTIMS | {"ghost": "true"}, {}, [owner("Testbed", "slots", uid_of(lab, "Testbed", "slots"))])),
    "one that names an executor to the extender as its ghost": ("pod-marks", "are written only by", lambda lab: marked(
        "d", VICTIMS, {"slot-node": "attacks-0", "slot-ghost": lab.executor()["metadata"]["uid"]},
        schedulerName="external-scheduler")),
    "one with the name of a ghost that is away": ("pod-marks", "are given only by", lambda lab: objects.pod(
        lab.ghost_names["attacks-side-0", 0], cpu="0", memory="0")),
    "one of the class that preempts": ("priority-classes", "esi-extender is for job pods", lambda lab: objects.pod(
        "e", priorityClassName="esi-extender", schedulerName="external-scheduler")),
    "one of the class of ghosts": ("priority-classes", "esi-ghost is for ghosts", lambda lab: objects.pod(
        "f", priorityClassName="esi-ghost")),
    "one of the class of jobs past the gate": ("priority-classes", "esi-job is for job pods", lambda lab: objects.pod(
        "g", priorityClassName="esi-job")),
}


@pytest.mark.parametrize("namespace", [EVIL, "attacks"])
@pytest.mark.parametrize("name", FORBIDDEN_PODS)
def test_pod_author_makes(lab, pods, name, namespace):
    """Marks, classes and places of ESI's pods on a pod of his own, here and beside the victim's."""
    policy, words, body = FORBIDDEN_PODS[name]
    answer = pods.makes(body(lab), namespace)
    assert (answer.code, answer.policy) == (403, policy), answer
    assert words in answer.message
    lab.unharmed()


def test_pod_author_makes_his_running_pod_an_executor(lab, pods):
    """His pod runs on the victim's node without a mark, and gets them when it is there."""
    assert pods.makes(objects.pod("sleeper", cpu="0", memory="0", nodeName="attacks-1")).code == 200
    for change in ({"labels": {P + key: value for key, value in VICTIMS.items()}},
                   {"annotations": {P + "run": run_of(lab)}}, {"annotations": {P + "slot": "3"}}):
        answer = pods.changes("Pod", "sleeper", {"metadata": change})
        assert (answer.code, answer.policy) == (403, "pod-marks"), answer
    lab.nothing_comes_of_it()


def test_pod_author_rewrites_the_marks_of_a_real_executor(lab, pods):
    """Another run, another slot, other labels of a Testbed for an executor of the victim's."""
    name = lab.executor()["metadata"]["name"]
    for change in ({"annotations": {P + "run": "x.1.1"}}, {"annotations": {P + "slot": "3"}},
                   {"labels": {P + "testbed": "side"}}, {"annotations": {P + "slot-node": "attacks-1"}}):
        answer = pods.changes("Pod", name, {"metadata": change}, "attacks")
        assert (answer.code, answer.policy) == (403, "pod-marks"), answer
    lab.unharmed()


def test_pod_author_writes_status_binding_and_finalizers_of_scheduling(lab, pods):
    """Nominates, ends and binds pods by subresources, which he may not write."""
    name = lab.executor()["metadata"]["name"]
    for status in ({"nominatedNodeName": "attacks-1"}, {"phase": "Failed"}):
        answer = pods.changes("Pod", name, {"status": status}, "attacks", "status")
        assert answer.code == 403 and "cannot patch resource" in answer.message
    answer = pods.ask(pods.call, "POST", f"/api/v1/namespaces/attacks/pods/{name}/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
        "target": {"kind": "Node", "name": "attacks-1"}})
    assert answer.code == 403 and "cannot create resource" in answer.message
    lab.unharmed()


def test_pod_author_copies_an_executor_with_an_owner_of_his_own(lab, pods):
    """All labels, the run and the slots of a real executor; the owner is a pod of his, or the application, or a
    Testbed: whatever uid he reads but the driver's."""
    decoy = pods.makes(objects.pod("decoy", cpu="0", memory="0"), "attacks")
    owners = {"pod": owner("Pod", "decoy", decoy.uid, "v1"),
              "app": owner("SparkApplication", "pi", uid_of(lab, "SparkApplication", "pi"), "sparkoperator.k8s.io/v1beta2"),
              "bed": owner("Testbed", "slots", uid_of(lab, "Testbed", "slots")),
              "job": owner("BatchJob", "pi", uid_of(lab, "BatchJob", "pi")),
              "side": {**owner("Pod", "pi-driver", lab.pods_of("pi")[0]["metadata"]["uid"], "v1"), "controller": False}}
    for name, each in owners.items():
        body = lab.look_alike(f"like-{name}")
        body["metadata"]["ownerReferences"] = [each]
        assert pods.makes(body, "attacks").code == 200
    lab.nothing_comes_of_it()
    for name in owners:
        lab.is_shut_out(f"like-{name}", "attacks")


def test_pod_author_copies_an_executor_with_the_drivers_uid(lab, pods):
    """What docs/security.md gives up: such a pod may be the job's. It gets no slot that the job has not, and
    puts nobody out of his."""
    body = lab.look_alike("like-all")
    body["metadata"]["ownerReferences"] = [owner("Pod", "pi-driver", lab.pods_of("pi")[0]["metadata"]["uid"], "v1")]
    assert pods.makes(body, "attacks").code == 200
    lab.nothing_comes_of_it()
    lab.is_shut_out("like-all", "attacks")


def test_pod_author_copies_an_executor_in_another_namespace(lab, pods):
    """The same in a namespace of his own, with the driver's uid as the owner."""
    body = lab.look_alike("like-far")
    body["metadata"]["ownerReferences"] = [owner("Pod", "pi-driver", lab.pods_of("pi")[0]["metadata"]["uid"], "v1")]
    assert pods.makes(body).code == 200
    lab.nothing_comes_of_it()
    lab.is_shut_out("like-far", EVIL)


def test_pod_author_takes_the_gate_off_his_copy(lab, pods):
    """A copy of an executor that lets itself in."""
    body = lab.look_alike("like-ungated")
    body["metadata"]["ownerReferences"] = [owner("ConfigMap", "x", "00000000-0000-0000-0000-000000000001", "v1")]
    body["metadata"]["finalizers"] = [STAY]  # or the garbage collector takes it
    assert pods.makes(body).code == 200
    answer = pods.changes("Pod", "like-ungated", {"spec": {"schedulingGates": None}})
    assert (answer.code, answer.policy) == (403, "pod-marks"), answer
    lab.unharmed()
    lab.is_shut_out("like-ungated", EVIL)


def test_pod_author_without_policies_forges_everything(lab, pods):
    """Where no policy is in force: bound pods with all marks of free slots, with an invented run and with the
    real one, here and beside the victim's, a bound ghost, and gated pods of the run that never go."""
    scheduling = uid_of(lab, "Scheduling", "plan")
    seat = {"slot": "3", "slot-node": "attacks-1", "slots": "3"}
    ghost = VICTIMS | {"ghost": "true"}
    bed = [owner("Testbed", "slots", uid_of(lab, "Testbed", "slots"))]
    run = run_of(lab)
    bodies = [
        marked("forged-run", VICTIMS, seat | {"run": "x"}, nodeName="attacks-1"),
        marked("forged-real", VICTIMS, seat | {"run": run}, nodeName="attacks-1"),
        marked("forged-low", VICTIMS, {"slot": "2", "slot-node": "attacks-0", "run": run}, nodeName="attacks-0"),
        marked("forged-ghost", ghost, {"node": "attacks-1", "index": "1"}, bed, nodeName="attacks-1"),
        marked("forged-blocker", VICTIMS, {"run": f"{scheduling}.1.1"}, schedulingGates=[GATE]),
        marked("forged-next", VICTIMS | {"job": "next"}, {"run": f"{scheduling}.999.1"}, schedulingGates=[GATE])]
    beside = [marked("forged-beside", VICTIMS, seat | {"run": run}, nodeName="attacks-1"),
              marked("forged-waits", VICTIMS, {"run": run}, schedulingGates=[GATE])]
    for body in beside:
        body["metadata"]["namespace"] = "attacks"
    for body in (*bodies, *beside):
        if "ghost" not in body["metadata"]["name"]:
            body["metadata"]["finalizers"] = [STAY]
    lab.forge(*bodies, *beside)
    lab.nothing_comes_of_it()
    assert [row["state"] for row in lab.scene.slots().values()] == ["OCCUPIED", "OCCUPIED", "FREE", "FREE"]
    for name in ("forged-blocker", "forged-next"):
        pods.delete("Pod", EVIL, name)
        lab.is_shut_out(name, EVIL)
    lab.unharmed()


SQUATTERS = {
    "plain": lambda lab: {}, "kept": lambda lab: {"finalizers": [STAY]},
    "owned": lambda lab: {"ownerReferences": [owner("Pod", "squat-owner", lab.squat_owner, "v1")]}}


@pytest.fixture
def squatters(lab, pods):
    """{kind: slot} of the Testbed `side` whose ghosts' names the pod author's pods have, made while jobs are in
    the slots, where no policy keeps these names from him."""
    if not hasattr(lab, "squatters"):
        lab.squat_owner = pods.makes(objects.pod("squat-owner", cpu="0", memory="0"), "attacks").uid
        lab.squatters = {}
        bodies = []
        for slot, (kind, more) in enumerate(SQUATTERS.items()):
            body = objects.pod(lab.ghost_names["attacks-side-0", slot], cpu="0", memory="0",
                               schedulingGates=[{"name": "attacks.example/wait"}])
            body["metadata"] |= more(lab) | {"namespace": "attacks"}
            bodies.append(body)
            lab.squatters[kind] = slot
        lab.forge(*bodies)
    return lab.squatters


def test_pod_author_takes_the_names_of_ghosts(lab, squatters):
    """His pods have the names of the ghosts that are away: seen at the end, when those have to come back."""
    lab.nothing_comes_of_it()


def test_pod_author_tolerates_the_taint(lab, pods):
    """On an isolated node only room that no slot has is anybody's: no ghost and no executor goes for his pod."""
    body = objects.pod("tolerant", cpu="600m", memory="64Mi", tolerations=ANYWHERE,
                       node_selector={"kubernetes.io/hostname": "attacks-side-0"})
    assert pods.makes(body).code == 200
    told = lab.scene.wait("the scheduler's word", lambda: [
        each["message"] for each in pods.get("Pod", EVIL, "tolerant")["status"].get("conditions") or []
        if each["reason"] == "Unschedulable"])
    assert "Insufficient cpu" in told[0]
    lab.unharmed()
    pods.delete("Pod", EVIL, "tolerant", grace=0)


def test_pod_author_asks_for_the_room_of_free_slots(lab, pods):
    """Pods that fit only where ghosts are, with the highest class that is his: they wait."""
    for number in range(4):
        body = objects.pod(f"greedy-{number}", cpu="900m", memory="64Mi", tolerations=ANYWHERE,
                           node_selector={"lab": "attacks"})
        assert pods.makes(body).code == 200
    for number in range(4):
        lab.scene.wait("the scheduler's word", lambda number=number: [
            each for each in pods.get("Pod", EVIL, f"greedy-{number}")["status"].get("conditions") or []
            if each["reason"] == "Unschedulable"])
    lab.unharmed()
    for number in range(4):
        pods.delete("Pod", EVIL, f"greedy-{number}", grace=0)


def memory(lab):
    return {operator.name: operator.resident_kib() for operator in lab.operators}


def test_pod_author_fills_the_memory_with_annotations(lab, pods):
    """Many pods with all the annotations that an object may have."""
    before = memory(lab)
    notes = {f"attacks.example/{number}": "x" * 8000 for number in range(32)}
    for number in range(24):
        body = marked(f"heavy-{number}", {"job": "pi"}, schedulingGates=[{"name": "attacks.example/wait"}])
        body["metadata"]["annotations"] = notes
        assert pods.makes(body).code == 200
    body["metadata"] |= {"name": "too-heavy", "annotations": notes | {"attacks.example/more": "x" * 8000}}
    assert pods.makes(body).code == 422
    lab.nothing_comes_of_it()
    after = memory(lab)
    assert all(after[name] - before[name] < MEMORY_KIB for name in before), (before, after)


def test_pod_author_takes_the_drivers_name_of_a_job_to_come(lab, pods):
    """The job cannot be submitted: it fails and says so, its slot is free again."""
    assert pods.makes(objects.pod("robbed-driver", cpu="0", memory="0"), "attacks").code == 200
    lab.scene.jobs("robbed")
    lab.solo("robbery", ["robbed"])
    lab.scene.job_state("robbed", "FailedState", "FailedSubmissionState")
    assert "driver pod already exist" in json.dumps(lab.scene.status("BatchJob", "robbed")["problems"])
    lab.solo_is_whole("robbery")
    lab.unharmed()


# --- job author: creates, changes and deletes BatchJobs

def order(lab, slots, run=None):
    return {"testbedName": {"name": "slots", "namespace": "attacks"}, "slotIds": slots, "run": run or run_of(lab)}


def acquired(lab):
    return {"name": "plan", "namespace": "attacks", "uid": uid_of(lab, "Scheduling", "plan")}


def test_job_author_makes_jobs_with_orders(lab, jobs):
    """A job that is ordered into free slots under the real hold, and one that is acquired."""
    hold = run_of(lab).rpartition(".")[0]
    for name, orders in (("ordered", {"creationRequest": order(lab, [2, 3], f"{hold}.999")}),
                         ("acquired", {"activeScheduling": acquired(lab)}),
                         ("both", {"activeScheduling": acquired(lab), "creationRequest": order(lab, [2])})):
        for namespace in (EVIL, "attacks"):
            body = objects.job(name)
            body["spec"] |= orders
            answer = jobs.makes(body, namespace)
            assert (answer.code, answer.policy) == (403, "orders"), answer
    lab.unharmed()


@pytest.mark.parametrize("name, orders", [
    ("spare", lambda lab: {"creationRequest": order(lab, [2])}),
    ("spare", lambda lab: {"activeScheduling": acquired(lab)}),
    ("pi", lambda lab: {"creationRequest": {"slotIds": [2, 3]}}),
    ("pi", lambda lab: {"creationRequest": {"run": "x.1.1"}}),
    ("pi", lambda lab: {"activeScheduling": {"name": "later"}})])
def test_job_author_writes_orders_of_the_victims_jobs(lab, jobs, name, orders):
    """Another plan, other slots and another run for a job that is there."""
    before = lab.resource_version("BatchJob", name)
    answer = jobs.changes("BatchJob", name, {"spec": orders(lab)}, "attacks")
    assert (answer.code, answer.policy) == (403, "orders"), answer
    assert lab.resource_version("BatchJob", name) == before
    lab.unharmed()


def test_job_author_writes_a_status(lab, jobs):
    """Placements and states by the status, which he may not write, and by creating a job with one."""
    status = {"state": "RunningState", "placements": [
        {"slot": 3, "podUid": lab.executor()["metadata"]["uid"], "podName": "x"}]}
    for name, namespace in (("pi", "attacks"), ("clears", "attacks")):
        answer = jobs.changes("BatchJob", name, {"status": status}, namespace, "status")
        assert answer.code == 403 and "cannot patch resource" in answer.message
    assert jobs.makes(objects.job("born-running") | {"status": status}).code == 200
    lab.scene.wait("it to be looked at", lambda: (
        jobs.get("BatchJob", EVIL, "born-running").get("status") or {}).get("state") == "ReadyState")
    assert "placements" not in jobs.get("BatchJob", EVIL, "born-running")["status"]
    lab.unharmed()


def deep(levels, leaf=None):
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


def test_job_author_makes_jobs_too_deep_to_read(lab, jobs):
    """Specs nested deeper than ESI reads: the job is told, and keeps nobody."""
    for levels in (255, 300, 2000):
        body = objects.job(f"deep-{levels}")
        body["spec"]["sparkSpec"]["x"] = "HERE"
        text = json.dumps(body).replace('"HERE"', '{"a":' * levels + "1" + "}" * levels)
        answer = post_text(jobs, "BatchJob", EVIL, text)
        if levels <= 300:
            assert answer.code == 200, answer
        if answer.code == 200:
            lab.scene.wait("it to be told", lambda levels=levels: lab.condition(
                "BatchJob", f"deep-{levels}", "Accepted").get("status") == "False")
        else:
            assert 400 <= answer.code < 500, answer
    assert lab.condition("BatchJob", "deep-300", "Accepted")["reason"] == "Undecodable"
    lab.nothing_comes_of_it()


def post_text(person, kind, namespace, text):
    """Sends what Python's own encoder would not make, as kubectl does."""
    return person.ask(lambda: json.loads(person.raw("POST", path(kind, namespace), text,
                                                    content_type="application/yaml").data))


def test_job_author_deepens_a_job_that_runs(lab, jobs):
    """His job in a plan of others becomes one that ESI cannot read while it has a slot: seen at the end."""
    spec = json.loads('{"a":' * 300 + "1" + "}" * 300)
    assert jobs.changes("BatchJob", "deepens", {"spec": {"sparkSpec": {"x": spec}}}, "attacks").code == 200
    lab.nothing_comes_of_it()


def test_job_author_clears_the_orders_of_a_job_that_runs(lab, jobs):
    """His job lets go of its plan by itself: the others go on, his slot is not lost."""
    change = {"spec": {"creationRequest": None, "activeScheduling": None}}
    assert jobs.changes("BatchJob", "clears", change, "attacks").code == 200
    lab.nothing_comes_of_it()


def test_job_author_changes_the_kind_of_a_job_that_runs(lab, jobs):
    """Spark becomes Flink in the middle of a run, which stays what it is."""
    spec = {"sparkSpec": None, "flinkSpec": objects.flink_spec()}
    assert jobs.changes("BatchJob", "flips", {"spec": spec}, "attacks").code == 200
    lab.nothing_comes_of_it()
    assert lab.scene.get("SparkApplication", "flips")


def test_job_author_deletes_jobs_that_run(lab, jobs):
    """One goes at once, the other keeps its object by a finalizer of his, in the middle of a run."""
    assert jobs.changes("BatchJob", "stays", {"metadata": {"finalizers": [STAY]}}, "attacks").code == 200
    for name in ("stays", "deletes"):
        jobs.delete("BatchJob", "attacks", name)
    lab.nothing_comes_of_it()
    assert lab.scene.get("BatchJob", "stays")["metadata"]["deletionTimestamp"]


def test_job_author_orphans_the_application_of_a_job_that_runs(lab, jobs):
    """He deletes the job and keeps what it owns, faster than the operator looks: the application has no job any
    more, and the plan is released all the same."""
    assert jobs.makes(objects.job("orphaned", seconds=600), "attacks").code == 200
    lab.scene.job_state("orphaned", "ReadyState")
    lab.solo("orphanage", ["orphaned"])
    lab.scene.job_state("orphaned", "RunningState")
    lab.operators["batchjob"].pause()
    try:
        jobs.call("DELETE", path("BatchJob", "attacks", "orphaned"), {"propagationPolicy": "Orphan"})
        lab.scene.gone("BatchJob", "orphaned")
    finally:
        lab.operators["batchjob"].go_on()
    lab.scene.delete("Scheduling", "orphanage", wait=False)
    try:
        lab.scene.gone("Scheduling", "orphanage")
    finally:
        lab.api.delete("SparkApplication", "attacks", "orphaned")
        lab.solo_is_whole()
    lab.unharmed()


def test_job_author_makes_more_executors_than_slots(lab):
    """A driver that starts twelve executors for one slot: one is let in."""
    lab.scene.job_state("crowd", "RunningState", "FailedState", "ScheduledState", "SubmittedState")
    lab.nothing_comes_of_it()
    seats = {each.slot for each in lab.scene.bindings() if each.job == "crowd"}
    assert len(seats) == 1, seats


def test_job_author_asks_for_ten_thousand_executors(lab, jobs):
    """Their number is that of the slots, whatever the spec says."""
    body = objects.job("legion", executor={"instances": 10000, "cores": 64, "memory": "4000g"},
                       sparkConf={"spark.executor.instances": "10000", "spark.dynamicAllocation.enabled": "true"})
    assert jobs.makes(body, "attacks").code == 200
    lab.scene.job_state("legion", "ReadyState")
    lab.solo("many", ["legion"])
    lab.scene.job_state("legion", "CompletedState", "FailedState", "FailedSubmissionState")
    assert len({each.pod for each in lab.scene.bindings() if each.job == "legion"}) <= 1
    lab.solo_is_whole("many")
    lab.unharmed()


def test_job_author_forges_marks_in_templates(lab):
    """Labels, annotations and finalizers of ESI's in executors and their configuration are taken out."""
    executor = lab.executor("marked")
    notes = executor["metadata"]["annotations"]
    assert executor["metadata"]["labels"][P + "testbed"] == "side"
    assert executor["metadata"]["labels"][P + "job"] == "marked"
    assert P + "ghost" not in executor["metadata"]["labels"]
    slot, = lab.scene.status("BatchJob", "marked")["placements"]
    assert notes[P + "slot"] == str(slot["slot"]) and notes[P + "slot-node"] == "attacks-side-0"
    assert not executor["metadata"].get("finalizers")
    assert lab.condition("BatchJob", "marked", "Accepted", "attacks")["reason"] == "KeysOverridden"


def test_job_author_keeps_his_slot_by_a_long_end(lab):
    """An executor that wants a day for its end has two minutes."""
    assert lab.executor("lingers")["spec"]["terminationGracePeriodSeconds"] == 120
    assert lab.condition("BatchJob", "lingers", "Accepted", "attacks")["reason"] == "KeysOverridden"


def test_job_author_goes_past_the_scheduler(lab):
    """Another scheduler, another node, a class that preempts: an executor has those of its slot."""
    spec = lab.executor("jumps")["spec"]
    assert (spec["nodeName"], spec["priorityClassName"]) == ("attacks-side-0", "esi-job")
    assert (spec["schedulerName"], spec["preemptionPolicy"]) == ("default-scheduler", "Never")
    assert lab.condition("BatchJob", "jumps", "Accepted", "attacks")["reason"] == "KeysOverridden"


def test_job_author_takes_the_class_of_ghosts_for_his_driver(lab, jobs):
    """The driver is refused by the policy, which the job says; its slot is free again."""
    body = objects.job("ghostly")
    body["spec"]["sparkSpec"]["driver"] |= {"template": {"spec": {
        "priorityClassName": "esi-ghost", "containers": [{"name": "spark-kubernetes-driver"}]}}}
    assert jobs.makes(body, "attacks").code == 200
    lab.scene.job_state("ghostly", "ReadyState")
    lab.solo("haunted", ["ghostly"])
    lab.scene.job_state("ghostly", "FailedState", "FailedSubmissionState")
    assert "esi-priority-classes" in json.dumps(lab.scene.status("BatchJob", "ghostly"))
    lab.solo_is_whole("haunted")
    lab.unharmed()


def test_job_author_sends_executors_elsewhere(lab, jobs):
    """A node selector that does not fit the slot's node: the job fails in words, the slot is free again."""
    body = objects.job("elsewhere", executor={"nodeSelector": {"kubernetes.io/hostname": "attacks-1"}})
    assert jobs.makes(body, "attacks").code == 200
    lab.scene.job_state("elsewhere", "ReadyState")
    lab.solo("away", ["elsewhere"], scheduleTimeoutSeconds=2)
    lab.scene.job_state("elsewhere", "FailedState", "FailedSubmissionState")
    assert lab.scene.seats("elsewhere") == {}
    lab.solo_is_whole("away")
    lab.unharmed()


def test_job_author_takes_the_name_of_somebodys_application(lab, jobs):
    """An application that is not the job's is neither taken nor touched; the job fails in words."""
    lab.scene.apply({"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                     "metadata": {"name": "theirs"}, "spec": objects.spark_spec(600) | {
                         "executor": {"instances": 1, "cores": 1, "memory": "512m"}}})
    assert jobs.makes(objects.job("theirs"), "attacks").code == 200
    lab.scene.job_state("theirs", "ReadyState")
    before = uid_of(lab, "SparkApplication", "theirs")
    lab.solo("takeover", ["theirs"])
    lab.scene.job_state("theirs", "FailedSubmissionState", "FailedState")
    assert "theirs" in json.dumps(lab.scene.status("BatchJob", "theirs")["problems"])
    lab.solo_is_whole("takeover")
    found = lab.scene.get("SparkApplication", "theirs")
    assert found["metadata"]["uid"] == before and "deletionTimestamp" not in found["metadata"]
    lab.api.delete("SparkApplication", "attacks", "theirs")
    lab.unharmed()


def test_job_author_hangs_his_job_on_the_victims_plan(lab, jobs):
    """A job that the plan owns, that blocks its deletion, and that does not go: seen at the end."""
    body = objects.job("leech")
    body["metadata"] |= {"finalizers": [STAY], "ownerReferences": [
        owner("Scheduling", "plan", uid_of(lab, "Scheduling", "plan")) | {"blockOwnerDeletion": True}]}
    assert jobs.makes(body, "attacks").code == 200
    lab.nothing_comes_of_it()


def test_job_author_makes_huge_jobs(lab, jobs):
    """Beyond what the store takes it is refused; some that it takes cost the operators little."""
    huge = jobs.makes(objects.job("huge", arguments=["x" * 1024] * 3100))
    assert 400 <= huge.code < 500 or "too large" in huge.message, huge
    before = memory(lab)
    for number in range(LARGE_JOBS):
        assert jobs.makes(objects.job(f"large-{number}", arguments=["x" * 1024] * 1000)).code == 200
    for number in range(LARGE_JOBS):
        lab.scene.wait("it to be looked at", lambda number=number: (
            jobs.get("BatchJob", EVIL, f"large-{number}").get("status") or {}).get("state") == "ReadyState")
    lab.unharmed()
    after = memory(lab)
    print(f"resident KiB before and after {LARGE_JOBS} jobs of 1 MB: {before}, {after}")
    assert all(after[name] - before[name] < MEMORY_KIB for name in before), (before, after)
    # Who submits no job keeps no spec.
    assert all(after[name] - before[name] < LARGE_JOBS * 1024 // 2 for name in ("testbed", "scheduling")), (before, after)
    for number in range(LARGE_JOBS):
        jobs.delete("BatchJob", EVIL, f"large-{number}")


@pytest.mark.parametrize("what", ["Bad_Name", "a" * 46, "-", "a.b", "ü", "a/../b"])
def test_job_author_gives_odd_names(jobs, what):
    """Names that would become labels, paths or words of other kinds."""
    assert 400 <= jobs.makes(objects.job(what)).code < 500


# --- scheduler: creates, changes and deletes Schedulings

def test_scheduler_takes_what_is_of_another_namespace(lab, plans):
    """The victim's Testbed and job, and such that are not there: the words are the same."""
    assert jobs_of_evil(lab)
    before = {key: lab.resource_version(*key) for key in (("Testbed", "solo"), ("BatchJob", "spare"))}
    words = {}
    for name, bed, job in (("bed", "attacks/solo", "own"), ("no-bed", "attacks/none", "own"),
                           ("job", "none", "attacks/spare"), ("no-job", "none", "attacks/nothing")):
        assert plans.makes(objects.queue(name, bed, [job])).code == 200
        told = lab.told("Scheduling", name, "Acquired", "NotAllowed")["message"]
        words[name] = told.replace("attacks/none", "X").replace("attacks/solo", "X").replace(
            "attacks/nothing", "X").replace("attacks/spare", "X")
    assert words["bed"] == words["no-bed"] and words["job"] == words["no-job"], words
    assert {key: lab.resource_version(*key) for key in before} == before
    lab.unharmed()


def jobs_of_evil(lab):
    """A job that the attackers' plans may start."""
    if not lab.api.get("BatchJob", EVIL, "own"):
        lab.people["job-author"].makes(objects.job("own"))
    return lab.scene.wait("the attackers' job", lambda: (
        lab.api.get("BatchJob", EVIL, "own").get("status") or {}).get("state") == "ReadyState")


def test_scheduler_queues_up_for_what_is_held(lab, plans):
    """Beside the victim's plans, for the same Testbed and the same jobs: it waits, and nothing is written."""
    before = {name: lab.resource_version("BatchJob", name) for name in ("next", "spare")}
    for name, body in (("steal", objects.slot_plan("steal", "slots", "relaxed", [("spare", [2, 3])])),
                       ("rob", objects.queue("rob", "solo", ["pi", "next", "mine"]))):
        assert plans.makes(body, "attacks").code == 200
        found = lab.scene.wait_condition("Scheduling", name, "Acquired", "False")
        assert found["reason"] in ("TestbedHeld", "JobHeld", "OlderFirst"), found
    assert {name: lab.resource_version("BatchJob", name) for name in before} == before
    lab.nothing_comes_of_it()
    for name in ("steal", "rob"):
        plans.delete("Scheduling", "attacks", name)
        lab.scene.gone("Scheduling", name)
    lab.unharmed()


def test_scheduler_writes_a_status(lab, plans):
    """Assignments by the status, which he may not write, and by creating a Scheduling with one."""
    status = {"state": "AwaitingCompletionState", "assignments": [
        {"job": {"name": "pi", "namespace": "attacks"}, "run": run_of(lab), "slotIds": [2, 3]}]}
    answer = plans.changes("Scheduling", "plan", {"status": status}, "attacks", "status")
    assert answer.code == 403 and "cannot patch resource" in answer.message
    assert plans.makes(objects.queue("born-holding", "attacks/slots", ["own"]) | {"status": status}).code == 200
    lab.told("Scheduling", "born-holding", "Acquired", "NotAllowed")
    assert "assignments" not in lab.api.get("Scheduling", EVIL, "born-holding")["status"]
    lab.unharmed()


def test_scheduler_is_a_namesake_of_the_holder(lab, plans):
    """Name, uid and marks of the holder on a plan of his own namespace."""
    body = objects.queue("plan", "attacks/slots", ["own"])
    uid = uid_of(lab, "Scheduling", "plan")
    body["metadata"] |= {"uid": uid, "generation": 1, "annotations": {P + "hold": run_of(lab), P + "uid": uid},
                         "labels": {P + "active-scheduling-name": "plan"}}
    answer = plans.makes(body)
    assert answer.code == 200 and answer.uid != uid
    lab.told("Scheduling", "plan", "Acquired", "NotAllowed")
    lab.ends("Scheduling", "plan")
    lab.nothing_comes_of_it()


def test_scheduler_writes_holds_and_orders_by_hand(lab, plans):
    """What a plan gets is not his to write: neither Testbeds nor BatchJobs nor pods."""
    for kind, name, change in (
            ("Testbed", "slots", {"metadata": {"annotations": {P + "hold": "x.1"}}}),
            ("BatchJob", "spare", {"spec": {"activeScheduling": acquired(lab)}}),
            ("Pod", "pi-driver", {"metadata": {"annotations": {"a": "b"}}})):
        answer = plans.changes(kind, name, change, "attacks")
        assert answer.code == 403 and "cannot patch resource" in answer.message
    lab.unharmed()


WRONG_PLANS = {
    "a queue of ten thousand": lambda body: body.update(queueBased=[{"name": "own"}] * 10000),
    "slot -1": lambda body: slots(body, [-1]),
    "slot 2^31": lambda body: slots(body, [1 << 31]),
    "slot 2^64": lambda body: slots(body, [1 << 64]),
    "half a slot": lambda body: slots(body, [0.5]),
    "a slot twice": lambda body: slots(body, [0, 0]),
    "no slot": lambda body: slots(body, []),
    "queue and slots": lambda body: slots(body, [0], keep=True),
    "no plan": lambda body: body.pop("queueBased"),
    "no time": lambda body: body.update(submitTimeoutSeconds=0),
    "all time": lambda body: body.update(scheduleTimeoutSeconds=1 << 31),
    "no Testbed": lambda body: body.pop("testbed"),
    "a Testbed with an empty name": lambda body: body.update(testbed={"name": ""}),
}


def slots(body, ids, keep=False):
    if not keep:
        body.pop("queueBased")
    body["slotBased"] = {"mode": "strict", "jobs": [{"name": {"name": "own"}, "slotIds": ids}]}


@pytest.mark.parametrize("what", WRONG_PLANS)
def test_scheduler_writes_plans_that_make_no_sense(plans, what):
    """Refused at once, by the schema."""
    body = objects.queue("wrong", "none", ["own"])
    WRONG_PLANS[what](body["spec"])
    assert plans.makes(body).code in (400, 422)


@pytest.mark.parametrize("name", ["Bad_Name", "a" * 64, "-a", "a.b", "ü", "a/../b", "a\nb"])
def test_scheduler_gives_odd_names(plans, name):
    """Names that would become labels, paths or lines of logs."""
    assert 400 <= plans.makes(objects.queue(name, "none", ["own"])).code < 500


PLANS_THAT_CANNOT_BE = {
    "fifteen hundred jobs": (lambda: objects.queue("vast", "solo", [f"j{number}" for number in range(1500)]), "TooManyJobs"),
    "a job twice": (lambda: objects.slot_plan("twice", "solo", "strict", [("own", [0]), ("own", [1])]), "DuplicateJob"),
    "slots that are not there": (lambda: objects.slot_plan("beyond", "solo", "relaxed", [("own", [99])]), "SlotOutsideLayout"),
    "more slots than there are": (lambda: objects.queue("broad", "solo", ["own"] * 4096), "TooManySlots"),
}


@pytest.mark.parametrize("what", PLANS_THAT_CANNOT_BE)
def test_scheduler_writes_plans_that_cannot_be(lab, plans, what):
    """Taken by the schema, told in a condition, and holding nothing."""
    make, reason = PLANS_THAT_CANNOT_BE[what]
    body = make()
    name = body["metadata"]["name"]
    assert plans.makes(body, "attacks").code == 200
    lab.scene.wait("it to be told", lambda: reason in json.dumps(lab.scene.status("Scheduling", name)))
    assert lab.scene.holder("solo") is None
    plans.delete("Scheduling", "attacks", name)
    lab.scene.gone("Scheduling", name)
    lab.unharmed()


@pytest.fixture
def long(lab):
    """A job of the job author's that runs long on `solo`, ready."""
    if not lab.scene.get("BatchJob", "long"):
        lab.people["job-author"].makes(objects.job("long", seconds=600), "attacks")
    lab.scene.job_state("long", "ReadyState")
    return "long"


def runs(lab, plans, name, jobs, **more):
    assert plans.makes(objects.queue(name, "solo", jobs, **more), "attacks").code == 200
    lab.scene.job_state(jobs[0], "RunningState")


def test_scheduler_takes_the_finalizer_off_and_deletes_his_plan(lab, plans, long):
    """The plan vanishes in the middle of a run, without its release: Testbed and job are taken back."""
    runs(lab, plans, "vanishing", [long])
    assert plans.changes("Scheduling", "vanishing", {"metadata": {"finalizers": None}}, "attacks").code == 200
    plans.delete("Scheduling", "attacks", "vanishing")
    lab.scene.gone("Scheduling", "vanishing")
    lab.solo_is_whole()
    lab.scene.job_state(long, "ReadyState")
    lab.unharmed()


def test_scheduler_deletes_his_plan_and_keeps_the_object(lab, plans, long):
    """With a finalizer of his own, and orphaning what hangs on it: released all the same."""
    runs(lab, plans, "staying", [long])
    kept = lab.scene.get("Scheduling", "staying")["metadata"]["finalizers"] + [STAY]
    assert plans.changes("Scheduling", "staying", {"metadata": {"finalizers": kept}}, "attacks").code == 200
    plans.call("DELETE", path("Scheduling", "attacks", "staying"), {"propagationPolicy": "Orphan"})
    lab.solo_is_whole()
    lab.scene.job_state(long, "ReadyState")
    # The garbage collector takes its own finalizer, "orphan", when it comes to it.
    lab.scene.wait("his finalizer alone", lambda: (
        lab.scene.get("Scheduling", "staying")["metadata"]["finalizers"] == [STAY]))
    lab.unharmed()


def test_scheduler_changes_his_plan_in_the_middle(lab, plans, long):
    """Another Testbed is refused; slots for a queue, or jobs of others, start nothing."""
    runs(lab, plans, "turning", [long])
    answer = plans.changes("Scheduling", "turning", {"spec": {"testbed": {"name": "slots"}}}, "attacks")
    assert answer.code == 422 and "cannot be changed" in answer.message
    assert plans.changes("Scheduling", "turning", {"spec": {"queueBased": None, "slotBased": {
        "mode": "relaxed", "jobs": [{"name": {"name": "spare"}, "slotIds": [0, 1]}]}}}, "attacks").code == 200
    lab.scene.wait_condition("Scheduling", "turning", "SpecCurrent", "False", "ChangeIgnored")
    lab.unharmed()
    lab.solo_is_whole("turning")


def test_scheduler_makes_plans_that_fight(lab, plans, long):
    """Twelve plans at once for one Testbed and one job, deleted in the middle: one at a time has it."""
    for number in range(12):
        assert plans.makes(objects.queue(f"fight-{number}", "solo", [long, "own"]), "attacks").code == 200
        assert plans.makes(objects.queue(f"brawl-{number}", "solo", [long]), "attacks").code == 200
    lab.scene.job_state(long, "RunningState")
    running = [each["metadata"]["name"] for each in lab.api.list("Scheduling", "attacks")
               if (each.get("status") or {}).get("assignments")
               and each["spec"]["testbed"]["name"] == "solo"]
    assert len(running) == 1, running
    for number in range(12):
        for name in ("fight", "brawl"):
            plans.delete("Scheduling", "attacks", f"{name}-{number}")
    for number in range(12):
        for name in ("fight", "brawl"):
            lab.scene.gone("Scheduling", f"{name}-{number}")
    lab.solo_is_whole()
    lab.unharmed()


# --- testbed owner: creates, changes and deletes Testbeds

def test_testbed_owner_takes_the_victims_nodes(lab, beds):
    """His Testbed has the label of the victim's nodes, and wants to keep others off by the taint."""
    assert beds.makes(objects.testbed("cuckoo", "lab.esi/attacks", slots=2, isolation="Taint")).code == 200
    lab.told("Testbed", "cuckoo", "CapacitySufficient", "NotEnoughRoom")
    assert lab.condition("Testbed", "cuckoo", "Isolated")["status"] == "False"
    lab.nothing_comes_of_it()
    text = json.dumps(lab.api.get("Testbed", EVIL, "cuckoo")["status"])
    assert "attacks/pi" not in text and "-exec-" not in text, "pods of others are told without their names"
    lab.ends("Testbed", "cuckoo")


def test_testbed_owner_fills_the_victims_nodes_with_small_ghosts(lab, beds):
    """Many small slots beside the victim's, which are there to the end: `next` gets its slots all the same."""
    assert beds.makes(objects.testbed("dust", "lab.esi/attacks", slots=8, cpu="1m", memory="1Mi")).code == 200
    lab.scene.wait("its ghosts", lambda: (
        lab.api.get("Testbed", EVIL, "dust").get("status") or {}).get("state") == "SUCCESS")
    lab.nothing_comes_of_it()


@pytest.mark.parametrize("label", ["kubernetes.io/hostname", "kubernetes.io/os", "lab"])
def test_testbed_owner_takes_labels_of_kubernetes(lab, beds, label):
    """Labels that every node has: no slot of them, no label of a node changes."""
    before = {node["metadata"]["name"]: node["metadata"]["labels"] for node in lab.api.list("Node")}
    name = "all-" + label.split("/")[-1]
    assert beds.makes(objects.testbed(name, label, isolation="Taint")).code == 200
    lab.scene.wait("it to be looked at", lambda: (
        lab.api.get("Testbed", EVIL, name).get("status") or {}).get("state") == "ERROR")
    assert not lab.api.get("Testbed", EVIL, name)["status"].get("slots")
    assert {node["metadata"]["name"]: node["metadata"]["labels"] for node in lab.api.list("Node")} == before
    lab.unharmed()


WRONG_TESTBEDS = {
    "no slot": {"slotsPerNode": 0}, "111 slots": {"slotsPerNode": 111}, "slots below 0": {"slotsPerNode": -1},
    "2^31 slots": {"slotsPerNode": 1 << 31}, "half a slot": {"slotsPerNode": 1.5},
    "no cpu": {"resourcesPerSlot": {"memory": "1Gi"}}, "cpu 0": {"resourcesPerSlot": {"cpu": "0", "memory": "1Gi"}},
    "cpu below 0": {"resourcesPerSlot": {"cpu": "-1", "memory": "1Gi"}},
    "cpu that is no number": {"resourcesPerSlot": {"cpu": "NaN", "memory": "1Gi"}},
    "cpu with a line": {"resourcesPerSlot": {"cpu": "1\n", "memory": "1Gi"}},
    "nine resources": {"resourcesPerSlot": {"cpu": "1", "memory": "1Gi"} | {f"a.example/{n}": "1" for n in range(7)}},
    "a label with a line": {"nodeLabel": "a\nb"}, "a label that is a path": {"nodeLabel": "../../x"},
    "an empty label": {"nodeLabel": ""}, "a selector": {"nodeLabel": "lab.esi/attacks in (0)"},
    "a namespace with a star in it": {"allowedNamespaces": ["att*"]}, "a double star": {"allowedNamespaces": ["**"]},
    "an empty namespace": {"allowedNamespaces": [""]}, "a path of namespaces": {"allowedNamespaces": ["../attacks"]},
    "two thousand namespaces": {"allowedNamespaces": [f"n{number}" for number in range(2000)]},
    "an isolation of his own": {"isolation": "NoExecute"},
}


@pytest.mark.parametrize("what", WRONG_TESTBEDS)
def test_testbed_owner_writes_testbeds_that_make_no_sense(beds, what):
    """Refused at once, by the schema."""
    body = objects.testbed("wrong", "lab.esi/none")
    body["spec"] |= WRONG_TESTBEDS[what]
    assert beds.makes(body).code in (400, 422)


@pytest.mark.parametrize("what, amount", [("exa", "9000000P"), ("exponent", "1e300"), ("nano", "1n"), ("long", "9" * 60)])
def test_testbed_owner_asks_for_amounts_at_the_edge(lab, beds, what, amount):
    """Quantities that the schema takes: told in a status, no pod that runs, no operator that ends."""
    answer = beds.makes(objects.testbed(f"edge-{what}", "lab.esi/attacks-bait", slots=1, cpu=amount, memory=amount))
    if answer.code == 200:
        lab.scene.wait("it to be looked at", lambda: (
            lab.api.get("Testbed", EVIL, f"edge-{what}").get("status") or {}).get("observedGeneration"))
        lab.ends("Testbed", f"edge-{what}")
    else:
        assert answer.code in (400, 422), answer
    lab.unharmed()


def test_testbed_owner_writes_holds(lab, beds):
    """On a new Testbed, on his own, and on the victim's."""
    hold = {"labels": {P + "active-scheduling-name": "plan", P + "active-scheduling-namespace": EVIL},
            "annotations": {P + "hold": "x.1"}}
    body = objects.testbed("held", "lab.esi/none")
    body["metadata"] |= hold
    answers = [beds.makes(body), beds.changes("Testbed", "slots", {"metadata": hold}, "attacks"),
               beds.changes("Testbed", "solo", {"metadata": {"annotations": hold["annotations"]}}, "attacks"),
               beds.changes("Testbed", "solo", {"metadata": {"labels": hold["labels"]}}, "attacks")]
    assert [(each.code, each.policy) for each in answers] == [(403, "holds")] * 4, answers
    lab.unharmed()


def test_testbed_owner_writes_a_status(lab, beds):
    """A layout by the status, which he may not write, and by creating a Testbed with one."""
    status = {"state": "SUCCESS", "layout": {"revision": 1, "slotsPerNode": 2, "nodes": [
        {"name": "attacks-1", "id": 0, "uid": "x"}], "resourcesPerSlot": {"cpu": "1m", "memory": "1Mi"}}}
    answer = beds.changes("Testbed", "slots", {"status": status}, "attacks", "status")
    assert answer.code == 403 and "cannot patch resource" in answer.message
    assert beds.makes(objects.testbed("born-whole", "lab.esi/none") | {"status": status}).code == 200
    lab.scene.wait("it to be looked at", lambda: (
        lab.api.get("Testbed", EVIL, "born-whole").get("status") or {}).get("observedGeneration"))
    assert not lab.api.get("Testbed", EVIL, "born-whole")["status"].get("slots")
    assert not lab.api.list("Pod", EVIL, labels=P + "testbed=born-whole")
    lab.unharmed()


def test_testbed_owner_is_a_namesake(lab, beds):
    """A Testbed of the same name and the same nodes elsewhere, offered to all: no ghost of the victim's goes."""
    body = objects.testbed("slots", "lab.esi/attacks")
    body["spec"]["allowedNamespaces"] = ["*", "attacks"]
    body["metadata"]["uid"] = uid_of(lab, "Testbed", "slots")
    assert beds.makes(body).code == 200
    lab.told("Testbed", "slots", "CapacitySufficient", "NotEnoughRoom")
    lab.nothing_comes_of_it()
    lab.ends("Testbed", "slots")
    lab.nothing_comes_of_it()


def test_testbed_owner_waits_at_the_door_of_an_older_testbed(lab, beds):
    """His younger Testbed fills the room beside the victim's slots, his older one wants the same room. Its ghosts do
    not wait there until a ghost of the victim's goes: the younger one gives way."""
    assert beds.makes(objects.testbed("waits", "lab.esi/none", slots=1)).code == 200
    later_than(lab.api.get("Testbed", EVIL, "waits"))
    assert beds.makes(objects.testbed("fills", "lab.esi/attacks", slots=1)).code == 200

    def state(name):
        return (lab.api.get("Testbed", EVIL, name).get("status") or {}).get("state")
    lab.scene.wait("the nodes to be full", lambda: state("fills") == "SUCCESS")
    assert beds.changes("Testbed", "waits", {"spec": {"nodeLabel": "lab.esi/attacks"}}).code == 200
    lab.scene.wait("the younger one to give way", lambda: (state("waits"), state("fills")) == ("SUCCESS", "ERROR"))
    lab.nothing_comes_of_it()
    lab.ends("Testbed", "waits")
    lab.scene.wait("the younger one to have its room again", lambda: state("fills") == "SUCCESS")
    lab.ends("Testbed", "fills")
    lab.unharmed()


def test_testbed_owner_loads_his_testbed_with_annotations(lab, beds):
    """Thousands of them are refused; with as many as there may be it is worked on like any other."""
    body = objects.testbed("heavy", "lab.esi/none")
    for kind in ("annotations", "labels"):
        body["metadata"][kind] = {f"l{number:x}": "" for number in range(5000)}
        answer = beds.makes(body)
        assert (answer.code, answer.policy) == (403, "bounds"), answer
        body["metadata"][kind] = {f"l{number:x}": "x" * 63 for number in range(100)}
    assert beds.makes(body).code == 200
    lab.scene.wait("it to be looked at", lambda: (
        lab.api.get("Testbed", EVIL, "heavy").get("status") or {}).get("observedGeneration"))
    lab.ends("Testbed", "heavy")
    lab.unharmed()


@pytest.fixture
def bait(lab, beds):
    """A Testbed of the attacker's that is offered to the victim, whose job `guest` runs there."""
    if not lab.api.get("Testbed", EVIL, "bait"):
        body = objects.testbed("bait", "lab.esi/attacks-bait")
        body["spec"]["allowedNamespaces"] = ["attacks"]
        assert beds.makes(body).code == 200
        lab.scene.wait("the bait", lambda: (
            lab.api.get("Testbed", EVIL, "bait").get("status") or {}).get("state") == "SUCCESS")
    if not lab.scene.get("BatchJob", "guest"):
        lab.scene.jobs("guest", seconds=600)
    lab.scene.job_state("guest", "ReadyState")
    lab.scene.queue("visit", ["guest"], f"{EVIL}/bait")
    lab.scene.job_state("guest", "RunningState")
    yield beds
    if lab.scene.get("Scheduling", "visit"):
        lab.scene.delete("Scheduling", "visit")


def test_testbed_owner_turns_round_under_a_guest(lab, bait):
    """Withdraws the offer, changes size and label, deletes: what runs goes on to its end and is released."""
    pod = uid_of(lab, "Pod", "guest-driver")
    for change in ({"allowedNamespaces": None}, {"slotsPerNode": 1}, {"nodeLabel": "lab.esi/none"},
                   {"resourcesPerSlot": {"cpu": "1m", "memory": "1Mi"}}):
        assert bait.changes("Testbed", "bait", {"spec": change}).code == 200
    lab.scene.wait_condition("Scheduling", "visit", "Allowed", "False", "NotAllowed")
    bait.delete("Testbed", EVIL, "bait")
    lab.acted()
    assert lab.scene.status("BatchJob", "guest")["state"] == "RunningState"
    assert uid_of(lab, "Pod", "guest-driver") == pod
    lab.scene.finish("guest")
    lab.scene.job_state("guest", "CompletedState")
    lab.scene.delete("Scheduling", "visit")
    lab.scene.wait("the end of the bait", lambda: not lab.api.get("Testbed", EVIL, "bait"))
    lab.unharmed()


def test_testbed_owner_pulls_his_testbed_away_under_a_guest(lab, bait):
    """Takes ESI's finalizer off and deletes: the guest's plan says so, and can be released."""
    assert bait.changes("Testbed", "bait", {"metadata": {"finalizers": None}}).code == 200
    bait.delete("Testbed", EVIL, "bait")
    lab.scene.wait("the end of the bait", lambda: (
        lambda found: not found or found["metadata"].get("deletionTimestamp"))(lab.api.get("Testbed", EVIL, "bait")))
    lab.acted()
    lab.scene.delete("Scheduling", "visit")
    lab.scene.job_state("guest", "ReadyState", "FailedState")
    lab.unharmed()


# --- peer: reaches the ports, and has no right

LONGEST = 1 << 20  # of what a peer hears


def speak(operator, data, source=STRANGER, patience=60):
    """Sends these bytes from that address and returns all that comes back until the end of the connection."""
    with socket.create_connection(("127.0.0.1", operator.port), timeout=patience, source_address=(source, 0)) as one:
        with contextlib.suppress(ConnectionError):
            one.sendall(data)
        heard = b""
        with contextlib.suppress(ConnectionError):
            while len(heard) < LONGEST and (more := one.recv(65536)):
                heard += more
        return heard


def request_of(method, target, *lines, host="localhost", body=b"", version="1.1"):
    """One request, as the last of its connection."""
    named = [f"Host: {host}"] if host is not None else []
    length = [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join((f"{method} {target} HTTP/{version}", *named, *length, "Connection: close", *lines, "", "")).encode() + body


def codes(heard):
    """The status codes of the answers in what was heard."""
    return [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) ", heard)]


@pytest.fixture(scope="module")
def inside(lab):
    """Objects in the namespace of the interface, which every peer wants: a job and a plan."""
    lab.api.create("BatchJob", "default", objects.job("payroll"))
    lab.api.create("Scheduling", "default", objects.queue("books", "nowhere", ["payroll"]))
    lab.scene.wait("both to be looked at", lambda: all((lab.api.get(kind, "default", name).get("status") or {}).get("state")
                                                       for kind, name in (("BatchJob", "payroll"), ("Scheduling", "books"))))
    before = facts_of_inside(lab)
    yield before
    for kind in ("Scheduling", "BatchJob"):
        lab.api.delete_all(kind, "default")
        lab.scene.wait(f"no {kind} in default", lambda kind=kind: not lab.api.list(kind, "default"))


def facts_of_inside(lab):
    found = [lab.api.get(kind, "default", name) for kind, name in (("BatchJob", "payroll"), ("Scheduling", "books"))]
    return [each and (each["metadata"]["uid"], each["metadata"]["generation"], each["metadata"].get("annotations"),
                      each["metadata"].get("deletionTimestamp")) for each in found] + [
        sorted(each["metadata"]["name"] for each in lab.api.list("Scheduling", "default"))]


@pytest.fixture(scope="module")
def probes(lab):
    """Probes of the operator that is attacked, from the first attack to the last."""
    with Probe(lab.operators["scheduling"].port, lab.operators["scheduling"]) as probe:
        yield probe


@pytest.fixture
def peer(lab, inside, probes):
    """Sends a request to an operator; afterwards nothing has changed inside."""
    yield lambda *words, of="scheduling", source=STRANGER, **more: speak(
        lab.operators[of], request_of(*words, **more), source)
    assert facts_of_inside(lab) == inside
    assert not probes.failures, probes.failures[:3]


SECRETS = (b"payroll", b"books", b"attacks")


def test_peer_reads_and_writes_the_interface(peer):
    """From another address than this machine's own: refused before a body is read, and told nothing."""
    plan = json.dumps({"name": "stolen", "testBed": "slots", "queue": ["payroll"]}).encode()
    for words, more in ((("GET", "/external/jobs/payroll"), {}), (("GET", "/external/schedulings"), {}),
                        (("GET", "/external/testbeds/"), {}), (("DELETE", "/external/schedulings/books"), {}),
                        (("POST", "/external/schedulings", "Content-Type: application/json"), {"body": plan}),
                        (("PUT", "/external/jobs/", "Content-Type: application/json", "Content-Length: 900000"), {})):
        heard = peer(*words, **more)
        assert codes(heard) == [403], heard
        assert not any(each in heard.partition(b"\r\n\r\n")[2].replace(words[1].encode(), b"") for each in SECRETS), heard


@pytest.mark.parametrize("line", ["X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-IP: 127.0.0.1",
                                  "Via: 1.1 localhost", "x-FORWARDED-for:127.0.0.1",
                                  "X-Forwarded-For:\r\nX-Forwarded-For: 10.0.0.1"])
def test_peer_comes_through_a_proxy(peer, line):
    """What a proxy on this machine hands on is nobody's of this machine, and saying so helps no stranger."""
    for source in ("127.0.0.1", STRANGER):
        for of, target in (("scheduling", "/external/jobs/payroll"), ("testbed", "/debug/reset-all-jobs")):
            heard = peer("GET", target, line, DEBUG, of=of, source=source)
            assert codes(heard) == [403], (source, heard)


@pytest.mark.parametrize("host", [
    "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example",
    "evil.example:80", "2130706433", "0x7f.1", "127.1", "127.0.0.2", "[::ffff:127.0.0.1]", "localhost, evil.example",
    "localhost\r\nHost: evil.example", "ｌocalhost"])
def test_peer_binds_a_name_to_this_machine(peer, host):
    """A page whose name resolves to this machine (DNS rebinding) comes from a loopback address, with its name."""
    for of, target in (("scheduling", "/external/jobs"), ("testbed", "/debug/reset-all-jobs")):
        heard = peer("GET", target, DEBUG, of=of, source="127.0.0.1", host=host)
        assert codes(heard) and set(codes(heard)) <= {400, 403}, heard


@pytest.mark.parametrize("target", ["http://evil.example/external/jobs", "http://evil.example:8082/external/jobs",
                                    "http://localhost@evil.example/external/jobs", "https://evil.example/external/jobs"])
def test_peer_says_one_host_in_the_target_and_another_in_a_line(peer, target):
    """The target in absolute form names another authority than the Host."""
    for host in ("localhost", "evil.example", ""):
        heard = peer("GET", target, source="127.0.0.1", host=host)
        assert codes(heard) and set(codes(heard)) <= {400, 403}, heard


@pytest.mark.parametrize("line", ["X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE"])
def test_peer_overrides_the_method(lab, peer, line):
    """A page that may only GET and POST says DELETE in a header, and in a query."""
    for method in ("GET", "POST"):
        for target in ("/external/schedulings/books", "/external/schedulings/books?_method=DELETE"):
            heard = peer(method, target, line, source="127.0.0.1")
            assert codes(heard) == [200 if method == "GET" else 405], heard


@pytest.mark.parametrize("path_", [
    "/external/../external/jobs", "//external/jobs", "/./external/jobs", "/%65xternal/jobs", "/external/jobs/%2e%2e/jobs",
    "/livez/../external/jobs", "/livez;/external/jobs", "/livez%2f..%2fexternal/jobs", "/EXTERNAL/jobs", "\\external\\jobs",
    "/external%00/jobs", "/metrics/../../external/jobs", "/external/jobs#/livez", "*", "external/jobs", "/livez?/external/jobs"])
def test_peer_goes_round_by_the_path(peer, path_):
    """Spellings of a path that one part of a server could read otherwise than another."""
    heard = peer("GET", path_)
    assert b"payroll" not in heard
    assert codes(heard) in ([400], [403], [404], [405]) or path_.startswith("/livez?"), heard


SMUGGLED = b"DELETE /external/schedulings/books HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
HIDDEN = {
    "two lengths": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: 90\r\n\r\n",
    "a length and chunks": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
                           b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks of HTTP/1.0": b"GET /livez HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a coding that is not chunked": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "a coding twice": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                      b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a blank before the colon": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length : 90\r\n\r\n",
    "a length with a sign": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: +0\r\n\r\n",
    "a length too long to count": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551616\r\n\r\n",
    "a chunk too long to count": b"POST /extender/filter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                                 b"10000000000000000\r\n",
    "a chunk below zero": b"POST /extender/filter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
    "a bare line feed": b"GET /livez HTTP/1.1\nHost: localhost\nX: y\n\n",
    "a NUL": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
}


@pytest.mark.parametrize("how", HIDDEN)
def test_peer_hides_a_request_behind_another(lab, inside, probes, how):
    """What a proxy before it could take for a body, or the operator for a second request: refused, and the
    connection is closed. Sent by one who may: nothing is deleted."""
    heard = speak(lab.operators["scheduling"], HIDDEN[how] + SMUGGLED, "127.0.0.1")
    assert len(codes(heard)) == 1 and codes(heard)[0] >= 400, heard
    assert facts_of_inside(lab) == inside


def test_peer_makes_pages_of_others_ask(lab, peer):
    """GETs of /debug that write, as an image of a page would ask for: without the header, and by other methods."""
    lab.scene.jobs("broken")
    lab.api.patch("BatchJob", "attacks", "broken", {"status": {"state": "FailedState"}}, sub="status")
    target = "/debug/reset-all-jobs?allNamespaces=true"
    lab.scene.wait("the operator to see it", lambda: codes(
        peer("GET", target, of="testbed", source="127.0.0.1")) == [403])
    for method, path_, lines, wanted in (
            ("GET", target, ("X-ESI-Debug:",), {403}), ("GET", target, ("X-ESI-Debug: 0",), {403}),
            ("GET", target + "&X-ESI-Debug=1", (), {403}), ("HEAD", target, (), {403, 405}),
            ("POST", target, (), {403, 405}), ("POST", target, (DEBUG,), {405}), ("HEAD", target, (DEBUG,), {405})):
        heard = peer(method, path_, *lines, of="testbed", source="127.0.0.1")
        assert codes(heard) and set(codes(heard)) <= wanted, heard
    assert codes(peer("GET", target, DEBUG, of="testbed")) == [403]
    assert lab.scene.status("BatchJob", "broken")["state"] == "FailedState"
    lab.unharmed()


def test_peer_asks_the_extender_for_victims(lab, peer):
    """For a pod that he makes up, with the run and the uid of a real executor: it names nobody, or the ghost
    that the executor's own slot had, never an executor or another ghost."""
    real = lab.executor()
    ghost = next(iter(lab.scene.bound_ghosts().values()))
    for victim in (real["metadata"]["uid"], ghost, lab.pods_of("pi")[0]["metadata"]["uid"]):
        for uid in (real["metadata"]["uid"], "made-up"):
            for labels in (real["metadata"]["labels"], {}):
                body = {"Pod": {"metadata": {"name": "x", "namespace": "attacks", "uid": uid, "labels": labels, "annotations": {
                    P + "run": run_of(lab), P + "slot": "3", P + "slot-node": "attacks-1", P + "slot-ghost": victim}}},
                    "NodeNameToMetaVictims": {"attacks-1": {"Pods": []}, "attacks-0": {"Pods": []}}}
                heard = peer("POST", "/extender/preemption", "Content-Type: application/json", of="testbed",
                             body=json.dumps(body).encode())
                assert codes(heard) == [200] and victim.encode() not in heard, heard
    lab.unharmed()


def test_peer_asks_the_extender_about_a_job_that_is_being_released(lab, peer):
    """Its order is gone, its placements stand until its last pod has gone: an answer that names nobody."""
    scene = lab.scene
    scene.jobs("parting", seconds=600, **GUESTS["lingers"])
    lab.solo("farewell", ["parting"])
    scene.job_state("parting", "RunningState")
    run, executor = run_of(lab, "parting"), lab.executor("parting")
    lab.api.delete("Scheduling", scene.namespace, "farewell")
    scene.wait("the order to be taken away", lambda: "creationRequest" not in scene.get("BatchJob", "parting")["spec"])
    meta = {"name": "x", "namespace": "attacks", "uid": executor["metadata"]["uid"], "labels": executor["metadata"]["labels"],
            "annotations": {P + "run": run, P + "slot": "0", P + "slot-node": "attacks-solo-0", P + "slot-ghost": "made-up"}}
    body = {"Pod": {"metadata": meta}, "NodeNameToMetaVictims": {"attacks-solo-0": {"Pods": []}}}
    for _ in range(20):
        heard = peer("POST", "/extender/preemption", of="testbed", body=json.dumps(body).encode())
        assert codes(heard) == [200] and b"made-up" not in heard, heard
    assert scene.status("BatchJob", "parting")["placements"], "asked too late: the release has ended"
    lab.api.delete("Pod", scene.namespace, executor["metadata"]["name"], grace=0)
    lab.solo_is_whole()
    lab.unharmed()


def test_peer_asks_the_extender_for_a_slot(lab, peer):
    """A made-up pod with another run is let to no node."""
    for run in ("x.1.1", f"{uid_of(lab, 'Scheduling', 'later')}.1.1", ""):
        body = {"Pod": {"metadata": {"name": "x", "uid": "x", "labels": lab.executor()["metadata"]["labels"], "annotations": {
            P + "run": run, P + "slot": "3", P + "slot-node": "attacks-1"}}}, "NodeNames": ["attacks-0", "attacks-1"]}
        heard = peer("POST", "/extender/filter", of="testbed", body=json.dumps(body).encode())
        answer = json.loads(heard.partition(b"\r\n\r\n")[2])
        assert answer["NodeNames"] == [] and set(answer["FailedAndUnresolvableNodes"]) == {"attacks-0", "attacks-1"}


@pytest.mark.parametrize("target, body", [
    ("/extender/filter", b"[" * (3 << 20)), ("/extender/filter", b'{"Pod":' * (400 << 10)), ("/extender/filter", b"\xff\xfe" * 1000),
    ("/extender/filter", b'{"Pod":{"metadata":{"labels":[' + b"{}," * (1 << 19)), ("/extender/preemption", b'{"a":1,' * (1 << 18)),
    ("/extender/preemption", b'"' + b"\\u0000" * (1 << 18) + b'"')])
def test_peer_sends_what_is_hard_to_read(lab, peer, target, body):
    """Deep, wide and broken JSON where a body is taken of everybody: a refusal, after little work."""
    begin = lab.operators["testbed"].cpu_seconds()
    heard = peer("POST", target, of="testbed", body=body)
    assert codes(heard) == [400], heard[:300]
    assert lab.operators["testbed"].cpu_seconds() - begin < 5


def test_peer_sends_a_wide_body_to_the_interface(lab, peer):
    """Many small objects, from a peer that may: read in a time that grows with their number only."""
    begin = lab.operators["scheduling"].cpu_seconds()
    body = b'{"name":"x","testBed":"t","queue":["a"],"jobStatus":[' + b"{}," * 300000 + b"{}]}"
    heard = peer("POST", "/external/schedulings", "Content-Type: application/json", source="127.0.0.1", body=body)
    assert codes(heard)[0] in (400, 413), heard[:300]
    assert lab.operators["scheduling"].cpu_seconds() - begin < 5


def test_peer_says_bodies_that_are_too_long_or_packed(peer):
    """Beyond the limit of the route, where none is taken, and in a coding that grows: refused before it comes."""
    for of, method, target, lines, wanted in (
            ("scheduling", "POST", "/external/schedulings", ("Content-Length: 1048577",), {403, 413}),
            ("testbed", "POST", "/extender/filter", (f"Content-Length: {(4 << 20) + 1}",), {413}),
            ("testbed", "POST", "/extender/filter", ("Content-Length: 9223372036854775807", "Expect: 100-continue"), {413}),
            ("scheduling", "GET", "/livez", ("Content-Length: 1",), {413}),
            ("scheduling", "POST", "/nothing", ("Content-Length: 1",), {403, 404, 413})):
        heard = peer(method, target, *lines, of=of)
        assert set(codes(heard)) <= wanted and codes(heard), heard
    packed = gzip.compress(json.dumps({"name": "x", "testBed": "t", "queue": ["a" * 100000] * 10}).encode())
    heard = peer("POST", "/external/schedulings", "Content-Type: application/json", "Content-Encoding: gzip",
                 source="127.0.0.1", body=packed)
    assert codes(heard)[0] in (400, 415), heard


@pytest.mark.parametrize("method, target, lines", [
    ("CONNECT", "127.0.0.1:6443", ()), ("CONNECT", "169.254.169.254:80", ()), ("TRACE", "/livez", ("X-Secret: s3cret",)),
    ("GET", "http://169.254.169.254/latest", ()), ("GET", "/livez", ("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")),
    ("PRI", "*", ()), ("SSTP_DUPLEX_POST", "/x", ()), ("GET", "/actuator/heapdump", ()), ("GET", "/debug/pprof/heap", ())])
def test_peer_takes_the_operator_for_a_proxy_or_another_server(peer, method, target, lines):
    """It opens no connection for him, echoes nothing, speaks no other protocol and dumps no memory."""
    heard = peer(method, target, *lines)
    assert b"s3cret" not in heard and b" 101 " not in heard
    assert codes(heard) and (codes(heard)[0] >= 400 or target == "/livez"), heard


def test_peer_writes_lines_of_the_log(lab, peer):
    """Paths and headers with line ends and escapes: the log has no line and no escape of his."""
    size = {each.name: each.size() for each in lab.operators}
    for target in ("/external/%0aE%20forged%20line", "/external/jobs/%1b%5b31mred", "/x%0d%0a2026-01-01T00:00:00.000Z%20E%20forged"):
        peer("GET", target, "User-Agent: \x1b[31m", source="127.0.0.1")
        peer("GET", target, of="testbed")
    for each in lab.operators:
        said = each.tail(lines=10000, since=size[each.name])
        assert "\x1b" not in said and not any(line.startswith(("E forged", "2026-01-01")) for line in said.splitlines())


def test_peer_reads_names_in_metrics(lab, peer):
    """Metrics are everybody's who reaches the port: no name of anybody's is in them."""
    for operator in lab.operators:
        heard = peer("GET", "/metrics", of=operator.name)
        assert codes(heard) == [200]
        assert not any(each in heard for each in SECRETS), [line for line in heard.splitlines() if any(
            each in line for each in SECRETS)]


@pytest.mark.parametrize("more, source", [
    ("", STRANGER), ("X-Forwarded-For: 127.0.0.1\r\n", "127.0.0.1"), ("Origin: http://evil.example\r\n", "127.0.0.1"),
    ("Origin: null\r\n", "127.0.0.1")])
def test_peer_opens_a_stomp_connection(lab, inside, probes, more, source):
    """From elsewhere, through a proxy, and from a page of others: no connection."""
    operator = lab.operators["scheduling"]
    for target in ("/scheduler", "/scheduler/websocket", "/scheduler/0/x/websocket"):
        with socket.create_connection(("127.0.0.1", operator.port), timeout=PATIENCE, source_address=(source, 0)) as one:
            one.sendall(stomp_wire.request(operator.port, target, more=more))
            assert codes(one.recv(4096)) in ([403], [404]), target


def test_peer_subscribes_to_what_is_not_his_and_speaks_for_others(lab, inside, probes):
    """On this machine: all topics tell of the interface's namespace only, and what a client sends reaches nobody."""
    operator = lab.operators["scheduling"]
    with Stomp(operator.port, "/topic/**", "/topic/jobs/attacks/pi", "/topic/../attacks", "/topic/*/pi", "/queue/**",
               "/user/queue/x") as one, Stomp(operator.port, "/topic/jobs") as other:
        lab.acted()  # things change in the victim's namespace
        other.send('SEND\ndestination:/topic/jobs\n\n{"action":"DELETED","resource":"payroll"}\0')
        lab.api.create("BatchJob", "default", objects.job("signal"))
        heard = one.until(lambda each: "signal" in each.body)
        assert not any("attacks" in each.body or '"pi"' in each.body or "DELETED" in each.body for each in heard), heard
    lab.api.delete("BatchJob", "default", "signal")


def test_peer_speaks_plainly_to_tls_and_without_a_certificate(lab, tmp_path):
    """A standby that asks schedulers for certificates: plain HTTP is not answered, no certificate and one of
    another authority are not, probes are."""
    for name, authority in (("ca", None), ("server", None), ("stranger", None)):
        make_certificate(tmp_path, name, authority)
    one = Operator("testbed", lab.operators.kubeconfigs["testbed"], lab.operators.folder, replica=28, flags=(
        f"--tls-cert-file={tmp_path}/server.crt", f"--tls-private-key-file={tmp_path}/server.key",
        f"--client-ca-file={tmp_path}/ca.crt"))
    one.start()
    try:
        lab.scene.wait("it to serve", lambda: with_tls(one, tmp_path, "GET", "/livez") == [200])
        for target in ("/livez", "/extender/filter", "/debug/reset-all-jobs"):
            assert not any(code < 400 for code in codes(speak(one, request_of("GET", target))))
        for method, target, lines in (("POST", "/extender/filter", ()), ("POST", "/extender/preemption", ()),
                                      ("GET", "/debug/reset-all-jobs?allNamespaces=true", (DEBUG,)),
                                      ("POST", "/extender/filter", ("X-SSL-Client-Verify: SUCCESS", "X-Forwarded-Client-Cert: a"))):
            assert with_tls(one, tmp_path, method, target, *lines) == [403], target
        assert with_tls(one, tmp_path, "POST", "/extender/filter", certificate="stranger") in ([], [403])
        assert with_tls(one, tmp_path, "GET", "/livez") == [200]
    finally:
        one.stop()


def with_tls(operator, folder, method, target, *lines, certificate=None):
    """Codes of what a stranger hears over TLS."""
    context = ssl.create_default_context(cafile=f"{folder}/server.crt")
    if certificate:
        context.load_cert_chain(f"{folder}/{certificate}.crt", f"{folder}/{certificate}.key")
    heard = b""
    with contextlib.suppress(ssl.SSLError, ConnectionError), socket.create_connection(
            ("127.0.0.1", operator.port), timeout=PATIENCE, source_address=(STRANGER, 0)) as plain, \
            context.wrap_socket(plain, server_hostname="127.0.0.1") as one:
        one.sendall(request_of(method, target, *lines, body=b"{}" if method == "POST" else b""))
        while more := one.recv(4096):
            heard += more
    return codes(heard)


def test_probes_were_answered_throughout(probes):
    """Fifty milliseconds apart, from the first of the peer's attacks to the last."""
    assert len(probes.seconds) > 20 and not probes.failures, probes.failures[:5]


# --- the end, with all that the attackers left

def test_the_plan_with_guests_is_released(lab):
    """The victim's job beside all of those guests comes to its end, the plan goes, the slots are free."""
    lab.scene.finish("mine")
    lab.scene.job_state("mine", "CompletedState")
    for key in [key for key in lab.before if "mine" in key]:
        del lab.before[key]
    lab.release_shared()
    lab.scene.job_state("mine", "ReadyState")
    lab.scene.wait("nobody to hold it", lambda: lab.scene.holder("side") is None)
    own = range(len(SQUATTERS), 10)  # the others' names of ghosts may be taken
    lab.scene.wait("the slots to be free", lambda: all(lab.scene.slots("side")[slot]["state"] == "FREE" for slot in own))
    for name in GUESTS:
        job = lab.scene.get("BatchJob", name)
        assert not job or not job["spec"].get("creationRequest"), job["spec"]
    if "x" in lab.scene.get("BatchJob", "deepens")["spec"]["sparkSpec"]:
        lab.told("BatchJob", "deepens", "Accepted", "Undecodable", "attacks")


@pytest.mark.parametrize("kind", SQUATTERS)
def test_a_slot_whose_ghosts_name_was_taken_is_free_again(lab, squatters, kind):
    """The pod author's pod has the ghost's name: without more, with a finalizer of his, with an owner of his. The
    last two keep the slot in ERROR until they have gone: a Testbed's namespace is its owner's (security.md)."""
    slot = squatters[kind]
    if lab.scene.get("Scheduling", "shared"):
        lab.release_shared()
    if kind != "plain":
        lab.scene.wait(f"slot {slot} to be in ERROR", lambda: lab.scene.slots("side")[slot]["state"] == "ERROR")
        name = lab.ghost_names["attacks-side-0", slot]
        lab.scene.delete("Pod", name, wait=False, grace=0)
        if kind == "kept":
            lab.scene.api.take_finalizers("Pod", lab.scene.namespace, name)
    lab.scene.wait(f"slot {slot} to be free", lambda: lab.scene.slots("side")[slot]["state"] == "FREE")


def test_all_plans_of_the_victim_come_to_their_end(lab):
    """The job that runs ends well, the one that waits gets three slots, the plan that waits gets the Testbed; all
    are released and deleted, and all slots are free."""
    scene = lab.scene
    assert lab.before
    scene.finish("pi")
    scene.job_state("next", "RunningState")
    scene.finish("next")
    scene.scheduling_state("plan", "FinishedState")
    assert scene.progress("plan") == {"done": 2, "failed": 0, "total": 2}
    scene.job_state("spare", "RunningState")
    scene.finish("spare")
    scene.scheduling_state("later", "FinishedState")
    for name in ("plan", "later"):
        scene.delete("Scheduling", name)
    for name in ("pi", "next", "spare"):
        scene.job_state(name, "ReadyState")
    scene.testbed_ready("slots")
    assert {each.slot for each in scene.bindings() if each.pod.startswith("pi-")} == {0, 1}
    assert len({each.slot for each in scene.bindings() if each.pod.startswith("next-")}) == 3
