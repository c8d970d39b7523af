"""schemathesis makes requests out of the document, right and wrong ones, and judges each answer by it: status,
headers, body, whether wrong requests are refused and right ones are not."""
import collections
import json
import math
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
#: Of the document, without the two streams.
OPERATIONS = 26
#: Requests that one more example of each operation brings; the phase "coverage" alone makes some 2,000.
OF_AN_EXAMPLE = 36


def test_each_of_the_generated_requests_is_answered_as_the_document_says(pytestconfig, scene, replica, token, tmp_path):
    wanted, seed = pytestconfig.getoption("--requests"), pytestconfig.getoption("--seed")
    scene.nodes(2)
    scene.testbed()
    scene.jobs("pi", "tau")
    scene.queue("done", ["pi", "tau"])
    scene.scheduling_state("done", "CompletedState")
    scene.queue("waits", ["pi"])
    written = tmp_path / "requests"
    names = {"namespace": scene.namespace, "testbeds": ["slots"], "jobs": ["pi", "tau"], "schedulings": ["done", "waits"]}
    # One worker: with several threads, the ast module of CPython 3.11 fails now and then ("recursion depth mismatch").
    line = [str(pathlib.Path(sys.executable).parent / "st"), "--config-file", str(HERE / "schemathesis.toml"), "run",
            f"{replica.url}/openapi.json", "-H", f"Authorization: Bearer {token}", "--seed", str(seed),
            "--max-examples", str(math.ceil(wanted / OF_AN_EXAMPLE)), "--workers", "1", "--continue-on-failure", "--no-shrink", "--suppress-health-check",
            "all", "--request-timeout", "60", "--report-dir", str(tmp_path / "report")]
    told = subprocess.run(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, env={
        **os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE), "ESI_NAMES": json.dumps(names),
        "ESI_REQUESTS": str(written), "NO_COLOR": "1"})
    asked = [each.split(" ") for each in written.read_text().splitlines()] if written.exists() else []
    statuses = collections.Counter(status for *_, status in asked)
    print(f"seed {seed}: {len(asked)} requests, {dict(sorted(statuses.items()))}")
    (tmp_path / "said").write_text(told.stdout)
    assert told.returncode == 0, f"seed {seed}:\n{told.stdout[-20000:]}"
    assert len(asked) >= wanted
    assert len({(method, path) for method, path, _ in asked}) >= OPERATIONS
    # Neither only refused, nor never.
    assert statuses["200"] >= wanted / 20 and statuses["400"] and statuses["404"] and statuses["422"]
    assert replica.alive()
