"""Every recorded exchange of the Java original, sent to the real binaries: the same answer, or one of
the differences that docs/compatibility.md lists by name.

One test per exchange. a*, d* and e* are independent of each other; b* and c* are one story, told once, in
the order of the recording, by a scheduling operator of its own for the recording's namespace.
"""
import contextlib
import pathlib
import re

import pytest

import objects
import recorded_rest
from operators import Operator
from patience import Timeout, wait
from recorded_rest import Answer
from scene import Scene

STORY = [name for name in recorded_rest.NAMES if name[0] in "bc"]
INDEPENDENT = [name for name in recorded_rest.NAMES if name not in STORY]
#: What the recording shows as soon as the operators and the interface's caches have got there.
AWAITED = {"b00-get-testbed-no-nodes", "b00-get-testbeds-no-nodes", "b01-get-testbeds", "b02-get-testbed",
           "b03-get-jobs", "b06-get-job-after-put", "b21-get-scheduling", "b24-get-schedulings",
           "b27-get-scheduling-gone", "b31-get-slots", "b38-get-unknown-job-scheduling",
           "b39-get-testbed-after", "c02-get-completed", "c03-get-job-completed"}

JSON = ("content-type", "application/json")
CLOSE = ("connection", "close")
UP = Answer(200, [CLOSE, ("content-type", "application/vnd.spring-boot.actuator.v3+json")], '{"status":"UP"}')
#: The exchanges that docs/compatibility.md lists, with ESI's answers.
DIFFERENT = {
    "a21-post-slots-lowercase-mode": Answer(200, [CLOSE, JSON], (
        '{"name":"lower","state":null,"jobStatus":[],"testBed":"t","queue":null,'
        '"slots":{"mode":"STRICT","jobs":[{"slots":[0],"name":"a"}]}}')),
    "a24-put-job-missing": Answer(404, [CLOSE, JSON], (
        '{"timestamp":"<ms>","status":404,"error":"Not Found","path":"/external/jobs/"}')),
    "a26-put-job-no-name": Answer(400, [CLOSE, JSON], (
        '{"timestamp":"<ms>","status":400,"error":"Bad Request","path":"/external/jobs/"}')),
    "a36-get-accept-html-missing": Answer(
        404, [CLOSE, ("content-language", "en"), ("content-type", "text/html;charset=UTF-8")],
        "<html><body><h1>Error Page</h1><p>The request could not be answered.</p><div id='created'>time</div>"
        "<div>There was an error (type=Not Found, status=404).</div></body></html>"),
    "a40-actuator-liveness": UP,
    "a41-actuator-readiness": UP,
    "a44-get-schedulings-name-encoded": Answer(
        400, [CLOSE, ("content-language", "en"), ("content-type", "text/html;charset=utf-8")],
        '<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title></head><body>'
        "<h1>HTTP Status 400 – Bad Request</h1></body></html>"),
    "e01-extender-filter-empty": Answer(200, [CLOSE, JSON], (
        '{"Nodes":null,"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""}')),
    "e03-extender-preemption-empty": Answer(200, [CLOSE, JSON], '{"NodeNameToMetaVictims":{}}'),
}


class Stage:
    """The recording's namespace, nodes, Testbeds and jobs, and who serves its three ports here."""

    def __init__(self, scene, surface, operators):
        self.scene, self.surface, self.operators = scene, surface, operators
        self.ports = {8080: operators["testbed"].port, 8081: operators["batchjob"].port, 8082: surface.port}

    def ask(self, name):
        return recorded_rest.exchange(name, self.ports[recorded_rest.port(name)])

    def clear(self):
        """No object is left, and the interface knows it."""
        for kind in ("Scheduling", "BatchJob", "Testbed"):
            self.scene.api.delete_all(kind, self.scene.namespace)
            self.scene.wait(f"no {kind}", lambda kind=kind: not self.scene.left(kind))
        for name in ("a01-get-testbeds-empty", "a02-get-jobs-empty", "a03-get-schedulings-empty"):
            self.scene.wait(name, lambda name=name: self.ask(name) == recorded_rest.recorded(name))

    def set_up(self, before):
        """What was done to the original's cluster before the named exchange."""
        scene = self.scene
        if before == "b00-get-testbed-no-nodes":
            for name in ("profiler-slots", "scheduler-slots"):
                scene.apply(objects.testbed(name, f"lab.esi/esij-{name}"))
        if before == "b01-get-testbeds":
            scene.nodes(4, labelled=False)
            for number, testbed, node_id in ((0, "scheduler", 0), (1, "scheduler", 1), (2, "scheduler", 2),
                                             (3, "profiler", 0)):
                label = {f"lab.esi/esij-{testbed}-slots": str(node_id)}
                scene.api.patch("Node", None, f"esij-{number}", {"metadata": {"labels": label}})
            for number in range(1, 6):
                scene.apply(objects.job(f"spark-job-{number}", seconds=0))
        if before == "c01-post-flow":
            scene.gone("Scheduling", "cap-uj")
            scene.testbed_ready("scheduler-slots")
        if before == "c04-delete-completed":
            self.operators["batchjob"].pause()  # the release cannot end before the next exchange
        if before is None:
            self.operators["batchjob"].go_on()
            self.clear()

    def told(self, name):
        """The answer to an exchange of the story."""
        if name not in AWAITED:
            return self.ask(name)
        answers = []

        def as_recorded():
            answers.append(self.ask(name))
            return answers[-1] == recorded_rest.recorded(name)
        with contextlib.suppress(Timeout):  # the test says what is different
            wait(name, as_recorded)
        return answers[-1]


@pytest.fixture(scope="module")
def stage(operators, plane, recording):
    operators.ensure()
    recording.catch_up()
    scene = Scene("esij", plane, operators, recording)
    # With the rights of an admin: those of esi-scheduling end at the namespace that it was installed with.
    surface = Operator("scheduling", plane.kubeconfig, operators.folder, replica=21,
                       flags=("--legacy-namespace", "esij"))
    try:
        surface.start().ready()
        yield Stage(scene, surface, operators)
    finally:
        operators["batchjob"].go_on()
        code = surface.stop()
        scene.close()
    assert code == 0, surface.tail()
    assert not scene.violations(), "\n".join(map(str, scene.violations()))


@pytest.fixture(scope="module")
def story(stage):
    """{name: the answer} of b* and c*, told in order; what went wrong ends it."""
    answers = {}
    try:
        for name in STORY:
            stage.set_up(name)
            answers[name] = stage.told(name)
    finally:
        stage.set_up(None)
    return answers


@pytest.mark.parametrize("name", recorded_rest.NAMES)
def test_exchange(request, stage, name):
    """Status, headers and JSON as recorded, or the documented answer, which must not be the recorded one."""
    if name in STORY:
        got = request.getfixturevalue("story")[name]
    else:
        got = stage.ask(name)
        if recorded_rest.method(name) == "POST" and got.status == 200 and recorded_rest.port(name) == 8082:
            stage.clear()
    wanted = recorded_rest.recorded(name)
    if name in DIFFERENT:
        assert got != wanted, f"{name} is as recorded: take it off the list in docs/compatibility.md"
        wanted = DIFFERENT[name]
    assert got == wanted, f"{name}\n{recorded_rest.differences(wanted, got)}"


def test_the_differences_are_the_documented_ones_and_few():
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "compatibility.md").read_text("utf-8")
    rest = page.split("## REST")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in rest.splitlines() if re.match(r"\| [a-e]\d\d-", row)]
    listed = [name for row in rows for name in re.findall(r"[a-e]\d\d-[a-z0-9-]+", row)]
    assert sorted(listed) == sorted(DIFFERENT)
    assert len(listed) <= 10


def test_all_exchanges_are_there():
    assert len(recorded_rest.NAMES) == 88
    assert len(INDEPENDENT) == 52 and len(STORY) == 36
    assert not AWAITED - set(STORY) and not DIFFERENT.keys() - set(INDEPENDENT)
    assert all(recorded_rest.method(name) == "GET" for name in AWAITED), "asked again and again: no effect"
