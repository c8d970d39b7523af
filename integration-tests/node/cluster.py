"""A cluster of four real nodes on this machine: control plane, DNS, nodes, Spark's and Flink's operators."""
import concurrent.futures
import datetime
import functools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "integration-tests" / "scenarios"))

import machine  # noqa: E402  (after the path is set)
from api import Api  # noqa: E402
from machine import run  # noqa: E402
from node import Claim, Network, Node, end, into_groups, make_groups, sweep_groups  # noqa: E402
from patience import wait as wait_for  # noqa: E402
from product import OPERATORS  # noqa: E402

FOLDER = pathlib.Path(os.environ.get("ESI_NODES_DIR", ROOT / "build" / "nodes"))
CACHE = pathlib.Path(os.environ.get("ESI_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "esi")
WORK = "node-role.kubernetes.io/work"
#: name -> what it claims: two slots of 2 CPUs fill a node of the testbed, also in pods.
CLAIMS = {"testbed-1": Claim(cpus=4, memory_gi=16, pods=2), "testbed-2": Claim(cpus=4, memory_gi=16, pods=2),
          "work-1": Claim(cpus=16, memory_gi=32, pods=110), "work-2": Claim(cpus=16, memory_gi=32, pods=110)}
IMAGES = ("pause", *OPERATORS, "colocation")


@functools.cache
def program(script, *arguments):
    """The path that a build script prints last; it builds what is missing."""
    done = subprocess.run([str(script), *arguments], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{script} failed")
    return pathlib.Path(done.stdout.split()[-1])


class Cluster:
    def __init__(self, folder=FOLDER, say=lambda text: None):
        self.folder, self.say = pathlib.Path(folder), say
        self.store = CACHE / "node" / "store"
        self.record = machine.Record(self.folder / "record.json")
        self.network = Network(self.record)
        self.nodes = [Node(self, number, name, claim)
                      for number, (name, claim) in enumerate(CLAIMS.items(), start=1)]

    def __getitem__(self, name):
        return next(node for node in self.nodes if node.name == name)

    @property
    def parts(self):
        return program(HERE / "build.sh")

    @property
    def binary(self):
        return pathlib.Path(os.environ.get("ESI_CLUSTER") or program(HERE.parent / "cluster" / "build.sh"))

    def plane_file(self, name):
        return self.folder / "plane" / name

    def identity(self, component):
        return self.plane_file(f"config/{component}.kubeconfig")

    @property
    def kubeconfig(self):
        return self.plane_file("kubeconfig")

    @functools.cached_property
    def api(self):
        return Api(self.kubeconfig)

    # --- up

    def up(self, *options, parent=False):
        """From nothing to four nodes that are Ready. `options`: more for `esi-cluster up`."""
        lacks = machine.missing()
        if lacks:
            raise RuntimeError("real nodes cannot run here:\n" + "\n".join(lacks))
        self.down()
        shutil.rmtree(self.folder / "plane", ignore_errors=True)
        self.__dict__.pop("api", None)
        for name, value in machine.sysctls().items():
            self.record.add("sysctl", name, value)
        self.network.up()
        self.say("control plane: etcd, API server, controllers, scheduler")
        beside = self.binary.parent
        self.control_plane("up", "--real-nodes", ",".join(CLAIMS), "--address", self.network.host,
                           "--crds", str((beside / "spark-crds").resolve()),
                           "--crds", str((beside / "flink-operator").resolve() / "crds"),
                           *(["--parent-pid", str(os.getpid())] if parent else []), *options)
        self.start_dns()
        self.say(f"nodes: {', '.join(CLAIMS)}")
        begin = now()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(Node.start, self.nodes))
        self.wait_ready(self.nodes, begin)
        for node in self.nodes:
            if node.name.startswith("work-"):
                self.kubectl("label", "node", node.name, f"{WORK}=")

    def control_plane(self, *arguments, timeout=180):
        groups = make_groups(self.record, "esi-plane", ["cpu"]) if arguments[0] == "up" else []
        return run(*into_groups(groups), self.binary, *arguments, "--dir", self.folder / "plane",
                   timeout=timeout).stdout

    def start_dns(self):
        self.kubectl("apply", "-f", HERE / "manifests" / "coredns.yaml")
        host = self.network.host
        (self.folder / "Corefile").write_text(f"""\
.:53 {{
  bind {host}
  errors
  ready {host}:8181
  kubernetes cluster.local in-addr.arpa {{
    kubeconfig {self.identity('coredns')}
    ttl 1
  }}
}}
""", encoding="utf-8")
        with open(self.folder / "coredns.log", "ab") as log:
            process = subprocess.Popen(
                [self.parts / "coredns", "-conf", self.folder / "Corefile"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.record.add_process(process)

        def ready():
            with urllib.request.urlopen(f"http://{host}:8181/ready", timeout=1) as answer:
                return answer.status == 200
        wait("CoreDNS", ready, 30)

    def wait_ready(self, nodes, since):
        """Until the nodes are Ready, and their kubelets said so since then: a node that went away keeps its
        last word for 40 seconds."""
        for node in nodes:
            wait(f"{node.name} to be Ready", lambda node=node: self.is_ready(node, since), 180)

    def is_ready(self, node, since):
        thing = self.api.get("Node", None, node.name)
        conditions = {each["type"]: each for each in (thing or {}).get("status", {}).get("conditions") or []}
        ready = conditions.get("Ready", {})
        taints = [taint["key"] for taint in (thing or {}).get("spec", {}).get("taints") or []]
        return ready.get("status") == "True" and ready["lastHeartbeatTime"] >= since and \
            not any(key.startswith("node.kubernetes.io/") for key in taints)

    def bring_images(self):
        """`ctr image import` on all nodes, of what their stores do not have yet."""
        built = ROOT / "build" / "images"
        archives = [self.parts / "images.tar", *(built / f"esi-{name}.tar" for name in IMAGES)]
        for archive in archives:
            if not archive.exists():
                raise RuntimeError(f"{archive} is missing: run `make images`")
        self.say("images of ESI, Spark and Flink: ctr image import on each node")
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda node: [node.import_image(archive) for archive in archives], self.nodes))

    def install_backends(self):
        """The operators of Spark and Flink, as pods."""
        self.kubectl("apply", "-f", HERE / "manifests" / "spark-operator.yaml",
                     "-f", HERE / "manifests" / "flink-operator.yaml")

    def use_spark_stand_in(self, yes):
        """Spark's stand-in and an operator beside the nodes (`up --spark`) take the place of the real
        operator, or the other way round."""
        if not yes:
            self.control_plane("stop", "spark-operator")
        self.kubectl("scale", "deployment", "spark-operator", "-n", "spark-operator",
                     f"--replicas={0 if yes else 1}")
        if yes:
            wait("the Spark operator to go", lambda: not self.api.list("Pod", "spark-operator"), 60)
            self.control_plane("start", "spark-operator")
        else:
            self.kubectl("rollout", "status", "deployment", "spark-operator", "-n", "spark-operator",
                         "--timeout=2m")

    def install_esi(self, *values):
        """`helm install`, with the operators on the nodes for work: none of the testbed is tainted yet."""
        self.say("helm install esi helm/esi")
        self.helm("install", "esi", ROOT / "helm" / "esi", "--namespace", "esi-system", "--create-namespace",
                  "--values", HERE / "manifests" / "esi-values.yaml", *values, "--wait", "--timeout", "3m")

    # --- commands

    def kubectl(self, *arguments, check=True, stdin=None, timeout=120):
        done = run(self.binary, "kubectl", *arguments, check=check, input=stdin, timeout=timeout,
                   env=self.environment())
        return done.stdout if check else done

    def helm(self, *arguments, check=True, timeout=300):
        done = run(self.binary, "helm", *arguments, check=check, timeout=timeout, env=self.environment())
        return done.stdout if check else done

    def environment(self):
        return dict(os.environ, KUBECONFIG=str(self.kubeconfig), KUBECACHEDIR=str(self.folder / "kube-cache"),
                    HELM_CACHE_HOME=str(self.folder / "helm"), HELM_CONFIG_HOME=str(self.folder / "helm"),
                    HELM_DATA_HOME=str(self.folder / "helm"))

    # --- down

    def down(self):
        """Takes away everything that is on record, also of a run that was killed."""
        if (self.folder / "plane").exists():
            self.control_plane("down")
        for pid, started in self.record.take("process"):
            end(pid, started, signal.SIGKILL)
        sweep_groups(group for [group] in self.record.take("cgroup"))
        for [link] in self.record.take("link"):
            if pathlib.Path("/sys/class/net", link).exists():
                run("ip", "link", "del", link)
        for [namespace] in self.record.take("netns"):
            if pathlib.Path("/run/netns", namespace).exists():
                run("ip", "netns", "del", namespace)
        machine.restore_sysctls({name: value for name, value in self.record.take("sysctl")})
        self.record.clear()


def now():
    """As the API server writes it."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def wait(what, done, patience, every=0.2):
    """Polls until done() is true and returns its value; errors on the way count as no."""
    # The API server may be away, an object not there yet.
    return wait_for(what, done, patience, every, not_yet=Exception, fault=RuntimeError)

