"""How tests are shared among workers: in groups, the longest first, and what judges them all at the end."""
import os
import subprocess
import sys
import xml.etree.ElementTree as tree

import side_by_side
from control_plane import ROOT
from side_by_side import GROUPS, LONGEST, group_of, rank

HERE = ROOT / "integration-tests" / "scenarios"

#: Two files that meet only if there are two workers, and a test of the audit logs that both of them write.
WRITES = """
import pathlib
from patience import let_pass, wait
def test_{own}(folder, tmp_path_factory):
    (folder / "cluster").mkdir()
    here = pathlib.Path({root!r})
    (here / "{own}.came").touch()
    wait("the other one", (here / "{other}.came").exists)
    let_pass({seconds}, "the other worker is through meanwhile, and waits")
    (folder / "cluster" / "audit.log").write_text("{own}")
"""
READS = """
import pytest
pytestmark = pytest.mark.last
def test_all_logs_are_whole(audit_logs):
    assert sorted(each.read_text() for each in audit_logs) == ["left", "right"]
"""


def test_every_group_has_tests(request):
    """Where a test or a file got another name, its group does not know it any more."""
    nodes = [item.nodeid for item in request.session.items]
    files = {path.name for path in HERE.glob("test_*.py")}
    for _, beginnings in GROUPS:
        for beginning in beginnings:
            assert any(name.startswith(beginning.split("::")[0]) for name in files), beginning
            name = beginning.partition("::")[2].partition("[")[0]
            if name:
                text = "".join(path.read_text("utf-8") for path in HERE.glob("test_*.py"))
                assert f"def {name}" in text, beginning
    assert set(LONGEST) <= files | {name for name, _ in GROUPS}
    assert all(group_of(node) for node in nodes)


def test_a_group_is_a_file_or_what_the_list_says():
    assert group_of("test_03_queue.py::test_a[x::y]") == "test_03_queue.py"
    assert group_of("test_11_crashes.py::test_kill_9_after[hold]") == "test_11_crashes.py"
    assert group_of("test_11_crashes.py::test_asleep_for_longer_than_the_lease_at[hold]") == "asleep"
    assert group_of("test_07_failures.py::test_a_backend_that_is_not_installed") == "flink"
    assert group_of("test_07_failures.py::test_a_job_that_fails") == "test_07_failures.py"


def test_the_longest_groups_begin_and_the_last_one_ends():
    nodes = ["test_13_rbac.py::a", "test_03_queue.py::a", "test_19_flink.py::a", "test_28_attacks.py::a",
             "test_01_ghosts.py::a", "test_07_failures.py::test_a_backend_that_is_not_installed"]
    assert [node.partition(".py")[0] for node in sorted(nodes, key=rank)] == [
        "test_28_attacks", "test_19_flink", "test_07_failures", "test_03_queue", "test_01_ghosts", "test_13_rbac"]


def test_what_judges_all_workers_waits_for_them_and_their_results_are_one_file(tmp_path):
    for name in ("conftest.py", "pytest.ini"):
        (tmp_path / name).write_text((HERE / name).read_text("utf-8"), "utf-8")
    shared = {"root": str(tmp_path)}
    (tmp_path / "test_left.py").write_text(WRITES.format(own="left", other="right", seconds=0, **shared))
    (tmp_path / "test_right.py").write_text(WRITES.format(own="right", other="left", seconds=2, **shared))
    (tmp_path / "test_13_all.py").write_text(READS)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "--numprocesses=2", "--junit-xml=all.xml"], cwd=tmp_path, text=True,
        env=environment | {"PYTHONPATH": str(HERE), "ESI_SCENARIOS_DIR": str(tmp_path / "root")}, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
    cases = [case.get("name") for case in tree.parse(tmp_path / "all.xml").getroot().iter("testcase")]
    assert sorted(cases) == ["test_all_logs_are_whole", "test_left", "test_right"]


def test_a_worker_that_ended_is_not_waited_for(tmp_path):
    side_by_side.at_work(tmp_path, "gw0").close()
    own = side_by_side.at_work(tmp_path, "gw1")
    side_by_side.wait_for_others(tmp_path, "gw1")
    own.close()
