"""The hand-written layer of the Python client (examples/clients/python) against the real interface."""
import threading

import pytest

import esi_client
from esi_client import BatchJob, Scheduling, SchedulingInput, Testbed
from esi_client.generated.api.schedulings import create_scheduling
from patience import PATIENCE


@pytest.fixture
def esi(replica, token):
    return esi_client.connect(replica.url, token=token)


def plan(name, *jobs, testbed="slots"):
    return SchedulingInput.from_dict({"metadata": {"name": name}, "spec": {
        "testbed": {"name": testbed}, "queueBased": [{"name": each} for each in jobs]}})


def create(esi, namespace, name, *jobs, **more):
    return create_scheduling.sync_detailed(namespace, client=esi, body=plan(name, *jobs, **more))


class Listener:
    """A thread with a mirror of the namespace, and all that it was told."""

    def __init__(self, esi, namespace):
        self.mirror, self.told, self.changed = esi_client.Mirror(), [], threading.Condition()
        self.stream = esi_client.events(esi, namespace=namespace, patience=PATIENCE)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for event in self.stream:
            with self.changed:
                self.told.append(event)
                self.mirror.take(event)
                self.changed.notify_all()

    def until(self, holds):
        with self.changed:
            assert self.changed.wait_for(lambda: holds(self), PATIENCE), self.told[-5:]


def test_a_mirror_of_the_events_is_what_the_lists_show(scene, replica, esi, token):
    scene.nodes(1)
    scene.testbed()
    scene.jobs("pi")
    listener = Listener(esi_client.connect(replica.url, token=token), scene.namespace)
    listener.until(lambda it: it.mirror.synced)
    assert {key[0] for key in listener.mirror.objects} == {"Testbed", "BatchJob"}
    create(esi, scene.namespace, "queue", "pi")
    done = esi_client.wait_for(esi, Scheduling, scene.namespace, "queue", "state=CompletedState", PATIENCE)
    esi_client.wait_for(esi, BatchJob, scene.namespace, "pi", "state=CompletedState", PATIENCE)
    version = esi_client.version_of(done)
    listener.until(lambda it: (now := it.mirror.objects.get(("Scheduling", scene.namespace, "queue"))) is not None and
                   int(esi_client.version_of(now)) >= int(version))
    states = [each.object.status.state for each in listener.told
              if each.kind == "Scheduling" and each.object.status and each.object.status.state]
    assert "AwaitingCompletionState" in states or "SubmissionState" in states, states
    assert states[-1] == "CompletedState"
    for kind in (Testbed, BatchJob, Scheduling):
        for shown in esi_client.objects(esi, kind, scene.namespace):
            name = shown.metadata.name
            listener.until(lambda it, kind=kind, shown=shown, name=name: esi_client.version_of(
                it.mirror.objects[kind.__name__, scene.namespace, name]) == esi_client.version_of(shown))
    scene.delete("Scheduling", "queue")
    listener.until(lambda it: ("Scheduling", scene.namespace, "queue") not in it.mirror.objects)


def test_two_that_change_one_plan_at_the_same_time_lose_nothing(scene, esi):
    scene.jobs("pi")
    create(esi, scene.namespace, "queue", "pi", testbed="absent")
    failed = []

    def extend(count):
        try:
            for _ in range(count):
                esi_client.update(esi, scene.namespace, "queue", lambda now: {"spec": {"queueBased": [
                    *(each.to_dict() for each in now.spec.queue_based), {"name": "pi"}]}})
        except Exception as error:
            failed.append(error)
    threads = [threading.Thread(target=extend, args=(10,)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE)
    assert not failed
    assert len(esi_client.get(esi, Scheduling, scene.namespace, "queue").spec.queue_based) == 21
    scene.delete("Scheduling", "queue")


def test_notes_of_two_programs_both_stay(scene, esi):
    scene.jobs("pi")
    for key in ("mine", "theirs"):
        esi_client.update_notes(esi, scene.namespace, "pi", lambda job, key=key: {key: [{"tau": "1 (1)"}]})
    esi_client.update_notes(esi, scene.namespace, "pi", lambda job: {"mine": None})
    notes = esi_client.get(esi, BatchJob, scene.namespace, "pi").spec.external_scheduler.to_dict()
    assert notes == {"theirs": [{"tau": "1 (1)"}]}


def test_refusals_have_their_exceptions(scene, replica, esi):
    with pytest.raises(esi_client.Invalid) as refused:
        create(esi, scene.namespace, "No-Name", "pi")
    assert [each.pointer for each in refused.value.faults] == ["/metadata/name"]
    with pytest.raises(esi_client.NotFound):
        esi_client.get(esi, Scheduling, scene.namespace, "absent")
    with pytest.raises(esi_client.Forbidden):
        create(esi, "default", "queue", "pi")
    with pytest.raises(esi_client.Unauthorized):
        esi_client.get(esi_client.connect(replica.url, token="none"), Scheduling, scene.namespace, "absent")
    scene.jobs("pi")
    with pytest.raises(esi_client.TimeUp) as late:
        esi_client.wait_for(esi, BatchJob, scene.namespace, "pi", "state=RunningState", 0.2)
    assert late.value.state == "ReadyState"
