"""Fixtures: one control plane and one installation of the operators for all tests, a scene for each.

    plane      the control plane           operators   the three processes
    recording  recorder and judge          scene       a namespace, a node label, nodes of this test

Every test that has a scene is judged at its end: the recording must be without a violation, the
operators must run, and nothing may be left over.

Where tests run side by side (side_by_side.py), each worker has all of these for itself.
"""
import itertools
import os
import pathlib
import re
import shutil
import tempfile

import pytest
from _pytest.junitxml import xml_key

import side_by_side
from control_plane import ControlPlane
from gang_scene import GangScene
from gangs import Switched
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


#: What `make test` runs, `-m promise`: each promise of the README and the user guide once.
PROMISES = (
    "test_01_ghosts.py::test_three_nodes_with_two_slots", "test_01_ghosts.py::test_a_ghost_deleted_by_hand",
    "test_01_ghosts.py::test_isolation_taints", "test_02_room.py::test_too_little_room_on_one_node",
    "test_03_queue.py::test_two_interleaved_jobs", "test_03_queue.py::test_a_running_queue_may_be_extended",
    "test_04_slots.py::test_strict_starts", "test_04_slots.py::test_relaxed_starts",
    "test_05_contention.py::test_of_two_that_want_one_testbed", "test_06_deletion.py::test_a_deleted_scheduling",
    "test_07_failures.py::test_a_job_that_fails", "test_08_strangers.py::test_a_pod_with_an_old_run_token",
    "test_09_replacement.py::test_a_replacement_takes_the_slot", "test_10_nodes.py::test_cordoned_nodes",
    "test_11_crashes.py::test_kill_9_after[hold]", "test_12_rest.py::test_a_whole_evaluation",
    "test_18_stomp.py::test_a_plan_is_followed", "test_19_flink.py::test_spark_and_flink_jobs_share",
    "test_22_debug.py::test_node_set_up_labels",
    "test_30_first_week.py::test_a_suspended_plan", "test_30_first_week.py::test_the_plan_of_higher_priority",
    "test_35_kubectl_esi.py::test_a_plan_from_its_preview", "test_35_kubectl_esi.py::test_version_and_help",
    "test_37_api.py::test_a_plan_from_its_preview", "test_38_api_events.py::test_a_stream_tells",
    "test_40_gangs.py::test_coschedulings_tutorial", "test_46_claims.py::test_a_queue_runs_in_the_places",
    "test_47_spark_drivers.py::test_a_driver_starts", "test_crds")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if item.nodeid.startswith(PROMISES):
            item.add_marker(pytest.mark.promise)
        if item.nodeid.startswith(CORE):
            item.add_marker(pytest.mark.core)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: side_by_side.rank(item.nodeid))
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


# --- the folder of a run: logs, audit logs and recordings; kept when a test fails

def root_of(config):
    """One for all workers, each of which has a folder there."""
    if hasattr(config, "workerinput"):
        return pathlib.Path(config.workerinput["root"])
    if not hasattr(config, "esi_root"):
        config.esi_root = pathlib.Path(os.environ.get("ESI_SCENARIOS_DIR") or tempfile.mkdtemp(prefix="esi-scenarios-"))
        config.esi_root.mkdir(parents=True, exist_ok=True)
    return config.esi_root


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        config.at_work = side_by_side.at_work(root_of(config), config.workerinput["workerid"])


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    config.esi_keep = exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if config.esi_keep and hasattr(config, "esi_root"):
        terminalreporter.write_line(f"logs, audit logs and recordings: {config.esi_root}")


def pytest_unconfigure(config):
    if hasattr(config, "at_work"):
        config.at_work.close()  # the process itself ends with the last worker
    if hasattr(config, "esi_root") and not getattr(config, "esi_keep", True) and "ESI_SCENARIOS_DIR" not in os.environ:
        shutil.rmtree(config.esi_root, ignore_errors=True)


@pytest.fixture(scope="session")
def folder(request):
    """Where logs, the audit log and the recording of this process are."""
    worker = getattr(request.config, "workerinput", {}).get("workerid", "")
    folder = root_of(request.config) / worker
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def audit_logs(request):
    """Those of all workers, which have ended but for this one."""
    root, worker = root_of(request.config), getattr(request.config, "workerinput", {}).get("workerid", "")
    if worker:
        side_by_side.wait_for_others(root, worker)
    place = "*/" if worker else ""
    return sorted(log for plane in ("cluster", "gangs/cluster") for log in root.glob(f"{place}{plane}/audit.log"))


# --- workers

def pytest_configure_node(node):
    node.workerinput["root"] = str(root_of(node.config))


def pytest_xdist_make_scheduler(config, log):
    return side_by_side.Scheduler(config, log)


def tell_version(config, version):
    """Writes the API server's version into the results."""
    results = config.stash.get(xml_key, None)
    if hasattr(config, "workeroutput"):
        config.workeroutput["kubernetes"] = version
    elif results is not None and ("kubernetes", version) not in results.global_properties:
        results.add_global_property("kubernetes", version)


def pytest_testnodedown(node):
    version = getattr(node, "workeroutput", {}).get("kubernetes")
    if version:
        tell_version(node.config, version)


# --- what tests use

@pytest.fixture(scope="session")
def plane(folder, pytestconfig):
    plane = ControlPlane(folder / "cluster").up(nodes=2, cpu="32", memory="64Gi")
    try:
        tell_version(pytestconfig, plane.version())
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


def on_stage(scene, operators):
    """The scene for one test, and what came of it: a fixture's generator."""
    pids = {operator.label: operator.pid for operator in operators}
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
def scene(request, plane, operators, recording):
    operators.ensure()
    recording.catch_up()
    yield from on_stage(Scene(scene_name(request), plane, operators, recording), operators)


@pytest.fixture(scope="session")
def switched(folder):
    """A control plane with gangs switched on (gangs.py)."""
    (folder / "gangs").mkdir()
    switched = Switched(folder / "gangs")
    yield switched
    switched.close()


@pytest.fixture
def corner(request, switched):
    """A namespace where gangs are switched on, with nodes of its own; more of them by corner.corner()."""
    switched.ensure()
    switched.recording.catch_up()
    corner = GangScene(scene_name(request), switched.plane, switched.operators, switched.recording, switched.judge)
    yield from on_stage(corner, switched.operators)


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
