#!/usr/bin/env python3
"""Four real nodes on this machine, by hand (nodes.sh finds Python and programs).

    nodes.sh up            control plane, DNS, nodes, images, the operators of Spark and Flink
    nodes.sh install       ESI by `helm install`, as pods
    nodes.sh down          ends everything and leaves nothing behind, also of a run that was killed
    nodes.sh status        nodes and pods
    nodes.sh kubectl ...   kubectl, helm: the programs themselves, on this cluster
    nodes.sh in NODE ...   runs a program in a node's namespaces, e.g. `ctr -n k8s.io containers ls`
"""
import os
import sys
import time

import cluster as clusters


def main(arguments):
    begin = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - begin:5.1f} s] {text}", flush=True)

    cluster = clusters.Cluster(say=say)
    match arguments:
        case ["up"]:
            cluster.up()
            cluster.bring_images()
            cluster.install_backends()
            cluster.say("up; nodes.sh install, nodes.sh status, nodes.sh kubectl get nodes")
        case ["install", *more]:
            cluster.install_esi(*more)
        case ["down"]:
            cluster.down()
        case ["status"]:
            for node in cluster.nodes:
                state = "runs" if node.process() else "does not run"
                print(f"{node.name:10} {state}; logs: {node.folder}/log")
            print(cluster.kubectl("get", "nodes,pods", "-A", "-o", "wide"))
        case ["kubectl" | "helm" as program, *more]:
            os.execve(cluster.binary, [str(cluster.binary), program, *more], cluster.environment())
        case ["in", name, *command] if command:
            print(cluster[name].inside(*command).stdout, end="")
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as error:
        sys.exit(f"nodes.py: {error}")
