#!/usr/bin/env python3
"""`make demo-real`: real Spark and Flink in the slots of real nodes, from nothing, shown while it works.

Four nodes with kubelets on this machine, ESI installed by helm, examples/real applied. Exit code 0: every
job succeeded. Everything is taken down at the end, also by Ctrl-C; with KEEP=1 all is left running.
"""
import os
import pathlib
import signal
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("scenarios", "demo")]

import grid  # noqa: E402  (after the path is set)
import jobs  # noqa: E402
from cluster import HERE, ROOT, Cluster  # noqa: E402
from demo import Screen  # noqa: E402
from patience import wait  # noqa: E402

PLANS = ("side-by-side", "queue")
PATIENCE = 900
KEEP = os.environ.get("KEEP", "") not in ("", "0")


def objects(cluster, kind):
    return sorted(cluster.api.list(kind, jobs.NAMESPACE), key=lambda thing: thing["metadata"]["name"])


def node_lines(cluster):
    """Each node with its pods, less the ghosts, which the slots show."""
    places = {node.name: [] for node in cluster.nodes}
    for pod in cluster.api.list("Pod"):
        labels = pod["metadata"].get("labels") or {}
        if labels.get(grid.PREFIX + "ghost") != "true" and pod["spec"].get("nodeName"):
            places[pod["spec"]["nodeName"]].append(f"{pod['metadata']['name']} {pod['status'].get('phase')}")
    return ["nodes", *(f"  {name:<10} {', '.join(sorted(pods)) or '-'}" for name, pods in places.items()), ""]


def draw(screen, cluster):
    testbeds, plans, batchjobs = (objects(cluster, kind) for kind in ("Testbed", "Scheduling", "BatchJob"))
    pods = cluster.api.list("Pod", jobs.NAMESPACE, labels=grid.PREFIX + "job")
    names = grid.job_names(pods, screen.names)
    slots = grid.screen(testbeds, plans, batchjobs, names, colours="NO_COLOR" not in os.environ)
    screen.show(node_lines(cluster) + slots, grid.one_line(testbeds, plans, names))


def watch(screen, cluster):
    def have_ended():
        draw(screen, cluster)
        return all(jobs.state(cluster, "Scheduling", plan) in ("FinishedState", "Error") for plan in PLANS)
    wait("the plans to end", have_ended, PATIENCE, pause=0.5, fault=RuntimeError)
    draw(screen, cluster)


def faults(cluster):
    found = []
    for job in objects(cluster, "BatchJob"):
        runs = job["status"].get("runs") or []
        if [run.get("outcome") for run in runs] != ["Succeeded"]:
            found.append(f"{job['metadata']['name']}: {runs}")
    return found


def run(screen, cluster):
    cluster.up(parent=not KEEP)
    cluster.bring_images()
    cluster.install_backends()
    for number, name in enumerate(("testbed-1", "testbed-2")):
        screen.say(f"kubectl label node {name} tuberlin.de/real-slots={number}")
        cluster.kubectl("label", "node", name, f"tuberlin.de/real-slots={number}")
    cluster.install_esi()
    screen.say("kubectl apply -f examples/spark-account.yaml -f examples/flink-account.yaml")
    for account in ("spark", "flink"):
        cluster.kubectl("apply", "-f", ROOT / "examples" / f"{account}-account.yaml")
    screen.say("kubectl apply -k examples/real")
    cluster.kubectl("apply", "-k", ROOT / "examples" / "real")
    watch(screen, cluster)
    print("\n" + "\n".join(grid.runs_table(objects(cluster, "BatchJob"))) + "\n", flush=True)
    found = faults(cluster)
    if found:
        raise RuntimeError("\n".join(found))
    screen.say("both plans are finished, all four jobs succeeded")


def main():
    screen = Screen()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cluster = Cluster(say=screen.say)
    try:
        run(screen, cluster)
        return 0
    except KeyboardInterrupt:
        return 130
    except RuntimeError as failure:
        screen.say(f"FAILED: {failure}")
        return 1
    finally:
        if KEEP:
            print(f"It is left running (KEEP=1): {HERE}/nodes.sh status, nodes.sh kubectl ..., nodes.sh down")
        else:
            signal.signal(signal.SIGINT, signal.SIG_IGN)    # a second Ctrl-C must not leave things behind
            screen.say("taking everything down")
            cluster.down()


if __name__ == "__main__":
    sys.exit(main())
