"""helm upgrade and rollback while a Scheduling runs: nothing is lost, no job pod restarts."""
import shutil

import yaml

import jobs
from cluster import ROOT, wait
from test_1_install import OPERATORS


def next_version(cluster):
    """A chart of the next version, whose images are the same under another tag on every node."""
    chart = cluster.folder / "next-chart"
    shutil.rmtree(chart, ignore_errors=True)
    shutil.copytree(ROOT / "helm" / "esi", chart)
    description = yaml.safe_load((chart / "Chart.yaml").read_text(encoding="utf-8"))
    now = description["appVersion"]
    description["version"] = description["appVersion"] = "99.0.0"
    (chart / "Chart.yaml").write_text(yaml.safe_dump(description), encoding="utf-8")
    for node in cluster.nodes:
        for operator in OPERATORS:
            node.inside("ctr", "-n", "k8s.io", "images", "tag", "--force", f"localhost/{operator}:{now}",
                        f"localhost/{operator}:99.0.0")
    return chart


def tags(cluster):
    return {container["image"].rpartition(":")[2] for pod in cluster.api.list("Pod", "esi-system")
            for container in pod["spec"]["containers"] if "deletionTimestamp" not in pod["metadata"]}


def people(cluster, job):
    """The job's pods and the ghosts: who must stay."""
    pods = jobs.job_pods(cluster, job)
    pods += cluster.api.list("Pod", jobs.NAMESPACE, labels="esi.tu-berlin.de/ghost=true")
    return {pod["metadata"]["uid"]: sum(each["restartCount"] for each in pod["status"]["containerStatuses"])
            for pod in pods}


def test_upgrade_and_rollback_while_a_scheduling_runs(esi):
    now = tags(esi)
    assert len(now) == 1 and now != {"99.0.0"}
    jobs.put(esi, jobs.spark("stays", 60, 900), jobs.slots("plan", {"stays": [0, 1]}))
    jobs.wait_running(esi, "stays", 2)
    before = people(esi, "stays")
    assert len(before) == 5     # a driver, two executors, two ghosts
    esi.helm("upgrade", "esi", next_version(esi), "--namespace", "esi-system", "--reuse-values", "--wait",
             "--timeout", "4m")
    wait("only pods of the next version", lambda: tags(esi) == {"99.0.0"}, 60)
    assert people(esi, "stays") == before
    esi.helm("rollback", "esi", "--namespace", "esi-system", "--wait", "--timeout", "4m")
    wait("only pods of the version before", lambda: tags(esi) == now, 60)
    assert people(esi, "stays") == before
    jobs.wait_finished(esi, "plan", patience=600)
    run = jobs.last_run(esi, "stays")
    assert run["outcome"] == "Succeeded" and run["slots"] == [0, 1], run
    assert len(jobs.status(esi, "BatchJob", "stays")["runs"]) == 1
    jobs.wait_free(esi)
