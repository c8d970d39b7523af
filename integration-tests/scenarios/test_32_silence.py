"""What an operator says where it cannot do its work: a kind that is not installed, at the start and later."""
import itertools
import pathlib

import pytest
import requests

from control_plane import CRDS, ControlPlane
from operators import Operator
from patience import PATIENCE, wait

#: As rbac and policies name it.
KIND = "schedulings.esi.tu-berlin.de"


@pytest.fixture(scope="module")
def plane(folder):
    plane = ControlPlane(folder / "silence")
    try:
        plane.up(nodes=1, spark=False, audit=False)
        yield plane
    finally:
        plane.down()


#: Each has a log of its own.
replicas = itertools.count(40)


@pytest.fixture
def operator(plane, folder):
    operator = Operator("scheduling", plane.kubeconfig, pathlib.Path(folder), replica=next(replicas),
                        flags=["--leader-elect=false"])
    yield operator
    operator.stop()


def readyz(operator):
    answer = requests.get(operator.url + "/readyz?verbose", timeout=PATIENCE)
    return answer.status_code, answer.text


def lines(operator, *words):
    return [line for line in operator.tail(400).splitlines() if all(word in line for word in words)]


def test_a_kind_that_is_not_installed_is_told_with_its_remedy_until_it_is(plane, operator):
    plane.kubectl("delete", "crd", KIND)
    operator.start()
    wait("it to say so", lambda: lines(operator, " E ", "Scheduling", "404"))
    told, = lines(operator, " E ", "Scheduling", "404")
    assert "kubectl apply -f crds/" in told, told
    first, = lines(operator, " I starting ")
    for word in ("version=", "server=", "context esi", "namespaces="):
        assert word in first, first
    code, text = readyz(operator)
    assert code == 503
    assert f"{KIND}: HTTP 404" in text and "kubectl apply -f crds/" in text, text
    assert "the server could not find" not in text and "page not found" not in text, "the server's own words"
    metrics = requests.get(operator.url + "/metrics", timeout=PATIENCE).text
    assert 'esi_list_failures_total{code="404",kind="Scheduling"}' in metrics
    plane.kubectl("apply", *(f"--filename={crd}" for crd in CRDS))
    wait("it to be ready", lambda: readyz(operator)[0] == 200)
    assert len(lines(operator, " E ", "Scheduling", "404")) == 1, "one line, not one for each try"
    assert lines(operator, " I ", "Scheduling"), operator.tail()


def test_a_kind_that_goes_while_it_runs_is_told_too(plane, operator):
    plane.kubectl("apply", *(f"--filename={crd}" for crd in CRDS))
    operator.start().ready()
    plane.kubectl("delete", "crd", KIND)
    wait("it to say so", lambda: lines(operator, " E ", "Scheduling", "404", "kubectl apply -f crds/"))
    assert readyz(operator)[0] == 200, "its caches are full; it is not ready when this lasts a minute"
    plane.kubectl("apply", *(f"--filename={crd}" for crd in CRDS))
    wait("it to say that it works again", lambda: lines(operator, " I list and watch work", "Scheduling"))


def test_an_api_server_that_is_away_is_one_line(plane, folder):
    text = plane.kubeconfig.read_text("utf-8")
    server = next(line.split("server: ")[1] for line in text.splitlines() if "server: " in line)
    away = pathlib.Path(folder) / "away.kubeconfig"
    away.write_text(text.replace(server, "https://127.0.0.1:1"), "utf-8")
    operator = Operator("testbed", away, pathlib.Path(folder), replica=next(replicas), flags=["--leader-elect=false"])
    try:
        operator.start()
        wait("it to say so", lambda: lines(operator, "127.0.0.1:1", "cannot be reached"))
        wait("a few tries", lambda: requests.get(operator.url + "/readyz", timeout=PATIENCE).status_code == 503)
        assert len(lines(operator, "cannot be reached")) == 1, operator.tail()
        assert len(lines(operator, " E ")) + len(lines(operator, " W ")) <= 3, operator.tail()
    finally:
        operator.stop()
