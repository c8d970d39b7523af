"""Fixtures: one control plane and one installation of the operators for all tests, a scene for each.

    plane      the control plane           operators   the three processes
    recording  recorder and judge          scene       a namespace, a node label, nodes of this test

Every test that has a scene is judged at its end: the recording must be without a violation, the
operators must run, and nothing may be left over.
"""
import itertools
import os
import pathlib
import re
import shutil
import tempfile

import pytest

from control_plane import ControlPlane
from operators import EXTENDER, Operators
from recording import Recording
from scene import Scene

counter = itertools.count(1)

#: The suite's core, `-m core`: what has to hold on every version of Kubernetes that ESI supports. How
#: node ids begin. The REST interface, STOMP and /debug see no more of Kubernetes than these do.
CORE = ("test_01_", "test_02_", "test_03_", "test_04_", "test_05_", "test_06_", "test_07_", "test_08_",
        "test_09_", "test_10_", "test_11_", "test_13_rbac.py::test_nothing_was_forbidden", "test_15_",
        "test_19_flink.py::test_flink_jobs_take", "test_19_flink.py::test_spark_and_flink_jobs_share",
        "test_23_", "test_crds")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.startswith(CORE):
            item.add_marker(pytest.mark.core)
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


@pytest.fixture(scope="session")
def folder():
    """Where logs, the audit log and the recording of this session are; kept when a test fails."""
    root = pathlib.Path(os.environ.get("ESI_SCENARIOS_DIR") or tempfile.mkdtemp(prefix="esi-scenarios-"))
    root.mkdir(parents=True, exist_ok=True)
    return root


@pytest.fixture(scope="session", autouse=True)
def keep_or_clear(request, folder):
    yield
    if request.session.testsfailed:
        print(f"\nlogs, audit log and recording: {folder}")
    elif "ESI_SCENARIOS_DIR" not in os.environ:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def plane(folder, record_testsuite_property):
    plane = ControlPlane(folder / "cluster").up(nodes=2, cpu="32", memory="64Gi")
    try:
        record_testsuite_property("kubernetes", plane.version())
        plane.install()
        yield plane
    finally:
        plane.down()


@pytest.fixture(scope="session")
def recording(plane, folder):
    recording = Recording(plane, folder)
    yield recording
    recording.close()


@pytest.fixture(scope="session")
def operators(plane, folder):
    operators = Operators(plane, folder / "operators")
    try:
        operators.start()
        yield operators
    finally:
        faults = operators.stop()
    assert not faults, "\n".join(faults)


@pytest.fixture(scope="session")
def flink(plane):
    """The Flink operator, which the control plane has from the first test on that asks for it: a Java
    process, and one backend more that is installed."""
    plane.add_flink()


def scene_name(request):
    """A short name of its own: objects are named after it, and labels hold at most 63 characters."""
    module = re.sub(r"^test_", "", request.module.__name__).split("_")
    return f"{module[0] if module[0].isdigit() else ''}{module[-1][:10]}-{next(counter)}".lstrip("0123456789")


@pytest.fixture
def scene(request, plane, operators, recording):
    operators.ensure()
    recording.catch_up()
    pids = {operator.label: operator.pid for operator in operators}
    scene = Scene(scene_name(request), plane, operators, recording)
    scene.may_restart = False
    try:
        yield scene
    finally:
        dead = [operator for operator in operators if not operator.alive()]
        words = "\n".join(f"esi-{each.label} ended with {each.process.returncode}:\n{each.tail()}"
                          for each in dead)
        operators.ensure()
        scene.close()
        violations = scene.violations()
    assert scene.may_restart or not dead, f"operators died in this test:\n{words}"
    assert scene.may_restart or pids == {operator.label: operator.pid for operator in operators}
    assert not violations, "the recording of this test:\n" + "\n".join(map(str, violations))


@pytest.fixture
def by_extender(scene, plane, operators):
    """Pods reach their slots through a second, unmodified kube-scheduler, which asks the extender."""
    scene.may_restart = True
    plane.start("second-scheduler", "--extender-url", operators["testbed"].url)
    operators["batchjob"].stop()
    operators["batchjob"].start(EXTENDER).ready()
    yield
    operators["batchjob"].stop()
    operators["batchjob"].start().ready()
    plane.stop("second-scheduler", "TERM")
