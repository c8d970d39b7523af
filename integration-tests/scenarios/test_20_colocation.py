"""The example scheduler (examples/schedulers/colocation) measures and places six jobs, to the end.

It asks /api/v1 with a token, or, with --legacy, the original's interface, and is killed twice on the way. How long a job takes depends on
who runs beside it: a player, in the place of a real node, looks at the job pods that are bound and
tells the stand-ins for Spark and Flink.
"""
import contextlib
import pathlib
import subprocess
import threading

import pytest

import objects
import rights
from control_plane import ROOT
from operators import Operator
from patience import PATIENCE

PROGRAM = ROOT / "examples" / "schedulers" / "colocation"
ALIKE, UNLIKE = 10, 3  # seconds of a job beside one that uses the same, and beside one that does not
DISK, CPU = {"a", "b", "d"}, {"c", "e", "f"}
PAIRS = ["ab", "ac", "ad", "ae", "af", "bc", "bd", "be", "bf", "cd", "ce", "cf", "de", "df", "ef"]


def truth(job, other):
    return ALIKE if {job, other} <= DISK or {job, other} <= CPU else UNLIKE


class Player:
    """Gives each application its run time as soon as its job and one other have their pods on a node."""

    def __init__(self, scene):
        self.api, self.namespace = scene.api, scene.namespace
        self.told = {}  # {uid of a driver or JobManager: (job, neighbour)}
        self.trouble = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def close(self):
        self.over.set()
        self.thread.join(30)

    def play(self):
        while not self.over.wait(0.1):
            try:
                self.look()
            except Exception as error:  # the pod may just have gone; a test that waits shows the last one
                self.trouble = error

    def look(self):
        pods = self.api.list("Pod", self.namespace)
        on = {}
        for pod in pods:
            labels, node = pod["metadata"].get("labels") or {}, pod["spec"].get("nodeName")
            if "esi.tu-berlin.de/testbed" in labels and "esi.tu-berlin.de/job" in labels and node and \
                    "deletionTimestamp" not in pod["metadata"]:
                on.setdefault(node, set()).add(labels["esi.tu-berlin.de/job"])
        beside = {job: (jobs - {job}).pop() for jobs in on.values() if len(jobs) == 2 for job in jobs}
        for pod in pods:
            labels, uid = pod["metadata"].get("labels") or {}, pod["metadata"]["uid"]
            job = None
            if labels.get("spark-role") == "driver":
                job = pod["metadata"]["name"].removesuffix("-driver")
            elif labels.get("component") == "jobmanager":
                job = labels["app"]
            if job in beside and uid not in self.told and "deletionTimestamp" not in pod["metadata"]:
                self.api.patch("Pod", self.namespace, pod["metadata"]["name"], {"metadata": {
                    "annotations": {"esi-test/run-seconds": str(truth(job, beside[job]))}}})
                self.told[uid] = (job, beside[job])


@pytest.fixture(scope="session")
def program():
    """The command as pip installs it."""
    python = subprocess.run([str(PROGRAM / "tests" / "venv.sh")], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.strip()
    return str(pathlib.Path(python).parent / "esi-colocation")


@contextlib.contextmanager
def replica(kubeconfig, number, folder, *flags):
    """The address of a replica of the scheduling operator, which ends well."""
    one = Operator("scheduling", kubeconfig, folder / "operators", replica=number, flags=flags).start().ready()
    yield one.url
    assert one.stop() == 0, one.tail()


@pytest.fixture
def way(request, scene, operators, folder, tmp_path):
    """The program's arguments for the interface that the test names: "v1" or "legacy"."""
    if request.param == "legacy":
        # With the rights of an admin: those of esi-scheduling end at the namespace that it was installed with.
        with replica(scene.plane.kubeconfig, 20, folder, "--legacy-namespace", scene.namespace) as url:
            yield ["--server", url, "--legacy"]
        return
    with replica(operators.kubeconfigs["scheduling"], 20, folder) as url, \
            rights.account(scene.plane, scene.namespace, "colocation", roles=("view", "edit")) as token:
        (tmp_path / "token").write_text(token)
        yield ["--server", url, "--namespace", scene.namespace, "--token-file", str(tmp_path / "token")]


@pytest.fixture
def player(scene):
    player = Player(scene)
    yield player
    player.close()


class Run:
    """One process of the example scheduler."""

    def __init__(self, program, way, log, *arguments):
        self.log = log
        line = [program, *way, "--profiler-testbed", "pairs", "--scheduler-testbed", "slots", *arguments]
        with open(log, "wb") as out:
            self.process = subprocess.Popen(line, stdout=out, stderr=out, stdin=subprocess.DEVNULL)

    @property
    def said(self):
        return self.log.read_text(encoding="utf-8")

    def alive(self):
        code = self.process.poll()
        assert code is None, f"it ended with {code}:\n{self.said}"
        return True

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ended(self, timeout):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            pytest.fail(f"it did not end within {timeout} s:\n{self.said}")


def lines(scene, job):
    """{other: "mean (samples)"} of the job's notes."""
    notes = scene.get("BatchJob", job)["spec"].get("externalScheduler") or {}
    return {other: text for each in notes.get("profiler") or [] for other, text in each.items()}


def standing(scene, part):
    """The example scheduler's Scheduling, if one of its jobs runs."""
    for thing in scene.api.list("Scheduling", scene.namespace):
        if part in thing["metadata"]["name"] and any(
                scene.status("BatchJob", each["name"]["name"]).get("state") == "RunningState"
                for each in thing["spec"]["slotBased"]["jobs"]):
            return thing["metadata"]["name"]
    return None


def make_testbeds(scene, **nodes):
    for part, count in nodes.items():
        scene.made_nodes += scene.plane.add_nodes(f"{scene.name}-{part}", count,
                                                  labels=f"{scene.label}-{part}={{i}},lab={scene.name}")
        scene.testbed(part, label=f"{scene.label}-{part}", isolation="Taint")


def evaluation(scene, program, way, folder, flink_jobs):
    make_testbeds(scene, pairs=3, slots=2)
    for name in "abcdef":
        scene.apply((objects.flink_job if name in flink_jobs else objects.job)(name, seconds=600))
    for name in "abcdef":
        scene.job_state(name, "ReadyState")

    def start(number, *arguments):
        return Run(program, way, folder / f"{scene.name}-colocation-{number}.log", *arguments)

    first = start(1, "-p")
    scene.wait("some pairs to be measured",
               lambda: first.alive() and sum(len(lines(scene, name)) for name in "abcdef") >= 6, 3 * PATIENCE)
    profile = scene.wait("a round to run", lambda: first.alive() and standing(scene, "-profile-"))
    first.kill()

    second = start(2)
    wave = scene.wait("a wave to run", lambda: second.alive() and standing(scene, "-wave-"), 3 * PATIENCE)
    assert f"taking up {profile}" in second.said
    assert {name: set(lines(scene, name)) for name in "abcdef"} == {
        name: set("abcdef") - {name} for name in "abcdef"}
    second.kill()

    third = start(3)
    assert third.ended(3 * PATIENCE) == 0, third.said
    assert f"taking up {wave}" in third.said
    return [first.said, second.said, third.said]


@pytest.mark.parametrize("way, flink_jobs", [
    pytest.param("legacy", "", id="six Spark jobs", marks=pytest.mark.slow),
    pytest.param("v1", "bde", id="three Spark and three Flink jobs")], indirect=["way"])
def test_six_jobs_are_measured_and_placed_to_the_end_though_the_scheduler_is_killed_twice(
        request, scene, program, way, player, folder, flink_jobs):
    if flink_jobs:
        request.getfixturevalue("flink")
    said = evaluation(scene, program, way, folder, flink_jobs)
    assert not any("no topics" in text for text in said), "it was told by STOMP, and did not only look"
    # Nothing is left of it, and all jobs could be started again.
    assert scene.left("Scheduling") == []
    for testbed in ("pairs", "slots"):
        scene.released(testbed=testbed, jobs="abcdef")
    # Every pair ran side by side once, and once more those of the plan.
    together = ["".join(sorted(pair)) for pair in set(player.told.values())]
    assert sorted(set(together)) == PAIRS, player.trouble
    assert len(player.told) == 6 * 5 + 6
    for job in "abcdef":
        events = scene.status("BatchJob", job)["scheduledEvents"]
        kinds = ["profile" if "-profile-" in event["scheduling"]["name"] else "wave" for event in events]
        assert kinds == ["profile"] * 5 + ["wave"]
        assert all(event["successful"] for event in events)
        # The matrix against the truth: times in pods are whole seconds, and ending a run takes a moment.
        for other, text in lines(scene, job).items():
            mean, count = text.split()
            assert count == "(1)"
            assert -1 <= int(mean) - truth(job, other) <= 6, (job, other, text, said)
        # Nobody was placed beside one that uses the same.
        neighbour, = scene.status("BatchJob", job)["runs"][-1]["neighbours"]
        beside, = [name.rpartition("/")[2] for name in neighbour["jobs"]]
        assert truth(job, beside) == UNLIKE, (job, beside)
        assert set(scene.get("BatchJob", job)["spec"]["externalScheduler"]) == {"profiler", "colocation"}


@pytest.mark.parametrize("way", ["v1", "legacy"], indirect=True)
def test_stopped_by_sigterm_it_deletes_its_scheduling_and_everything_is_free(scene, program, way, folder):
    make_testbeds(scene, pairs=1, slots=1)
    scene.jobs("a", "b", seconds=600)
    run = Run(program, way, folder / f"{scene.name}-colocation.log", "-p")
    profile = scene.wait("a round to run", lambda: run.alive() and standing(scene, "-profile-"))
    run.process.terminate()
    assert run.ended(PATIENCE) == 143
    assert f"stopped; deleted {profile}" in run.said
    scene.gone("Scheduling", profile)
    scene.released(testbed="pairs", jobs=["a", "b"])
    assert lines(scene, "a") == {}
