"""The chart as a person has it: helm, what it renders, and what is known of its values."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

import yaml

import product

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "esi"
#: The charts of all releases, as `helm package` made them.
RELEASES = sorted((ROOT / "integration-tests" / "chart" / "releases").glob("esi-*.tgz"))
OPERATORS = product.OPERATORS
CRDS = [f"{plural}.{product.GROUP}" for plural in product.KINDS.values()]
#: Kinds that the chart makes and that are in no namespace.
OF_THE_CLUSTER = {"CustomResourceDefinition", "PriorityClass", "ClusterRole", "ClusterRoleBinding",
                  "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicy",
                  "ValidatingAdmissionPolicyBinding", "Namespace"}


class HelmFailed(Exception):
    """helm ended with an error; the text is what it printed."""


def helm(*arguments, kubeconfig=None, timeout=400):
    """Runs helm and returns what it printed; without a kubeconfig it reaches no cluster."""
    program = [os.environ["HELM"]] if os.environ.get("HELM") else [os.environ["ESI_CLUSTER"], "helm"]
    environment = dict(os.environ, KUBECONFIG=str(kubeconfig or os.devnull))
    done = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          check=False, env=environment)
    if done.returncode != 0:
        raise HelmFailed(f"helm {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}")
    return done.stdout


def with_values(values):
    """Options that hand these values to helm, and the file that must live as long."""
    file = tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8")
    json.dump(values or {}, file)
    file.flush()
    return ["--values", file.name], file


class Rendering:
    def __init__(self, text):
        self.text = text

    @functools.cached_property
    def objects(self):
        return [each for each in yaml.load_all(self.text, yaml.CSafeLoader) if each]

    def of(self, kind):
        return {each["metadata"]["name"]: each for each in self.objects if each["kind"] == kind}

    def container(self, deployment, name=None):
        pod = self.of("Deployment")[deployment]["spec"]["template"]["spec"]
        return next(each for each in pod["containers"] if name in (None, each["name"]))

    def names(self):
        return [f"{each['kind']}/{each['metadata']['name']}" for each in self.objects]


def render(values=None, release="esi", namespace="esi-system", kube="1.36", apis=(), more=()):
    options, file = with_values(values)
    with file:
        return Rendering(helm(
            "template", release, CHART, "--namespace", namespace, "--kube-version", kube, *options,
            *(word for api in apis for word in ("--api-versions", api)), *more))


def rules_of(rendering, component):
    """{(group, resource, verb, resourceNames)} that the accounts of a component are given."""
    return {(group, resource, verb, tuple(rule.get("resourceNames", ())))
            for each in rendering.objects if each["kind"] in ("Role", "ClusterRole")
            and each["metadata"].get("labels", {}).get("app.kubernetes.io/component") == component
            for rule in each["rules"] for group in rule["apiGroups"]
            for resource in rule["resources"] for verb in rule["verbs"]}


def enabled(*blocks):
    """Values that switch these blocks on."""
    return {block: {"enabled": True} for block in blocks}


def kubectl(plane, command, objects):
    """`kubectl apply` or `kubectl delete` of these objects."""
    items = {"apiVersion": "v1", "kind": "List", "items": objects}
    plane.kubectl(command, "--filename", "-", stdin=json.dumps(items))


def namespace(name):
    """A namespace; in those of operators the API server refuses pods that are not restricted, and warns of
    Deployments that would make them."""
    modes = ("enforce", "warn") if name.endswith("-system") else ()
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {
        "name": name, "labels": {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in modes}}}
