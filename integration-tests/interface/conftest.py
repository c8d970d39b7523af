"""The fixtures of the scenarios (plane, operators, scene), and a replica of esi-scheduling that believes tokens."""
import importlib.util
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCENARIOS = ROOT / "integration-tests" / "scenarios"
CLIENT = ROOT / "examples" / "clients" / "python"
for each in (SCENARIOS, CLIENT / "src"):
    sys.path.insert(0, str(each))

spec = importlib.util.spec_from_file_location("scenario_fixtures", SCENARIOS / "conftest.py")
sys.modules["scenario_fixtures"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["scenario_fixtures"])
pytest_plugins = ["scenario_fixtures"]

import rights  # noqa: E402
from operators import Operator  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--requests", type=int, default=int(os.environ.get("ESI_REQUESTS", "1500")),
                     help="how many generated requests the interface has to answer at least")
    parser.addoption("--seed", type=int, default=1, help="of the generated requests")


@pytest.fixture
def replica(operators, folder):
    """It answers as in a cluster: tokens are reviewed, rights are asked. No wait is longer than a second."""
    one = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=40, flags=(
        "--api-max-wait=1s", "--api-requests-per-second=100000", "--api-request-burst=100000")).start().ready()
    yield one
    assert one.stop() == 0, one.tail()


@pytest.fixture
def token(scene):
    """Of an account that may all in the scene's namespace, and see all others."""
    with rights.account(scene.plane, scene.namespace) as found:
        yield found
