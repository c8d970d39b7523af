"""One real node: namespaces of this machine in which containerd, kubelet and kube-proxy run.

The node's process (an `unshare`) is the parent of its process namespace: when it is killed, the kernel
ends everything in the node, and the node's mounts go with it.
"""
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess

import machine
from machine import run
from patience import wait

HERE = pathlib.Path(__file__).resolve().parent
#: A group of the processor's hierarchy has 1024 shares, as one process of the machine has: too few for
#: a node on which operators and drivers run, or for a control plane beside other work.
SHARES = 8192


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a node says it has. Slots are cut to fill the nodes of the testbed exactly."""
    cpus: int
    memory_gi: int
    pods: int


class Network:
    """A bridge on this machine, the nodes on it, each with the pods' addresses behind it. Nothing is let
    out of the machine."""

    def __init__(self, record, prefix=os.environ.get("ESI_NODES_NET", "172.30.0"), pods="10.244"):
        self.record, self.prefix, self.pods = record, prefix, pods
        self.bridge = "esi-nodes"
        self.host = f"{prefix}.1"

    def address(self, number):
        return f"{self.prefix}.{10 + number}"

    def pod_range(self, number):
        return f"{self.pods}.{number}.0/24"

    def up(self):
        taken = run("ip", "-o", "route", "show", "root", f"{self.prefix}.0/24").stdout.strip()
        if taken:
            raise RuntimeError(f"{self.prefix}.0/24 is in use here ({taken}): set ESI_NODES_NET to another "
                               "prefix, or end earlier nodes with `nodes.sh down`")
        self.record.add("link", self.bridge)
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "addr", "add", f"{self.host}/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")

    def outside(self, number):
        """The device of a node that is on the bridge."""
        return f"{self.bridge}-{number}"

    def leave(self, namespace, number):
        # The namespace alone would take it along too, but some time later.
        run("ip", "link", "del", self.outside(number))
        run("ip", "netns", "del", namespace)

    def join(self, namespace, number, count):
        outside = self.outside(number)
        self.record.add("link", outside)
        self.record.add("netns", namespace)
        run("ip", "netns", "add", namespace)
        run("ip", "link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        run("ip", "link", "set", outside, "master", self.bridge, "up")
        run("ip", "-n", namespace, "link", "set", "lo", "up")
        run("ip", "-n", namespace, "addr", "add", f"{self.address(number)}/24", "dev", "eth0")
        run("ip", "-n", namespace, "link", "set", "eth0", "up")
        run("ip", "-n", namespace, "route", "add", "default", "via", self.host)
        for other in range(1, count + 1):
            if other != number:
                run("ip", "-n", namespace, "route", "add", self.pod_range(other), "via", self.address(other))
        # Goes with the bridge.
        run("ip", "route", "replace", self.pod_range(number), "via", self.address(number))


class Node:
    def __init__(self, cluster, number, name, claim):
        self.cluster, self.number, self.name, self.claim = cluster, number, name, claim
        self.folder = cluster.folder / name
        self.store = cluster.store / name
        self.address = cluster.network.address(number)
        self.namespace = f"esi-{name}"
        self.group = f"esi-{name}"

    # --- coming and going

    def start(self, fresh=True):
        """Starts the node; fresh: of a new cluster, else as after a loss of power."""
        shutil.rmtree(self.folder if fresh else self.folder / "run", ignore_errors=True)
        for name in ("run", "var", "var-work", "kubelet", "log", "pki", "cni"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.store.mkdir(parents=True, exist_ok=True)
        self.write_configurations()
        self.cluster.network.join(self.namespace, self.number, len(self.cluster.nodes))
        groups = make_groups(self.cluster.record, self.group)
        environment = dict(os.environ, NODE=str(self.folder), PARTS=str(self.cluster.parts), NAME=self.name,
                           ADDRESS=self.address, KUBECONFIG=str(self.cluster.identity(f"node-{self.name}")),
                           CPUS=str(self.claim.cpus), MEMORY_GI=str(self.claim.memory_gi))
        with open(self.folder / "log" / "init.log", "ab") as log:
            process = subprocess.Popen(
                [*into_groups(groups), "ip", "netns", "exec", self.namespace, "unshare",
                 "--mount", "--cgroup", "--uts", "--ipc", "--pid", "--fork", "--kill-child=KILL",
                 "--mount-proc", "--propagation", "private", "tini", "--", str(HERE / "node-init.sh")],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.cluster.record.add_process(process)
        self.cluster.record.add("node", self.name, process.pid, machine.start_time(process.pid))

        def is_up():
            if process.poll() is not None:
                raise RuntimeError(f"{self.name} does not start: see {self.folder}/log")
            return (self.folder / "run" / "containerd-up").exists()
        wait(f"{self.name} to start", is_up, 60, told=lambda: f"see {self.folder}/log", fault=RuntimeError)

    def process(self):
        """(pid, start time) of the node's process, or None."""
        for name, pid, started in self.cluster.record.take("node"):
            if name == self.name and machine.start_time(pid) == started:
                return pid, started
        return None

    def lose_power(self):
        """Everything in the node ends at once."""
        found = self.process()
        if found:
            end(*found)
        sweep_groups([str(parent / self.group) for _, parent in machine.own_groups()])
        self.cluster.network.leave(self.namespace, self.number)

    # --- inside

    def inside(self, *command, check=True):
        """Runs a program in the node's namespaces."""
        found = self.process()
        if not found:
            raise RuntimeError(f"{self.name} does not run: see {self.folder}/log")
        [pid, _] = found
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        return run("nsenter", "-t", children[0], "--mount", "--net", "--pid", "--uts", "--ipc", "env",
                   f"PATH={self.cluster.parts}:{os.environ['PATH']}", *command, check=check)

    def import_image(self, archive):
        """`ctr image import`, unless the store has that very archive already."""
        status = archive.stat()
        stamp = self.store / f"imported-{archive.stem}-{status.st_size}-{status.st_mtime_ns}"
        if stamp.exists():
            return False
        self.inside("ctr", "-n", "k8s.io", "images", "import", "--local", str(archive))
        for old in self.store.glob(f"imported-{archive.stem}-*"):
            old.unlink()
        stamp.touch()
        return True

    def stop_program(self, program):
        """kill -9, and it stays away until `start_program`."""
        (self.folder / f"stop-{program}").touch()
        self.kill_program(program)

    def start_program(self, program):
        (self.folder / f"stop-{program}").unlink(missing_ok=True)

    def kill_program(self, program):
        pid = (self.folder / f"{program}.pid").read_text(encoding="utf-8").strip()
        self.inside("kill", "-KILL", pid)

    def confine(self, cores):
        """Gives all of the node's processes together so much processor time; None: no limit."""
        group = dict(machine.own_groups())["cpu"] / self.group
        quota = -1 if cores is None else int(cores * 100_000)
        (group / "cpu.cfs_period_us").write_text("100000", encoding="utf-8")
        (group / "cpu.cfs_quota_us").write_text(str(quota), encoding="utf-8")

    # --- configuration

    def write_configurations(self):
        network = self.cluster.network
        (self.folder / "pki" / "resolv.conf").write_text("", encoding="utf-8")
        (self.folder / "cni" / "10-bridge.conflist").write_text(json.dumps({
            "cniVersion": "1.0.0", "name": "pods", "plugins": [{
                "type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "hairpinMode": True,
                "ipam": {"type": "host-local", "ranges": [[{"subnet": network.pod_range(self.number)}]],
                         "routes": [{"dst": "0.0.0.0/0"}]}}]}), encoding="utf-8")
        (self.folder / "containerd.toml").write_text(f"""\
version = 3
root = '{self.store}'
state = '/run/containerd'
disabled_plugins = ['io.containerd.nri.v1.nri']
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = 'localhost/esi-pause:1'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['{self.cluster.parts}/cni']
    conf_dir = '{self.folder}/cni'
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = 'io.containerd.runc.v2'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
        BinaryName = '{self.cluster.parts}/runc'
""", encoding="utf-8")
        (self.folder / "kubelet.yaml").write_text(json.dumps({
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "address": self.address,
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(self.cluster.plane_file("pki/ca.crt"))}},
            "authorization": {"mode": "Webhook"},
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "cgroupDriver": "cgroupfs", "failCgroupV1": False,
            "clusterDNS": [network.host], "clusterDomain": "cluster.local",
            "resolvConf": str(self.folder / "pki" / "resolv.conf"),
            "maxPods": self.claim.pods, "failSwapOn": False,
            # The kernel may refuse to lower it, even for root.
            "oomScoreAdj": 0,
            # The disk is the machine's, and other things fill it.
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "200Mi", "nodefs.available": "1%",
                             "imagefs.available": "1%"},
            "kubeAPIQPS": 100, "kubeAPIBurst": 200, "eventRecordQPS": 0,
        }), encoding="utf-8")
        (self.folder / "kube-proxy.yaml").write_text(json.dumps({
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
            "mode": "nftables", "clusterCIDR": f"{network.pods}.0.0/16", "hostnameOverride": self.name,
            "oomScoreAdj": 0, "clientConnection": {"kubeconfig": str(self.cluster.identity("kube-proxy"))},
            "conntrack": {"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }), encoding="utf-8")


def make_groups(record, name, controllers=None):
    """A cgroup of that name below this process's own, for each controller or for those given."""
    groups = []
    for controller, parent in machine.own_groups():
        if controllers and controller not in controllers:
            continue
        group = parent / name
        record.add("cgroup", str(group))
        group.mkdir(exist_ok=True)
        groups.append(group)
        if controller == "cpuset":
            for file in ("cpuset.cpus", "cpuset.mems"):
                (group / file).write_text((parent / file).read_text(encoding="utf-8"), encoding="utf-8")
        if controller == "cpu":
            (group / "cpu.shares").write_text(str(SHARES), encoding="utf-8")
    return groups


def into_groups(groups):
    """The beginning of a command line that runs the rest of it in these cgroups."""
    enter = "".join(f'echo $$ >"{group}/cgroup.procs"; ' for group in groups)
    return ["sh", "-ec", f'{enter}exec "$@"', "sh"]


def end(pid, started, how=signal.SIGKILL):
    """Ends a process that is still the one that was recorded, and waits for it."""
    if machine.start_time(pid) != started:
        return
    os.kill(pid, how)
    wait(f"process {pid} to end", lambda: machine.start_time(pid) != started, 20, fault=RuntimeError)


def sweep_groups(groups):
    """Removes cgroups whose processes have just been killed; says which cannot be removed."""
    def removed(group):
        for folder, _, _ in os.walk(group, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass
        return not group.is_dir()
    for group in map(pathlib.Path, groups):
        wait(f"{group} to be removed", lambda group=group: removed(group), 20,
             told=lambda: "processes are still in it", fault=RuntimeError)
