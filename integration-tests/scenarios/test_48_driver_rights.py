"""What sparkDrivers.enabled adds to the rights of esi-batchjob, on a real API server: what its token opens for drivers
that wait, and nothing else.

Every request is a dry run, as in test_27_policies.py. A control plane of its own, on which no operator runs.
"""
import pytest

import objects
from api import Api, ApiException
from control_plane import MANIFESTS, ControlPlane
from test_27_policies import attempt, wait
from test_47_spark_drivers import driver, gates

MARKS = {"metadata": {"labels": {objects.PREFIX + "job": "pi", objects.PREFIX + "testbed": "pi"},
                      "annotations": {objects.PREFIX + "run": "s.1.1", objects.PREFIX + "slots": "0",
                                      objects.PREFIX + "job-uid": "u"}}}
MORE = {"metadata": MARKS["metadata"] | {"labels": MARKS["metadata"]["labels"] | {"team": "a"}}}
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "pi", "uid": "uid-1"}
JOB = {"sparkDriver": {"uid": "uid-1"}}
CLAIM = {"claim": {"shapes": [objects.shape("workers", 1)]}, "queueBased": [{"name": "pi"}]}


@pytest.fixture(scope="module")
def plane(folder):
    """Namespace `lab` is enabled, `default` is not."""
    plane = ControlPlane(folder / "driver-rights")
    plane.up(nodes=1, spark=False)
    try:
        plane.install()
        plane.kubectl("apply", "--filename", str(MANIFESTS / "claims"), "--filename", str(MANIFESTS / "sparkdrivers"))
        plane.kubectl("create", "namespace", "lab")
        plane.kubectl("label", "namespace", "lab", objects.PREFIX + "gangs=enabled")
        wait("default accounts", lambda: all(plane.api.get("ServiceAccount", name, "default")
                                             for name in ("lab", "default")))
        plane.operator = Api(plane.account("esi-system", "esi-batchjob"))
        wait("the gate", lambda: gates(plane.api.call("POST", "/api/v1/namespaces/lab/pods", driver("probe"),
                                                      query={"dryRun": "All"})))
        for body in (driver("waits"), objects.pod("plain", schedulingGates=[{"name": "example.com/other"}])):
            wait(body["metadata"]["name"], lambda body=body: attempt(lambda: plane.api.create("Pod", "lab", body)))
        wait("rights", lambda: answer(plane, *ALLOWED["a BatchJob"])[0] == 200)
        wait("policies", lambda: answer(plane, *REFUSED["a BatchJob of an image"][1:])[0] == 403)
        yield plane
    finally:
        plane.down()


def answer(plane, method, plural, name, body, namespace="lab"):
    """(status, text) of a dry run as esi-batchjob."""
    prefix = "/api/v1" if plural == "pods" else "/apis/esi.tu-berlin.de/v1alpha1"
    url = f"{prefix}/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")
    kind = "application/strategic-merge-patch+json" if method == "PATCH" else "application/json"
    try:
        plane.operator.call(method, url, body, query={"dryRun": "All"}, content_type=kind)
        return 200, ""
    except ApiException as error:
        return error.status, str(error.body)


def job(owner=None, spec=None, name="pi"):
    return "POST", "batchjobs", None, made("BatchJob", OWNER | (owner or {}), spec or JOB, name)


def plan(owner=None, spec=None, name="pi"):
    return "POST", "schedulings", None, made("Scheduling", OWNER | (owner or {}), spec or CLAIM, name)


def made(kind, owner, spec, name):
    return {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": kind,
            "metadata": {"name": name, "ownerReferences": [owner]}, "spec": spec}


ALLOWED = {
    "marks": ("PATCH", "pods", "waits", MARKS),
    "a BatchJob": job(),
    "a Scheduling": plan(),
}
PODS, JOBS, PLANS = "esi-batchjob-pods", "esi-batchjob-driver-jobs", "esi-batchjob-driver-plans"
REFUSED = {
    "another label": (PODS, "PATCH", "pods", "waits", MORE),
    "the gate": ("esi-", "PATCH", "pods", "waits", {"spec": {"schedulingGates": None}}),
    "another image": (PODS, "PATCH", "pods", "waits", {"spec": {"containers": [{"name": "main", "image": "miner"}]}}),
    "another pod": ("esi-", "PATCH", "pods", "plain", MARKS),
    "a pod": ("cannot create resource", "POST", "pods", None, objects.pod("new")),
    "a BatchJob of an image": (JOBS, *job(spec={"sparkSpec": objects.spark_spec()})),
    "a BatchJob of another driver": (JOBS, *job(owner={"uid": "uid-2"})),
    "a BatchJob of another name": (JOBS, *job(name="wc")),
    "a Scheduling of a Testbed": (PLANS, *plan(spec={"testbed": {"name": "slots"}, "queueBased": [{"name": "pi"}]})),
    "a Scheduling of other jobs": (PLANS, *plan(spec=CLAIM | {"queueBased": [{"name": "wc"}]})),
    "a Scheduling of slots of other jobs": (PLANS, *plan(spec={"claim": CLAIM["claim"], "slotBased": {
        "mode": "strict", "jobs": [{"name": objects.reference("wc"), "slotIds": [0]}]}})),
    "a Scheduling of another owner": (PLANS, *plan(owner={"kind": "ConfigMap"})),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_it_may(plane, name):
    assert answer(plane, *ALLOWED[name]) == (200, "")


@pytest.mark.parametrize("name", REFUSED)
def test_it_may_not(plane, name):
    policy, *request = REFUSED[name]
    status, text = answer(plane, *request)
    assert status == 403 and policy in text, f"{status} {text}"


@pytest.mark.parametrize("request_of", [job, plan])
def test_nothing_in_a_namespace_that_is_not_enabled(plane, request_of):
    status, text = answer(plane, *request_of(), namespace="default")
    assert status == 403 and "gangs=enabled" in text, text
