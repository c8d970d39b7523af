"""Starts on the extender path where a job needs all the room of its node: no executor is left behind.

ESI deletes an executor's ghost while kube-scheduler may be about to preempt the same ghost. Then the
scheduler can lose the event that room has become free (docs/architecture.md, "The swap"), and the executor
would stay Pending for five minutes, with its room free, if esi-testbed did not wake it.

    ESI_STARTS=300 integration-tests/scenarios/run.sh test_29_tight_nodes.py -s

prints the numbers of docs/testing.md.
"""
import json
import os
import statistics
import subprocess
import sys

import pytest

import objects
from breakpoint_proxy import Proxy
from operators import EXTENDER, Operator
from patience import PATIENCE, wait

STARTS = int(os.environ.get("ESI_STARTS") or 10)
TESTBEDS = 5  # starts at the same time
#: An executor whose room is free and that is not bound for so long is stranded: kube-scheduler tries again
#: by itself after 10 s at most (back-off), or after 300 s.
STRANDED = 30  # seconds
MARK = "esi.tu-berlin.de/"
BUSY = "import time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end: pass"


@pytest.fixture
def busy():
    """A machine with more to do than it has cores."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 1)]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


def revive(operators):
    """As a Deployment does: where the API server does not answer for seconds, a lease is lost."""
    for operator in operators:
        if not operator.alive():
            operator.start(EXTENDER if operator.name == "batchjob" else ())


@pytest.fixture
def tight(scene, plane, operators):
    """TESTBEDS testbeds of one node each, which has room for its two slots and nothing else."""
    for number in range(TESTBEDS):
        label = f"{scene.label}-{number}"
        scene.made_nodes += plane.add_nodes(f"{scene.name}-{number}", 1, cpu="1300m", memory="3700Mi",
                                            labels=f"{label}=0")
        scene.testbed(f"slots-{number}", label=label, isolation="Taint", ready=False)
    for number in range(TESTBEDS):
        def free(name=f"slots-{number}"):
            revive(operators)
            return (scene.status("Testbed", name).get("counts") or {}).get("free") == 2
        scene.wait("both slots to be free", free, PATIENCE)


def woken(operators, since):
    """How often esi-testbed has woken a pod, by its log after `since` bytes."""
    with open(operators["testbed"].log, "rb") as log:
        log.seek(since)
        return sum(b" I pod woken " in line for line in log)


def waits_for_binding(recording, namespace):
    """{executor's name: seconds from its ghost being gone to its binding, or to its own end without one}."""
    recording.catch_up()
    gone, bound, ghosts, names = {}, {}, {}, {}
    with open(recording.file, encoding="utf-8") as lines:
        for line in lines:
            change = json.loads(line)
            pod = change.get("object")
            if change["kind"] != "Pod" or not pod or pod["metadata"].get("namespace") != namespace:
                continue
            uid, notes = pod["metadata"]["uid"], pod["metadata"].get("annotations") or {}
            if change["type"] == "DELETED":
                gone[uid] = change["at"]
            if notes.get(MARK + "slot-ghost"):
                ghosts[uid], names[uid] = notes[MARK + "slot-ghost"], pod["metadata"]["name"]
            if pod["spec"].get("nodeName"):
                bound.setdefault(uid, change["at"])
    return {names[uid]: bound.get(uid, gone.get(uid, change["at"])) - gone[ghost]
            for uid, ghost in ghosts.items() if ghost in gone}


def test_no_executor_is_left_behind_on_tight_nodes(scene, operators, recording, by_extender, tight, busy):
    jobs = [f"job-{number}" for number in range(TESTBEDS)]
    scene.jobs(*jobs, seconds=0)
    begin = operators["testbed"].size()
    unfinished = []

    def wait(what, probe):
        def revived():
            revive(operators)
            return probe()
        try:
            scene.wait(what, revived, PATIENCE)
        except AssertionError as late:
            unfinished.append(str(late))

    for first in range(0, STARTS, TESTBEDS):
        plans = {f"start-{first + number}": number for number in range(min(TESTBEDS, STARTS - first))}
        for plan, number in plans.items():
            # Twice the job: two slots.
            scene.queue(plan, [jobs[number]] * 2, f"slots-{number}", releaseOnCompletion=True)
        for plan in plans:
            wait(f"{plan} to be finished",
                 lambda plan=plan: scene.status("Scheduling", plan).get("state") == "FinishedState")
            scene.delete("Scheduling", plan, wait=False)
        for plan in plans:
            wait(f"{plan} to be gone", lambda plan=plan: not scene.get("Scheduling", plan))
    waits = waits_for_binding(recording, scene.namespace)
    stranded = {name: seconds for name, seconds in waits.items() if seconds >= STRANDED}
    print(f"\n{STARTS} starts, {len(waits)} executors; from the ghost being gone to the binding: "
          f"median {statistics.median(waits.values()):.2f} s, longest {max(waits.values()):.2f} s; "
          f"stranded {len(stranded)}; woken {woken(operators, begin)} times")
    assert not stranded, stranded
    assert not unfinished, "\n".join(unfinished)
    assert len(waits) >= 2 * STARTS


# --- the window itself, made wide

@pytest.fixture
def by_extender_proxied(scene, plane, operators, folder):
    """The extender path; esi-testbed's requests to delete a ghost are refused, until the test does it."""
    scene.may_restart = True
    operators["testbed"].stop()
    operators["batchjob"].stop()
    proxy = Proxy(operators.kubeconfigs["testbed"], folder, "tight")
    testbed = Operator("testbed", proxy.kubeconfig, folder, replica=1).start().ready()
    plane.start("second-scheduler", "--extender-url", testbed.url)
    operators["batchjob"].start(EXTENDER).ready()
    yield proxy, testbed
    testbed.stop()
    proxy.close()
    plane.stop("second-scheduler", "TERM")
    operators["batchjob"].stop()
    for name in ("batchjob", "testbed"):
        operators[name].start().ready()


def test_a_pod_that_kube_scheduler_has_forgotten_is_woken_and_told(scene, plane, by_extender_proxied):
    """Before it names its victim, a preemption clears the nominations of lower pods, one request each: many
    of them, and the ghost goes meanwhile."""
    proxy, testbed = by_extender_proxied
    label = f"{scene.label}-0"
    [node] = plane.add_nodes(f"{scene.name}-0", 1, cpu="1300m", memory="3700Mi", labels=f"{label}=0")
    scene.made_nodes.append(node)
    scene.testbed(label=label, isolation="Taint")
    scene.jobs("pi", seconds=600)
    scene.apply(objects.pod("moves", cpu="10m"))  # its end makes kube-scheduler try again
    lower = [f"lower-{number}" for number in range(150)]
    for name in lower:  # no toleration of the taint: they never come in
        scene.apply(objects.pod(name, node_selector={label: "0"}, schedulerName="external-scheduler"))

    def rejected():
        pods = [pod for pod in scene.api.list("Pod", scene.namespace) if pod["metadata"]["name"] in lower]
        return len(pods) == sum(any(each["type"] == "PodScheduled" and each["status"] == "False"
                                    for each in pod["status"].get("conditions") or []) for pod in pods)
    scene.wait("the lower pods to be rejected", rejected)
    scene.wait("the pod that moves", lambda: scene.get("Pod", "moves")["spec"].get("nodeName"))
    proxy.refuse(lambda request: request.method == "DELETE" and "-ghost-" in request.target, 500, "not now")
    scene.queue("plan", ["pi"], releaseOnCompletion=True)

    def committed():
        return [pod for pod in scene.job_pods("pi") if MARK + "slot-ghost" in pod["metadata"]["annotations"]]
    executor = scene.wait("the executor to be committed", committed)[0]
    for name in lower:
        scene.api.patch("Pod", scene.namespace, name, {"status": {"nominatedNodeName": node}}, sub="status")
    ghost = {pod["metadata"]["uid"]: pod for pod in scene.ghosts().values()}[
        executor["metadata"]["annotations"][MARK + "slot-ghost"]]["metadata"]["name"]
    name = executor["metadata"]["name"]
    scene.delete("Pod", "moves", wait=False, grace=0)
    # At once: what follows has to come while the nominations are cleared.
    wait("kube-scheduler to have chosen a victim", lambda: scene.get("Pod", name)["status"].get("nominatedNodeName"),
         30, pause=0, told=scene.report)
    scene.delete("Pod", ghost, grace=0)

    told = scene.wait("the job to say what it waits for or the executor to be bound", lambda: (
        scene.status("BatchJob", "pi").get("reason") == "WaitsForBinding" and scene.status("BatchJob", "pi"))
        or scene.get("Pod", name).get("spec", {}).get("nodeName"))
    assert isinstance(told, dict), "kube-scheduler did not forget the executor"
    assert any(f"pod {name} (slot 0) waits since" in each and f"for external-scheduler to bind it to {node}" in each
               for each in told["problems"]), told["problems"]
    scene.wait("the executor to be bound", lambda: scene.get("Pod", name).get("spec", {}).get("nodeName"), STRANDED)
    scene.wait("an Event on the executor", lambda: ("PodNotBound", name) in scene.events())
    assert "pod woken" in testbed.log.read_text(encoding="utf-8")
    for each in lower:
        scene.delete("Pod", each, wait=False, grace=0)
    proxy.refusals.clear()
    scene.job_state("pi", "RunningState")
    scene.finish("pi")
    scene.scheduling_state("plan", "FinishedState")
