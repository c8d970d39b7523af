"""The original's helpers under /debug: nodes for a Testbed, and failed jobs made ready again."""
import re

import pytest
import requests

import objects
from operators import Operator
from patience import PATIENCE

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00"
RESET = "esi.tu-berlin.de/reset"


@pytest.fixture
def debug(scene, operators):
    """/debug looks in the namespace `default` only, which is empty between tests."""
    yield operators["testbed"].url + "/debug"
    for kind in ("Scheduling", "BatchJob", "Testbed"):
        scene.api.delete_all(kind, "default")
        scene.wait(f"no {kind} in default", lambda kind=kind: not scene.api.list(kind, "default"))


@pytest.fixture
def own_nodes(scene):
    """Four nodes of 2 cores, and no other that would do: node 1 is idle, node 2 has 300m and node 0 800m
    requested, node 3 has no room for two slots of 600m."""
    scene.nodes(4, labelled=False)
    others = [node["metadata"]["name"] for node in scene.api.list("Node")
              if node["metadata"]["name"] not in scene.made_nodes]
    for name in others:
        scene.api.patch("Node", None, name, {"spec": {"unschedulable": True}})
    for number, cpu in ((0, "800m"), (2, "300m"), (3, "900m")):
        scene.pods(f"load-{number}", cpu=cpu, nodeName=scene.node(number))
    yield
    for name in others:
        scene.api.patch("Node", None, name, {"spec": {"unschedulable": None}})


def ask(url, **parameters):
    return requests.get(url, params=parameters, headers=objects.DEBUG, timeout=PATIENCE)


def error(answer, status, word, path):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    body = answer.json()
    assert list(body) == ["timestamp", "status", "error", "path", "messages"]
    assert (body["status"], body["error"], body["path"]) == (status, word, path)
    assert re.fullmatch(STAMP, body["timestamp"]), body
    return body["messages"]


def label_of(scene, number):
    return scene.api.get("Node", None, scene.node(number))["metadata"]["labels"].get(scene.label)


def labels(scene):
    return [label_of(scene, number) for number in range(4)]


def apply_testbed(scene, debug, name="beds", namespace="default"):
    scene.apply(objects.testbed(name, scene.label), namespace=namespace)
    scene.wait("the operator to know it and the load of the nodes", lambda: (
        lambda answer: answer.status_code == 400 and answer.json()["messages"] == [
            "3 nodes have the room, 99 are wanted"])(ask(debug + "/node-set-up", name=name, count=99)))


def test_node_set_up_labels_the_least_requested_nodes_that_fit(scene, debug, own_nodes):
    n0, n1, n2, _ = scene.made_nodes
    apply_testbed(scene, debug)
    answer = ask(debug + "/node-set-up", name="beds", count=2)
    assert (answer.status_code, answer.json()) == (200, [n1, n2])
    assert labels(scene) == [None, "0", "1", None]
    slots = scene.wait("four free slots", lambda: (lambda status: status.get("state") == "SUCCESS" and (
        status.get("counts") or {}).get("free") == 4 and status["slots"])(
        scene.api.get("Testbed", "default", "beds").get("status") or {}))
    assert [(slot["position"], slot["nodeName"]) for slot in slots] == [(0, n1), (1, n2), (2, n1), (3, n2)]
    assert ask(debug + "/node-set-up", name="beds", count=2).json() == [n1, n2], "its own ghosts do not count"
    assert ask(debug + "/node-set-up", name="beds", count=3).json() == [n1, n2, n0]
    assert labels(scene) == ["2", "0", "1", None]
    assert ask(debug + "/node-set-up", name="beds", count=1).json() == [n1]
    assert labels(scene) == [None, "0", None, None]


def test_node_set_up_refuses_what_it_cannot_do_and_changes_nothing(scene, debug, own_nodes):
    apply_testbed(scene, debug)
    path = "/debug/node-set-up"
    assert error(ask(debug + "/node-set-up", name="beds", count=4), 400, "Bad Request", path) == [
        "3 nodes have the room, 4 are wanted"]
    assert error(ask(debug + "/node-set-up", name="nope", count=1), 404, "Not Found", path) == [
        "no such Testbed in namespace default"]
    for parameters in ({}, {"name": "beds"}, {"count": "1"}, {"name": "beds", "count": "0"},
                       {"name": "beds", "count": "two"}):
        error(ask(debug + "/node-set-up", **parameters), 400, "Bad Request", path)
    assert labels(scene) == [None, None, None, None]
    for method in ("POST", "HEAD"):
        answer = requests.request(method, debug + "/node-set-up", headers=objects.DEBUG, timeout=PATIENCE)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET")


def test_pages_cannot_ask_and_labels_of_kubernetes_stay(scene, debug, own_nodes):
    path = "/debug/node-set-up"
    wanted = {"name": "beds", "count": 1}
    apply_testbed(scene, debug)
    for headers in ({}, {**objects.DEBUG, "Host": "evil.example"}, {**objects.DEBUG, "X-Forwarded-For": "10.0.0.1"}):
        error(requests.get(debug + "/node-set-up", params=wanted, headers=headers, timeout=PATIENCE), 403, "Forbidden", path)
    assert labels(scene) == [None, None, None, None]
    scene.apply(objects.testbed("hosts", "kubernetes.io/hostname"), namespace="default")
    said, = scene.wait("the operator to know it", lambda: (lambda answer: answer.status_code == 400 and error(
        answer, 400, "Bad Request", path))(ask(debug + "/node-set-up", name="hosts", count=1)))
    assert said.startswith("spec.nodeLabel of the Testbed is kubernetes.io/hostname, a label of Kubernetes itself")
    for node in scene.api.list("Node"):
        assert node["metadata"]["labels"]["kubernetes.io/hostname"] == node["metadata"]["name"]


def fail_for_good(scene, name):
    """A failed job of `default`, as a failed run leaves it."""
    scene.apply(objects.job(name), namespace="default")
    scene.wait(f"{name} to be ready", lambda: state_of(scene, name) == "ReadyState")
    scene.api.patch("BatchJob", "default", name, {"status": {"state": "FailedSubmissionState"}}, sub="status")


def state_of(scene, name, namespace="default"):
    return (scene.api.get("BatchJob", namespace, name).get("status") or {}).get("state")


def note_of(scene, name, namespace="default"):
    return (scene.api.get("BatchJob", namespace, name)["metadata"].get("annotations") or {}).get(RESET)


def test_reset_all_jobs_annotates_failed_jobs_of_its_namespace_and_deletes_nothing(scene, debug):
    scene.nodes(1)
    scene.testbed()
    scene.apply(objects.job("elsewhere"))
    scene.apply(objects.job("fine"), namespace="default")
    fail_for_good(scene, "bad")
    scene.wait("elsewhere to be ready", lambda: state_of(scene, "elsewhere", scene.namespace) == "ReadyState")
    scene.api.patch("BatchJob", scene.namespace, "elsewhere", {"status": {"state": "FailedState"}}, sub="status")
    before = {job["metadata"]["uid"] for job in scene.api.list("BatchJob")}
    answer = scene.wait("the operator to see the failure", lambda: (
        lambda answer: answer.text != "[]" and answer)(ask(debug + "/reset-all-jobs")))
    assert (answer.status_code, answer.json()) == (200, ["bad"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", note_of(scene, "bad"))
    assert note_of(scene, "fine") is None and note_of(scene, "elsewhere", scene.namespace) is None
    scene.wait("bad to be ready", lambda: state_of(scene, "bad") == "ReadyState")
    assert state_of(scene, "elsewhere", scene.namespace) == "FailedState"
    scene.wait("the operator to see no failure", lambda: ask(
        debug + "/reset-all-jobs", allNamespaces="false").json() == [])
    assert ask(debug + "/reset-all-jobs", allNamespaces="true").json() == ["elsewhere"]
    scene.wait("elsewhere to be ready", lambda: state_of(scene, "elsewhere", scene.namespace) == "ReadyState")
    assert {job["metadata"]["uid"] for job in scene.api.list("BatchJob")} == before
    error(ask(debug + "/reset-all-jobs", allNamespaces="maybe"), 400, "Bad Request", "/debug/reset-all-jobs")


READER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {name}}}
rules:
- {{apiGroups: [esi.tu-berlin.de], resources: [testbeds, batchjobs, schedulings, testbedslotslices],
   verbs: [get, list, watch]}}
- {{apiGroups: [""], resources: [pods, nodes], verbs: [get, list, watch]}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {name}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {name}}}
subjects: [{{kind: ServiceAccount, name: default, namespace: {name}}}]
"""


def test_a_refused_patch_is_a_401_and_says_what_was_refused(scene, debug, plane, operators, own_nodes):
    """By an operator that may only read."""
    role = READER.format(name=scene.namespace)
    plane.kubectl("apply", "-f", "-", stdin=role)
    reader = Operator("testbed", plane.account(scene.namespace, "default"), operators.folder, replica=22,
                      flags=("--leader-elect=false",))
    try:
        apply_testbed(scene, debug)
        fail_for_good(scene, "bad")
        reader.start().ready()
        path = reader.url + "/debug"
        said, = error(ask(path + "/node-set-up", name="beds", count=1), 401, "Unauthorized", "/debug/node-set-up")
        assert said.startswith(f"node {scene.node(1)}: ") and "forbidden" in said
        assert labels(scene) == [None, None, None, None]
        said, = error(ask(path + "/reset-all-jobs"), 401, "Unauthorized", "/debug/reset-all-jobs")
        assert said.startswith("job default/bad: ") and "forbidden" in said
        assert note_of(scene, "bad") is None
    finally:
        reader.stop()
        plane.kubectl("delete", "-f", "-", stdin=role)


def test_a_standby_answers_too_and_without_the_flag_nobody_does(scene, debug, operators, own_nodes):
    standby = Operator("testbed", operators.kubeconfigs["testbed"], operators.folder, replica=23)
    closed = Operator("testbed", operators.kubeconfigs["testbed"], operators.folder, replica=24,
                      flags=("--enable-debug-endpoints=false",))
    try:
        for each in (standby, closed):
            each.start()
        for each in (standby, closed):
            each.ready()
        apply_testbed(scene, standby.url + "/debug")
        answer = ask(standby.url + "/debug/node-set-up", name="beds", count=1)
        assert (answer.status_code, answer.json()) == (200, [scene.node(1)])
        assert labels(scene) == [None, "0", None, None]
        for path in ("/debug/node-set-up", "/debug/reset-all-jobs"):
            answer = ask(closed.url + path, name="beds", count=2)
            assert (answer.status_code, answer.json()["path"]) == (404, path)
        assert labels(scene) == [None, "0", None, None]
    finally:
        for each in (standby, closed):
            each.stop()
