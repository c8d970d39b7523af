"""The life of a release on a real control plane: installed, upgraded, rolled back, uninstalled, installed
again; in some namespaces; twice side by side. Pods of the Deployments are played by kwok: what runs in
them is the business of integration-tests/node."""
import base64

import pytest
from cryptography import x509

from chart import CRDS, OPERATORS, RELEASES, HelmFailed, enabled, namespace
from control_plane import MANIFESTS, ROOT

TESTBED = {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed",
           "metadata": {"name": "kept", "namespace": "team-a"},
           "spec": {"slotsPerNode": 1, "nodeLabel": "tuberlin.de/kept",
                    "resourcesPerSlot": {"cpu": "1", "memory": "1Gi"}}}


#: Of helm/manifests, what single features need.
PARTS = ("nodes", "isolation", "debug", "extender", "flinkcluster", "gangs", "claims", "sparkdrivers")


def owned(plane, release):
    """Everything of a release that is there, but pods and what Deployments make."""
    kinds = set(plane.kubectl("api-resources", "--verbs=list", "--output=name").split())
    found = plane.kubectl("get", ",".join(sorted(kinds - {"events", "events.events.k8s.io"})), "--all-namespaces",
                          "--selector", f"app.kubernetes.io/instance={release}", "--output=name",
                          "--ignore-not-found")
    return [name for name in found.split() if not name.startswith(("pod/", "replicaset", "endpoint"))]


def test_life_of_a_release(plane, helm, look):
    said = helm.install()
    assert "No backend" not in said, "the kinds of Spark and Flink are there"
    for name in CRDS:
        assert look("crd", name)["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    for operator in OPERATORS:
        assert look("deployment", f"esi-{operator}")["status"]["availableReplicas"] == 2
    plane.api.create("Testbed", "team-a", TESTBED)
    uid = look("testbed", "kept", "team-a")["metadata"]["uid"]

    helm.upgrade(values={"operators": {"replicas": 3}, "log": {"level": "debug"}})
    changed = look("deployment", "esi-testbed")
    assert changed["status"]["availableReplicas"] == 3
    assert "--log-level=debug" in changed["spec"]["template"]["spec"]["containers"][0]["args"]

    helm("rollback", "esi", "1", "--namespace", "esi-system", "--wait", "--timeout", "300s")
    back = look("deployment", "esi-testbed")
    assert back["spec"]["replicas"] == 2
    assert "--log-level=info" in back["spec"]["template"]["spec"]["containers"][0]["args"]

    helm.uninstall()
    assert owned(plane, "esi") == []
    assert look("testbed", "kept", "team-a")["metadata"]["uid"] == uid, "kinds and objects stay"

    helm.install()
    assert look("testbed", "kept", "team-a")["metadata"]["uid"] == uid
    helm.upgrade(values={"crds": {"keep": False}})
    helm.uninstall()
    assert not any(look("crd", name) for name in CRDS), "without crds.keep they go"


@pytest.mark.more
@pytest.mark.parametrize("archive", RELEASES, ids=lambda archive: archive.stem)
def test_upgrade_from_a_release_and_back(plane, helm, look, archive):
    """As docs/upgrade.md says it. Values that a person set stay, objects stay, and nothing of the newer one is
    left after the rollback."""
    def kinds():
        return {name: found["spec"] for name in CRDS if (found := look("crd", name))}

    def images():
        return {look("deployment", f"esi-{operator}")["spec"]["template"]["spec"]["containers"][0]["image"]
                for operator in OPERATORS}

    helm.install(chart=archive, values={"log": {"level": "debug"}})
    plane.api.create("Testbed", "team-a", TESTBED)
    uid = look("testbed", "kept", "team-a")["metadata"]["uid"]
    before, objects, released = kinds(), owned(plane, "esi"), images()

    helm.upgrade(more=["--reset-then-reuse-values"])
    assert images().isdisjoint(released), "another version's images"
    for operator in OPERATORS:
        deployment = look("deployment", f"esi-{operator}")
        assert deployment["status"]["availableReplicas"] == deployment["status"]["updatedReplicas"] == 2
        assert "--log-level=debug" in deployment["spec"]["template"]["spec"]["containers"][0]["args"]

    helm("rollback", "esi", "1", "--namespace", "esi-system", "--wait", "--timeout", "300s")
    after = kinds()
    # A kind that the release did not have stays, as each kind does that is no longer in the chart.
    assert ({name: after[name] for name in before}, images()) == (before, released)
    assert set(owned(plane, "esi")) == set(objects)
    assert look("testbed", "kept", "team-a")["metadata"]["uid"] == uid


def test_only_some_namespaces(plane, helm):
    helm.install(values={"watchNamespaces": ["team-a", "team-b"]})

    def may(who, verb, resource, namespace):
        account = f"system:serviceaccount:esi-system:esi-{who}"
        done = plane.kubectl("auth", "can-i", verb, resource, "--as", account, "--namespace", namespace,
                             check=False)
        return done.stdout.strip() == "yes"

    for namespace, inside in (("team-a", True), ("team-b", True), ("team-c", False), ("esi-system", False)):
        assert may("testbed", "create", "pods", namespace) is inside
        assert may("batchjob", "create", "sparkapplications.sparkoperator.k8s.io", namespace) is inside
        assert may("scheduling", "patch", "batchjobs.esi.tu-berlin.de", namespace) is inside
        assert may("testbed", "list", "testbeds.esi.tu-berlin.de", namespace) is inside
        assert may("testbed", "list", "pods", namespace), "room is a matter of all pods"
    assert not may("testbed", "get", "leases.coordination.k8s.io", "team-a")


@pytest.mark.more
def test_twice_side_by_side(plane, helm, look):
    blue = {"release": "blue", "namespace": "blue-system"}
    helm.install(values={"watchNamespaces": ["team-a"]})
    with pytest.raises(HelmFailed, match="belongs to the release esi-system/esi: set crds.install=false, .* "
                       "kubectl annotate --overwrite crd testbeds.esi.tu-berlin.de meta.helm.sh/release-name=blue "
                       "meta.helm.sh/release-namespace=blue-system"):
        helm.install(**blue, values={"watchNamespaces": ["team-b"]})
    with pytest.raises(HelmFailed, match='"esi" runs in namespace "esi-system": .* would share leases'):
        helm.install(release="blue", namespace="esi-system", values={"crds": {"install": False}})
    helm.install(**blue, values={"watchNamespaces": ["team-b"], "crds": {"install": False},
                                 "priorityClasses": {"create": False}})
    pod = look("deployment", "blue-esi-testbed", "blue-system")["spec"]["template"]["spec"]
    assert {"--ghost-priority-class=esi-ghost", "--namespace=team-b",
            "--leader-elect-namespace=blue-system"} <= set(pod["containers"][0]["args"])
    helm.uninstall("blue", "blue-system")
    assert look("deployment", "esi-testbed")["status"]["availableReplicas"] == 2, "the first one is untouched"
    assert look("priorityclass", "esi-ghost") and look("clusterrole", "esi-testbed")


def test_everything_at_once(plane, helm, look):
    helm.install(values=enabled(
        "scheduler", "networkPolicy", "debugEndpoints", "flinkCluster", "gangs", "claims", "exampleScheduler") | {
        "tls": {"mode": "generate"}, "legacy": {"services": True, "open": True},
        "extender": {"enabled": True, "clientCertificates": {"enabled": True}},
        "metrics": enabled("serviceMonitor", "prometheusRule", "dashboards")})
    version = plane.api.call("GET", "/version")["gitVersion"]
    scheduler = look("deployment", "esi-scheduler")["spec"]["template"]["spec"]["containers"][0]
    assert scheduler["image"] == f"registry.k8s.io/kube-scheduler:{version}"
    helm.uninstall()
    assert owned(plane, "esi") == []


@pytest.mark.more
def test_generated_keys_are_made_once(plane, helm, look):
    values = {"tls": {"mode": "generate", "generate": {"days": 30}}, "operators": {"replicas": 0},
              "extender": {"enabled": True, "clientCertificates": {"enabled": True}}}
    helm.install(values=values)
    servers = {"esi-testbed-tls": "esi-testbed", "esi-scheduling-tls": "esi-scheduling"}
    made = {name: look("secret", name)["data"] for name in (*servers, "esi-extender-client")}
    certificates = {name: checked_certificate(data, days=30) for name, data in made.items()}
    for name, service in servers.items():
        alternatives = certificates[name].extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert f"{service}.esi-system.svc" in alternatives.get_values_for_type(x509.DNSName)
        assert "127.0.0.1" in [str(each) for each in alternatives.get_values_for_type(x509.IPAddress)]
    usages = certificates["esi-extender-client"].extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert x509.ExtendedKeyUsageOID.CLIENT_AUTH in usages
    for part in ("ca.crt", "tls.key"):
        assert len({data[part] for data in made.values()}) == 3, "each has a CA and a key of its own"

    helm.upgrade(values=values | {"log": {"level": "debug"}})
    helm("rollback", "esi", "1", "--namespace", "esi-system", "--wait", "--timeout", "300s")
    assert {name: look("secret", name)["data"] for name in made} == made

    anew = ("esi-testbed-tls", "esi-extender-client")
    plane.kubectl("delete", "secret", "--namespace", "esi-system", *anew)
    helm.upgrade(values=values)
    for name in anew:
        assert look("secret", name)["data"]["tls.key"] != made[name]["tls.key"]
    assert look("secret", "esi-scheduling-tls")["data"] == made["esi-scheduling-tls"]


def checked_certificate(data, days):
    """The certificate of a Secret, which its CA signed and which is valid for so many days."""
    certificate, authority = (x509.load_pem_x509_certificate(base64.b64decode(data[part]))
                              for part in ("tls.crt", "ca.crt"))
    certificate.verify_directly_issued_by(authority)
    assert (certificate.not_valid_after_utc - certificate.not_valid_before_utc).days == days
    return certificate


@pytest.mark.more
def test_client_certificates_come_with_an_upgrade_and_go_with_one(plane, helm, look):
    """The keys of the servers stay; without the second scheduler its Secret is for the one that a person runs."""
    without = {"tls": {"mode": "generate"}, "operators": {"replicas": 0}, **enabled("extender")}
    helm.install(values=without)
    server = look("secret", "esi-testbed-tls")["data"]
    assert look("secret", "esi-extender-client") is None
    said = helm.upgrade(values=without | {"extender": {"enabled": True, "clientCertificates": {"enabled": True}}})
    assert "with the certificate of Secret esi-extender-client" in said
    assert look("secret", "esi-extender-client")["data"].keys() == {"ca.crt", "tls.crt", "tls.key"}
    assert look("secret", "esi-testbed-tls")["data"] == server
    helm.upgrade(values=without)
    assert look("secret", "esi-extender-client") is None
    assert look("secret", "esi-testbed-tls")["data"] == server


def test_notes_say_what_is_missing(plane, helm):
    rival = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "rival"},
             "value": 1000050, "description": "evicts ghosts"}
    plane.api.create("PriorityClass", None, rival)
    # The name of a claim's class, and its value; but it may preempt.
    plane.api.create("PriorityClass", None, rival | {"metadata": {"name": "esi-claim-1000050"}})
    try:
        said = helm.install(values={
            "priorityClasses": {"create": False}, "tls": {"mode": "secret"}, "legacy": {"open": True},
            "extender": {"enabled": True, "clientCertificates": {"enabled": True}}, **enabled("flinkCluster"),
            "claims": {"enabled": True, "createPriorityClasses": False, "priorities": [0, 1000050]}})
    finally:
        plane.kubectl("delete", "priorityclass", "rival", "esi-claim-1000050")
    for words in ("PriorityClass rival (1000050) is not below ESI's ghosts (1000000)",
                  "PriorityClass esi-ghost does not exist", "PriorityClass esi-job does not exist",
                  "PriorityClass esi-extender does not exist",
                  "PriorityClass esi-claim-0 does not exist, and claims.createPriorityClasses is false: claims of "
                  "priority 0 wait (condition Formed, reason PriorityClassMissing)",
                  "PriorityClass esi-claim-1000050 has not the value 1000050 with preemptionPolicy Never",
                  "Secret esi-testbed-tls (tls.crt, tls.key, ca.crt) does not exist",
                  "Secret esi-extender-client (tls.crt, tls.key, ca.crt) does not exist: the pods of esi-testbed do",
                  "legacy.open: whoever reaches port 8082",
                  "run a kube-scheduler named external-scheduler that asks the extender at "
                  "esi-testbed.esi-system.svc:8080, with the certificate of Secret esi-extender-client",
                  "spotify's Flink operator (flinkoperator.k8s.io/v1beta1) is not installed"):
        assert words in said
    helm.uninstall()
    said = helm.install()
    assert "To know:" not in said, "nothing is missing for the defaults"
    assert "take tokens over loopback only" in said and "port-forward svc/esi-scheduling 8082" in said
    helm.uninstall()
    said = helm.install(values={"interface": {"api": {"plainTokens": True}}, "aggregatedRoles": {"testbeds": True}})
    assert "bearer tokens for /api/v1 cross the network readable" in said and "over loopback only" not in said
    assert "every admin of a namespace may make Testbeds" in said


@pytest.mark.more
def test_manifests_install_without_helm(plane, look):
    """What the user guide tells people without Helm, and the one file with everything."""
    plane.kubectl("apply", "--filename", str(MANIFESTS / "install"))
    try:
        plane.kubectl("rollout", "status", "--timeout=300s", "--namespace=esi-system", "deploy/esi-testbed",
                      "deploy/esi-batchjob", "deploy/esi-scheduling")
        again = (MANIFESTS, *(MANIFESTS / part for part in PARTS), ROOT / "crds")
        repeated = plane.kubectl("apply", *(f"--filename={each}" for each in again))
        assert "clusterrole.rbac.authorization.k8s.io/esi-testbed unchanged" in repeated
        assert "customresourcedefinition.apiextensions.k8s.io/testbeds.esi.tu-berlin.de unchanged" in repeated
        assert look("crd", CRDS[0])["metadata"].get("annotations", {}).get("helm.sh/resource-policy") is None
    finally:
        for folder in ("install", *PARTS):
            plane.kubectl("delete", "--ignore-not-found", "--filename", str(MANIFESTS / folder))
        plane.api.create("Namespace", None, namespace("esi-system"))
        plane.kubectl("label", "namespace", "esi-system", "--overwrite",
                      *(f"pod-security.kubernetes.io/{mode}=restricted" for mode in ("enforce", "warn")))
