"""Nodes come, go and change while the Testbed is held: positions do not move until the release."""
import re

import pytest
import requests

from patience import PATIENCE


def delete_node(scene):
    scene.api.delete("Node", None, scene.node(1))


def remove_label(scene):
    scene.api.patch("Node", None, scene.node(1), {"metadata": {"labels": {scene.label: None}}})


def cordon(scene):
    scene.plane.kubectl("cordon", scene.node(1))


def make_not_ready(scene):
    """Nobody keeps the node's conditions any longer, and they say NotReady."""
    name = scene.node(1)
    scene.api.patch("Node", None, name, {"metadata": {"labels": {"kwok.x-k8s.io/node": None}}})
    conditions = scene.api.get("Node", None, name)["status"]["conditions"]
    for condition in conditions:
        if condition["type"] == "Ready":
            condition.update(status="False", reason="KubeletNotReady")
    scene.api.patch("Node", None, name, {"status": {"conditions": conditions}}, sub="status")


def join_another(scene):
    scene.nodes(1)


def positions(scene):
    return {position: (row["nodeName"].removeprefix(scene.name + "-"), row["slotPositionOnNode"])
            for position, row in scene.slots().items()}


def has_looked(operator):
    """It leads and has reconciled something."""
    text = requests.get(operator.url + "/metrics", timeout=PATIENCE).text
    return re.search(r"^controller_runtime_reconcile_total\{.*\} [1-9]", text, re.MULTILINE)


HELD = {0: ("0", 0), 1: ("1", 0), 2: ("2", 0), 3: ("0", 1), 4: ("1", 1), 5: ("2", 1)}
WITHOUT_1 = {0: ("0", 0), 1: ("2", 0), 2: ("0", 1), 3: ("2", 1)}
WITH_3 = {0: ("0", 0), 1: ("1", 0), 2: ("2", 0), 3: ("3", 0), 4: ("0", 1), 5: ("1", 1), 6: ("2", 1), 7: ("3", 1)}


@pytest.mark.parametrize("change, after, free", [
    (delete_node, WITHOUT_1, 4), (remove_label, WITHOUT_1, 4), (cordon, HELD, 4),
    (make_not_ready, HELD, 4), (join_another, WITH_3, 8)], ids=lambda value: getattr(value, "__name__", ""))
def test_positions_do_not_move_while_held_and_are_the_expected_ones_after(scene, operators, change, after, free):
    scene.nodes(3)
    scene.testbed(slots=2)
    scene.jobs("pi", seconds=600)
    scene.slot_plan("plan", "strict", [("pi", [0, 5])])
    scene.job_state("pi", "RunningState")
    revision = scene.status("Testbed", "slots")["layout"]["revision"]
    assert positions(scene) == HELD
    change(scene)
    if after != HELD:
        scene.wait_condition("Testbed", "slots", "LayoutCurrent", "False")
    else:
        scene.wait("its slots to be ERROR", lambda: {
            position for position, row in scene.slots().items() if row["state"] == "ERROR"} == {1, 4})
    assert positions(scene) == HELD
    scene.may_restart = True
    operators["testbed"].kill()
    operators["testbed"].start().ready()
    scene.wait("the new process to lead and to look", lambda: has_looked(operators["testbed"]))
    scene.wait("the operator to be back with the same positions", lambda: positions(scene) == HELD)
    assert scene.status("Testbed", "slots")["layout"]["revision"] == revision
    assert scene.status("BatchJob", "pi")["state"] == "RunningState"
    scene.finish("pi")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.seats("pi") == {0: scene.node(0), 5: scene.node(2)}
    assert positions(scene) == HELD, "still held"
    scene.delete("Scheduling", "plan")
    scene.wait("the positions after the release", lambda: positions(scene) == after)
    scene.wait(f"{free} free slots", lambda: scene.status("Testbed", "slots")["counts"]["free"] == free)
    scene.wait_condition("Testbed", "slots", "LayoutCurrent", "True")


def test_a_run_whose_node_is_deleted_fails_with_a_reason_or_is_made_whole_but_never_hangs(scene):
    scene.nodes(2)
    scene.testbed(slots=1)
    scene.jobs("pi", seconds=600)
    scene.jobs("next", seconds=0)
    scene.slot_plan("plan", "relaxed", [("pi", [0, 1]), ("next", [0])], scheduleTimeoutSeconds=15,
                    submitTimeoutSeconds=20)
    scene.job_state("pi", "RunningState")
    scene.api.delete("Node", None, scene.node(1))
    for pod in scene.api.list("Pod", scene.namespace, fields=f"spec.nodeName={scene.node(1)}"):
        scene.api.delete("Pod", scene.namespace, pod["metadata"]["name"], grace=0)  # as a person does it
    scene.finish("pi")
    scene.scheduling_state("plan", "CompletedState")
    scene.delete("Scheduling", "plan")
    scene.wait("the smaller layout", lambda: positions(scene) == {0: ("0", 0)})


def test_cordoned_nodes_keep_their_ghosts_and_their_slots_come_back(scene):
    scene.nodes(2)
    scene.testbed(slots=2)
    before = scene.bound_ghosts()
    cordon(scene)
    scene.wait("ERROR slots", lambda: {
        position for position, row in scene.slots().items() if row["state"] == "ERROR"} == {1, 3})
    assert scene.bound_ghosts() == before
    scene.plane.kubectl("uncordon", scene.node(1))
    scene.testbed_ready()
    assert scene.bound_ghosts() == before
