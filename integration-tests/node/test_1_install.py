"""From nothing: helm install, helm test, jobs of real Spark and Flink to their ends."""
import pytest

import jobs
import product
from cluster import WORK, wait

OPERATORS = tuple(f"esi-{name}" for name in product.OPERATORS)


@pytest.mark.quick
def test_the_operators_run_as_pods_on_the_nodes_for_work(esi):
    pods = esi.api.list("Pod", "esi-system")
    for operator in OPERATORS:
        mine = [pod for pod in pods if pod["spec"]["serviceAccountName"] == operator]
        assert len(mine) == 2, f"{operator}: {[pod['metadata']['name'] for pod in pods]}"
        for pod in mine:
            assert pod["spec"]["nodeName"] in ("work-1", "work-2")
            assert pod["spec"]["nodeSelector"] == {WORK: ""}
            [container] = pod["status"]["containerStatuses"]
            assert container["ready"] and container["image"].startswith(f"localhost/{operator}:")


@pytest.mark.quick
def test_helm_test(esi):
    assert "Phase:" in esi.helm("test", "esi", "--namespace", "esi-system", "--timeout", "3m")


@pytest.mark.quick
def test_the_testbed_fills_its_nodes_exactly(esi):
    status = jobs.status(esi, "Testbed", jobs.TESTBED)
    assert status["state"] == "SUCCESS"
    assert {row["position"]: row["nodeName"] for row in jobs.rows(esi)} == jobs.NODE_OF_SLOT
    for node in ("testbed-1", "testbed-2"):
        thing = esi.api.get("Node", None, node)
        assert thing["status"]["allocatable"]["cpu"] == "4" and thing["status"]["allocatable"]["pods"] == "2"
        assert [taint for taint in thing["spec"]["taints"] if taint["key"].startswith("esi.tu-berlin.de/")]


@pytest.mark.quick
def test_a_spark_job_and_a_flink_job_run_to_their_ends(esi):
    """Side by side on both nodes: real spark-submit, driver, executors; real JobManager, TaskManagers."""
    jobs.apply_example(esi, "spark-jobs.yaml", "flink-jobs.yaml")
    jobs.put(esi, jobs.slots("side-by-side", {"spark-2": [0, 1], "flink-2": [2, 3]}))
    driver = jobs.Log(esi, "esi.tu-berlin.de/job=spark-2,spark-role=driver")
    words = jobs.Log(esi, "esi.tu-berlin.de/job=flink-2,component=taskmanager")
    jobs.wait_finished(esi, "side-by-side")
    for job, slots in (("spark-2", [0, 1]), ("flink-2", [2, 3])):
        run = jobs.last_run(esi, job)
        assert run["outcome"] == "Succeeded", run
        assert run["slots"] == slots and run["nodes"] == ["testbed-1", "testbed-2"], run
    driver.wait("Pi is roughly 3.141")
    words.wait("(nymph,1)")     # of Hamlet's monologue, Flink's built-in text


def test_the_example_four_jobs_in_two_plans(esi):
    """examples/real: one plan waits until the other gives the testbed back."""
    esi.kubectl("apply", "-k", jobs.ROOT / "examples" / "real")
    wait("one plan to wait for the other", lambda: any(
        other in (jobs.status(esi, "Scheduling", plan).get("waitingFor") or "")
        for plan, other in (("side-by-side", "queue"), ("queue", "side-by-side"))), 60)
    jobs.wait_finished(esi, "side-by-side", "queue", patience=600)
    for job, slots in (("spark-1", [0, 1]), ("flink-1", [2, 3]), ("spark-2", [0, 1]), ("flink-2", [2, 3])):
        run = jobs.last_run(esi, job)
        assert run["outcome"] == "Succeeded" and run["slots"] == slots, run
    jobs.wait_free(esi)
