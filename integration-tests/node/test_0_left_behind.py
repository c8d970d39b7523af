"""A run that was killed is cleared away by `down`: processes, namespaces, devices, routes, cgroups, mounts,
sysctls. Runs before the cluster of the other tests is up: there is one on a machine."""
import os
import subprocess
import sys

import machine
from cluster import CLAIMS, HERE, Cluster, wait


def test_down_after_a_killed_run_leaves_nothing(tmp_path):
    Cluster().down()
    before = machine.snapshot()
    environment = dict(os.environ, ESI_NODES_DIR=str(tmp_path))
    with open(tmp_path / "up.log", "wb") as log:
        up = subprocess.Popen([sys.executable, "-B", HERE / "nodes.py", "up"], env=environment, stdout=log,
                              stderr=log)
    try:
        wait("all nodes to be started", lambda: len(machine.Record(tmp_path / "record.json").take("node")) ==
             len(CLAIMS) or up.poll() is not None, 300)
        assert up.poll() is None, (tmp_path / "up.log").read_text(encoding="utf-8")
    finally:
        up.kill()
        up.wait()
    during = machine.snapshot()
    for what in ("programs", "links", "routes", "namespaces", "cgroups"):
        assert during[what] != before[what], f"the killed run left no {what}: nothing is tried here"
    machine.run(sys.executable, "-B", HERE / "nodes.py", "down", env=environment)
    assert machine.snapshot() == before
