"""The simulation's model API server answers as the real one: the same requests to both.

The real one is a control plane of its own, without our operators, which would act on the objects.
"""
import difflib
import json
import os
import pathlib
import subprocess
import uuid

import pytest

from control_plane import ROOT, ControlPlane
from patience import PATIENCE

SCRIPTS = sorted((ROOT / "integration-tests" / "simulation" / "conformance" / "scripts").glob("*.yaml"))
PROGRAM = pathlib.Path(os.environ.get("ESI_CONFORMANCE")
                       or ROOT / "build" / "release" / "integration-tests" / "simulation" / "esi-conformance")


def answers(script, namespace, *more):
    line = [str(PROGRAM), str(script), "--namespace", namespace, "--root", str(ROOT), *more]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{' '.join(line)}: exit {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)[script.stem]


def text(answer):
    return json.dumps(answer, indent=1, sort_keys=True).splitlines()


@pytest.fixture(scope="module")
def nobody(folder):
    plane = ControlPlane(folder / "model-server").up(nodes=1, audit=False)
    try:
        yield plane
    finally:
        plane.down()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_model_answers_as_the_api_server(nobody, script):
    namespace = f"model-{uuid.uuid4().hex[:6]}"
    real = answers(script, namespace, "--kubeconfig", str(nobody.kubeconfig))
    model = answers(script, namespace)
    assert len(real) > 1
    assert [each["step"] for each in real] == [each["step"] for each in model]
    differences = []
    for expected, got in zip(real, model):
        if expected == got:
            continue
        lines = difflib.unified_diff(text(expected), text(got), "API server", "model", n=2, lineterm="")
        differences.append("\n".join([f"== {expected['step']}", *list(lines)[2:]]))
    assert not differences, "\n".join(differences)
