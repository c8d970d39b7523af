"""The line at the end of `make test`: what did not run is not a success."""
import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

import pytest

from control_plane import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
import count_results  # noqa: E402

COMMANDS = count_results.LEAST
LEAST = COMMANDS["test"]
PASSED = "<testcase name='a'/>"


def junit(folder, name, cases, more=""):
    if "." not in name:  # a folder
        (folder / name).mkdir(exist_ok=True)
        junit(folder / name, "a.xml", cases[1:], more)
        return junit(folder / name, "b.xml", cases[:1])
    return (folder / name).write_text(f"<testsuite>{more}{''.join(cases)}</testsuite>")


def filled(tmp_path, command):
    """A folder in which every layer of the command has as many tests as it has to have, all passed."""
    for name, least in COMMANDS[command].items():
        if name.endswith(".json"):
            (tmp_path / name).write_text("\n".join([json.dumps({"Action": "pass", "Test": "A"})] * least))
        else:
            junit(tmp_path, name, [PASSED] * least)
    return tmp_path


@pytest.fixture
def results(tmp_path):
    return filled(tmp_path, "test")


@pytest.fixture
def rest(tmp_path):
    return filled(tmp_path, "all")


def count(folder, command="test"):
    done = subprocess.run([sys.executable, ROOT / "scripts" / "count_results.py", folder, command], capture_output=True,
                          text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def test_all_passed(results):
    code, said = count(results)
    assert code == 0
    assert said.endswith(f"\n{sum(LEAST.values())} passed, 0 failed, 0 skipped\n")
    assert said.startswith(f"unit: {LEAST['unit']} passed, 0 failed, 0 skipped\n")


@pytest.mark.parametrize("name", LEAST)
def test_a_layer_that_is_missing_or_has_fewer_tests_than_there_are_fails(results, name):
    shutil.rmtree(results / name) if (results / name).is_dir() else (results / name).unlink()
    assert count(results)[0] == 1 and "no results" in count(results)[1]
    (results / name).write_text("" if name.endswith(".json") else "<testsuite/>")
    code, said = count(results)
    assert code == 1 and f"0 tests, there are at least {LEAST[name]}" in said


def test_a_failure_fails(results):
    junit(results, "unit", [PASSED] * LEAST['unit'] + ["<testcase name='b'><failure message='no'/></testcase>"])
    code, said = count(results)
    assert code == 1 and "\n    failed: b: no\n" in said
    failures = [f"<testcase name='b{n}' classname='c'><failure>\nfirst\nsecond</failure></testcase>" for n in range(30)]
    junit(results, "unit", [PASSED] * LEAST['unit'] + failures)
    said = count(results)[1]
    assert "failed: c: b0: first\n" in said and said.count("failed: c: ") == count_results.MOST_FAILED
    junit(results, "unit", [PASSED] * LEAST['unit'])
    with open(results / "launcher.json", "a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"Action": "fail", "Package": "does not compile"}))
    assert count(results)[0] == 1


def test_all_of_the_rest_passed(rest):
    code, said = count(rest, "all")
    assert code == 0
    assert said.endswith(f"\n{sum(COMMANDS['all'].values())} passed, 0 failed, 0 skipped\n")


def test_a_skip_counts_as_failed_unless_its_reason_is_listed(rest):
    least = COMMANDS["all"]
    listed = "<testcase name='b'><skipped message='real nodes: kubelet is not built'/></testcase>"
    junit(rest, "nodes.xml", [listed] * 4)
    code, said = count(rest, "all")
    assert code == 0 and "nodes: 0 passed, 0 failed, 4 skipped" in said
    junit(rest, "scenarios.xml", [listed] * least['scenarios.xml'])
    code, said = count(rest, "all")
    assert code == 1
    assert "b was skipped, which is in no list: real nodes: kubelet is not built" in said
    junit(rest, "scenarios.xml", [PASSED] * least['scenarios.xml'])
    junit(rest, "colocation.xml", [PASSED] * least['colocation.xml'] + ["<testcase name='c' status='notrun'/>"])
    assert "c was skipped, which is in no list: without a reason" in count(rest, "all")[1]


def test_fewer_seeds_are_told(results):
    def seeds(number):
        junit(results, "simulation.xml", [PASSED] * 6,
              f"<properties><property name='seeds' value='{number}'/></properties>")
        return count(results)[1]
    assert "simulation: 6 passed, 0 failed, 0 skipped, with 1 seeds instead of 250\n" in seeds(1)
    assert "simulation: 6 passed, 0 failed, 0 skipped\n" in seeds(250)


def test_each_layer_is_told_with_its_time_and_what_else_was_done_with_its_own(results):
    (results / "layers.tsv").write_text("\t2\t0\tsetup\nunit\t35\t0\tunit tests\nscenarios\t1035\t0\tscenarios\n")
    code, said = count(results)
    assert code == 0 and said.startswith(
        f"setup: 2 s\nunit: {LEAST['unit']} passed, 0 failed, 0 skipped, 35 s\n")
    assert f"\nscenarios: {LEAST['scenarios.xml']} passed, 0 failed, 0 skipped, 1,035 s\n" in said
    assert f"\nchart: {LEAST['chart.xml']} passed, 0 failed, 0 skipped\n" in said, "without a time"


def test_the_files_that_took_longest_are_told(results):
    junit(results, "chart.xml", [
        *[PASSED] * LEAST["chart.xml"], "<testcase classname='test_release' name='a' time='70.4'/>",
        "<testcase classname='test_release' name='b' time='80'/>", "<testcase classname='test_rights' name='c' time='4'/>"])
    junit(results, "unit", [PASSED] * LEAST["unit"] + ["<testcase classname='swap' name='a' time='6'/>"])
    assert "\nslowest: chart test_release 150 s, unit swap 6 s\n" in count(results)[1]


def seeds_of(tmp_path, **environment):
    """Exit code of simulate.sh, the parts that it ran of the seeds, and how many it says that it ran."""
    program = tmp_path / "esi-simulation"
    program.write_text(f"#!/bin/sh\necho \"$*\" >>{tmp_path}/ran\n[ \"$1\" = sweep ] && sleep 1\necho digest  1\n")
    program.chmod(0o755)
    result = tmp_path / "simulation.xml"
    done = subprocess.run([ROOT / "scripts" / "simulate.sh", result], timeout=300, check=False, stdout=subprocess.PIPE,
                          env=dict(os.environ, ESI_SIMULATION=str(program), **environment))
    ran = [line for line in (tmp_path / "ran").read_text().splitlines() if line.startswith("seeds") and "twice" not in line]
    return done.returncode, ran, tree.parse(result).find(".//property").get("value")


def test_seeds_are_run_at_once_or_in_parts_until_their_time_is_over(tmp_path):
    assert seeds_of(tmp_path, SEEDS="10") == (0, ["seeds --from 1 --count 10"], "10")
    (tmp_path / "ran").unlink()
    parts = [f"seeds --from {first} --count {count}" for first, count in ((5, 3), (8, 3), (11, 3), (14, 1))]
    assert seeds_of(tmp_path, SEEDS="10", FROM="5", SIMULATION_SECONDS="1000") == (0, parts, "10")
    (tmp_path / "ran").unlink()
    assert seeds_of(tmp_path, SEEDS="10", SIMULATION_SECONDS="1") == (0, ["seeds --from 1 --count 3"], "3")


# --- layers.sh

def layers(folder, script):
    """Exit code, output and layers.tsv of a script that has sourced layers.sh."""
    # As from a terminal: what is started in the background may have been told to ignore Ctrl-C.
    done = subprocess.run(["env", "--default-signal=INT", "bash", "-c",
                           f"results={folder}\nsource {ROOT}/scripts/layers.sh\n{script}"], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    rows = [line.split("\t") for line in (folder / "layers.tsv").read_text().splitlines()]
    return done.returncode, done.stdout, [(name, code, what) for name, _, code, what in rows]


def test_layers_run_side_by_side_and_one_that_fails_is_shown_and_told(tmp_path):
    begin = """
two() { layer one "the first" echo one said; layer two "the second" bash -c "echo two said; exit 3"; }
beside lane two
layer three "the third" bash -c "until grep -q 'two said' $results/lane.log; do sleep 0.1; done; echo three said"
"""
    code, said, rows = layers(tmp_path, begin + 'ended lane; echo "lane ended with $?"; failed_layers')
    assert code == 0
    assert rows[0] == ("one", "0", "the first") and sorted(rows[1:]) == [
        ("three", "0", "the third"), ("two", "3", "the second")]
    assert said.index("three said") < said.index("one said") < said.index("two said")
    assert said.endswith("lane ended with 3\nthe second\n")


def test_a_layer_in_the_background_ends_with_the_whole(tmp_path):
    code, said, rows = layers(tmp_path, """
beside lane bash -c 'trap "echo ended >$0/word; exit" INT; touch $0/began; while :; do sleep 0.1; done' "$results"
until [[ -e $results/began ]]; do sleep 0.1; done
exit 4""")
    assert code == 4 and not rows and not said
    assert (tmp_path / "word").read_text() == "ended\n"


def test_everything_is_tested_as_it_is_shipped():
    """With another preset in the environment nothing is built, run or counted."""
    done = subprocess.run([ROOT / "scripts" / "test.sh"], capture_output=True, text=True, timeout=60, check=False,
                          env={"PATH": "/usr/bin:/bin", "PRESET": "dev"})
    assert done.returncode == 2
    assert "make unit PRESET=dev" in done.stderr and not done.stdout
