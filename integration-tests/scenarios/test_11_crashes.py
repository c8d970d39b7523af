"""Operators die, or sleep longer than their lease, exactly between two writes; two replicas of each.

A proxy before every replica stops it at a named write: after the API server has done the write and
before the operator hears of it, or before the API server has seen it. The other replica goes on.
"""
import contextlib
import re
import threading

import pytest
import urllib3

from api import ApiException
from breakpoint_proxy import Proxy
from operators import Operator
from patience import Timeout, let_pass, wait
from product import OPERATORS
from scene import chances


def has(target, pattern, method="PATCH"):
    expression = re.compile(pattern)
    return lambda request: request.method == method and re.search(target, request.target) is not None \
        and expression.search(request.body) is not None


LEASE_SECONDS = 5
#: What an operator logs when it ends for its lease.
LEASE_LOST = "lease lost"

#: The named writes, in the order in which a run makes them: (who writes, how it is known).
WRITES = {
    "hold": ("scheduling", has(r"/testbeds/[^/?]+(\?|$)", r'esi\.tu-berlin\.de/hold":\s*"')),
    "acquire": ("scheduling", has(r"/batchjobs/[^/?]+(\?|$)", r'"activeScheduling":\s*\{')),
    "assignment": ("scheduling", has(r"/schedulings/[^/]+/status", r'"assignments":\s*\[\s*\{')),
    "order": ("scheduling", has(r"/batchjobs/[^/?]+(\?|$)", r'"creationRequest":\s*\{')),
    "launch": ("batchjob", lambda request: request.method == "POST" and "/sparkapplications" in request.target
               and "dryRun" not in request.target),
    "placement": ("batchjob", has(r"/batchjobs/[^/]+/status", r'"placements":\s*\[\s*\{')),
    "nomination": ("testbed", has(r"/pods/[^/]+/status", r'"nominatedNodeName":\s*"')),
    "ghost-deletion": ("testbed", lambda request: request.method == "DELETE" and "-ghost-" in request.target),
    "ungating": ("testbed", has(r"/pods/[^/?]+(\?|$)", r"schedulingGates")),
    "epoch": ("scheduling", has(r"/schedulings/[^/]+/status", r'"releasing":\s*"[^"]')),
    "release-job": ("scheduling", has(r"/batchjobs/[^/?]+(\?|$)", r'"activeScheduling":\s*null')),
    "release-hold": ("scheduling", has(r"/testbeds/[^/?]+(\?|$)", r'esi\.tu-berlin\.de/hold":\s*null')),
}


class Pairs:
    """Two replicas of each operator, each behind a proxy of its own."""

    def __init__(self, operators, folder):
        self.replicas, self.proxies = {}, {}
        for name in OPERATORS:
            for number in (1, 2):
                proxy = Proxy(operators.kubeconfigs[name], folder, f"{name}-{number}")
                self.proxies[name, number] = proxy
                self.replicas[name, number] = Operator(name, proxy.kubeconfig, folder, replica=number,
                                                       lease_seconds=LEASE_SECONDS)

    def __iter__(self):
        return iter(self.replicas.values())

    def start(self):
        for replica in self:
            if not replica.alive():
                replica.start()
        for replica in self:
            try:
                replica.ready()
            except RuntimeError:
                if replica.alive():
                    raise
                replica.start().ready()  # it was about to end, as one that had slept for too long

    def revive(self):
        """Starts a replica again, as its pod's kubelet does, that ended because its lease could not be renewed in
        time, where the other one is not there to go on: on a busy machine both can meet it in one test."""
        for name in OPERATORS:
            both = [self.replicas[name, number] for number in (1, 2)]
            if not any(replica.alive() for replica in both):
                for replica in both:
                    last_life = replica.tail(200).rpartition("\n--- ")[2]
                    if LEASE_LOST in last_life:
                        replica.start()
                        break

    def leader(self, api, name):
        """The replica that the Lease of this operator names."""
        holder = (api.get("Lease", "esi-system", f"esi-{name}") or {}).get("spec", {}).get("holderIdentity") or ""
        for number in (1, 2):
            if holder.startswith(f"esi-{self.replicas[name, number].label}_"):
                return self.replicas[name, number]
        return None

    def stop(self):
        for replica in self:
            replica.stop()

    def break_at(self, write, action, before=False):
        """Arms the write on both replicas of its operator: only the leader writes. `action` gets the
        replica that met it; one of them only."""
        name, matches = WRITES[write]
        once = threading.Lock()

        def act(replica):
            if once.acquire(blocking=False):
                action(replica)
        return [self.proxies[name, number].break_at(
            matches, lambda number=number: act(self.replicas[name, number]), before) for number in (1, 2)]

    def clear(self):
        for proxy in self.proxies.values():
            proxy.clear()

    def close(self):
        for proxy in self.proxies.values():
            proxy.close()


@pytest.fixture(scope="module")
def pairs(operators, folder):
    folder = folder / "pairs"
    folder.mkdir(exist_ok=True)
    assert operators.stop() == []
    pairs = Pairs(operators, folder)
    try:
        pairs.start()
        yield pairs
    finally:
        try:
            pairs.stop()
        finally:
            pairs.close()
            operators.ensure()


@pytest.fixture
def crash_scene(request, plane, pairs, recording):
    """As `scene`, but it is served by the pairs, of which some will die."""
    from conftest import scene_name
    from scene import Scene
    pairs.start()
    scene = Scene(scene_name(request), plane, pairs, recording)
    scene.meanwhile = pairs.revive
    try:
        yield scene
    finally:
        pairs.clear()
        pairs.start()
        scene.close()
        violations = scene.violations()
    assert not violations, "\n".join(map(str, violations))


def whole_evaluation(scene):
    """Two jobs in three slots of two nodes, then a third in the freed ones; released at the end."""
    scene.nodes(2)
    scene.testbed(slots=2, isolation="Taint")
    scene.jobs("a", "b", "c", seconds=0.5)
    scene.queue("plan", ["a", "b", "a", "c", "c"], releaseOnCompletion=True)


def completes(scene):
    scene.scheduling_state("plan", "FinishedState")
    progress = scene.progress("plan")
    assert progress == {"done": 3, "failed": 0, "total": 3}, progress
    scene.released(jobs=["a", "b", "c"])
    assert scene.seats("a") == {0: scene.node(0), 2: scene.node(0)}
    assert scene.seats("b") == {1: scene.node(1)}
    assert len(scene.seats("c")) == 2


@pytest.mark.parametrize("write", WRITES)
def test_kill_9_after(crash_scene, pairs, write):
    points = pairs.break_at(write, lambda replica: replica.kill())
    whole_evaluation(crash_scene)
    crash_scene.wait(f"the write {write}", lambda: any(point.hit.is_set() for point in points))
    completes(crash_scene)


# To die before a write is to die after the one before it; these follow none of the same operator at once.
@pytest.mark.parametrize("write", ["hold", "launch", "nomination", "epoch"])
def test_kill_9_before(crash_scene, pairs, write):
    points = pairs.break_at(write, lambda replica: replica.kill(), before=True)
    whole_evaluation(crash_scene)
    crash_scene.wait(f"the write {write}", lambda: any(point.hit.is_set() for point in points))
    completes(crash_scene)


@pytest.mark.parametrize("write", WRITES)
def test_asleep_for_longer_than_the_lease_at(crash_scene, pairs, write):
    slept, sleepers = threading.Event(), []

    def sleep(replica):
        sleepers.append(replica)
        replica.pause()

        def wake():
            # Until the other one leads, which it does when this one's lease is over.
            with contextlib.suppress(Timeout):
                wait("another leader", lambda: pairs.leader(crash_scene.api, replica.name) not in (replica, None),
                     not_yet=(ApiException, urllib3.exceptions.HTTPError))
            replica.go_on()
            slept.set()
        threading.Thread(target=wake, daemon=True).start()
    points = pairs.break_at(write, sleep)
    whole_evaluation(crash_scene)
    crash_scene.wait(f"the write {write}", lambda: any(point.hit.is_set() for point in points))
    completes(crash_scene)
    # The next test may count on who runs then.
    crash_scene.wait("the sleeper to wake and to end", lambda: slept.is_set() and not sleepers[0].alive())


@pytest.mark.slow
def test_kills_at_random_moments(crash_scene, pairs):
    chance = chances()
    done = threading.Event()

    def disturb():
        while not done.wait(chance.uniform(0.2, 1.5)):
            victim = chance.choice(list(pairs))
            if victim.alive():
                victim.kill()
            let_pass(chance.uniform(0, 0.5), "it is away for a while, by chance")
            victim.start()
    whole_evaluation(crash_scene)
    disturber = threading.Thread(target=disturb)
    disturber.start()
    try:
        let_pass(20, "replicas are killed for so long")
    finally:
        done.set()
        disturber.join()
    pairs.start()
    completes(crash_scene)
