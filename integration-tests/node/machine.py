"""What this machine can and has: the one place that says why real nodes cannot run here."""
import json
import os
import pathlib
import shutil
import subprocess
import threading

PROGRAMS = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "mount": "mount",
            "tini": "tini", "nft": "nftables", "iptables": "iptables"}
CONTROLLERS = ("cpu", "cpuset", "memory", "pids")
#: Kubelets set these for the whole machine; `down` sets them back.
SYSCTLS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops")
PROBES = {
    "namespaces": "true",
    "network devices (bridge, veth)": "ip link add esi-a type bridge && "
                                      "ip link add esi-b type veth peer name esi-c",
    "overlayfs": "mkdir -p /mnt && mount -t tmpfs none /mnt && cd /mnt && mkdir l u w m && "
                 "mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m",
}


def run(*command, check=True, **more):
    """Runs a program; its words are in the error if it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          **more)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}: "
                           f"{(done.stderr or done.stdout).strip()}")
    return done


def missing():
    """What this machine lacks, a line each; nothing: real nodes can run here."""
    if os.geteuid() != 0:
        return ["root: kubelets and containers need it"]
    lacks = [f"the program {program}: apt-get install {package}, or scripts/setup.sh "
             "integration-tests/node/debian-packages.txt"
             for program, package in PROGRAMS.items() if not shutil.which(program)]
    if lacks:
        return lacks
    for what, probe in PROBES.items():
        done = run("unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--cgroup", "--fork",
                   "sh", "-c", probe, check=False)
        if done.returncode != 0:
            lacks.append(f"the right to make {what}: {done.stderr.strip()}")
    groups = {controller: folder for controller, folder in own_groups()}
    for controller in CONTROLLERS:
        if controller not in groups:
            lacks.append(f"the cgroup controller {controller} of version 1 (/proc/self/cgroup does not name "
                         "it; machines with cgroup version 2 only are not supported)")
        elif not os.access(groups[controller], os.W_OK):
            lacks.append(f"the right to make cgroups in {groups[controller]}")
    return lacks


def own_groups():
    """(controller, folder) of the cgroups that this process is in; version 1."""
    for line in pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers:
            controllers = controllers.removeprefix("name=")
            yield controllers, pathlib.Path("/sys/fs/cgroup") / controllers / path.lstrip("/")


def start_time(pid):
    """Of a process, in ticks since boot; None where there is none. With the pid it is unmistakable."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def sysctls():
    return {name: (pathlib.Path("/proc/sys") / name).read_text(encoding="utf-8").strip() for name in SYSCTLS}


def restore_sysctls(saved):
    for name, value in saved.items():
        (pathlib.Path("/proc/sys") / name).write_text(value, encoding="utf-8")


def snapshot():
    """What real nodes could leave behind on this machine. Without the mount of /run/netns itself, which
    iproute2 makes at the first `ip netns add` on a machine and leaves there."""
    groups = [str(folder) for _, parent in own_groups() for folder in parent.glob("esi-*")]
    mounts = pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    programs = []
    for link in pathlib.Path("/proc").glob("[0-9]*/exe"):
        try:
            target = os.readlink(link)
        except OSError:
            continue
        if "/node/" in target and "/esi/" in target:
            programs.append(target)
    return {"links": sorted(os.listdir("/sys/class/net")), "routes": run("ip", "route").stdout,
            "namespaces": run("ip", "netns", "list").stdout,
            "mounts": sorted({line.split()[1] for line in mounts} - {"/run/netns"}), "cgroups": sorted(groups),
            "sysctls": sysctls(), "programs": sorted(programs)}


class Record:
    """What was made on this machine, written down before it is made, so that somebody else can take it
    away: the next `down` does, also after a run that was killed."""

    def __init__(self, file):
        self.file = pathlib.Path(file)
        self.lock = threading.Lock()
        try:
            self.entries = json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            self.entries = []

    def add(self, kind, *what):
        with self.lock:
            if [kind, *what] not in self.entries:
                self.entries.append([kind, *what])
            self.save()

    def add_process(self, process):
        self.add("process", process.pid, start_time(process.pid))

    def take(self, kind):
        """The entries of a kind, the last made first."""
        return [entry[1:] for entry in reversed(self.entries) if entry[0] == kind]

    def clear(self):
        self.entries = []
        self.save()

    def save(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.file.with_suffix(".new")
        temporary.write_text(json.dumps(self.entries, indent=1), encoding="utf-8")
        temporary.rename(self.file)


if __name__ == "__main__":
    raise SystemExit("\n".join(missing()))
