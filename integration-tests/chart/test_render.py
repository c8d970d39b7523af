"""What the chart renders: many value sets, each validated by the API server; wrong values, refused."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import pytest
import yaml

import chart
import product
from api import ApiException
from chart import CHART, OF_THE_CLUSTER, OPERATORS, ROOT, HelmFailed, enabled, render

HERE = pathlib.Path(__file__).parent
MATRIX = yaml.safe_load((HERE / "matrix.yaml").read_text("utf-8"))
REFUSALS = yaml.safe_load((HERE / "refusals.yaml").read_text("utf-8"))
METADATA = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))
DEFAULTS = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))


def rendered(case):
    told = {key: case[key] for key in ("values", "release", "namespace", "kube", "apis") if key in case}
    return render(**told)


@pytest.fixture(scope="module")
def matrix():
    """{name: rendering, or why there is none}."""
    def shown(case):
        try:
            return rendered(case)
        except HelmFailed as failure:
            return failure

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return dict(zip([case["name"] for case in MATRIX], pool.map(shown, MATRIX)))


@pytest.fixture(scope="module")
def verdicts(plane, matrix):
    """{object as JSON: what the API server has against it}, each different object once."""
    shown = [each for each in matrix.values() if not isinstance(each, HelmFailed)]
    objects = {as_text(thing) for each in shown for thing in each.objects}
    paths = Paths(plane)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return dict(zip(objects, pool.map(lambda text: validated(plane, paths, json.loads(text)), objects)))


def as_text(thing):
    return json.dumps(thing, sort_keys=True)


class Paths:
    """Where the API server has objects of each kind."""

    def __init__(self, plane):
        self.plane = plane
        self.known = {}

    def of(self, thing):
        version, kind, meta = thing["apiVersion"], thing["kind"], thing["metadata"]
        if version not in self.known:
            root = f"/api/{version}" if "/" not in version else f"/apis/{version}"
            found = self.plane.api.call("GET", root)["resources"]
            self.known[version] = {each["kind"]: (root, each) for each in found if "/" not in each["name"]}
        root, resource = self.known[version][kind]
        inside = f"/namespaces/{meta['namespace']}" if resource["namespaced"] else ""
        return f"{root}{inside}/{resource['name']}/{meta['name']}"


def validated(plane, paths, thing):
    """Strict validation and admission, as `kubectl apply --server-side --dry-run=server --validate=strict`
    asks for it: an error, a warning, or None."""
    if thing["kind"] == "Pod":
        thing["spec"]["serviceAccountName"] = "default"  # a pod is refused whose account does not exist
    try:
        answer = plane.api.raw(
            "PATCH", paths.of(thing), thing, content_type="application/apply-patch+yaml",
            query={"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "test", "force": "true"})
    except ApiException as error:
        return json.loads(error.body)["message"]
    answer.read()
    answer.release_conn()
    return answer.headers.get("Warning")


def test_lint():
    said = chart.helm("lint", "--strict", CHART)
    assert "0 chart(s) failed" in said


@pytest.mark.parametrize("case", MATRIX, ids=[case["name"] for case in MATRIX])
def test_value_set(matrix, verdicts, case):
    shown = matrix[case["name"]]
    assert not isinstance(shown, HelmFailed), shown
    version = METADATA["appVersion"]
    for text in case.get("has", ()):
        assert text.replace("{version}", version) in shown.text
    for text in case.get("lacks", ()):
        assert text.replace("{version}", version) not in shown.text
    against = [(each["kind"], each["metadata"]["name"], verdicts[as_text(each)]) for each in shown.objects]
    assert not [each for each in against if each[2]]


def test_the_api_server_judges_strictly(plane):
    """The check of the value sets can fail: by an unknown field, a wrong value, a warning."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "esi-system"},
               "spec": {"ports": [{"port": 80}]}}
    paths = Paths(plane)
    assert validated(plane, paths, service) is None
    assert "field not declared in schema" in validated(plane, paths, service | {"spec": {"port": 80}})
    assert "Invalid value" in validated(plane, paths, service | {"spec": {"ports": [{"port": 0}]}})
    pod = {"containers": [{"name": "a", "image": "a"}]}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": service["metadata"], "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod}}}
    assert "would violate PodSecurity" in validated(plane, paths, deployment)


def test_the_matrix_is_large_enough_and_changes_every_value():
    assert len(MATRIX) >= 40
    blocks = {f"{operator}Operator" for operator in OPERATORS}
    changed = {("operators", *path[1:]) if path[0] in blocks else path
               for case in MATRIX for path in leaves(case.get("values", {}))}
    missing = {".".join(path) for path in leaves(DEFAULTS) if path not in changed and path[0] not in blocks}
    assert not missing


#: Values that are handed to Kubernetes as they are.
NATIVE = {"resources", "labels", "affinity", "podSecurityContext", "securityContext", "nodeSelector",
          "podLabels", "podAnnotations", "annotations", "commonLabels", "global",
          "livenessProbe", "readinessProbe", "startupProbe"}


def leaves(values, path=()):
    for key, value in values.items():
        if isinstance(value, dict) and value and key not in NATIVE:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


@pytest.mark.parametrize("case", REFUSALS, ids=[case["words"][-1] + str(number)
                                                for number, case in enumerate(REFUSALS)])
def test_refused(case):
    with pytest.raises(HelmFailed) as refused:
        rendered(case)
    for words in case["words"]:
        assert words in str(refused.value)


def test_the_schema_knows_every_value_and_allows_no_other():
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))

    def resolved(node):
        return schema["definitions"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node

    def walk(node, values, path):
        node = resolved(node)
        if "properties" not in node:
            return
        assert node.get("additionalProperties") is False, f"{path} allows anything"
        if values:
            assert set(values) == set(node["properties"]), path
        for key, inner in node["properties"].items():
            below = values.get(key) if values else None
            walk(inner, below if isinstance(below, dict) else None, f"{path}.{key}")

    # No probe has a value for each key of a probe; all others do.
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        DEFAULTS["operators"][probe]["initialDelaySeconds"] = 0
    for block in (DEFAULTS["operators"]["resources"], DEFAULTS["scheduler"]["resources"],
                  DEFAULTS["exampleScheduler"]["resources"]):
        block["claims"] = []
    walk(schema, DEFAULTS, "values")


def test_one_operator_can_be_given_what_is_false_zero_or_nothing():
    shown = render({"testbedOperator": {"replicas": 0, "podDisruptionBudget": {"enabled": False},
                                        "resources": {"limits": None}, "terminationGracePeriodSeconds": 5}})
    deployments = shown.of("Deployment")
    assert {name: each["spec"]["replicas"] for name, each in deployments.items()} == {
        "esi-testbed": 0, "esi-batchjob": 2, "esi-scheduling": 2}
    assert sorted(shown.of("PodDisruptionBudget")) == ["esi-batchjob", "esi-scheduling"]
    assert "limits" not in shown.container("esi-testbed")["resources"]
    assert shown.container("esi-batchjob")["resources"]["limits"] == {"memory": "128Mi"}
    assert deployments["esi-testbed"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 5


@pytest.mark.parametrize("name", ["defaults", "namespaces with everything", "TLS generated",
                                  "rules and dashboards"])
def test_two_renderings_are_equal(matrix, name):
    [case] = [case for case in MATRIX if case["name"] == name]
    assert rendered(case).text == matrix[name].text


def test_names_of_the_cluster_carry_the_release():
    shown = render(enabled("debugEndpoints", "flinkCluster", "extender", "scheduler", "networkPolicy",
                           "exampleScheduler") | {
                               "tls": {"mode": "secret"},
                               "extender": {"enabled": True, "clientCertificates": {"enabled": True}}},
                   release="blue", namespace="blue-system")
    own = [each for each in shown.objects if each["kind"] != "CustomResourceDefinition"]
    assert {each["kind"] for each in own} >= OF_THE_CLUSTER - {"CustomResourceDefinition", "Namespace"}
    assert not [name for name in (each["metadata"]["name"] for each in own) if not name.startswith("blue-esi-")]
    elsewhere = {each["metadata"]["namespace"] for each in own if each["kind"] not in OF_THE_CLUSTER}
    assert elsewhere == {"blue-system", "kube-system", "default"}, \
        "only the scheduler's reader and the rights of the example scheduler are in other namespaces"


def test_objects_of_one_release_have_names_of_their_own():
    shown = render({"watchNamespaces": ["team-a", "esi-system"], "legacy": {"services": True, "open": True},
                    **enabled("debugEndpoints", "extender", "scheduler")})
    metas = [(each["kind"], each["metadata"]) for each in shown.objects]
    keys = [(kind, meta.get("namespace"), meta["name"]) for kind, meta in metas]
    assert len(keys) == len(set(keys))


def test_the_key_of_the_client_certificate_is_the_schedulers():
    """esi-testbed mounts the CA without the key, and nobody else anything."""
    shown = render({"tls": {"mode": "secret"}, "extender": {"enabled": True, "clientCertificates": {"enabled": True}},
                    **enabled("scheduler", "exampleScheduler")})
    mounted = {}
    for each in shown.objects:
        pod = each["spec"] if each["kind"] == "Pod" else each.get("spec", {}).get("template", {}).get("spec", {})
        for volume in pod.get("volumes", ()):
            if volume.get("secret", {}).get("secretName") == "esi-extender-client":
                [container] = pod["containers"]
                [path] = [at["mountPath"] for at in container["volumeMounts"] if at["name"] == volume["name"]]
                mounted[each["metadata"]["name"]] = path, volume["secret"].get("items")
    assert mounted == {"esi-testbed": ("/etc/esi/client-ca", [{"key": "ca.crt", "path": "ca.crt"}]),
                       "esi-scheduler": ("/etc/esi/client", None)}
    assert "--client-ca-file=/etc/esi/client-ca/ca.crt" in shown.container("esi-testbed")["args"]
    config = yaml.safe_load(shown.of("ConfigMap")["esi-scheduler"]["data"]["config.yaml"])
    assert config["extenders"][0]["tlsConfig"] == {
        "caFile": "/etc/esi/ca/ca.crt", "certFile": "/etc/esi/client/tls.crt", "keyFile": "/etc/esi/client/tls.key"}


def test_of_the_secret_of_the_interfaces_client_ca_the_ca_alone_is_mounted_by_esi_scheduling():
    shown = render({"tls": {"mode": "secret"}, "interface": {"api": {"clientCASecret": "planners-ca"}}})
    mounted = {}
    for name, deployment in shown.of("Deployment").items():
        pod = deployment["spec"]["template"]["spec"]
        for volume in pod["volumes"] if "volumes" in pod else ():
            if volume["name"] == "client-ca":
                mounted[name] = volume["secret"]
    assert mounted == {"esi-scheduling": {"secretName": "planners-ca", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    assert "--client-ca-file=/etc/esi/client-ca/ca.crt" in shown.container("esi-scheduling")["args"]
    assert "--client-ca-file=/etc/esi/client-ca/ca.crt" not in shown.container("esi-testbed")["args"]


def test_client_certificates_are_signed_by_the_releases_own_ca():
    """Whoever has a certificate of that CA is answered, so that no other issuer is asked."""
    shown = render({"tls": {"mode": "certManager", "certManager": {"issuerRef": {"name": "corporate"}}},
                    "extender": {"enabled": True, "clientCertificates": {"enabled": True}}},
                   apis=["cert-manager.io/v1"])
    signed = {name: (each["spec"]["issuerRef"]["name"], each["spec"].get("usages"))
              for name, each in shown.of("Certificate").items()}
    assert signed == {"esi-testbed-tls": ("corporate", ["server auth"]),
                      "esi-scheduling-tls": ("corporate", ["server auth"]),
                      "esi-ca": ("esi-self-signed", None), "esi-extender-client": ("esi-ca", ["client auth"])}


def test_the_pods_of_operators_are_hardened_and_spread():
    shown = render()
    for name, deployment in shown.of("Deployment").items():
        pod = deployment["spec"]["template"]["spec"]
        container = shown.container(name)
        assert pod["enableServiceLinks"] is False and pod["automountServiceAccountToken"] is True
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
        assert {probe: container[probe]["httpGet"]["path"] for probe in (
            "startupProbe", "livenessProbe", "readinessProbe")} == {
            "startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
        assert {each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] for each in container["env"]} == {
            "POD_NAME": "metadata.name", "POD_UID": "metadata.uid"}
        [apart] = pod["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        assert apart["podAffinityTerm"]["labelSelector"] == deployment["spec"]["selector"]
    for account in shown.of("ServiceAccount").values():
        assert account["automountServiceAccountToken"] is False


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_operators_know_every_flag(operator):
    """The binary itself parses what the Deployment hands it; an unknown flag or a wrong value ends it with 2."""
    stomp = {"allowedOrigins": ["*"], "maxConnections": 5, "maxSubscriptions": 5, "queueBytes": 65536}
    shown = render(enabled("debugEndpoints", "flinkCluster", "extender", "gangs", "claims") | {
        "legacy": {"open": True}, "watchNamespaces": ["team-a", "team-b"], "operators": {"kubeApiQps": 50},
        "flink": {"jobManager": {"cpu": "500m", "memory": "1Gi"}},
        "interface": {"api": {"audience": "esi.example.org", "plainTokens": True}, "nodes": {"enabled": True}, "stomp": stomp, "allowedHosts": ["esi.example.org", "*.example.org", "*"]}})
    args = shown.container(f"esi-{operator}")["args"]
    program = pathlib.Path(os.environ["ESI_OPERATORS"]) / f"esi-{operator}"

    def run(*more):
        return subprocess.run([program, *args, *more], capture_output=True, text=True, timeout=300, check=False,
                              env={"KUBECONFIG": os.devnull, "PATH": os.environ["PATH"]})

    done = run("--kubeconfig", os.devnull)
    # There is no cluster, but the flags are right.
    assert done.returncode == 1, f"{done.returncode}: {done.stdout}{done.stderr}"
    assert run("--no-such-flag").returncode == 2


def test_version_is_the_projects():
    project = re.search(r"project\(esi VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))[1]
    assert METADATA["version"] == METADATA["appVersion"] == project


def test_made_files_are_up_to_date(tmp_path):
    """The table of the chart's README; a package of the chart has the CRDs themselves."""
    subprocess.run([sys.executable, ROOT / "scripts/chart_readme.py", "--check"], check=True)
    chart.helm("package", CHART, "--destination", tmp_path)
    with tarfile.open(next(tmp_path.glob("*.tgz"))) as package:
        for name in map(str.lower, product.KINDS):
            assert package.extractfile(f"esi/files/crds/{name}.yaml").read() == (ROOT / "crds" / f"{name}.yaml").read_bytes()
