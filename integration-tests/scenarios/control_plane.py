"""A real control plane (etcd, API server, controllers, scheduler, kwok nodes, Spark and Flink operators).

Wraps the command `esi-cluster` (integration-tests/cluster), whose path is in ESI_CLUSTER. A control
plane ends with `down`, and at the latest with the process that started it.
"""
import json
import os
import pathlib
import subprocess

import requests

import manifests
from api import Api, ApiException
from patience import PATIENCE, wait
from product import APPLICATIONS, KINDS

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRDS = [ROOT / "crds" / f"{kind.lower()}.yaml" for kind in KINDS]
MANIFESTS = manifests.made()


class ControlPlane:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.has_flink = False
        self.binary = os.environ.get("ESI_CLUSTER", "")
        if not self.binary or not os.access(self.binary, os.X_OK):
            raise RuntimeError("ESI_CLUSTER does not name the program esi-cluster: "
                               "start this by its run.sh, or set it to what "
                               "integration-tests/cluster/build.sh prints last")

    def command(self, *arguments, timeout=2 * PATIENCE, log=None):
        """Runs esi-cluster on this folder and returns what it printed; the error text if it failed."""
        line = [self.binary, *arguments, "--dir", str(self.folder)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False)
        if log is not None:
            log(done.stdout)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(line)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def up(self, nodes=2, cpu="32", memory="64Gi", labels="", spark=True, audit=True, second=None,
           parent=True, log=None, flink=False, crds=(), apiserver_flags=()):
        arguments = ["up", "--nodes", str(nodes), "--node-cpu", cpu, "--node-memory", memory]
        if labels:
            arguments += ["--node-labels", labels]
        if spark:
            arguments.append("--spark")
        if flink:
            arguments.append("--flink-operator")
        if audit:
            arguments.append("--audit")
        if second:
            arguments += ["--second-scheduler", second]
        if parent:
            arguments += ["--parent-pid", str(os.getpid())]
        for crd in (*CRDS, *crds):
            arguments += ["--crds", str(crd)]
        arguments += [f"--apiserver-flag={flag}" for flag in apiserver_flags]
        try:
            self.command(*arguments, timeout=4 * PATIENCE, log=log)
        except BaseException:
            self.down()
            raise
        self.kubeconfig = pathlib.Path(self.status()["kubeconfig"])
        self.api = Api(self.kubeconfig)
        self.has_flink = flink
        return self

    def version(self):
        """What the API server says that it is, such as v1.36.3."""
        return self.api.call("GET", "/version")["gitVersion"]

    def serves(self, group, plural):
        """Whether there are objects of that kind, such as admissionregistration.k8s.io/v1."""
        try:
            found = self.api.call("GET", f"/apis/{group}")["resources"]
        except ApiException as error:
            if error.status == 404:
                return False
            raise
        return plural in [each["name"] for each in found]

    def down(self):
        self.command("down")

    def applications(self):
        """The kinds of applications that are served here."""
        return [kind for kind in APPLICATIONS if kind != "FlinkDeployment" or self.has_flink]

    def add_flink(self):
        """The Flink operator: its kinds are there from now on, and for good."""
        if not self.has_flink:
            self.command("start", "flink-operator")
            self.has_flink = True

    def job_manager(self, namespace, name, method, url):
        """Asks the JobManager of a FlinkDeployment as one would by its REST Service."""
        answer = requests.request(method, f"http://127.0.0.1:{self.status()['ports']['flinkREST']}{url}",
                                  headers={"Host": f"{name}-rest.{namespace}"}, timeout=PATIENCE)
        answer.raise_for_status()
        return answer.json()

    def status(self):
        return json.loads(self.command("status"))

    @property
    def audit_log(self):
        return pathlib.Path(self.status()["auditLog"])

    def kubectl(self, *arguments, stdin=None, check=True, kubeconfig=None):
        """kubectl as a person uses it. Returns its output; with check=False the finished process."""
        environment = dict(os.environ, KUBECACHEDIR=str(self.folder / "kube-cache"))
        line = [str(self.folder / "bin" / "kubectl"), "--kubeconfig", str(kubeconfig or self.kubeconfig),
                *arguments]
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, input=stdin,
                              check=False, env=environment)
        if not check:
            return done
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(line[3:])}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self):
        """Namespace, priority classes, rights and policies of the operators, with those for /debug, which
        they serve here, node set-up by the interface, and the extender."""
        self.kubectl("apply", "-f", str(MANIFESTS / "namespace.yaml"))
        parts = ("nodes", "isolation", "debug", "extender")
        self.kubectl("apply", "-f", str(MANIFESTS), *(f"--filename={MANIFESTS / part}" for part in parts))

    def set_policies(self, *values, templates):
        """Admission policies as the chart has them with these values (KEY=VALUE), of some of its templates.
        The API server needs a moment; install() brings back those of the manifests."""
        done = subprocess.run(
            [self.binary, "helm", "template", "esi", str(ROOT / "helm" / "esi"), "--namespace", "esi-system",
             *(word for value in values for word in ("--set", value)),
             *(word for each in templates for word in ("--show-only", f"templates/admission/{each}.yaml"))],
            capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.kubectl("apply", "-f", "-", stdin=done.stdout)

    def account(self, namespace, name):
        """The path of a kubeconfig that acts as that service account."""
        target = self.folder / f"{namespace}-{name}.kubeconfig"
        text = wait(f"the account {namespace}/{name}",
                    lambda: self.command("kubeconfig", "--service-account", f"{namespace}/{name}"),
                    pause=0.2, not_yet=RuntimeError, fault=RuntimeError)
        target.write_text(text, encoding="utf-8")
        return target

    def add_nodes(self, prefix, count, labels="", cpu="2", memory="8Gi", pods="110"):
        arguments = ["nodes", "add", "--count", str(count), "--prefix", prefix, "--cpu", cpu,
                     "--memory", memory, "--pods", pods]
        if labels:
            arguments += ["--labels", labels]
        return self.command(*arguments).split()

    def stop(self, component, signal="KILL"):
        self.command("stop", component, "--signal", signal)

    def start(self, component, *more):
        self.command("start", component, *more)
