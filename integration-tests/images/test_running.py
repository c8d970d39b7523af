"""Containers of the images, as restricted as the chart's pods: read-only, no capability, no network."""
import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from patience import wait

OPERATORS = ("esi-testbed", "esi-batchjob", "esi-scheduling")
COLOCATION, PAUSE = "localhost/esi-colocation:0.2.0", "localhost/esi-pause:1"


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_runs(podman, name):
    done = podman.run(f"localhost/{name}:0.2.0", "--version")
    assert (done.returncode, done.stdout) == (0, f"{name} 0.2.0\n"), done.stderr
    done = podman.run(f"localhost/{name}:0.2.0", "--help")
    assert done.returncode == 0 and "--namespace" in done.stdout, done.stderr


def test_the_example_scheduler_runs(podman):
    done = podman.run(COLOCATION, "--help")
    assert done.returncode == 0 and "--profiler-testbed" in done.stdout, done.stderr
    done = podman.run(COLOCATION, "--patience=0", "--just-print", "http://127.0.0.1:1")
    assert done.returncode == 3 and "http://127.0.0.1:1" in done.stdout + done.stderr


def test_python_serves_the_charts_tests(podman):
    """`helm test` runs it with urllib, ssl and json, and trusts the certificates that it is given."""
    program = """
import json, os, ssl, sys, urllib.request
import certifi
context = ssl.create_default_context(cafile=certifi.where())
answer = {"uid": os.getuid(), "gid": os.getgid(), "trusted": len(context.get_ca_certs()) > 100,
          "https": hasattr(urllib.request, "HTTPSHandler")}
for path in ("/x", "/tmp/x", "/etc/x", "/usr/local/bin/x"):
    try:
        open(path, "w")
        answer[path] = "written"
    except OSError as error:
        answer[path] = error.strerror
print(json.dumps(answer))
"""
    done = podman.run("--entrypoint=python3", COLOCATION, "-c", program)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "uid": 65532, "gid": 65532, "trusted": True, "https": True, "/x": "Read-only file system",
        "/tmp/x": "No such file or directory", "/etc/x": "Read-only file system",
        "/usr/local/bin/x": "Read-only file system"}


@pytest.mark.parametrize("image", [*(f"localhost/{name}:0.2.0" for name in OPERATORS), COLOCATION, PAUSE])
def test_there_is_nothing_to_open_a_shell_with(podman, image):
    done = podman.run("--entrypoint=/bin/sh", image, "-c", "true")
    assert done.returncode == 127 and "no such file or directory" in done.stderr


@pytest.fixture
def pause(podman):
    """The process of a running pause container."""
    container = podman.out("run", "--detach", *podman.RESTRICTED, PAUSE)
    yield container, int(podman.out("inspect", "--format={{.State.Pid}}", container))
    podman.out("rm", "--force", "--time=0", container)


def status_of(pid):
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_pause_ends_with_0_within_a_second(podman, pause, sent):
    container, pid = pause
    pidfd = os.pidfd_open(pid)
    os.kill(pid, sent)
    ended, _, _ = select.select([pidfd], [], [], 1)
    os.close(pidfd)
    assert ended, f"still running a second after {sent.name}"
    assert podman.out("wait", container) == "0"


def test_pause_stays_when_other_signals_come(pause):
    _, pid = pause
    for sent in (signal.SIGHUP, signal.SIGCHLD, signal.SIGUSR1):
        os.kill(pid, sent)
    wait("the signals to be taken", lambda: all(
        set(status_of(pid)[name]) == {"0"} for name in ("SigPnd", "ShdPnd")), 10)
    wait("it to sleep again", lambda: status_of(pid)["State"] == "S (sleeping)", 10)


def test_pause_has_no_rights(pause):
    _, pid = pause
    status = status_of(pid)
    assert status["Uid"].split() == ["65535"] * 4
    assert status["Gid"].split() == ["65535"] * 4
    assert (status["CapEff"], status["CapBnd"]) == ("0" * 16, "0" * 16)
    assert (status["NoNewPrivs"], status["Threads"]) == ("1", "1")
    root = [line.split() for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines()
            if line.split()[4] == "/"]
    assert "ro" in root[-1][5].split(",")


def test_pause_reaps_orphans(pause):
    """A shell enters the container's process namespace and leaves a child, which process 1 inherits."""
    _, pid = pause
    children = Path(f"/proc/{pid}/task/{pid}/children")
    subprocess.run(["nsenter", f"--target={pid}", "--pid", "sh", "-c", "sleep 0.5 & exit 0"], check=True)
    assert children.read_text(), "the orphan was not inherited, so that nothing was tested"
    wait("the ended child to be reaped", lambda: not children.read_text(), 10)
