"""FlinkClusters: an admission policy gives their TaskManagers the gate, scheduler and priority that this
kind cannot. Their operator is played: the test makes the Deployments that it would make, and writes its
states; API server, policy, controllers, scheduler and ESI's operators are real."""
import pytest
import yaml

import api
import objects
from control_plane import MANIFESTS

GROUP = "flinkoperator.k8s.io"
POLICY = MANIFESTS / "flinkcluster"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    # Groups below k8s.io ask for it; spotify's has it too.
    "metadata": {"name": f"flinkclusters.{GROUP}", "annotations": {"api-approved.kubernetes.io": "unapproved"}},
    "spec": {"group": GROUP, "scope": "Namespaced",
             "names": {"plural": "flinkclusters", "singular": "flinkcluster", "kind": "FlinkCluster"},
             "versions": [{"name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {"type": "object",
                                                          "x-kubernetes-preserve-unknown-fields": True}}}]}}


@pytest.fixture
def flink_cluster(scene, plane, operators, monkeypatch):
    """The batchjob operator with the other backend, the kind, and the manifests that it needs."""
    if not plane.serves("admissionregistration.k8s.io/v1", "mutatingadmissionpolicies"):
        pytest.skip("backend FlinkCluster: MutatingAdmissionPolicy v1 is not served")
    scene.may_restart = True
    monkeypatch.setitem(api.KINDS, "FlinkCluster", (f"/apis/{GROUP}/v1beta1", "flinkclusters", True))
    plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump(DEFINITION))
    plane.kubectl("apply", "-f", str(POLICY))
    plane.kubectl("wait", "--for=condition=Established", "crd", DEFINITION["metadata"]["name"])
    operators["batchjob"].stop()
    operators["batchjob"].start(["--flink-backend", "FlinkCluster"]).ready()
    yield
    operators["batchjob"].stop()
    operators["batchjob"].start().ready()
    plane.kubectl("delete", "--ignore-not-found", "-f", str(POLICY))
    plane.kubectl("delete", "crd", DEFINITION["metadata"]["name"])


def deployment(cluster, component):
    """As spotify's operator makes one (newTaskManagerDeployment, newJobManagerStatefulSet)."""
    name = cluster["metadata"]["name"]
    role = cluster["spec"][{"taskmanager": "taskManager", "jobmanager": "jobManager"}[component]]
    labels = {"app": "flink", "cluster": name, "component": component, **role["podLabels"]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"{name}-{component}"},
            "spec": {"replicas": role["replicas"], "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels, "annotations": role["podAnnotations"]},
                "spec": {"affinity": role.get("affinity"), "tolerations": role.get("tolerations"),
                         "containers": [{"name": component, "image": cluster["spec"]["image"]["name"],
                                         "resources": role["resources"]}]}}}}


def report(scene, name, state, **more):
    scene.api.patch("FlinkCluster", scene.namespace, name, {"status": {
        "state": "Running", "components": {"job": {"state": state, **more}}}}, sub="status")


def begin(scene, job):
    cluster = scene.wait(f"FlinkCluster {job}", lambda: scene.get("FlinkCluster", job))
    for component in ("jobmanager", "taskmanager"):
        scene.apply(deployment(cluster, component))
    return cluster


def end(scene, job):
    """What its operator leaves to the garbage collector."""
    scene.gone("FlinkCluster", job)
    for component in ("jobmanager", "taskmanager"):
        scene.delete("Deployment", f"{job}-{component}")


def test_task_managers_of_a_flink_cluster_take_the_jobs_slots(scene, flink_cluster):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=1)
    scene.apply(objects.flink_job("a"))
    scene.job_state("a", "ReadyState")
    limited = scene.wait_condition("BatchJob", "a", "BackendAvailable", "True", "Limited")
    assert "cannot set scheduling gate, scheduler and priority class" in limited["message"]
    scene.queue("plan", ["a", "a"])
    cluster = begin(scene, "a")
    assert cluster["spec"]["taskManager"]["replicas"] == 2
    assert cluster["spec"]["job"]["jarFile"] == "./examples/streaming/WordCount.jar"
    scene.job_state("a", "ScheduledState")
    report(scene, "a", "Running", startTime="2026-01-01T00:00:00Z")
    scene.job_state("a", "RunningState")
    for pod in scene.job_pods("a"):
        assert (pod["spec"]["priorityClassName"], pod["spec"]["priority"]) == ("esi-job", 1000200)
    report(scene, "a", "Succeeded")
    scene.job_state("a", "CompletedState")
    end(scene, "a")
    scene.scheduling_state("plan", "CompletedState")
    assert scene.seats("a") == {0: n0, 1: n1}
    scene.testbed_ready()


def test_task_managers_that_no_policy_has_prepared_end_the_run_with_the_reason(scene, flink_cluster, plane):
    plane.kubectl("delete", "-f", str(POLICY / "policy.yaml"))
    scene.allowed.append(("unplaced", "a-taskmanager"))  # bound anywhere: that is what is told
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.apply(objects.flink_job("a"))
    scene.wait_condition("BatchJob", "a", "BackendAvailable", "True")
    scene.queue("plan", ["a"])

    def unprepared():
        scene.plane.kubectl("delete", "deployment", "--all", "-n", scene.namespace, "--ignore-not-found")
        scene.apply(deployment(cluster, "taskmanager"))
        return scene.status("BatchJob", "a").get("state") == "FailedState"

    cluster = scene.wait("FlinkCluster a", lambda: scene.get("FlinkCluster", "a"))
    # The API server goes by a policy for a moment after it was deleted.
    scene.wait("the job to have failed", unprepared)
    run, = scene.status("BatchJob", "a")["runs"]
    assert run["reason"] == "PodNotPrepared"
    assert "priority class none instead of default-scheduler and esi-job" in run["message"]
    scene.gone("FlinkCluster", "a")
    scene.delete("Deployment", "a-taskmanager")
    scene.scheduling_state("plan", "CompletedState")
    scene.testbed_ready()
