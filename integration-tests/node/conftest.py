"""Fixtures: one cluster of four real nodes for all tests, with ESI installed by helm.

    cluster   control plane, DNS, nodes, the operators of Spark and Flink
    esi       the same with the chart installed; every test that has it is judged at its end
    history   what the recorder saw
"""
import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scenarios"))

import cluster as clusters  # noqa: E402  (after the path is set)
import jobs  # noqa: E402
import machine  # noqa: E402
from history import History  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def why_not():
    """Why real nodes cannot run here; nothing: they can."""
    lacks = machine.missing()
    if not lacks and os.environ.get("ESI_NODES_IF_BUILT"):
        check = subprocess.run([HERE / "build.sh", "--check"], capture_output=True, text=True, check=False)
        if check.returncode != 0:
            lacks = check.stderr.strip().splitlines()
    return lacks


def pytest_collection_modifyitems(items):
    lacks = why_not()
    if lacks:
        for item in items:
            if item.fspath.basename not in ("test_0_judging.py",):
                item.add_marker(pytest.mark.skip(reason="real nodes: " + "; ".join(lacks)))


@pytest.fixture(scope="session")
def cluster():
    real = clusters.Cluster(say=lambda text: print(text, flush=True))
    real.down()     # of an earlier run
    before = machine.snapshot()
    try:
        real.up("--spark", parent=True)
        real.control_plane("stop", "spark-operator")  # for the tests with the stand-in
        real.bring_images()
        real.install_backends()
        yield real
    finally:
        real.down()
    assert machine.snapshot() == before, "something was left behind on this machine"


@pytest.fixture(scope="session")
def installed(cluster):
    """Nodes labelled for the testbed, ESI installed by helm."""
    for number, name in enumerate(("testbed-1", "testbed-2")):
        cluster.kubectl("label", "node", name, f"tuberlin.de/real-slots={number}")
    cluster.install_esi()
    cluster.kubectl("apply", "-f", clusters.ROOT / "examples" / "spark-account.yaml",
                    "-f", clusters.ROOT / "examples" / "flink-account.yaml")
    return cluster


@pytest.fixture(scope="session")
def recorder(installed):
    recorder = History(installed, installed.folder)
    yield recorder
    recorder.close()


@pytest.fixture
def history(recorder):
    return recorder


@pytest.fixture
def esi(installed, recorder):
    """The cluster with ESI and the testbed of examples/real, all of whose slots are free."""
    judged, refused = len(recorder.violations()), len(recorder.refused())
    installed.kubectl("apply", "-f", clusters.ROOT / "examples" / "real" / "testbed.yaml")
    jobs.wait_free(installed)
    try:
        yield installed
    finally:
        jobs.clear(installed)
    assert not recorder.violations()[judged:], "\n".join(map(str, recorder.violations()[judged:]))
    assert not recorder.refused()[refused:]
