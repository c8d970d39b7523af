"""Ordinary pods that wait for room on the testbed's nodes while slots change hands."""
import random
import threading

import pytest

import objects
from patience import let_pass
from scene import chances

SLOTS = 5


def waiting_strangers(scene, count=10, cpu="600m", memory="512Mi", **spec):
    """A Deployment of ordinary pods that fit into an empty slot of these nodes and nowhere else."""
    scene.apply({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "strangers"},
        "spec": {"replicas": count, "selector": {"matchLabels": {"app": "stranger"}}, "template": {
            "metadata": {"labels": {"app": "stranger"}},
            "spec": {**objects.pod("x", cpu, memory)["spec"], "nodeSelector": {"lab": scene.name}, **spec}}}})
    scene.wait("all of them to be pending", lambda: len([
        pod for pod in scene.api.list("Pod", scene.namespace, labels="app=stranger")
        if any(c["type"] == "PodScheduled" and c["status"] == "False"
               for c in pod["status"].get("conditions") or [])]) == count)


def neighbours(scene, node):
    """Ordinary pods that run beside the slots, and their uids."""
    scene.pods("beside-1", "beside-2", cpu="50m", memory="64Mi",
               node_selector={"kubernetes.io/hostname": node})
    return scene.wait("the neighbours to be bound", lambda: (lambda found: all(
        pod["spec"].get("nodeName") == node for pod in found) and {
            pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in found})(
        [scene.get("Pod", name) for name in ("beside-1", "beside-2")]))


def uids(scene, names):
    return {name: scene.get("Pod", name)["metadata"]["uid"] for name in names}


def end_abruptly(scene, job, chance):
    """Executors end without warning: half of them Failed, half of them deleted with grace 0."""
    for pod in scene.job_pods(job):
        name = pod["metadata"]["name"]
        if chance.random() < 0.5:
            scene.api.patch("Pod", scene.namespace, name, {"status": {"phase": "Failed"}}, sub="status")
        else:
            scene.api.delete("Pod", scene.namespace, name, grace=0)


def swap_round(scene, number, abrupt, chance):
    """One run of one job over all but the last slot: SLOTS swaps in and back."""
    name = f"run-{number}"
    scene.apply(objects.slot_plan(name, "slots", "strict", [("pi", list(range(SLOTS)))],
                                  releaseOnCompletion=True))
    scene.job_state("pi", "RunningState")
    if abrupt:
        end_abruptly(scene, "pi", chance)
        scene.delete("Scheduling", name)
    else:
        scene.finish("pi")
        scene.scheduling_state(name, "FinishedState")
        scene.delete("Scheduling", name)
    scene.wait("the job to be released", lambda: scene.status("BatchJob", "pi").get("state") in (
        "ReadyState", "FailedState", "FailedSubmissionState") and not scene.get(
            "BatchJob", "pi")["spec"].get("activeScheduling"))
    if scene.status("BatchJob", "pi")["state"] != "ReadyState":
        scene.api.patch("BatchJob", scene.namespace, "pi",
                        {"metadata": {"annotations": {"esi.tu-berlin.de/reset": str(number)}}})
        scene.job_state("pi", "ReadyState")


def laboratory(scene, isolation, **job):
    """Two nodes, three slots each that fill them up to a rest of 200m, a job and its neighbours.

    The neighbours come first, as later they would be strangers themselves.
    """
    n0, n1 = scene.nodes(2, cpu="2")
    beside = neighbours(scene, n1)
    scene.testbed(slots=3, cpu="600m", memory="1Gi", isolation=isolation)
    made = objects.job("pi", seconds=600)
    made["spec"]["sparkSpec"]["executor"] = job.get("executor", {})
    scene.apply(made)
    scene.job_state("pi", "ReadyState")
    return n0, n1, beside


def last_ghost(scene):
    """uid of the ghost beside the job's slots: slot 5 is node 1's third."""
    return scene.bound_ghosts()[scene.node(1), 2]


def test_fifty_swaps_with_taint_half_of_them_abrupt_let_no_stranger_in(scene):
    chance = random.Random(8)
    _, n1, beside = laboratory(scene, "Taint")
    waiting_strangers(scene)
    ghost = last_ghost(scene)
    for number in range(10):                        # of SLOTS swaps each
        swap_round(scene, number, abrupt=number % 2 == 1, chance=chance)
        scene.testbed_ready()
    assert [stranger.pod for stranger in scene.strangers() if stranger.pod not in beside] == []
    assert uids(scene, beside) == beside
    assert last_ghost(scene) == ghost


def test_without_taint_no_stranger_comes_in_where_the_end_is_announced(scene):
    chance = random.Random(9)
    _, n1, beside = laboratory(scene, "None", executor={
        "annotations": {"esi-test/termination-seconds": "1"}})
    waiting_strangers(scene)
    ghost = last_ghost(scene)
    for number in range(4):
        swap_round(scene, number, abrupt=False, chance=chance)
        scene.testbed_ready()
    assert [stranger.pod for stranger in scene.strangers() if stranger.pod not in beside] == []
    assert uids(scene, beside) == beside
    assert last_ghost(scene) == ghost


def test_without_taint_a_slot_lost_to_a_stranger_at_an_abrupt_end_is_error_naming_it_and_free_after(scene):
    laboratory(scene, "None")
    scene.queue("plan", ["pi"] * SLOTS)
    scene.job_state("pi", "RunningState")
    waiting_strangers(scene, count=3)

    def end_and_look():  # where all ghosts were faster, the executors that come in place end as well
        for pod in scene.job_pods("pi"):
            if pod["status"].get("phase") == "Running":
                scene.api.patch("Pod", scene.namespace, pod["metadata"]["name"], {"status": {"phase": "Failed"}},
                                sub="status")
        return [pod["metadata"]["name"] for pod in scene.api.list("Pod", scene.namespace, labels="app=stranger")
                if pod["spec"].get("nodeName")]
    came = scene.wait("a stranger to take the room of a slot", end_and_look)
    scene.delete("Scheduling", "plan")
    def erroneous():
        rows = [row for row in scene.slots().values() if row["state"] == "ERROR"]
        words = str(scene.status("Testbed", "slots").get("nodeProblems"))
        return rows and any(name in words for name in came) and rows
    scene.wait("an ERROR that names the stranger", erroneous)
    scene.delete("Deployment", "strangers")
    scene.wait("the strangers to leave", lambda: not scene.api.list(
        "Pod", scene.namespace, labels="app=stranger"))
    scene.testbed_ready()


@pytest.mark.slow
def test_swaps_while_kube_scheduler_is_killed_and_started_let_no_stranger_in_with_taint(scene, plane):
    chance = chances()
    _, n1, beside = laboratory(scene, "Taint")
    waiting_strangers(scene)
    done = threading.Event()

    def disturb():
        while not done.wait(chance.uniform(0.5, 2.5)):
            plane.stop("kube-scheduler")
            let_pass(chance.uniform(0, 0.5), "it is away for a while, by chance")
            plane.start("kube-scheduler")
    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        for number in range(4):
            swap_round(scene, number, abrupt=number % 2 == 1, chance=chance)
    finally:
        done.set()
        disturber.join()
    scene.testbed_ready()
    assert [stranger.pod for stranger in scene.strangers() if stranger.pod not in beside] == []
    assert uids(scene, beside) == beside


@pytest.mark.slow
def test_without_taint_a_restarted_scheduler_may_let_one_in_which_is_then_named(scene, plane):
    """kube-scheduler forgets the nominations of gated pods when it starts; that is the one way in."""
    chance = chances()
    laboratory(scene, "None", executor={"annotations": {"esi-test/termination-seconds": "1"}})
    waiting_strangers(scene, count=3)
    came = 0
    for number in range(3):
        starts = 0
        name = f"run-{number}"
        scene.slot_plan(name, "strict", [("pi", list(range(SLOTS)))], releaseOnCompletion=True)
        while scene.status("BatchJob", "pi").get("state") != "RunningState" and starts < 3:
            plane.stop("kube-scheduler")
            plane.start("kube-scheduler")
            starts += 1
            let_pass(chance.uniform(0, 0.6), "the next stop comes at any moment of the start")
        inside = [pod["metadata"]["name"] for pod in scene.api.list("Pod", scene.namespace, labels="app=stranger")
                  if pod["spec"].get("nodeName")]
        came += len(inside)
        if inside and scene.status("BatchJob", "pi").get("state") != "RunningState":
            scene.wait("an ERROR that names the stranger", lambda inside=inside: any(
                stranger in str(scene.status("Testbed", "slots").get("nodeProblems")) for stranger in inside))
            scene.delete("Deployment", "strangers")
        scene.job_state("pi", "RunningState")
        scene.finish("pi")
        scene.scheduling_state(name, "FinishedState")
        scene.delete("Scheduling", name)
    print(f"strangers that came in: {came}")
    if scene.get("Deployment", "strangers"):
        scene.delete("Deployment", "strangers")
    scene.wait("the strangers to leave", lambda: not scene.api.list(
        "Pod", scene.namespace, labels="app=stranger"))
    scene.testbed_ready()


def highest_class(scene):
    if not scene.api.get("PriorityClass", None, "esi-test-above"):
        scene.api.create("PriorityClass", None, {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": "esi-test-above"}, "value": 2000000})
    return {"priorityClassName": "esi-test-above", "tolerations": [{"operator": "Exists"}]}


def test_swaps_after_a_preemption_on_the_node_let_no_stranger_in_and_only_its_victims_go(scene):
    """A preemption clears the nominations of lower pods on its node: they are set again."""
    _, n1, beside = laboratory(scene, "Taint")
    waiting_strangers(scene)
    ghost = last_ghost(scene)
    above = highest_class(scene)
    for number in range(3):
        # 200m of the node are no slot's: the neighbours have 100m, the victim takes the rest.
        scene.pods(f"victim-{number}", cpu="100m", memory="1Mi", node_selector={"kubernetes.io/hostname": n1},
                   tolerations=[{"operator": "Exists"}])
        scene.wait("the victim to be bound", lambda number=number: scene.get(
            "Pod", f"victim-{number}")["spec"].get("nodeName"))
        name = f"run-{number}"
        scene.slot_plan(name, "strict", [("pi", list(range(SLOTS)))], releaseOnCompletion=True)
        scene.pods(f"above-{number}", cpu="100m", memory="1Mi", node_selector={"kubernetes.io/hostname": n1}, **above)
        scene.gone("Pod", f"victim-{number}")
        scene.job_state("pi", "RunningState")
        scene.finish("pi")
        scene.scheduling_state(name, "FinishedState")
        scene.delete("Scheduling", name)
        scene.delete("Pod", f"above-{number}", grace=0)
        scene.testbed_ready()
    allowed = {*beside, *(f"{kind}-{number}" for kind in ("victim", "above") for number in range(3))}
    assert [stranger.pod for stranger in scene.strangers() if stranger.pod not in allowed] == []
    assert uids(scene, beside) == beside
    assert last_ghost(scene) == ghost


def test_a_pod_above_the_job_class_preempts_and_only_its_victims_go(scene):
    """It takes a ghost, as it is above them; the others, and the neighbours, stay."""
    above = highest_class(scene)  # early: the API server admits its pods as soon as its cache has it
    n0, n1, beside = laboratory(scene, "Taint")
    before = scene.bound_ghosts()
    scene.pods("above", cpu="600m", memory="64Mi", node_selector={"kubernetes.io/hostname": n0}, **above)
    scene.wait("it to be bound", lambda: scene.get("Pod", "above")["spec"].get("nodeName") == n0)
    scene.wait("its problem to be told", lambda: n0 in (scene.status("Testbed", "slots").get("nodeProblems") or {}))
    after = scene.bound_ghosts()
    assert len([place for place in before if after.get(place) != before[place]]) == 1
    assert uids(scene, beside) == beside
    scene.delete("Pod", "above", grace=0)
    scene.testbed_ready()


# --- pods that pretend

def pretender(scene, name, slot, run="0.0.0", job="pi", cpu="600m"):
    """A gated pod with the labels and annotations of a job pod."""
    body = objects.pod(name, cpu=cpu, memory="900Mi", schedulingGates=[{"name": "esi.tu-berlin.de/slot"}])
    body["metadata"]["labels"] = {
        "esi.tu-berlin.de/testbed": "slots", "esi.tu-berlin.de/testbed-namespace": scene.namespace,
        "esi.tu-berlin.de/job": job}
    body["metadata"]["annotations"] = {"esi.tu-berlin.de/run": run, "esi.tu-berlin.de/slots": str(slot)}
    return scene.forge(body)


def nothing_comes_of_it(scene):
    """Waits until the operator has acted on something later: a ghost that goes is there again."""
    place, uid = next(iter(scene.bound_ghosts().items()))
    scene.delete("Pod", scene.ghosts()[place]["metadata"]["name"], wait=False, grace=0)
    scene.wait("its ghost again", lambda: scene.bound_ghosts().get(place) not in (None, uid))


def is_gated(scene, name):
    return bool(scene.get("Pod", name)["spec"].get("schedulingGates"))


def test_a_pod_with_an_old_run_token_is_not_let_in(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("pi", seconds=600)
    scene.queue("plan", ["pi"])
    scene.job_state("pi", "RunningState")
    places = set(scene.bound_ghosts())
    pretender(scene, "old", 1)
    nothing_comes_of_it(scene)
    pod = scene.get("Pod", "old")
    assert not pod or (pod["spec"].get("schedulingGates") and not pod["spec"].get("nodeName"))
    assert set(scene.bound_ghosts()) == places
    scene.api.delete("Pod", scene.namespace, "old", grace=0)


def test_a_stranger_with_a_slot_annotation_and_a_gate_of_its_own_is_left_alone(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    places = set(scene.bound_ghosts())
    body = objects.pod("marked", cpu="600m", memory="900Mi", node_selector={"lab": scene.name})
    body["metadata"]["annotations"] = {"esi.tu-berlin.de/slot": "0", "esi.tu-berlin.de/slot-node": n0}
    body["spec"]["schedulingGates"] = [{"name": "esi.tu-berlin.de/slot"}]
    scene.forge(body)
    nothing_comes_of_it(scene)
    assert is_gated(scene, "marked")
    assert set(scene.bound_ghosts()) == places


def test_a_sidecar_takes_its_part_of_the_slot_from_the_executor(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    big = objects.job("big", seconds=600)
    big["spec"]["sparkSpec"]["executor"] = {"template": {"spec": {"containers": [
        {"name": "spark-kubernetes-executor", "image": "none"},
        {"name": "sidecar", "image": "none", "resources": {"requests": {"cpu": "100m"}}}]}}}
    scene.apply(big)
    scene.job_state("big", "ReadyState")
    scene.queue("plan", ["big"])
    scene.job_state("big", "RunningState")
    assert scene.seats("big") == {0: n0}
    assert scene.get("SparkApplication", "big")["spec"]["executor"]["coreRequest"] == "500m"
    scene.finish("big")


# --- the extender

def test_a_second_unmodified_scheduler_and_the_extender_reach_the_same_slots(scene, by_extender):
    """batchjob with --placement=extender: pods without a gate, decided by the operators, looked up by the
    extender."""
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=2, isolation="Taint")
    scene.jobs("a", "b", seconds=1)
    scene.queue("plan", ["a", "b", "a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    assert scene.seats("a") == {0: n0, 2: n0}
    assert scene.seats("b") == {1: n1}
    scene.testbed_ready()
