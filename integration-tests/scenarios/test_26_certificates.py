"""The extender over TLS: only for schedulers with a certificate, and for them with full nodes. The interface over
TLS: a certificate names who asks, until it ends."""
import datetime
import subprocess
import time

import pytest
import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from operators import Operator
from patience import PATIENCE, wait

NODES = 1000


def run(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def make_certificate(folder, name, authority=None, usage="clientAuth,serverAuth"):
    """Key and certificate for 127.0.0.1, signed by itself or by another."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.crt"
    by = [] if authority is None else ["-CA", folder / f"{authority}.crt", "-CAkey", folder / f"{authority}.key"]
    run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
        certificate, "-days", "1", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-addext",
        f"extendedKeyUsage={usage}", *by)
    return str(certificate), str(key)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    for name, authority in (("ca", None), ("server", None), ("scheduler", "ca"), ("stranger", None)):
        make_certificate(folder, name, authority)
    make_certificate(folder, "neighbour", "ca", usage="serverAuth")
    return folder


@pytest.fixture(scope="module")
def extender(operators, files):
    """A standby of esi-testbed with TLS; its URL."""
    one = Operator("testbed", operators.kubeconfigs["testbed"], operators.folder, replica=26, flags=(
        f"--tls-cert-file={files}/server.crt", f"--tls-private-key-file={files}/server.key",
        f"--client-ca-file={files}/ca.crt"))
    one.start()
    try:
        url = f"https://127.0.0.1:{one.port}"

        def ask(method, path, name=None, **more):
            return requests.request(method, url + path, verify=f"{files}/server.crt", timeout=PATIENCE,
                                    cert=name and (f"{files}/{name}.crt", f"{files}/{name}.key"), **more)
        comes_up(lambda: ask("GET", "/livez"))
        yield ask
    finally:
        one.stop()


def comes_up(ask):
    wait("it to come up", lambda: ask().status_code == 200, not_yet=requests.ConnectionError)


def full_node(number):
    """As kubelets report them: some 30 KB, most of it images."""
    images = [{"names": [f"registry.example/team/image-{number}-{each}@sha256:{'ab' * 32}",
                         f"registry.example/team/image-{number}-{each}:1.0.{each}"], "sizeBytes": 123456789}
              for each in range(120)]
    return {"metadata": {"name": f"node-{number}", "labels": {f"label-{each}": "x" * 40 for each in range(40)}},
            "status": {"images": images, "allocatable": {"cpu": "64", "memory": "256Gi"}}}


def test_probes_need_no_certificate_and_the_extender_does(extender):
    for path in ("/livez", "/metrics"):
        assert extender("GET", path).status_code == 200
        assert extender("GET", path, "scheduler").status_code == 200
    question = {"Pod": {"metadata": {"name": "p"}}, "NodeNames": ["a"]}
    answer = extender("POST", "/extender/filter", json=question)
    assert answer.status_code == 403 and "certificate" in answer.json()["messages"][0]
    assert extender("POST", "/extender/filter", "scheduler", json=question).json()["NodeNames"] == ["a"]
    # Of another CA, and of the same one, but for servers only.
    for other in ("stranger", "neighbour"):
        with pytest.raises(requests.exceptions.ConnectionError):
            extender("POST", "/extender/filter", other, json=question)


def test_a_thousand_full_nodes_are_answered(extender):
    question = {"Pod": {"metadata": {"name": "p"}}, "Nodes": {"items": [full_node(each) for each in range(NODES)]}}
    answer = extender("POST", "/extender/filter", "scheduler", json=question)
    assert int(answer.request.headers["Content-Length"]) > 20 << 20
    assert answer.status_code == 200, answer.text
    assert answer.json()["Nodes"]["items"] == question["Nodes"]["items"]
    assert answer.json()["FailedAndUnresolvableNodes"] == {}


@pytest.fixture
def interface(operators, files):
    """A replica of esi-scheduling with TLS and the same CA; its URL."""
    one = Operator("scheduling", operators.kubeconfigs["scheduling"], operators.folder, replica=27, flags=(
        f"--tls-cert-file={files}/server.crt", f"--tls-private-key-file={files}/server.key",
        f"--client-ca-file={files}/ca.crt"))
    one.start()
    try:
        url = f"https://127.0.0.1:{one.port}"
        comes_up(lambda: requests.get(f"{url}/readyz", verify=f"{files}/server.crt", timeout=PATIENCE))
        yield url
    finally:
        one.stop()


def renew_for(seconds, folder, name, authority):
    """The certificate `name` anew, with an end so many seconds from now, which it returns."""
    def read(path):
        return (folder / path).read_bytes()
    old, issuer = (x509.load_pem_x509_certificate(read(f"{each}.crt")) for each in (name, authority))
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    end = now + datetime.timedelta(seconds=seconds)
    made = x509.CertificateBuilder(issuer.subject, old.subject, old.public_key(), x509.random_serial_number(),
                                   now - datetime.timedelta(minutes=1), end)
    for extension in old.extensions:
        made = made.add_extension(extension.value, extension.critical)
    key = serialization.load_pem_private_key(read(f"{authority}.key"), None)
    (folder / f"{name}.crt").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return end.timestamp()


def test_the_interface_believes_a_certificate_until_it_ends_also_on_a_connection_that_stands(interface, files):
    make_certificate(files, "carl", "ca")

    def ask(session):
        return session.get(f"{interface}/api/v1/namespaces/default/testbeds", verify=f"{files}/server.crt",
                           cert=(f"{files}/carl.crt", f"{files}/carl.key"), timeout=PATIENCE)
    with requests.Session() as carl:
        end = renew_for(8, files, "carl", "ca")
        known = ask(carl)
        assert known.status_code == 403 and '"carl" may not list testbeds' in known.json()["detail"], known.text
        assert "Connection" not in known.headers
        wait("the certificate to end", lambda: time.time() > end + 0.1)
        ended = ask(carl)
        assert ended.status_code == 401 and "new connection with a new certificate" in ended.json()["detail"], ended.text
        assert ended.headers["Connection"] == "close"
        with pytest.raises(requests.exceptions.ConnectionError):
            ask(carl)
    renew_for(600, files, "carl", "ca")
    with requests.Session() as carl:
        assert ask(carl).status_code == 403
