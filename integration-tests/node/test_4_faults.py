"""What happens to nodes and pods on a real cluster: ESI comes right, and says what happened."""
import time

import jobs
from cluster import now, wait
from patience import let_pass
from test_1_install import OPERATORS

LONG = (60, 300)    # tasks, millions of darts: some minutes on the slots of two nodes


def start_long(cluster, name="long", tasks=LONG, where=(0, 1), **more):
    """A job whose two executors run."""
    jobs.put(cluster, jobs.spark(name, *tasks, **more), jobs.slots(f"{name}-plan", {name: list(where)}))
    return jobs.wait_running(cluster, name, len(where))


def problems(cluster):
    return str(jobs.status(cluster, "Testbed", jobs.TESTBED).get("nodeProblems"))


def states(cluster, node):
    return {row["state"] for row in jobs.rows(cluster) if row["nodeName"] == node}


def pod_of(pods, node):
    return next(pod for pod in pods if pod["spec"]["nodeName"] == node)


def test_containerd_restarted(esi, history):
    """kill -9 of containerd: containers live on, the run does not notice."""
    start_long(esi)
    pods = jobs.job_pods(esi, "long")
    uids, app = {pod["metadata"]["uid"] for pod in pods}, pods[0]["metadata"]["labels"]["spark-app-selector"]
    esi["testbed-1"].kill_program("containerd")
    wait("containerd to be back",
         lambda: esi["testbed-1"].inside("ctr", "version", check=False).returncode == 0, 60)
    jobs.wait_finished(esi, "long-plan", patience=600)
    run = jobs.last_run(esi, "long")
    assert run["outcome"] == "Succeeded" and run["nodes"] == ["testbed-1", "testbed-2"], run
    seen = {pod.uid for pod in history.pods() if pod.labels.get("spark-app-selector") == app}
    assert seen == uids, "a pod of the run was replaced"
    jobs.wait_free(esi)


def test_kubelet_stopped_for_two_minutes(esi):
    start_long(esi)
    esi["testbed-1"].stop_program("kubelet")
    stopped = time.monotonic()
    wait("the slots of testbed-1 to be in ERROR", lambda: states(esi, "testbed-1") == {"ERROR"}, 110)
    assert "testbed-1" in problems(esi) and "not ready" in problems(esi).lower(), problems(esi)
    assert "ERROR" not in states(esi, "testbed-2")
    let_pass(120 - (time.monotonic() - stopped), "it is stopped for two minutes")
    begin = now()
    esi["testbed-1"].start_program("kubelet")
    esi.wait_ready([esi["testbed-1"]], begin)
    jobs.wait_finished(esi, "long-plan", patience=600)
    assert jobs.last_run(esi, "long")["outcome"] == "Succeeded"
    jobs.wait_free(esi)


def test_node_restarted(esi):
    """A loss of power under an executor: Spark makes another, which takes the slot again."""
    start_long(esi)
    esi["testbed-2"].lose_power()
    let_pass(5, "the node is without power for so long")
    begin = now()
    esi["testbed-2"].start(fresh=False)
    esi.wait_ready([esi["testbed-2"]], begin)
    jobs.wait_finished(esi, "long-plan", patience=900)
    assert jobs.last_run(esi, "long")["outcome"] == "Succeeded", jobs.last_run(esi, "long")
    jobs.wait_free(esi)


def test_operators_deleted_while_a_job_comes(esi):
    """All six pods at once, without grace, when the executors have been made."""
    jobs.put(esi, jobs.spark("orphan", 8, 100), jobs.slots("orphan-plan", {"orphan": [0, 1]}))
    wait("an executor to be made", lambda: jobs.job_pods(esi, "orphan", "executor"), 240, every=0.05)
    for pod in esi.api.list("Pod", "esi-system"):
        esi.api.delete("Pod", "esi-system", pod["metadata"]["name"], grace=0)
    jobs.wait_finished(esi, "orphan-plan")
    assert jobs.last_run(esi, "orphan")["outcome"] == "Succeeded"
    jobs.wait_free(esi)


def test_operators_drained(esi):
    """`kubectl drain` moves them, one replica of each at a time; a run goes on meanwhile."""
    start_long(esi, tasks=(24, 300))
    [driver] = jobs.job_pods(esi, "long", "driver")
    away = driver["spec"]["nodeName"]
    free = next(name for name in ("work-1", "work-2") if name != away)
    esi.kubectl("drain", free, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=4m",
                "--pod-selector=app.kubernetes.io/instance=esi", timeout=250)
    assert {pod["spec"]["nodeName"] for pod in esi.api.list("Pod", "esi-system")
            if "deletionTimestamp" not in pod["metadata"]} == {away}
    esi.kubectl("uncordon", free)
    jobs.wait_finished(esi, "long-plan", patience=600)
    assert jobs.last_run(esi, "long")["outcome"] == "Succeeded"
    for operator in OPERATORS:
        esi.kubectl("rollout", "status", f"deployment/{operator}", "-n", "esi-system", "--timeout=2m")
    jobs.wait_free(esi)


def test_testbed_node_drained(esi):
    """Ghosts are evicted and not made anew; the slots say why; after uncordon they are back."""
    esi.kubectl("drain", "testbed-1", "--ignore-daemonsets", "--force", "--timeout=1m")
    wait("the slots of testbed-1 to be in ERROR", lambda: states(esi, "testbed-1") == {"ERROR"}, 60)
    assert "testbed-1" in problems(esi) and "cordoned" in problems(esi), problems(esi)
    assert states(esi, "testbed-2") == {"FREE"}
    esi.kubectl("uncordon", "testbed-1")
    jobs.wait_free(esi)


def test_executor_out_of_memory(esi):
    """The kernel kills executors that take more than the slot; the neighbour does not notice."""
    jobs.put(esi, jobs.spark("greedy", 8, 1, 2500, sparkConf={
        "spark.executor.extraJavaOptions": "-XX:MaxDirectMemorySize=4g"}), jobs.spark("neighbour", 16, 100),
        jobs.slots("beside", {"greedy": [0], "neighbour": [2]}))

    def killed():
        for pod in jobs.job_pods(esi, "greedy", "executor"):
            for container in pod["status"].get("containerStatuses") or []:
                for state in (container.get("state") or {}), (container.get("lastState") or {}):
                    if (state.get("terminated") or {}).get("reason") == "OOMKilled":
                        return state["terminated"]
        return None
    assert wait("an executor to be OOM-killed", killed, 300, every=0.1)["exitCode"] == 137
    jobs.wait_finished(esi, "beside", patience=600)
    assert jobs.last_run(esi, "neighbour")["outcome"] == "Succeeded"
    greedy = jobs.status(esi, "BatchJob", "greedy")
    assert greedy["state"] == "FailedState" and greedy["problems"], greedy
    jobs.wait_free(esi)
