"""What the pods of the chart would run, run as processes: the operators with the Deployments' arguments and
the accounts' rights, the smoke test of `helm test`, and the second kube-scheduler with the ConfigMap's
configuration, by TLS with the keys that the chart made, with and without client certificates."""
import base64
import os
import re
import subprocess
import sys

import pytest
import requests
import yaml

import objects
from chart import CHART, OPERATORS, enabled, kubectl
from operators import Operator, flag_of, free_port
from patience import wait

pytestmark = pytest.mark.more

VALUES = enabled("extender", "scheduler") | {
    "tls": {"mode": "generate"}, "watchNamespaces": ["team-a", "default"], "interface": {"namespace": "team-a"},
    "operators": {"replicas": 0}}
CLIENT_CERTIFICATES = VALUES | {"extender": {"enabled": True, "clientCertificates": {"enabled": True}}}
CLIENT_CA = VALUES | {"interface": {"namespace": "team-a", "api": {"clientCASecret": "people-ca"}}}


def mounted(look, pod, folder):
    """{path in the pod: folder here} of the Secrets that the pod mounts, with the files that it gets."""
    [container] = pod["containers"]
    paths = {each["name"]: each["mountPath"] for each in container.get("volumeMounts", ())}
    found = {}
    for volume in (each for each in pod.get("volumes", ()) if "secret" in each):
        data = look("secret", volume["secret"]["secretName"])["data"]
        items = volume["secret"].get("items") or [{"key": key, "path": key} for key in data]
        here = found[paths[volume["name"]]] = folder / f"{container['name']}-{volume['name']}"
        here.mkdir(exist_ok=True)
        for item in items:
            (here / item["path"]).write_bytes(base64.b64decode(data[item["key"]]))
    return found


def with_folders(text, folders):
    """The text with the pod's paths replaced by those of here."""
    for path, here in folders.items():
        text = text.replace(f"{path}/", f"{here}/")
    return text


class ChartOperator(Operator):
    """A process that is told what the pod's container is told; files are where the test put them."""

    def __init__(self, name, kubeconfig, folder, args, folders):
        super().__init__(name, kubeconfig, folder)
        self.args = [with_folders(each, folders) for each in args]
        self.scheme = "https" if any(each.startswith("--tls-cert-file") for each in args) else "http"
        self.tls = folders.get("/etc/esi/tls")

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def start(self, more=()):
        # The leases are the tests' long ones: a busy machine ends no operator.
        given = {flag_of(each) for each in self.flags}
        line = [os.path.join(os.environ["ESI_OPERATORS"], f"esi-{self.name}"), *self.flags,
                *(each for each in self.args if flag_of(each) not in given), f"--kubeconfig={self.kubeconfig}",
                "--bind-address=127.0.0.1", f"--port={self.port}"]
        environment = dict(os.environ, POD_NAME=f"esi-{self.name}-0", POD_UID="0")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(line, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            start_new_session=True, env=environment)
        return self

    def answers(self, what="/livez"):
        try:
            return self.ask("GET", what, timeout=2).status_code == 200
        except requests.RequestException:
            return False

    def ask(self, method, what, **more):
        """The answer to a client that trusts the CA of the operator's Secret."""
        return requests.request(method, self.url + what, verify=self.tls and str(self.tls / "ca.crt"), **more)


@pytest.fixture
def running(request, plane, helm, look, folder):
    """The operators of the chart with VALUES, or with those that a test hands in."""
    helm.install(values=getattr(request, "param", VALUES))
    started = {}
    try:
        for name in OPERATORS:
            pod = look("deployment", f"esi-{name}")["spec"]["template"]["spec"]
            account = plane.account("esi-system", pod["serviceAccountName"])
            started[name] = ChartOperator(name, account, folder, pod["containers"][0]["args"],
                                          mounted(look, pod, folder)).start()
        for each in started.values():
            each.ready()
        yield started
    finally:
        for each in started.values():
            each.stop()


@pytest.fixture
def second_scheduler(plane, look, running, folder):
    """kube-scheduler with the ConfigMap's configuration and the account's rights; its log."""
    config = yaml.safe_load(look("configmap", "esi-scheduler")["data"]["config.yaml"])
    pod = look("deployment", "esi-scheduler")["spec"]["template"]["spec"]
    account = plane.account("esi-system", pod["serviceAccountName"])
    config["clientConnection"] = {"kubeconfig": str(account)}
    [extender] = config["extenders"]
    assert extender["urlPrefix"] == "https://esi-testbed.esi-system.svc:8080"
    extender["urlPrefix"] = running["testbed"].url
    file = folder / "second-scheduler.yaml"
    file.write_text(with_folders(yaml.safe_dump(config), mounted(look, pod, folder)), "utf-8")
    log = folder / "second-scheduler.log"
    with open(log, "wb") as into:
        process = subprocess.Popen(
            [os.environ["ESI_CLUSTER"], "kube-scheduler", f"--config={file}",
             f"--authentication-kubeconfig={account}", f"--authorization-kubeconfig={account}",
             f"--secure-port={free_port()}", "--bind-address=127.0.0.1"],
            stdout=into, stderr=into, stdin=subprocess.DEVNULL)
    try:
        yield log
    finally:
        process.terminate()
        process.wait(20)


def smoke(plane, running, folder, *more):
    """files/smoke_test.py as the pod runs it, with the rights of its account."""
    account = folder / "account"
    account.mkdir(exist_ok=True)
    server = yaml.safe_load(plane.kubeconfig.read_text("utf-8"))["clusters"][0]["cluster"]["server"]
    root = plane.api.call("GET", "/api/v1/namespaces/esi-system/configmaps/kube-root-ca.crt")
    (account / "ca.crt").write_text(root["data"]["ca.crt"], "utf-8")
    (account / "namespace").write_text("esi-system", "utf-8")
    token = plane.kubectl("create", "token", "esi-test", "--namespace=esi-system")
    (account / "token").write_text(token, "utf-8")
    return subprocess.run(
        [sys.executable, CHART / "files/smoke_test.py", "--api-server", server, "--account", account, *more,
         *(f"--operator={name}={each.url}" for name, each in running.items()),
         *(f"--ca={each.tls / 'ca.crt'}" for each in running.values() if each.scheme == "https")],
        capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("running", [CLIENT_CERTIFICATES], indirect=True, ids=["client certificates"])
def test_smoke_test_passes_and_fails(plane, helm, running, folder):
    shown = helm("get", "hooks", "esi", "--namespace", "esi-system")
    hooks = [each for each in yaml.safe_load_all(shown) if each]
    pod = next(each for each in hooks if each["kind"] == "Pod")
    args = [each for each in pod["spec"]["containers"][0]["args"]
            if each.startswith(("--version=", "--client-certificates="))]
    rights = [each for each in hooks if each["kind"] in ("ServiceAccount", "Role", "RoleBinding")]
    kubectl(plane, "apply", rights)
    try:
        done = smoke(plane, running, folder, *args)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len([line for line in done.stdout.splitlines() if line.startswith("ok ")]) == 14
        running["batchjob"].stop()
        done = smoke(plane, running, folder, "--version=9.9.9", "--client-certificates=scheduling", "--patience=2")
        assert done.returncode == 1
        assert "FAILED  esi-batchjob is ready" in done.stdout
        assert "FAILED  esi-batchjob has a leader: nobody holds the lease esi-batchjob" in done.stdout
        assert "FAILED  esi-testbed is version 9.9.9: it is version" in done.stdout
        assert "FAILED  esi-scheduling refuses schedulers without a client certificate" in done.stdout
        assert "ok      esi-testbed is ready" in done.stdout
    finally:
        kubectl(plane, "delete", rights)


def test_nothing_is_forbidden_to_operators_of_some_namespaces(plane, running):
    """A Testbed and a Scheduling come and go in a watched namespace; one in another is left alone."""
    def testbed(namespace):
        return {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Testbed",
                "metadata": {"name": "tb", "namespace": namespace},
                "spec": {"slotsPerNode": 1, "nodeLabel": f"tuberlin.de/{namespace}", "isolation": "Taint",
                         "resourcesPerSlot": {"cpu": "1", "memory": "1Gi"}}}
    node = plane.add_nodes("chart", 1, labels="tuberlin.de/team-a=0,tuberlin.de/team-c=0", cpu="2")[0]
    for namespace in ("team-c", "team-a"):
        plane.api.create("Testbed", namespace, testbed(namespace))
    plane.kubectl("wait", "--for=condition=Ready", "testbed/tb", "--namespace=team-a", "--timeout=300s")
    assert plane.api.get("Testbed", "team-a", "tb")["status"]["counts"]["free"] == 1
    assert [each["key"] for each in plane.api.get("Node", None, node)["spec"]["taints"]], "isolation"
    plane.api.create("Scheduling", "team-a", {
        "apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Scheduling", "metadata": {"name": "plan"},
        "spec": {"testbed": {"name": "tb"}, "queueBased": [{"name": "none"}]}})
    wait_for("the plan's state", lambda: plane.api.get("Scheduling", "team-a", "plan").get("status", {}).get("state"))
    plane.kubectl("delete", "scheduling/plan", "testbed/tb", "--namespace=team-a", "--timeout=300s")
    assert "status" not in plane.api.get("Testbed", "team-c", "tb"), "not a namespace of theirs"
    plane.kubectl("delete", "testbed/tb", "--namespace=team-c", "--timeout=300s")
    for each in running.values():
        assert not re.search(r"\b403\b|forbidden", each.log.read_text()), each.tail()


def test_second_scheduler_has_the_rights_and_settings_that_it_needs(plane, second_scheduler):
    try:
        spec = {"schedulerName": "external-scheduler", "containers": [{"name": "pause", "image": "pause"}]}
        plane.api.create("Pod", "team-a", {"metadata": {"name": "any"}, "spec": spec})
        wait_for("the pod's node", lambda: plane.api.get("Pod", "team-a", "any")["spec"].get("nodeName"),
                 second_scheduler)
        assert plane.api.get("Lease", "esi-system", "esi-scheduler")["spec"]["holderIdentity"]
        # Job pods of ESI that are not decided yet are held back by the extender, which so was asked.
        uid = plane.api.get("ServiceAccount", "team-a", "default")["metadata"]["uid"]
        plane.api.create("Pod", "team-a", {
            "metadata": {"name": "job", "labels": {"esi.tu-berlin.de/testbed": "tb"}, "ownerReferences": [
                {"apiVersion": "v1", "kind": "ServiceAccount", "name": "default", "uid": uid}]}, "spec": spec})
        wait_for("the pod's refusal", lambda: "Unschedulable" in str(plane.api.get("Pod", "team-a", "job")["status"]),
                 second_scheduler)
        assert "forbidden" not in second_scheduler.read_text()
    finally:
        plane.kubectl("delete", "pods", "--all", "--namespace=team-a", "--force")


@pytest.mark.parametrize("running", [CLIENT_CERTIFICATES], indirect=True, ids=["client certificates"])
def test_with_client_certificates_the_extender_serves_the_scheduler(plane, look, running, second_scheduler):
    """A job starts through the extender, which refuses clients without a certificate; probes need none."""
    testbed = running["testbed"]
    question = {"Pod": {"metadata": {"name": "p"}}, "NodeNames": ["a"]}
    refused = testbed.ask("POST", "/extender/filter", json=question)
    assert refused.status_code == 403 and "certificate" in refused.json()["messages"][0]
    probes = look("deployment", "esi-testbed")["spec"]["template"]["spec"]["containers"][0]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert testbed.answers(probes[probe]["httpGet"]["path"])

    [node] = plane.add_nodes("extender", 1, labels="tuberlin.de/extender=0", cpu="2")
    plane.api.create("ServiceAccount", "team-a", {"metadata": {"name": "spark"}})
    try:
        for thing in (objects.testbed("tb", "tuberlin.de/extender"), objects.job("pi", seconds=600),
                      objects.queue("plan", "tb", ["pi"])):
            plane.api.create(thing["kind"], "team-a", thing)

        def bound():
            pods = plane.api.list("Pod", "team-a", labels="esi.tu-berlin.de/testbed=tb")
            return [pod["spec"] for pod in pods if pod["spec"].get("schedulerName") == "external-scheduler"
                    and pod["spec"].get("nodeName")]
        [spec] = wait_for("the executor's node", bound, second_scheduler)
        assert (spec["nodeName"], spec["priorityClassName"]) == (node, "esi-extender")
        plane.kubectl("wait", "--for=jsonpath={.status.state}=RunningState", "batchjob/pi", "--namespace=team-a",
                      "--timeout=300s")
    finally:
        plane.kubectl("delete", "scheduling/plan", "batchjob/pi", "testbed/tb", "--namespace=team-a",
                      "--ignore-not-found", "--timeout=300s")
        plane.kubectl("delete", "serviceaccount", "spark", "--namespace=team-a")


@pytest.fixture
def people(plane, folder):
    """ask(URL, CA of the server, name): a GET with that person's certificate; the CA is in a Secret of the release."""
    for name, authority in (("people", None), ("others", None), ("ada", "people"), ("eve", "people"), ("mallory", "others")):
        by = [] if authority is None else ["-CA", folder / f"{authority}.crt", "-CAkey", folder / f"{authority}.key"]
        team = {"ada": "/O=analysts"}.get(name, "")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        folder / f"{name}.key", "-out", folder / f"{name}.crt", "-days", "1", "-subj", f"/CN={name}{team}",
                        "-addext", "extendedKeyUsage=clientAuth", *by], check=True, capture_output=True)
    plane.kubectl("create", "secret", "generic", "people-ca", "--namespace=esi-system", f"--from-file=ca.crt={folder}/people.crt")

    def ask(operator, path, name=None):
        return operator.ask("GET", path, timeout=60, cert=name and (f"{folder}/{name}.crt", f"{folder}/{name}.key"))
    yield ask
    plane.kubectl("delete", "secret/people-ca", "--namespace=esi-system", "--ignore-not-found")
    plane.kubectl("delete", "role/readers", "rolebinding/readers", "--namespace=team-a", "--ignore-not-found")


@pytest.mark.parametrize("running", [CLIENT_CA], indirect=True, ids=["CA of people"])
def test_a_person_with_a_certificate_may_what_his_groups_may(plane, people, running):
    """/api/v1 of a release with interface.api.clientCASecret: the certificate's organization has a RoleBinding."""
    api, mine, theirs = running["scheduling"], "/api/v1/namespaces/team-a/testbeds", "/api/v1/namespaces/default/testbeds"
    plane.kubectl("create", "role", "readers", "--namespace=team-a", "--verb=get,list", "--resource=testbeds.esi.tu-berlin.de")
    plane.kubectl("create", "rolebinding", "readers", "--namespace=team-a", "--role=readers", "--group=analysts")
    told = people(api, mine, "ada")
    assert (told.status_code, told.json()["items"]) == (200, []), told.text
    for name, path, code in (("ada", theirs, 403), ("eve", mine, 403), (None, mine, 401)):
        told = people(api, path, name)
        assert told.status_code == code, (name, path, told.text)
    assert '"eve" may not list testbeds' in people(api, mine, "eve").json()["detail"]
    with pytest.raises(requests.exceptions.ConnectionError):
        people(api, mine, "mallory")
    assert people(api, "/livez").status_code == 200


def wait_for(what, check, log=None):
    return wait(what, check, told=lambda: log.read_text()[-3000:] if log else "")
