"""The line at the end of `make test`: what did not run is not a success."""
import json
import subprocess
import sys

import pytest

from control_plane import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import count_results  # noqa: E402

PASSED = "<testcase name='a'/>"


def junit(folder, name, cases, more=""):
    (folder / name).write_text(f"<testsuite>{more}{''.join(cases)}</testsuite>")


@pytest.fixture
def results(tmp_path):
    """A folder in which every layer has as many tests as it has to have, all passed."""
    for name, least in count_results.LEAST.items():
        if name.endswith(".json"):
            (tmp_path / name).write_text("\n".join([json.dumps({"Action": "pass", "Test": "A"})] * least))
        else:
            junit(tmp_path, name, [PASSED] * least)
    return tmp_path


def count(folder):
    done = subprocess.run([sys.executable, ROOT / "scripts" / "count_results.py", folder], capture_output=True,
                          text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def test_all_passed(results):
    code, said = count(results)
    assert code == 0
    assert said.endswith(f"\n{sum(count_results.LEAST.values())} passed, 0 failed, 0 skipped\n")
    assert said.startswith("unit: 1380 passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize("name", count_results.LEAST)
def test_a_layer_that_is_missing_or_has_fewer_tests_than_there_are_fails(results, name):
    (results / name).unlink()
    assert count(results)[0] == 1 and "no results" in count(results)[1]
    (results / name).write_text("" if name.endswith(".json") else "<testsuite/>")
    code, said = count(results)
    assert code == 1 and f"0 tests, there are at least {count_results.LEAST[name]}" in said


def test_a_failure_fails(results):
    junit(results, "unit.xml", [PASSED] * 1380 + ["<testcase name='b'><failure message='no'/></testcase>"])
    assert count(results)[0] == 1
    junit(results, "unit.xml", [PASSED] * 1380)
    with open(results / "launcher.json", "a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"Action": "fail", "Package": "does not compile"}))
    assert count(results)[0] == 1


def test_a_skip_counts_as_failed_unless_its_reason_is_listed(results):
    listed = "<testcase name='b'><skipped message='real nodes: kubelet is not built'/></testcase>"
    junit(results, "nodes.xml", [listed] * 4)
    code, said = count(results)
    assert code == 0 and "nodes: 0 passed, 0 failed, 4 skipped" in said
    junit(results, "scenarios.xml", [listed] * 930)
    code, said = count(results)
    assert code == 1
    assert "b was skipped, which is in no list: real nodes: kubelet is not built" in said
    junit(results, "scenarios.xml", [PASSED] * 930)
    junit(results, "unit.xml", [PASSED] * 1380 + ["<testcase name='c' status='notrun'/>"])
    assert "c was skipped, which is in no list: without a reason" in count(results)[1]


def test_fewer_seeds_are_told(results):
    def seeds(number):
        junit(results, "simulation.xml", [PASSED] * 6,
              f"<properties><property name='seeds' value='{number}'/></properties>")
        return count(results)[1]
    assert "simulation: 6 passed, 0 failed, 0 skipped, with 1 seeds instead of 1,000\n" in seeds(1)
    assert "simulation: 6 passed, 0 failed, 0 skipped\n" in seeds(1000)


def test_everything_is_tested_as_it_is_shipped():
    """With another preset in the environment nothing is built, run or counted."""
    done = subprocess.run([ROOT / "scripts" / "test.sh"], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": "/usr/bin:/bin", "PRESET": "dev"})
    assert done.returncode == 2
    assert "make unit PRESET=dev" in done.stderr and not done.stdout
