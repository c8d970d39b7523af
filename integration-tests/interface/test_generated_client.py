"""A client that openapi-python-client makes of the document, and nothing else, drives a whole evaluation on the real
control plane: look, preview, create, wait, read runs and matrix, note, release."""
import importlib
import subprocess
import sys

import pytest

from conftest import CLIENT
from patience import wait as until


class Made:
    """The package: `api(tag, operation)` is the function that calls it, `models` its classes."""

    def __init__(self, name):
        self.name = name
        self.client = importlib.import_module(f"{name}.client")
        self.models = importlib.import_module(f"{name}.models")

    def api(self, tag, operation):
        return importlib.import_module(f"{self.name}.api.{tag}.{operation}").sync_detailed


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    subprocess.run([sys.executable, str(CLIENT / "generate.py"), str(folder / "made_anew")], check=True)
    sys.path.insert(0, str(folder))
    yield Made("made_anew")
    sys.path.remove(str(folder))


@pytest.fixture
def call(made, replica, token):
    client = made.client.AuthenticatedClient(base_url=replica.url, token=token, raise_on_unexpected_status=True)

    def call(tag, operation, *arguments, expect=200, **options):
        answer = made.api(tag, operation)(*arguments, client=client, **options)
        assert int(answer.status_code) == expect, answer.content
        return answer.parsed
    return call


def test_it_drives_a_whole_evaluation(scene, made, call, replica, token):
    scene.nodes(2)
    scene.testbed()
    scene.jobs("pi", "tau")
    ns, models = scene.namespace, made.models

    assert [each.metadata.name for each in call("testbeds", "list_testbeds", ns).items] == ["slots"]
    assert len(call("testbeds", "list_slots", ns, "slots", state="FREE").items) == 4
    jobs = call("jobs", "list_jobs", ns, state="ReadyState").items
    assert [each.metadata.name for each in jobs] == ["pi", "tau"]

    spec = {"testbed": {"name": "slots"}, "slotBased": {"mode": "relaxed", "jobs": [
        {"name": {"name": "pi"}, "slotIds": [0]}, {"name": {"name": "tau"}, "slotIds": [2]}]}}
    preview = call("schedulings", "preview_scheduling", ns, body=models.SchedulingDraft.from_dict({"spec": spec}))
    assert preview.verdict == "Starts"
    assert {each.name: each.slots for each in preview.starts} == {"pi": [0], "tau": [2]}

    body = models.SchedulingInput.from_dict({"metadata": {"name": "evaluation"}, "spec": spec})
    dry = call("schedulings", "create_scheduling", ns, body=body, dry_run=True)
    assert dry.metadata.name == "evaluation" and scene.left("Scheduling") == []
    first, again = (call("schedulings", "create_scheduling", ns, body=body, idempotency_key="evaluation", expect=201)
                    for _ in range(2))
    assert first.metadata.uid == again.metadata.uid

    wait = made.api("schedulings", "get_scheduling")
    client = made.client.AuthenticatedClient(base_url=replica.url, token=token)

    def ended():
        answer = wait(ns, "evaluation", client=client, wait_for="state=CompletedState", wait="1m")
        assert int(answer.status_code) in (200, 504), answer.content
        return answer.parsed if int(answer.status_code) == 200 else None
    plan = until("the plan to complete", ended)
    assert plan.status.progress.done == 2

    [run] = call("jobs", "list_runs", ns, "pi").items
    assert run.slots == [0] and run.outcome == "Succeeded" and run.scheduling.name == "evaluation"
    assert run.stopped >= run.started
    explained = call("schedulings", "explain_scheduling", ns, "evaluation")
    assert {each.name: each.outcome for each in explained.jobs} == {"pi": "Succeeded", "tau": "Succeeded"}
    matrix = call("jobs", "get_matrix", ns, testbed="slots")
    assert {each.job.name for each in matrix.pairs} == {"pi", "tau"}
    noted = call("jobs", "patch_external_scheduler", ns, "pi", body=models.ExternalNotesPatch.from_dict(
        {"profiler": [{"tau": "1 (1)"}]}))
    assert noted.spec.external_scheduler.to_dict() == {"profiler": [{"tau": "1 (1)"}]}

    shown = call("schedulings", "get_scheduling", ns, "evaluation")
    call("schedulings", "delete_scheduling", ns, "evaluation", if_match='"1"', expect=412)
    call("schedulings", "delete_scheduling", ns, "evaluation", if_match=f'"{shown.metadata.resource_version}"', expect=202)
    until("the plan to go", lambda: int(wait(ns, "evaluation", client=client).status_code) == 404)
    scene.released(testbed="slots", jobs=["pi", "tau"])
