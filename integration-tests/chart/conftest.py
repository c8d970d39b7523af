"""Fixtures: one control plane for all tests, without ESI's kinds, which the chart brings."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

import chart
from api import Api
from chart import CHART, CRDS, ROOT, namespace, with_values
from control_plane import ControlPlane

#: Modules that carry the kinds of other programs that the chart makes objects of; their newest
#: versions of today, which a test of tomorrow finds in the same words.
KINDS_OF_OTHERS = {
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": [
        f"example/prometheus-operator-crd/monitoring.coreos.com_{kind}.yaml"
        for kind in ("servicemonitors", "prometheusrules")],
    "github.com/cert-manager/cert-manager@v1.21.2": [
        f"deploy/crds/cert-manager.io_{kind}.yaml" for kind in ("issuers", "certificates")],
}
#: Namespaces that tests write to.
NAMESPACES = ("esi-system", "blue-system", "team-a", "team-b", "team-c")


def module(name):
    """The folder of a Go module, which the proxy hands out once."""
    go = subprocess.run([ROOT / "integration-tests/cluster/go.sh"], stdout=subprocess.PIPE, text=True, check=True)
    done = subprocess.run(
        [go.stdout.strip(), "mod", "download", "-json", name], capture_output=True, text=True, check=False,
        cwd="/", env=dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="-mod=mod"))
    found = json.loads(done.stdout)
    if done.returncode != 0 or "Error" in found:
        raise RuntimeError(f"go mod download {name}: {found.get('Error') or done.stderr}")
    return pathlib.Path(found["Dir"])


@pytest.fixture(scope="session")
def folder():
    """Where logs are; kept when a test fails."""
    root = pathlib.Path(os.environ.get("ESI_CHART_DIR") or tempfile.mkdtemp(prefix="esi-chart-"))
    root.mkdir(parents=True, exist_ok=True)
    return root


@pytest.fixture(scope="session", autouse=True)
def keep_or_clear(request, folder):
    yield
    if request.session.testsfailed:
        print(f"\nlogs: {folder}")
    elif "ESI_CHART_DIR" not in os.environ:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def plane(folder):
    """An API server that also asks for rights on owners' finalizers, and the Spark operator with its
    kinds; the nodes are kwok's."""
    crds = [pathlib.Path(os.environ["ESI_CLUSTER"]).parent / "flink-operator" / "crds"]
    crds += [module(name) / file for name, files in KINDS_OF_OTHERS.items() for file in files]
    plane = ControlPlane(folder / "cluster")
    try:
        plane.command("up", "--nodes", "2", "--node-cpu", "32", "--spark", "--parent-pid", str(os.getpid()),
                      "--apiserver-flag=--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
                      *(f"--crds={each}" for each in crds), timeout=1200)
        plane.kubeconfig = pathlib.Path(plane.status()["kubeconfig"])
        plane.api = Api(plane.kubeconfig)
        for name in NAMESPACES:
            plane.api.create("Namespace", None, namespace(name))
        yield plane
    finally:
        plane.down()


class Helm:
    """helm against the test's control plane."""

    def __init__(self, plane):
        self.plane = plane

    def __call__(self, *arguments):
        return chart.helm(*arguments, kubeconfig=self.plane.kubeconfig)

    def put(self, command, release="esi", namespace="esi-system", values=None, more=(), chart=CHART):
        options, file = with_values(values)
        with file:
            return self(command, release, chart, "--namespace", namespace, "--wait", "--timeout", "300s",
                        *options, *more)

    def install(self, *arguments, **more):
        return self.put("install", *arguments, **more)

    def upgrade(self, *arguments, **more):
        return self.put("upgrade", *arguments, **more)

    def uninstall(self, release="esi", namespace="esi-system"):
        return self("uninstall", release, "--namespace", namespace, "--wait")


@pytest.fixture
def helm(plane):
    """Releases that a test leaves behind go with it, and ESI's objects and kinds."""
    helm = Helm(plane)
    yield helm
    for kind in ("Scheduling", "BatchJob", "Testbed"):  # nobody is there any more who would release them
        if plane.api.get("CustomResourceDefinition", None, f"{kind.lower()}s.esi.tu-berlin.de"):
            for each in plane.api.list(kind):
                plane.api.take_finalizers(kind, each["metadata"]["namespace"], each["metadata"]["name"])
    for each in json.loads(helm("list", "--all-namespaces", "--output", "json")):
        helm.uninstall(each["name"], each["namespace"])
    plane.kubectl("delete", "crd", "--ignore-not-found", *CRDS)
    plane.kubectl("delete", "secret", "-n", "esi-system", "--all")


@pytest.fixture
def look(plane):
    """look(KIND, NAME): the object, or None."""
    def look(kind, name, namespace="esi-system"):
        text = plane.kubectl("get", kind, name, "--namespace", namespace, "--ignore-not-found",
                             "--output", "json")
        return json.loads(text) if text else None
    return look
