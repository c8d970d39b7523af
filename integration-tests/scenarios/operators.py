"""The three operators as processes that run as the chart's pods do: each with the arguments and the
environment of its container, as its own service account; only on a free port, with leases of another
length, and with what a test adds.

ESI_OPERATORS names the folder of the binaries.
"""
import fcntl
import functools
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time
import uuid

import requests
import yaml

import manifests
from patience import PATIENCE, wait
from product import OPERATORS

#: What esi-batchjob is started with for a second scheduler.
EXTENDER = ("--placement=extender",)


#: Long: an operator ends when it could not renew its lease in time, and a busy machine alone can be the cause.
#: No test waits for a lease of this length to run out: an operator that is stopped gives its lease back, and one
#: that is killed and started again is the same pod, which takes its own lease at once.
LEASE_SECONDS = 120


def lease_flags(seconds):
    """A standby asks for the lease every second, so that it leads soon after the leader has given it back."""
    return (f"--leader-elect-lease-duration={seconds}s", f"--leader-elect-renew-deadline={seconds - 1}s",
            "--leader-elect-retry-period=1s")


ROOT = pathlib.Path(__file__).resolve().parents[2]


@functools.cache
def arguments_of_pods():
    """{operator: arguments of its container}, as the chart has them with its default values."""
    text = (manifests.made() / "install" / "install.yaml").read_text("utf-8")
    found = {}
    for each in yaml.safe_load_all(text):
        if each and each["kind"] == "Deployment":
            container = each["spec"]["template"]["spec"]["containers"][0]
            found[container["name"].removeprefix("esi-")] = container["args"]
    return found


def flag_of(argument):
    return argument.split("=")[0]


def command_line(name, *flags):
    """The container's arguments, but for those that `flags` give anew, and `flags`."""
    given = {flag_of(each) for each in flags}
    kept = [each for each in arguments_of_pods()[name] if flag_of(each) not in given]
    return [str(binaries() / f"esi-{name}"), *kept, *flags]


def binaries():
    default = ROOT / "build" / "release" / "operators"
    return pathlib.Path(os.environ.get("ESI_OPERATORS", default))


#: As the launcher of control planes takes its ports (../cluster/launcher/ports.go): below those that the kernel
#: gives to outgoing connections, and each locked by a file as long as this process lives. While an operator is
#: down, no other test and no control plane, of this checkout or another one, gets its port.
PORTS = range(20000, 32768)
port_locks = []


def free_port():
    folder = pathlib.Path(tempfile.gettempdir()) / f"esi-cluster-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    for port in random.SystemRandom().sample(PORTS, 2000):
        lock = open(folder / str(port), "ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for host in ("127.0.0.1", ""):
                with socket.socket() as probe:
                    probe.bind((host, port))
        except OSError:
            lock.close()
            continue
        port_locks.append(lock)
        return port
    raise RuntimeError(f"no free port between {PORTS[0]} and {PORTS[-1]}")


class Operator:
    """One process of one operator."""

    def __init__(self, name, kubeconfig, folder, replica=0, flags=(), lease_seconds=LEASE_SECONDS, lease_namespace="esi-system"):
        self.name = name
        self.lease_namespace = lease_namespace
        self.label = name if replica == 0 else f"{name}-{replica}"
        self.kubeconfig = pathlib.Path(kubeconfig)
        self.log = pathlib.Path(folder) / f"esi-{self.label}.log"
        self.flags = (*lease_flags(lease_seconds), *flags)
        self.port = free_port()
        self.process = None
        #: One object is one pod: a process that is started again is a container that is.
        self.pod_uid = str(uuid.uuid4())

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def start(self, more=()):
        line = command_line(self.name, f"--kubeconfig={self.kubeconfig}", "--bind-address=127.0.0.1",
                            f"--port={self.port}", f"--leader-elect-namespace={self.lease_namespace}",
                            "--enable-debug-endpoints", *self.flags, *more)
        environment = dict(os.environ, POD_NAME=f"esi-{self.label}", POD_UID=self.pod_uid)
        with open(self.log, "ab") as log:
            log.write(f"--- {time.strftime('%H:%M:%S')} {' '.join(line)}\n".encode())
            log.flush()
            # A session of its own: Ctrl-C is for the tests, which then end it in order.
            self.process = subprocess.Popen(line, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            start_new_session=True, env=environment)
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def answers(self, what="/livez"):
        try:
            return requests.get(self.url + what, timeout=2).status_code == 200
        except requests.RequestException:
            return False

    def ready(self, timeout=PATIENCE):
        """Waits until it serves and its caches are full."""
        def serves():
            if self.answers("/readyz"):
                return True
            if not self.alive():
                raise RuntimeError(f"esi-{self.label} ended with {self.process.returncode}:\n{self.tail()}")
            return False
        wait(f"esi-{self.label} to be ready", serves, timeout, told=self.tail, fault=RuntimeError)
        return self

    def stop(self, timeout=PATIENCE):
        """SIGTERM; returns the exit code. One that does not end in time is killed, which is an error."""
        if not self.alive():
            return self.process.returncode if self.process else 0
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"esi-{self.label} did not end within {timeout} s of SIGTERM:\n"
                               f"{self.tail()}") from None

    def kill(self):
        """kill -9."""
        if self.alive():
            self.process.kill()
            self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def size(self):
        return self.log.stat().st_size if self.log.exists() else 0

    def tail(self, lines=30, since=0):
        """The last lines of the log, of those written after `since` bytes."""
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as log:
            log.seek(since)
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def cpu_seconds(self):
        """What it has used so far, user and system."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_kib(self):
        return self._status_kib("VmRSS")

    def most_resident_kib(self):
        """Since it was started, or since forget_most_resident()."""
        return self._status_kib("VmHWM")

    def forget_most_resident(self):
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5", encoding="ascii")

    def _status_kib(self, name):
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(next(line for line in text.splitlines() if line.startswith(name)).split()[1])


class Operators:
    """The three of them, or some, by name, as one running installation."""

    def __init__(self, plane, folder, flags=None, names=OPERATORS):
        self.plane = plane
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.kubeconfigs = {name: plane.account("esi-system", f"esi-{name}") for name in names}
        flags = flags or {}
        self.by_name = {name: Operator(name, self.kubeconfigs[name], folder, flags=flags.get(name, ()))
                        for name in names}

    def __getitem__(self, name):
        return self.by_name[name]

    def __iter__(self):
        return iter(self.by_name.values())

    def start(self):
        for operator in self:
            operator.start()
        for operator in self:
            operator.ready()
        return self

    def stop(self):
        """Stops all in order; returns what went wrong, one line each."""
        faults = []
        for operator in self:
            try:
                code = operator.stop()
                if code != 0:
                    faults.append(f"esi-{operator.label} ended with {code}")
            except RuntimeError as error:
                faults.append(str(error))
        return faults

    def ensure(self):
        """Starts those that a test left dead."""
        for operator in self:
            if not operator.alive():
                operator.start()
        for operator in self:
            operator.ready()
