"""Tenants share what /api/v1 has: ten accounts of one namespace take all reviews, waits and streams that they can
get, and a caller of another namespace is answered each time. What it costs that caller is printed."""
import contextlib
import http.client
import multiprocessing
import re
import select
import socket
import statistics
import threading
import time
import zlib

import pytest
import requests

from event_stream import EventStream
from hostile_clients import allow_many_files
from operators import Operator
from patience import PATIENCE, let_pass, wait
from rights import roles_of_chart

EVIL, GOOD = "share-evil", "share-good"
ACCOUNTS = 10
#: Ten accounts can have all of them: 2,000 and 512.
STREAMS_OF_A_CALLER, ALL_STREAMS, ALL_WAITS = 200, 2000, 512
ROUNDS = 60


def account(plane, namespace, name):
    """The token of an account that sees and changes its own namespace."""
    plane.kubectl("create", "serviceaccount", name, "-n", namespace)
    for role in ("view", "edit"):
        plane.kubectl("create", "rolebinding", f"{name}-{role}", "-n", namespace, f"--clusterrole=esi-{role}",
                      f"--serviceaccount={namespace}:{name}")
    return plane.kubectl("create", "token", name, "-n", namespace, "--audience=esi", "--duration=2h").strip()


@pytest.fixture(scope="module")
def tokens(plane):
    """Those of the ten, and that of the other."""
    plane.kubectl("apply", "-f", "-", stdin=roles_of_chart())
    for each in (EVIL, GOOD):
        plane.kubectl("create", "namespace", each)
    yield [account(plane, EVIL, f"a{i}") for i in range(ACCOUNTS)], account(plane, GOOD, "good")
    plane.kubectl("delete", "namespace", EVIL, GOOD)


@pytest.fixture(scope="module")
def replica(operators, folder):
    """It believes a yes for a second only: the good caller is asked about again and again."""
    one = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=49, flags=(
        "--api-auth-cache-ttl=1s", f"--api-streams-per-caller={STREAMS_OF_A_CALLER}")).start().ready()
    yield one
    assert one.stop() == 0, one.tail()


# --- the ten, in a process of their own

def asks_for_ever_new_rights(port, token, counts, who):
    """Each namespace is another right to ask the API server for."""
    number, connection = 0, None
    while True:
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            number += 1
            connection.request("GET", f"/api/v1/namespaces/n{who}-{number}/testbeds",
                               headers={"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            answer.read()
            counts[2 * who + (answer.status != 429)] += 1
        except OSError:
            connection = None


def keeps_open(port, token, path, wanted):
    """So many requests that are not answered; one that is answered or cut comes again."""
    text = (f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson, application/json\r\n"
            f"Authorization: Bearer {token}\r\n\r\n").encode()
    held = []
    # Of one address only 256 connections are taken.
    number = zlib.crc32((token + path).encode())
    address = f"127.1.{number >> 8 & 255}.{(number & 255) % 254 + 1}"
    while True:
        with contextlib.suppress(OSError):
            while len(held) < wanted:
                one = socket.create_connection(("127.0.0.1", port), PATIENCE, (address, 0))
                held.append(one)
                one.sendall(text)
        readable, *_ = select.select([each for each in held if each.fileno() < 1024], [], [], 0.2)
        for one in readable:
            with contextlib.suppress(OSError):
                said = one.recv(1 << 16)
                goes_on = said and b"HTTP/1.1 429" not in said and b'"type":"end"' not in said
                if goes_on and "/events" in path:
                    continue
            held.remove(one)
            one.close()
        let_pass(0.05, "the attack is of connections, not of computing time")


def all_at_once(does, arguments):
    threads = [threading.Thread(target=does, args=each, daemon=True) for each in arguments]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def attack(port, tokens, path, wanted):
    """One process: in one each select() sees less than 1,024 sockets."""
    allow_many_files()
    all_at_once(keeps_open, [(port, each, path, wanted) for each in tokens])


def flood(port, tokens, counts):
    all_at_once(asks_for_ever_new_rights, [(port, each, counts, i) for i, each in enumerate(tokens)])


# --- what the good one sees

def gauge(replica, name, what):
    text = requests.get(replica.url + "/metrics", timeout=PATIENCE).text
    found = re.search(rf'^{name}{{what="{what}"}} (\d+)', text, re.M)
    return int(found[1]) if found else 0


class Good:
    def __init__(self, replica, token):
        self.replica, self.token, self.took, self.refused = replica, token, [], []
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {token}"

    def get(self, path):
        begun = time.monotonic()
        answer = self.session.get(f"{self.replica.url}/api/v1/namespaces/{GOOD}{path}", timeout=PATIENCE)
        if answer.status_code != 200:
            self.refused.append(f"{path}: {answer.status_code} {answer.text}")
        return answer, time.monotonic() - begun

    def one_round(self):
        """A list, a request that waits, and a stream: none is refused."""
        answer, took = self.get("/testbeds")
        self.took.append(took)
        index = answer.headers.get("X-ESI-Index", "0")
        self.get(f"/testbeds?index={int(index) + 1_000_000_000}&wait=1s")
        stream = EventStream(self.replica.port, self.token, f"/api/v1/namespaces/{GOOD}/events")
        try:
            if stream.status != 200:
                self.refused.append(f"stream: {stream.head}")
            elif stream.line()["type"] != "sync":
                self.refused.append("the stream does not begin with what there is")
        finally:
            stream.socket.close()

    def rounds(self, count):
        """Median and worst time of the lists, in ms."""
        self.took = []
        for _ in range(count):
            self.one_round()
        return [round(1000 * each, 1) for each in (statistics.median(self.took), max(self.took))]


@contextlib.contextmanager
def processes(*parts):
    """Each a function and its arguments, without an end of its own."""
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=what, args=arguments, daemon=True) for what, *arguments in parts]
    for each in running:
        each.start()
    try:
        yield
        assert all(each.is_alive() for each in running), [each.exitcode for each in running]
    finally:
        for each in running:
            each.kill()
            each.join(PATIENCE)


def test_ten_accounts_of_a_namespace_take_all_they_can_and_no_request_of_another_is_refused(replica, tokens):
    evil, token = tokens
    good = Good(replica, token)
    quiet = good.rounds(10)
    assert not good.refused, good.refused
    # Of each of them those that got 429, and the others; each thread counts its own.
    counts = multiprocessing.get_context("spawn").RawArray("i", 2 * ACCOUNTS)
    port, own = replica.port, f"/api/v1/namespaces/{EVIL}"
    streams = [(attack, port, evil[i:i + 4], own + "/events", STREAMS_OF_A_CALLER + 5)
               for i in range(0, ACCOUNTS, 4)]
    waits = (attack, port, evil, own + "/testbeds?index=999999999999&wait=60s", 60)
    with processes(*streams, waits, (flood, port, evil, counts)):
        wait("all streams to be taken", lambda: gauge(replica, "esi_api_under_way", "streams") >= ALL_STREAMS)
        wait("all waits to be taken", lambda: gauge(replica, "esi_api_under_way", "waits") >= ALL_WAITS)
        hostile = good.rounds(ROUNDS)
    throttled, answered = sum(counts[::2]), sum(counts[1::2])
    assert not good.refused, f"{len(good.refused)} of {3 * ROUNDS}: {good.refused[:3]}"
    assert throttled > 0, "they took all the reviews that they could"
    for what in ("streams", "waits"):
        assert gauge(replica, "esi_api_displaced_total", what) > 0, f"all {what} were taken, and none was given up"
    print(f"\nten accounts of one namespace: {answered} requests answered, {throttled} got 429; "
          f"a list of another tenant: median {hostile[0]} ms, worst {hostile[1]} ms "
          f"(alone: {quiet[0]} ms, {quiet[1]} ms); none of its {3 * ROUNDS} requests was refused")
