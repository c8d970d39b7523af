"""A Testbed cuts labelled nodes into slots and fills each with a bound ghost."""
import json

import pytest
import requests

import objects
from patience import PATIENCE


def positions(scene, testbed="slots"):
    return {row["position"]: (row["nodeName"], row["slotPositionOnNode"], row["nodeId"], row["state"])
            for row in scene.slots(testbed).values()}


def test_three_nodes_with_two_slots_give_six_bound_ghosts_numbered_round_the_nodes(scene):
    n0, n1, n2 = scene.nodes(3)
    scene.testbed(slots=2, cpu="600m", memory="1.75Gi")
    assert set(scene.bound_ghosts()) == {(n0, 0), (n1, 0), (n2, 0), (n0, 1), (n1, 1), (n2, 1)}
    assert positions(scene) == {
        0: (n0, 0, 0, "FREE"), 1: (n1, 0, 1, "FREE"), 2: (n2, 0, 2, "FREE"),
        3: (n0, 1, 0, "FREE"), 4: (n1, 1, 1, "FREE"), 5: (n2, 1, 2, "FREE")}
    status = scene.status("Testbed", "slots")
    assert status["state"] == "SUCCESS"
    assert status["counts"] == {"nodes": 3, "total": 6, "free": 6, "reserved": 0, "occupied": 0, "error": 0}
    assert [(node["name"], node["id"]) for node in status["layout"]["nodes"]] == [(n0, 0), (n1, 1), (n2, 2)]
    assert scene.condition("Testbed", "slots", "Ready")["status"] == "True"
    assert scene.condition("Testbed", "slots", "CapacitySufficient")["status"] == "True"
    for pod in scene.ghosts().values():
        assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "600m", "memory": "1792Mi"}
        assert pod["spec"]["priorityClassName"] == "esi-ghost"
        assert pod["spec"]["terminationGracePeriodSeconds"] == 0
        assert pod["metadata"]["ownerReferences"][0]["kind"] == "Testbed"
    for position, row in scene.slots().items():
        ghost = scene.ghosts()[row["nodeName"], row["slotPositionOnNode"]]
        assert (row["podName"], row["podUId"]) == (ghost["metadata"]["name"], ghost["metadata"]["uid"]), position


def test_kubectl_shows_a_testbed_in_a_line_and_waits_for_its_condition(scene):
    scene.nodes(1)
    scene.testbed(slots=2, ready=False)
    scene.plane.kubectl("-n", scene.namespace, "wait", "--for=condition=Ready", "testbed/slots", f"--timeout={PATIENCE}s")
    scene.testbed_ready()
    header, row = scene.plane.kubectl("-n", scene.namespace, "get", "tb").splitlines()
    assert header.split()[:5] == ["NAME", "STATE", "NODES", "SLOTS", "FREE"]
    assert row.split()[:5] == ["slots", "SUCCESS", "1", "2", "2"]


def fill_other_nodes(scene):
    """Ordinary load on the cluster's other nodes, so that this scene's are the least requested."""
    for node in ("node-0", "node-1"):
        scene.pods(f"load-{node}", cpu="31", memory="60Gi", node_selector={"kubernetes.io/hostname": node})
        scene.wait(f"load on {node}", lambda node=node: scene.get("Pod", f"load-{node}")["spec"].get("nodeName"))


def test_node_set_up_labels_the_least_requested_nodes_and_gives_the_same_ghosts(scene, operators):
    n0, n1, n2 = scene.nodes(3, labelled=False)
    for name, cpu, node in (("p", "300m", n1), ("q", "100m", n2)):
        scene.pods(name, cpu=cpu, memory="1Mi", node_selector={"kubernetes.io/hostname": node})
        scene.wait(f"{name} to be bound", lambda name=name: scene.get("Pod", name)["spec"].get("nodeName"))
    fill_other_nodes(scene)  # last: who knows of this load knows of p and q
    # The endpoint has no namespace: it looks in `default`, as the original did.
    scene.apply(objects.testbed("set-up", scene.label), namespace="default")
    try:
        def set_up(count):
            return requests.get(operators["testbed"].url + "/debug/node-set-up",
                                params={"name": "set-up", "count": count}, headers=objects.DEBUG, timeout=PATIENCE)
        scene.wait("the operator to know it and the load of the nodes", lambda: (
            lambda answer: answer.status_code == 400 and answer.json()["messages"] == [
                "3 nodes have the room, 99 are wanted"])(set_up(99)))
        answer = set_up(3)
        assert (answer.status_code, answer.json()) == (200, [n0, n2, n1])
        labels = {name: scene.api.get("Node", None, name)["metadata"]["labels"].get(scene.label)
                  for name in (n0, n1, n2)}
        assert labels == {n0: "0", n2: "1", n1: "2"}

        def slots():
            status = scene.api.get("Testbed", "default", "set-up").get("status") or {}
            return status.get("state") == "SUCCESS" and (status.get("counts") or {}).get("free") == 6 and {
                row["position"]: (row["nodeName"], row["slotPositionOnNode"]) for row in status["slots"]}
        assert scene.wait("six free slots", slots) == {0: (n0, 0), 1: (n2, 0), 2: (n1, 0),
                                                       3: (n0, 1), 4: (n2, 1), 5: (n1, 1)}
    finally:
        scene.api.delete("Testbed", "default", "set-up")
        scene.wait("the testbed and its ghosts to be gone", lambda: not scene.api.list(
            "Pod", "default", labels="esi.tu-berlin.de/testbed=set-up"))


def test_node_set_up_refuses_an_unknown_testbed_and_more_nodes_than_there_are(scene, operators):
    url = operators["testbed"].url + "/debug/node-set-up"
    assert requests.get(url, params={"name": "nowhere", "count": 1}, headers=objects.DEBUG,
                        timeout=PATIENCE).status_code == 404
    scene.apply(objects.testbed("few", scene.label), namespace="default")
    try:
        scene.wait("the operator to know the testbed", lambda: requests.get(
            url, params={"name": "few", "count": 500}, headers=objects.DEBUG, timeout=PATIENCE).status_code == 400)
        for count in ("many", "-1", ""):
            assert requests.get(url, params={"name": "few", "count": count}, headers=objects.DEBUG,
                                timeout=PATIENCE).status_code == 400
    finally:
        scene.api.delete("Testbed", "default", "few")


def test_a_ghost_deleted_by_hand_comes_back_in_its_slot_and_the_others_stay(scene):
    n0, n1 = scene.nodes(2)
    scene.testbed()
    before = scene.bound_ghosts()
    victim = scene.ghosts()[n1, 0]
    scene.delete("Pod", victim["metadata"]["name"], wait=False, grace=0)
    after = scene.wait("another ghost in the slot", lambda: (
        lambda ghosts: len(ghosts) == 4 and ghosts[n1, 0] != before[n1, 0] and ghosts)(scene.bound_ghosts()))
    assert {place: uid for place, uid in after.items() if place != (n1, 0)} == {
        place: uid for place, uid in before.items() if place != (n1, 0)}
    scene.testbed_ready()


def test_other_resources_of_a_slot_are_held_too(scene):
    n0, = scene.nodes(1)
    scene.api.patch("Node", None, n0, {"status": {"capacity": {"lab.esi/gpu": "2"},
                                                  "allocatable": {"lab.esi/gpu": "2"}}}, sub="status")
    scene.apply({**objects.testbed("slots", scene.label),
                 "spec": {"slotsPerNode": 2, "nodeLabel": scene.label,
                          "resourcesPerSlot": {"cpu": "100m", "memory": "900Mi", "lab.esi/gpu": "1"}}})
    scene.testbed_ready()
    for pod in scene.ghosts().values():
        assert pod["spec"]["containers"][0]["resources"]["requests"]["lab.esi/gpu"] == "1"


@pytest.mark.parametrize("value", ["one", "1.5", "0x1", ""])
def test_a_node_whose_label_is_no_number_contributes_no_slot_and_is_named(scene, value):
    good, bad = scene.nodes(2)
    scene.api.patch("Node", None, bad, {"metadata": {"labels": {scene.label: value}}})
    scene.testbed(ready=False)
    problems = scene.wait("a problem of the node", lambda: scene.status("Testbed", "slots").get("nodeProblems"))
    assert set(problems) == {bad}
    scene.wait("the good node's ghosts", lambda: set(scene.bound_ghosts()) == {(good, 0), (good, 1)})


def test_two_nodes_with_the_same_number_are_named(scene):
    n0, n1, n2 = scene.nodes(3)
    scene.api.patch("Node", None, n2, {"metadata": {"labels": {scene.label: "1"}}})
    scene.testbed(ready=False)
    problems = scene.wait("a problem", lambda: scene.status("Testbed", "slots").get("nodeProblems"))
    assert set(problems) & {n1, n2} and n0 not in problems
    scene.wait("the other node's ghosts", lambda: {(n0, 0), (n0, 1)} <= set(scene.bound_ghosts()))


def test_isolation_taints_the_nodes_before_the_ghosts_and_gives_them_back(scene):
    n0, n1 = scene.nodes(2)
    made = scene.testbed(isolation="Taint")
    uid = made["metadata"]["uid"]

    def taints(node):
        return [(taint["key"], taint.get("value"), taint["effect"])
                for taint in scene.api.get("Node", None, node)["spec"].get("taints") or []]
    for node in (n0, n1):
        assert taints(node) == [("esi.tu-berlin.de/testbed", uid, "NoSchedule")]
    assert scene.condition("Testbed", "slots", "Isolated")["status"] == "True"
    scene.delete("Testbed", "slots")
    scene.wait("the taints to be gone", lambda: not taints(n0) and not taints(n1))
    scene.wait("the ghosts to be gone", lambda: not scene.ghosts())


def test_without_isolation_the_condition_says_what_is_not_protected(scene):
    scene.nodes(1)
    scene.testbed()
    condition = scene.condition("Testbed", "slots", "Isolated")
    assert condition["status"] == "False"
    assert condition["message"]


def test_a_changed_slot_size_gives_new_ghosts_of_the_new_size(scene):
    scene.nodes(2)
    scene.testbed()
    revision = scene.status("Testbed", "slots")["layout"]["revision"]
    scene.api.patch("Testbed", scene.namespace, "slots",
                    {"spec": {"slotsPerNode": 3, "resourcesPerSlot": {"cpu": "500m", "memory": "1Gi"}}})
    scene.wait("six ghosts of the new size", lambda: len(scene.bound_ghosts()) == 6 and all(
        pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
        for pod in scene.ghosts().values()))
    scene.testbed_ready()
    assert scene.status("Testbed", "slots")["layout"]["revision"] > revision


def test_a_testbed_without_nodes_is_in_order_and_grows_when_nodes_get_the_label(scene):
    scene.testbed(ready=False)
    scene.wait("state SUCCESS", lambda: scene.status("Testbed", "slots").get("state") == "SUCCESS")
    assert scene.status("Testbed", "slots").get("counts", {}).get("total", 0) == 0
    n0, = scene.nodes(1)
    scene.testbed_ready()
    assert set(scene.bound_ghosts()) == {(n0, 0), (n0, 1)}


def test_ghosts_are_given_another_image_where_they_stand(scene, plane, operators):
    scene.nodes(2)
    scene.testbed()
    before = scene.bound_ghosts()
    usual = {pod["spec"]["containers"][0]["image"] for pod in scene.ghosts().values()}
    scene.may_restart = True
    try:
        operators["testbed"].stop()
        plane.set_policies("policies.ghostImages={mirror/pause:2}", templates=("testbed",))
        ghost = next(iter(scene.ghosts().values()))
        [container] = ghost["spec"]["containers"]
        patch = {"spec": {"containers": [{"name": container["name"], "image": "mirror/pause:2"}]}}
        scene.wait("the API server to judge by the other policy", lambda: plane.kubectl(
            "patch", "pod", ghost["metadata"]["name"], "--namespace", scene.namespace, "--dry-run=server",
            "--as=system:serviceaccount:esi-system:esi-testbed", "--patch", json.dumps(patch),
            check=False).returncode == 0)
        operators["testbed"].start(["--ghost-image=mirror/pause:2"]).ready()
        scene.wait("the other image", lambda: {pod["spec"]["containers"][0]["image"]
                                               for pod in scene.ghosts().values()} == {"mirror/pause:2"})
    finally:
        operators["testbed"].stop()
        operators["testbed"].start().ready()
    scene.wait("the usual image", lambda: {pod["spec"]["containers"][0]["image"]
                                           for pod in scene.ghosts().values()} == usual)
    plane.install()
    assert scene.bound_ghosts() == before, "a ghost was made anew"
