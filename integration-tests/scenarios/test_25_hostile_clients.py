"""What peers without any right can do to the memory and the probes of an operator: nothing."""
import contextlib
import subprocess

import pytest

import hostile_clients
from hostile_clients import Crowd, Probe
from operators import Operator
from patience import Timeout, let_pass, wait
from product import OPERATORS

CONNECTIONS = 1024
MOST_KIB = 64 << 10
SECONDS = 5


@pytest.fixture(scope="module", autouse=True)
def many_files():
    hostile_clients.allow_many_files()


@pytest.fixture
def standby(operators):
    """A process of its own: what it uses is due to the test alone. It leads nothing."""
    made = []

    def start(name, *flags):
        each = Operator(name, operators.kubeconfigs[name], operators.folder, replica=25, flags=flags)
        made.append(each)
        each.start()
        if not flags:
            return each.ready()
        asks = Probe(each.port, each, tls=True)
        wait(f"esi-{name} to have full caches", lambda: each.alive() and answers(asks, "/readyz"), told=each.tail)
        return each

    yield start
    for each in made:
        each.stop()


def answers(probe, path):
    try:
        return probe.ask(path).startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


def suffer(operator, part, source, record, seconds=SECONDS, tls=False):
    """Resident memory before, at the most, and after, in KiB; p99 of the probe in ms."""
    before = operator.resident_kib()
    with Probe(operator.port, operator, tls) as probe, \
            Crowd(operator.port, part, CONNECTIONS, source, tls) as crowd:
        let_pass(seconds, "the crowd is busy for so long")
        with contextlib.suppress(Timeout):
            wait("all connections", lambda: crowd.opened >= CONNECTIONS or not operator.alive())
    # The operator sees that they are gone when it gets to it.
    with contextlib.suppress(Timeout):
        wait("its memory", lambda: operator.resident_kib() - before < MOST_KIB // 2, 30, pause=0.5)
    after = operator.resident_kib()
    told = (f"{operator.name}, {part}, from {source}: {before} KiB before, {probe.most_kib} at the most, {after} "
            f"after; {crowd.opened} connections; {len(probe.seconds)} probes, p99 {probe.p99_ms()} ms")
    print(told)
    record(f"hostile {operator.name} {part} {source}", told)
    assert crowd.opened >= CONNECTIONS, told
    assert operator.alive(), operator.tail()
    assert not probe.failures, f"{told}: {probe.failures[:5]}"
    assert probe.most_kib - before < MOST_KIB, told
    assert after - before < MOST_KIB // 2, told


@pytest.mark.parametrize("name", OPERATORS)
def test_a_thousand_connections_of_strangers_cost_little_memory(standby, name, record_property):
    operator = standby(name)
    for part in hostile_clients.PARTS:
        suffer(operator, part, hostile_clients.STRANGER, record_property)


def test_nor_do_those_of_peers_that_may_use_the_interface(standby, record_property):
    operator = standby("scheduling")
    for part in ("bodies for the interface", "answers that nobody reads"):
        suffer(operator, part, "127.0.0.1", record_property)


def test_nor_handshakes_that_do_not_end(standby, tmp_path, record_property):
    key, certificate = tmp_path / "tls.key", tmp_path / "tls.crt"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", certificate, "-days", "1", "-subj", "/CN=localhost"],
                   check=True, capture_output=True)
    operator = standby("testbed", f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}")
    suffer(operator, "silence", hostile_clients.STRANGER, record_property, tls=True)
