"""What `helm test` runs in a pod: are the operators ready, do they lead, does the API server take ESI's
objects? Python's standard library only. Exit code 1 where anything is missing; each line says what."""
import argparse
import json
import pathlib
import ssl
import sys
import time
import urllib.error
import urllib.request

ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
ESI = "esi.tu-berlin.de/v1alpha1"
SPECS = {
    "Testbed": {"slotsPerNode": 1, "nodeLabel": "esi.tu-berlin.de/helm-test",
                "resourcesPerSlot": {"cpu": "100m", "memory": "64Mi"}},
    "BatchJob": {"sparkSpec": {"type": "Scala"}},
    "Scheduling": {"testbed": {"name": "helm-test"}, "queueBased": [{"name": "helm-test"}]},
}


def ask(url, context=None, token=None, body=None):
    """Status and text of the answer."""
    request = urllib.request.Request(url, headers={"Accept": "application/json, text/plain"})
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def ready(url, context):
    status, text = ask(f"{url}/readyz?verbose", context)
    assert status == 200, f"/readyz says {status}: {text}"


def refuses_strangers(url, context):
    status, text = ask(f"{url}/extender/filter", context, body={})
    assert status == 403, f"/extender/filter says {status} without a client certificate: {text}"


def runs_version(url, context, version):
    _, text = ask(f"{url}/version", context)
    found = json.loads(text)["version"]
    assert found == version, f"it is version {found}, the chart installs {version}"


class ApiServer:
    def __init__(self, options):
        self.url = options.api_server or "https://kubernetes.default.svc"
        account = pathlib.Path(options.account)
        self.token = (account / "token").read_text().strip()
        self.context = ssl.create_default_context(cafile=str(account / "ca.crt"))
        self.namespace = (account / "namespace").read_text().strip()

    def ask(self, path, body=None):
        status, text = ask(self.url + path, self.context, self.token, body)
        return status, json.loads(text)

    def leader(self, operator):
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/esi-{operator}"
        status, lease = self.ask(path)
        assert status == 200, f"lease esi-{operator}: {status} {lease.get('message')}"
        assert lease["spec"].get("holderIdentity"), f"nobody holds the lease esi-{operator}"

    def takes(self, kind, spec, wanted):
        path = f"/apis/{ESI}/namespaces/{self.namespace}/{kind.lower()}s?dryRun=All&fieldValidation=Strict"
        thing = {"apiVersion": ESI, "kind": kind, "metadata": {"name": "helm-test"}, "spec": spec}
        status, answer = self.ask(path, thing)
        assert status == wanted, f"the API server answers {status}, not {wanted}: {answer.get('message')}"


def checks(options):
    context = ssl.create_default_context()
    for file in options.ca:
        context.load_verify_locations(file)
    server = ApiServer(options)
    for name, url in (each.split("=", 1) for each in options.operator):
        yield f"esi-{name} is ready", lambda url=url: ready(url, context)
        if options.version:
            wanted = options.version
            yield f"esi-{name} is version {wanted}", lambda url=url: runs_version(url, context, wanted)
        if name in options.client_certificates:
            yield (f"esi-{name} refuses schedulers without a client certificate",
                   lambda url=url: refuses_strangers(url, context))
        yield f"esi-{name} has a leader", lambda name=name: server.leader(name)
    for kind, spec in SPECS.items():
        yield f"the API server takes a {kind}", lambda kind=kind, spec=spec: server.takes(kind, spec, 201)
    yield "the API server refuses a Testbed without slots", lambda: server.takes(
        "Testbed", SPECS["Testbed"] | {"slotsPerNode": 0}, 422)


def passes(check, until):
    """The last reason why not, or None."""
    while True:
        try:
            check()
            return None
        except (AssertionError, OSError, ValueError, KeyError) as reason:
            if time.monotonic() > until:
                return reason
        time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", help="that the operators should be")
    parser.add_argument("--operator", action="append", default=[], metavar="NAME=URL")
    parser.add_argument("--ca", action="append", default=[], metavar="FILE",
                        help="CA of the operators' certificates")
    parser.add_argument("--client-certificates", action="append", default=[], metavar="NAME",
                        help="operator whose /extender must refuse clients without a certificate")
    parser.add_argument("--api-server", metavar="URL", help="default: that of the pod's cluster")
    parser.add_argument("--account", default=str(ACCOUNT), metavar="FOLDER",
                        help="token, ca.crt and namespace")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS",
                        help="for all checks together")
    options = parser.parse_args()
    until = time.monotonic() + options.patience
    failed = 0
    for name, check in checks(options):
        reason = passes(check, until)
        failed += reason is not None
        print(f"ok      {name}" if reason is None else f"FAILED  {name}: {reason}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
