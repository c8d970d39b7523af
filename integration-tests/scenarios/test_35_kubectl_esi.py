"""`kubectl esi` as a person uses it: kubectl finds the plugin in the PATH, and it works with the kubeconfig."""
import csv
import io
import json
import os
import re
import signal
import subprocess
import time

import pytest
import yaml

import objects
import shells
from operators import binaries
from patience import PATIENCE


class Esi:
    """Runs `kubectl esi ... -n NAMESPACE`."""

    def __init__(self, scene, plane, kubeconfig=None):
        self.scene, self.plane = scene, plane
        self.environment = dict(os.environ, KUBECONFIG=str(kubeconfig or plane.kubeconfig),
                                PATH=f"{binaries()}:{os.environ['PATH']}",
                                KUBECACHEDIR=str(plane.folder / "kube-cache"))
        self.line = [str(plane.folder / "bin" / "kubectl"), "esi"]

    def run(self, *arguments, stdin=None):
        return subprocess.run([*self.line, *arguments, "-n", self.scene.namespace], capture_output=True, text=True,
                              timeout=PATIENCE, input=stdin, check=False, env=self.environment)

    def __call__(self, *arguments, code=0, stdin=None):
        """What it printed."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *arguments, **more):
        return json.loads(self(*arguments, "-o", "json", **more))

    def refused(self, *arguments, code=1, stdin=None):
        """What it said of its failure."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stderr


@pytest.fixture
def esi(scene, plane):
    return Esi(scene, plane)


def rows(text):
    """A table as kubectl prints it: [{heading: cell}]."""
    lines = text.splitlines()
    starts = [0] + [i for i in range(3, len(lines[0])) if lines[0][i - 3:i] == "   " and lines[0][i] != " "]
    ends = [*starts[1:], None]
    return [{lines[0][a:b].strip(): line[a:b].strip() for a, b in zip(starts, ends)} for line in lines[1:]]


def plan(name, *jobs, **more):
    return yaml.safe_dump(objects.queue(name, "slots", jobs, **more))


def reasons(blockers):
    return [each["reason"] for each in blockers]


def test_a_plan_from_its_preview_to_its_trace(scene, esi, tmp_path):
    n0, n1 = scene.nodes(2)
    scene.testbed(slots=2)
    scene.jobs("a", "b", seconds=600)
    scene.jobs("c", seconds=0)
    file = tmp_path / "plan.yaml"
    file.write_text(plan("p", "a", "a", "b", "b", "c", "c"), "utf-8")

    seen = esi.json("schedule", "-f", str(file), "--preview")
    assert seen["verdict"] == "Starts"
    assert {each["name"]: each["slots"] for each in seen["starts"]} == {"a": [0, 1], "b": [2, 3]}
    assert [(each["name"], reasons(each["blockers"])[0]) for each in seen["waits"]] == [("c", "TooFewFreeSlots")]
    assert scene.get("Scheduling", "p") == {}, "a preview writes nothing"

    assert esi("schedule", "-f", str(file), "--dry-run") == \
        "scheduling.esi.tu-berlin.de/p created (server dry run)\n"
    assert scene.get("Scheduling", "p") == {}
    assert esi("schedule", "-f", str(file)) == "scheduling.esi.tu-berlin.de/p created\n"
    assert "Scheduling " + scene.namespace + "/p exists already" in esi.refused("schedule", "-f", str(file))
    assert esi("schedule", "-f", str(file), "--update") == "scheduling.esi.tu-berlin.de/p unchanged\n"

    scene.wait("both jobs in their slots", lambda: [
        row["state"] for row in scene.slots().values()] == ["OCCUPIED"] * 4)
    began = time.monotonic()
    text = esi("top", "slots")
    map_ = rows("\n".join(line[2:] for line in text.splitlines()[2:]))
    assert map_ == [{"NODE": n0, "ID": "0", "SLOT-0": "0 OCCUPIED a", "SLOT-1": "2 OCCUPIED b"},
                    {"NODE": n1, "ID": "1", "SLOT-0": "1 OCCUPIED a", "SLOT-1": "3 OCCUPIED b"}]
    assert {row["JOB"] for row in rows(esi("top", "-o", "wide"))} == {"a", "b"}

    place, = rows(esi("queue"))
    assert (place["TESTBED"], place["PLACE"], place["NAME"]) == (f"{scene.namespace}/slots", "1", "p")
    why = esi.json("explain", "job", "c")
    job, = why["jobs"]
    assert reasons(job["blockers"])[0] == "TooFewFreeSlots"
    assert [each["holder"]["name"] for each in job["blockers"][1:]] == ["a", "b"]
    assert "TooFewFreeSlots" in esi("explain", "scheduling", "p", "--exit-code", code=3)

    ran = time.monotonic() - began
    scene.finish("a")
    scene.wait("the run of c", lambda: [
        run["outcome"] for run in scene.status("BatchJob", "c").get("runs", [])] == ["Succeeded"])
    scene.finish("b")
    scene.scheduling_state("p", "CompletedState")
    assert scene.seats("a") == {0: n0, 1: n1} and scene.seats("b") == {2: n0, 3: n1}, "as the preview said"
    seats = sorted(scene.seats("c"))
    assert seats == [0, 1], "those of the job that ended first"
    lines = rows(esi("runs"))
    assert [(row["JOB"], row["RUN"], row["OUTCOME"]) for row in lines] == [
        (name, "1", "Succeeded") for name in "abc"]
    assert (lines[0]["SLOTS"], lines[0]["BESIDE"]) == ("0,1", "b")
    assert [row["JOB"] for row in rows(esi("runs", "b", "-o", "wide"))] == ["b"]

    pairs = rows(esi("matrix", "slots", "-o", "wide"))
    assert ("a", "b", "1") in [(row["JOB"], row["BESIDE"], row["RUNS"]) for row in pairs]
    grid = {row["JOB"]: row for row in rows(esi("matrix", "slots"))}
    assert grid["a"]["b"].endswith("s (1)") and grid["a"].get("ALONE", "-") == "-"

    read = list(csv.DictReader(io.StringIO(esi("export", "--format", "csv"))))
    assert [(row["job"], row["slots"], row["outcome"]) for row in read] == [
        ("a", "0 1", "Succeeded"), ("b", "2 3", "Succeeded"), ("c", " ".join(map(str, seats)), "Succeeded")]
    assert float(read[0]["seconds"]) >= ran - 1, "whole seconds"
    assert [json.loads(line)["job"]["name"] for line in esi("export", "--format", "jsonl").splitlines()] == [*"abc"]
    events = json.loads(esi("export", "--format", "trace"))["traceEvents"]
    assert sorted((each["tid"], each["name"].split("/")[1]) for each in events if each["ph"] == "X") == sorted([
        (0, "a"), (1, "a"), (2, "b"), (3, "b"), *((slot, "c") for slot in seats)])

    assert yaml.safe_load(esi("queue", "-o", "yaml"))["items"][0]["name"] == "p"
    assert esi("release", "p") == "scheduling.esi.tu-berlin.de/p released\n"
    scene.released(jobs=[*"abc"])


def test_plans_are_steered(scene, esi):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", "b", seconds=600)
    scene.jobs("c", seconds=0)
    scene.apply(objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    scene.job_state("bad", "ReadyState")
    esi("schedule", "-f", "-", stdin=plan("p", "a", "a", "b", "b", "c", "c", "bad"))
    scene.job_state("a", "RunningState")

    assert esi("suspend", "p").startswith("scheduling.esi.tu-berlin.de/p suspended")
    assert scene.get("Scheduling", "p")["spec"]["suspendPolicy"] == "Keep"
    assert esi("suspend", "p") == "scheduling.esi.tu-berlin.de/p is suspended already\n"
    scene.wait_condition("Scheduling", "p", "Acquired", "False", "Suspended")
    assert "names no BatchJob x; it names a,b,c,bad" in esi.refused("cancel", "p", "x")
    assert esi("cancel", "p", "a", "b") == "scheduling.esi.tu-berlin.de/p cancels a, b\n"
    assert [each["name"] for each in scene.get("Scheduling", "p")["spec"]["cancelledJobs"]] == ["a", "b"]
    scene.job_state("a", "ReadyState")
    assert esi("resume", "p") == "scheduling.esi.tu-berlin.de/p resumed\n"
    assert esi("resume", "p") == "scheduling.esi.tu-berlin.de/p is not suspended\n"
    scene.scheduling_state("p", "CompletedState")
    assert scene.status("BatchJob", "bad")["state"] == "FailedState"
    assert "HTTP 404" in esi.refused("suspend", "none")
    assert "has not failed: it is in CompletedState" in esi.refused("reset", "c")
    esi("release", "p", "--no-wait")
    scene.gone("Scheduling", "p")
    assert esi("reset", "--all") == "batchjob.esi.tu-berlin.de/bad reset\n"
    scene.job_state("bad", "ReadyState")
    scene.released(jobs=["a", "b", "c", "bad"])


def test_runs_are_ended_and_begin_anew(scene, esi):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=600)
    esi("schedule", "-f", "-", stdin=plan("p", "a"))
    scene.job_state("a", "RunningState")
    esi("suspend", "p", "--release-running")
    scene.job_state("a", "ReadyState")
    assert "Suspended" in esi("explain", "scheduling", "p")
    esi("release", "p")
    scene.released(jobs=["a"])


def test_a_schedule_that_is_waited_for_ends_as_its_jobs_do(scene, esi):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=0)
    scene.apply(objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    scene.job_state("bad", "ReadyState")
    two = plan("good", "a", releaseOnCompletion=True) + "---\n" + plan("worse", "bad", releaseOnCompletion=True)
    text = esi("schedule", "-f", "-", "--wait", stdin=two, code=1)
    assert text.splitlines()[:4] == [
        "scheduling.esi.tu-berlin.de/good created", "scheduling.esi.tu-berlin.de/worse created",
        "scheduling.esi.tu-berlin.de/good succeeded: 1/1", "scheduling.esi.tu-berlin.de/worse failed: 0/1 (1 failed)"]
    scene.released(jobs=["a"], failed=["bad"])


def test_what_is_wrong_is_told_with_its_remedy(scene, esi, plane, tmp_path):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=0)
    wrong = objects.queue("p", "slots", ["a"], priority="high", surprise=1)
    told = esi.refused("schedule", "-f", "-", stdin=yaml.safe_dump(wrong))
    assert 'unknown field "spec.surprise"' in told, told
    wrong["spec"].pop("surprise")
    told = esi.refused("schedule", "-f", "-", "--preview", stdin=yaml.safe_dump(wrong))
    assert "spec.priority" in told and scene.get("Scheduling", "p") == {}
    assert "is v1 Pod, not a Scheduling" in esi.refused(
        "schedule", "-f", "-", stdin="{apiVersion: v1, kind: Pod, metadata: {name: x}}")
    assert "cannot open /nowhere" in esi.refused("schedule", "-f", "/nowhere")
    assert "the key spec twice" in esi.refused("schedule", "-f", "-", stdin=plan("p", "a") + "spec: {}\n")

    refused = plan("p", "a", "a")
    assert esi.json("schedule", "-f", "-", "--preview", "--exit-code", stdin=refused, code=3)["refused"][0][
        "reason"] == "TooManySlots"
    missing = esi.json("schedule", "-f", "-", "--preview", stdin=plan("p", "a", "gone"))
    assert missing["verdict"] == "Waits"

    assert "Testbed" in esi.refused("top", "nothing")
    assert "does not exist" in esi.refused("explain", "scheduling", "nothing")
    assert "no Scheduling that runs or waits names it" in esi("explain", "job", "a")
    assert esi.run("tops").returncode == 2
    assert esi.run("export", "--format", "xml").returncode == 2
    assert esi.run("top", "-A").returncode == 2, "-n and -A"
    assert esi.run("suspend", "p", "--watch").returncode == 2

    closed = dict(esi.environment, KUBECONFIG=str(tmp_path / "config"))
    config = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "config").write_text(yaml.safe_dump(config), "utf-8")
    done = subprocess.run([*esi.line, "queue"], capture_output=True, text=True, timeout=PATIENCE, env=closed, check=False)
    assert done.returncode == 1 and "is https://127.0.0.1:1 up" in done.stderr, done.stderr


def test_it_has_the_rights_of_its_user_and_no_others(scene, plane, esi):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=0)
    scene.api.create("ServiceAccount", scene.namespace, {"metadata": {"name": "reader"}})
    plane.kubectl("create", "role", "reader", "-n", scene.namespace, "--verb=get,list,watch",
                  "--resource=testbeds.esi.tu-berlin.de,batchjobs.esi.tu-berlin.de,schedulings.esi.tu-berlin.de,pods")
    plane.kubectl("create", "rolebinding", "reader", "-n", scene.namespace, "--role=reader",
                  f"--serviceaccount={scene.namespace}:reader")
    reader = Esi(scene, plane, plane.account(scene.namespace, "reader"))

    def may_read():
        done = reader.run("top", "slots", "-o", "json")
        return done.returncode == 0 and json.loads(done.stdout)["items"][0]["state"] == "SUCCESS"
    scene.wait("the role to count", may_read)
    told = reader.run("schedule", "-f", "-", "--preview", stdin=plan("p", "a"))
    assert told.returncode == 0 and "a     0" in told.stdout, told
    assert "you may not create it" in told.stderr and "you may not list schedulings" in told.stderr
    assert "kubectl auth can-i --list" in reader.refused("schedule", "-f", "-", stdin=plan("p", "a"))
    found = reader.json("doctor", code=1)["findings"]
    assert any(each["check"] == "rights" and "may not create schedulings" in each["text"] for each in found), found
    assert not any(each["check"] == "rights" and "may not list" in each["text"] for each in found), found
    assert {each["check"] for each in found if each["severity"] == "unknown"} >= {
        "definitions", "leases", "deployments", "priority classes", "policies", "testbeds", "driver nodes",
        "namespaces"}, found


def test_a_watch_shows_changes_and_ends_with_ctrl_c(scene, esi, tmp_path):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("a", seconds=0)
    shown = tmp_path / "shown"
    with open(shown, "wb") as out:
        process = subprocess.Popen([*esi.line, "queue", "--watch", "--finished", "-o", "json", "-n", scene.namespace],
                                   stdout=out, stderr=subprocess.PIPE, env=esi.environment)

    def answers():
        decoder, text, found = json.JSONDecoder(), shown.read_text("utf-8"), []
        while text.strip():
            one, end = decoder.raw_decode(text.lstrip())
            found.append([each["name"] for each in one["items"]])
            text = text.lstrip()[end:]
        return found
    try:
        scene.wait("the first answer", lambda: answers() == [[]])
        scene.queue("p", ["a"], releaseOnCompletion=True)
        scene.wait("the plan to be shown", lambda: ["p"] in answers())
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
    finally:
        process.kill()
    scene.scheduling_state("p", "FinishedState")
    scene.released(jobs=["a"])


def test_nodes_are_chosen_and_taken_back(scene, esi):
    a, b = scene.nodes(2, labelled=False)
    scene.testbed(slots=1, ready=False)

    def labels():
        return [scene.api.get("Node", None, name)["metadata"]["labels"].get(scene.label) for name in (a, b)]
    changes = rows(esi("nodes", "slots", "--nodes", f"{b},{a}", "--dry-run"))
    assert [(row["NODE"], row["BEFORE"], row["AFTER"]) for row in changes] == [(b, "<none>", "0"), (a, "<none>", "1")]
    assert labels() == [None, None]
    esi("nodes", "slots", "--nodes", f"{b},{a}")
    assert labels() == ["1", "0"]
    scene.testbed_ready()
    assert {row["NODE"]: row["ID"] for row in rows(esi("nodes", "slots"))} == {a: "1", b: "0"}
    assert "does not exist" in esi.refused("nodes", "slots", "--nodes", "nowhere")
    assert "nodes with room for 1 slots each" in esi.refused("nodes", "slots", "--count", "999")
    chosen = esi.json("nodes", "slots", "--count", "1", "--dry-run")["items"]
    assert len([each for each in chosen if each.get("after")]) <= 1 and labels() == ["1", "0"]
    esi("nodes", "slots", "--clear")
    assert labels() == [None, None]


def prepare_kubectl(esi, folder):
    """kubectl, and what it asks for completion of its plugin, in the PATH."""
    helper = folder / "kubectl_complete-esi"
    helper.write_text(esi("completion", "kubectl"), "utf-8")
    helper.chmod(0o755)
    esi.environment["PATH"] = f"{folder}:{esi.plane.folder / 'bin'}:{esi.environment['PATH']}"


def test_shells_are_offered_commands_and_names(scene, esi, plane, tmp_path):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("spark-one", "spark-two", seconds=0)
    prepare_kubectl(esi, tmp_path)

    def kubectl(*words):
        line = [esi.line[0], "__complete", "esi", *words]
        return subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, env=esi.environment,
                              check=True).stdout.splitlines()
    assert kubectl("re")[:3] == ["release\tDelete Schedulings, which gives back their Testbeds and jobs",
                                 "resume\tLet suspended Schedulings go on", "reset\tMake failed BatchJobs ready again"]
    assert kubectl("runs", "-n", scene.namespace, "") == ["spark-one", "spark-two", ":4"]
    assert kubectl("top", "-n", scene.namespace, "s") == ["slots", ":4"]

    script = tmp_path / "bash"
    script.write_text(esi("completion", "bash"), "utf-8")
    typed = (f"source {script}; COMP_WORDS=(kubectl-esi -n {scene.namespace} reset spark-t); COMP_CWORD=4; "
             "_kubectl_esi; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, timeout=PATIENCE,
                          env=esi.environment, check=True)
    assert done.stdout == "spark-two\n", done


def test_zsh_completes_commands_names_and_files(scene, esi, tmp_path):
    scene.jobs("spark-one", "spark-two", seconds=0)
    wanted = {"kubectl-esi rel": "kubectl-esi release ",
              f"kubectl-esi -n {scene.namespace} reset spark-t": f"kubectl-esi -n {scene.namespace} reset spark-two ",
              f"kubectl-esi schedule -f {tmp_path}/plan-": f"kubectl-esi schedule -f {tmp_path}/plan-of-today.yaml ",
              "kubectl esi rel": "kubectl esi release "}
    (tmp_path / "plan-of-today.yaml").touch()
    prepare_kubectl(esi, tmp_path)
    # `kubectl-esi completion` in one of the folders that zsh loads completions from, and read in .zshrc.
    functions = tmp_path / "functions"
    functions.mkdir()
    script = functions / "_kubectl-esi"
    script.write_text(esi("completion", "zsh"), "utf-8")
    compinit = "autoload -Uz compinit; compinit -u -D"
    for way in (f"fpath=({functions} $fpath); {compinit}", f"{compinit}; source {script}"):
        start = f"{way}\nsource <(kubectl completion zsh)"
        for typed, completed in wanted.items():
            assert shells.zsh_completes(tmp_path, start, typed, esi.environment) == completed, way
    listed = shells.zsh_offers(tmp_path, start, "kubectl-esi re", esi.environment)
    for command in ("release", "reset", "resume"):
        assert re.search(rf"{command} +-- [A-Z]", listed), listed


def test_fish_completes_commands_names_and_files(scene, esi, tmp_path):
    scene.jobs("spark-one", "spark-two", seconds=0)
    (tmp_path / "plan-of-today.yaml").touch()
    prepare_kubectl(esi, tmp_path)
    # The folder that fish loads completions from.
    folder = tmp_path / "fish" / "completions"
    folder.mkdir(parents=True)
    (folder / "kubectl-esi.fish").write_text(esi("completion", "fish"), "utf-8")
    environment = dict(esi.environment, XDG_CONFIG_HOME=str(tmp_path))

    def offered(typed):
        return shells.fish_offers(f"kubectl completion fish | source; complete -C '{typed}'", environment)
    commands = {"release": "Delete Schedulings, which gives back their Testbeds and jobs",
                "resume": "Let suspended Schedulings go on", "reset": "Make failed BatchJobs ready again"}
    assert offered("kubectl-esi re") == commands
    assert offered(f"kubectl-esi -n {scene.namespace} reset ") == {"spark-one": "", "spark-two": ""}
    assert offered("kubectl-esi export -o ") == dict.fromkeys(("table", "wide", "json", "yaml"), "")
    assert list(offered(f"kubectl-esi schedule -f {tmp_path}/plan-")) == [f"{tmp_path}/plan-of-today.yaml"]
    assert offered("kubectl esi re") == commands


def test_version_and_help(esi):
    assert "Server: v1." in esi("version")
    for command in ("top", "queue", "explain", "schedule", "release", "suspend", "resume", "cancel", "reset", "runs",
                    "matrix", "export", "nodes", "doctor", "version", "completion"):
        assert f"kubectl esi {command}" in esi(command, "--help")
