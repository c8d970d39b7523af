"""GET /api/v1/events on the real control plane: snapshot and changes, resumption on any replica after any cut,
resets where something cannot be known, rights, the end, and a thousand clients."""
import json
import os
import random
import re
import selectors
import threading
import time

import pytest
import requests

import objects

from event_stream import CHANGES, EventStream, Listener
from operators import Operator
from patience import PATIENCE, let_pass, rests, wait
from scene import chances

AUDIENCE = "esi"
KINDS = {"Testbed": "testbeds", "BatchJob": "batchjobs", "Scheduling": "schedulings"}

ROLES = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: events-of-all}
rules:
- {apiGroups: [esi.tu-berlin.de], resources: [testbeds, batchjobs, schedulings], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: events-of-jobs}
rules:
- {apiGroups: [esi.tu-berlin.de], resources: [batchjobs], verbs: [list, watch]}
"""


@pytest.fixture(scope="module")
def rights(plane):
    plane.kubectl("apply", "-f", "-", stdin=ROLES)
    yield
    plane.kubectl("delete", "clusterrole", "events-of-all", "events-of-jobs")


def account(scene, name, role, everywhere=False):
    """A token of an account that may do what the role says, here or everywhere."""
    scene.plane.kubectl("create", "serviceaccount", name, "-n", scene.namespace)
    where = ("clusterrolebinding", f"{scene.namespace}-{name}") if everywhere else \
        ("rolebinding", name, "-n", scene.namespace)
    scene.plane.kubectl("create", *where, f"--clusterrole={role}", f"--serviceaccount={scene.namespace}:{name}")
    return scene.plane.kubectl("create", "token", name, "-n", scene.namespace, "--duration=1h",
                               f"--audience={AUDIENCE}").strip()


@pytest.fixture
def token(scene, rights):
    yield account(scene, "listener", "events-of-all", everywhere=True)
    scene.plane.kubectl("delete", "clusterrolebinding", f"{scene.namespace}-listener")


@pytest.fixture
def replica(scene, operators, folder):
    """Makes further replicas, which are stopped at the end."""
    made = []

    def make(*flags):
        made.append(Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators",
                             replica=380 + len(made), flags=("--api-auth-cache-ttl=2s", *flags)).start().ready())
        return made[-1]
    yield make
    for each in made:
        assert each.stop() == 0, each.tail()


def events(scene, query=""):
    return f"/api/v1/namespaces/{scene.namespace}/events{query}"


def metric(port, name):
    text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).text
    found = [line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith(name + " ")]
    return float(found[0]) if found else 0


def note(scene, job, number, padding=""):
    parts = [{"x": padding[at:at + 4000]} for at in range(0, len(padding), 4000)]
    scene.api.patch("BatchJob", scene.namespace, job,
                    {"spec": {"externalScheduler": {"n": [{"n": str(number)}], "padding": parts}}})


class Watch(threading.Thread):
    """What happens to one kind in the namespace, by a watch of the API server itself. The API server ends the watch
    of a client that reads too slowly; the client goes on from the last version that it has seen."""

    def __init__(self, scene, kind):
        super().__init__(daemon=True)
        self.scene, self.kind, self.changes, self.closed, self.fault = scene, kind, [], False, None
        self.path = f"/apis/esi.tu-berlin.de/v1alpha1/namespaces/{scene.namespace}/{KINDS[kind]}"
        there = scene.api.call("GET", self.path)
        self.before = {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in there["items"]}
        self.version = there["metadata"]["resourceVersion"]
        self.ask()
        self.start()

    def ask(self):
        self.answer = self.scene.api.raw("GET", self.path, timeout=900, query={
            "watch": "true", "resourceVersion": self.version, "timeoutSeconds": "900"})

    def read(self):
        rest = b""
        for piece in self.answer.stream(1 << 16):
            *lines, rest = (rest + piece).split(b"\n")
            for each in lines:
                read = json.loads(each)
                assert read["type"] != "ERROR", read
                of = read["object"]["metadata"]
                self.version = of["resourceVersion"]
                self.changes.append((read["type"], of["name"], self.version))

    def run(self):
        try:
            while not self.closed:
                self.read()
                self.ask()
        except Exception as error:
            # Else the connection was closed below it: the end of the session.
            if not self.closed:
                self.fault = error

    def close(self):
        """From the outside: the thread holds the lock of what it reads."""
        self.closed = True
        self.answer.shutdown()
        self.join()
        assert not self.fault, self.fault


# --- what there is and what happens

def test_a_stream_tells_what_there_is_and_then_each_change(scene, operators, token):
    port = operators["scheduling"].port
    scene.nodes(1)
    scene.testbed()
    scene.jobs("pi", seconds=600)
    scene.wait("the cache", lambda: requests.get(f"http://127.0.0.1:{port}/readyz", timeout=PATIENCE).ok)
    with EventStream(port, token, events(scene)) as stream:
        assert stream.status == 200
        assert b"Content-Type: application/x-ndjson" in stream.head
        first = stream.until_sync()
        told = {(each["kind"], each["object"]["metadata"]["name"]) for each in first[:-1]}
        assert told == {("Testbed", "slots"), ("BatchJob", "pi")}
        assert all(each["type"] == "snapshot" for each in first[:-1])
        pi = next(each for each in first if each.get("kind") == "BatchJob")
        assert pi["partial"] == ["spec.sparkSpec"] and pi["object"]["spec"]["sparkSpec"] == {}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", pi["object"]["metadata"]["creationTimestamp"])
        scene.queue("q", ["pi"])
        lines = stream.until(lambda each: each.get("kind") == "BatchJob" and
                             each["object"]["status"].get("state") == "RunningState")
        scene.finish("pi")
        lines += stream.until(lambda each: each.get("kind") == "Scheduling" and
                              each["object"]["status"].get("state") == "CompletedState")
        assert {each["type"] for each in lines} <= set(CHANGES)
        states = [each["object"]["status"]["state"] for each in lines if each["kind"] == "BatchJob"]
        assert "RunningState" in states
        scene.api.delete("Scheduling", scene.namespace, "q")
        gone = stream.until(lambda each: each["type"] == "DELETED")[-1]
        assert gone["object"]["metadata"]["name"] == "q"


def test_server_sent_events_are_read_by_their_rules(scene, operators, token):
    scene.jobs("pi")
    scene.wait("the cache", lambda: metric(operators["scheduling"].port, "esi_api_event_streams") is not None)
    with EventStream(operators["scheduling"].port, token, events(scene, "?kinds=jobs"),
                     accept="text/event-stream") as stream:
        while b"event: sync" not in stream.text:
            assert stream.more()
        note(scene, "pi", 7)
        while b'"n":"7"' not in stream.text:
            assert stream.more()
        blocks = [dict(line.split(": ", 1) for line in each.split("\n"))
                  for each in stream.text.decode().split("\n\n") if each and not each.startswith(":")]
    assert blocks[0] == {"retry": "2000"}
    assert [each.get("event") for each in blocks[1:4]] == ["snapshot", "sync", "MODIFIED"]
    assert "id" not in blocks[1] and blocks[2]["id"] != blocks[3]["id"]


# --- cut off

class Writer(threading.Thread):
    """Changes of all kinds, until it is told to stop."""

    def __init__(self, scene, chance):
        super().__init__(daemon=True)
        self.scene, self.chance, self.on, self.fault = scene, chance, True, None

    def run(self):
        number = 0
        try:
            while self.on:
                number += 1
                self.step(number)
                let_pass(self.chance.random() / 25, "changes come by chance, some 50 a second")
        except Exception as error:
            self.fault = error

    def step(self, number):
        scene, where = self.scene, self.scene.namespace
        what = self.chance.random()
        if what < 0.6:
            note(scene, "pi", number)
        elif what < 0.75:
            scene.api.patch("Testbed", where, "later", {"metadata": {"labels": {"n": str(number)}}})
        elif what < 0.85:
            scene.api.patch("Scheduling", where, "q", {"metadata": {"labels": {"n": str(number)}}})
        elif scene.api.get("BatchJob", where, "passing"):
            scene.api.delete("BatchJob", where, "passing")
        else:
            scene.apply(objects.job("passing"))

    def stop(self):
        self.on = False
        self.join()
        assert not self.fault, self.fault


def until_silent(scene, watches):
    """The operators have written what follows from the last change, and the watches have heard of it."""
    rests("the watches", lambda: [len(each.changes) for each in watches], 2)


def test_cut_off_a_hundred_times_a_client_hears_each_change_once(scene, operators, token, replica):
    """At any byte, and resumed by its last id on either of two replicas."""
    chance = chances()
    scene.jobs("pi")
    scene.apply(objects.testbed("later", label=f"{scene.label}-none"))
    scene.queue("q", ["pi"], testbed="later")
    ports = [operators["scheduling"].port, replica().port]
    watches = [Watch(scene, kind) for kind in KINDS]
    writer = Writer(scene, random.Random(chance.random()))
    writer.start()
    listener, in_middle = Listener(), 0
    try:
        for _ in range(100):
            stream = EventStream(chance.choice(ports), token, events(scene), listener.begin())
            assert stream.status == 200, stream.head
            # So that the cut is anywhere, bytes are read one by one at the end.
            until = time.monotonic() + chance.random() / 2
            stream.socket.settimeout(0.02)
            while time.monotonic() < until:
                try:
                    stream.raw += stream.socket.recv(chance.choice((1, 50, 1 << 16)))
                    stream.unchunk()
                except TimeoutError:
                    pass
            stream.close()
            in_middle += bool(stream.raw)
            stream.ended = True
            while (line := stream.line()) is not None:
                listener.take(line)
        writer.stop()
        with EventStream(ports[0], token, events(scene), listener.begin()) as stream:
            note(scene, "pi", "last")
            until_silent(scene, watches)
            deadline = time.monotonic() + PATIENCE
            while any(each.changes and listener.parts[-1][1].get(each.kind, [None])[-1] != each.changes[-1]
                      for each in watches):
                listener.take(stream.line())
                assert time.monotonic() < deadline
    finally:
        writer.on = False
        for each in watches:
            each.close()
    truth = {each.kind: (each.before, each.changes) for each in watches}
    print(f"\n{sum(len(each.changes) for each in watches)} changes, {in_middle} cuts within a line, resets: {listener.resets}")
    listener.judge(truth)
    assert len(truth["BatchJob"][1]) > 100 and in_middle > 0
    assert not listener.resets, "no list was taken anew, and nothing was too old"


def test_what_happened_before_a_replica_began_is_read_by_a_watch(scene, operators, token, replica):
    scene.jobs("pi")
    watch = Watch(scene, "BatchJob")
    listener = Listener()
    path = events(scene, "?kinds=jobs")
    with EventStream(operators["scheduling"].port, token, path) as stream:
        for line in stream.until_sync():
            listener.take(line)
    for number in range(20):
        note(scene, "pi", number)
    scene.wait("the last change", lambda: len(watch.changes) >= 20)
    other = replica()
    with EventStream(other.port, token, path, listener.begin()) as stream:
        for line in stream.until_sync():
            listener.take(line)
        note(scene, "pi", "more")
        until_silent(scene, [watch])
        while listener.parts[-1][1]["BatchJob"][-1] != watch.changes[-1]:
            listener.take(stream.line())
    watch.close()
    assert listener.resets == []
    listener.judge({"BatchJob": (watch.before, watch.changes)})
    assert metric(other.port, 'esi_api_event_replays_total{outcome="done"}') == 1


def test_a_version_that_was_compacted_gives_a_reset(scene, operators, token):
    scene.jobs("pi")
    ports = scene.plane.status()["ports"]
    version = scene.api.call("GET", "/api/v1/namespaces?limit=1")["metadata"]["resourceVersion"]
    done = requests.post(f"http://127.0.0.1:{ports['etcdClient']}/v3/kv/compaction",
                         json={"revision": str(int(version) - 1), "physical": True}, timeout=PATIENCE)
    assert done.status_code == 200, done.text
    with EventStream(operators["scheduling"].port, token, "/api/v1/events", "t1.j1.s1") as stream:
        lines = stream.until_sync()
    assert (lines[0]["type"], lines[0]["reason"], lines[0]["id"]) == ("reset", "TooOld", "")
    assert "pi" in [each["object"]["metadata"]["name"] for each in lines[1:-1]]
    assert all(each["type"] == "snapshot" for each in lines[1:-1])


def test_who_is_too_slow_begins_anew_once_it_reads(scene, token, replica):
    small = replica("--api-event-log-bytes=65536")
    scene.jobs("pi")
    path = events(scene, "?kinds=jobs")
    with EventStream(small.port, token, path, receive_buffer=4096) as slow, \
            EventStream(small.port, token, path) as quick:
        slow.until_sync()
        quick.until_sync()
        for number in range(40):
            note(scene, "pi", number, "x" * 60_000)
            quick.until(lambda each, number=number: f"'n': '{number}'" in str(each["object"]["spec"]))
        lines = slow.until(lambda each: each["type"] == "reset")
        assert lines[-1]["reason"] == "TooSlow"
        again = slow.until_sync()
        last = next(each for each in again if each["type"] == "snapshot")
        assert last["object"]["spec"]["externalScheduler"]["n"][0]["n"] == "39"
    assert metric(small.port, 'esi_api_event_resets_total{reason="TooSlow"}') == 1
    assert metric(small.port, "esi_api_event_dropped_bytes_total") > 60_000
    scene.wait("both to be gone", lambda: metric(small.port, "esi_api_event_streams") == 0)


# --- the end

def test_a_replica_that_stops_ends_its_streams_and_another_goes_on(scene, operators, token, replica):
    scene.jobs("pi")
    leaving = replica()
    listener = Listener()
    with EventStream(leaving.port, token, events(scene, "?kinds=jobs")) as stream:
        for line in stream.until_sync():
            listener.take(line)
        note(scene, "pi", 1)
        listener.take(stream.until(lambda each: each["type"] == "MODIFIED")[-1])
        assert leaving.stop() == 0
        lines = []
        while (line := stream.line()) is not None:
            lines.append(line)
            listener.take(line)
        assert lines[-1] | {"detail": ""} == {"type": "end", "reason": "Stopping", "detail": ""}
    note(scene, "pi", 2)
    with EventStream(operators["scheduling"].port, token, events(scene, "?kinds=jobs"), listener.last_id) as stream:
        lines = stream.until(lambda each: "'n': '2'" in str(each.get("object")))
    assert {each["type"] for each in lines} <= {"MODIFIED", "sync"}


def test_a_new_leader_lists_anew_and_says_so(scene, operators, token, replica):
    scene.may_restart = True
    scene.jobs("pi")
    standby = replica()
    with EventStream(standby.port, token, events(scene)) as stream:
        stream.until_sync()
        assert operators["scheduling"].stop() == 0
        lines = stream.until(lambda each: each["type"] == "reset")
        assert lines[-1]["reason"] == "Relisted"
        # Three kinds are listed, each at its own time.
        wait("the standby to lead", lambda: metric(
            standby.port, "leader_election_master_status{name=\"esi-scheduling\"}") == 1)
        note(scene, "pi", "after")
        lines = stream.until(lambda each: each["type"] in ("MODIFIED", "snapshot") and
                             "'n': 'after'" in str(each["object"]))
    assert standby.stop() == 0
    operators["scheduling"].start().ready()


# --- rights

def test_a_stream_has_what_its_caller_may_watch(scene, operators, token, rights):
    port = operators["scheduling"].port
    scene.jobs("pi")
    scene.apply(objects.testbed("later", label=f"{scene.label}-none"))
    some = account(scene, "some", "events-of-jobs")
    with EventStream(port, some, events(scene)) as stream:
        assert {each.get("kind") for each in stream.until_sync()} == {"BatchJob", None}
    for path in (events(scene, "?kinds=testbeds"), "/api/v1/events"):
        with EventStream(port, some, path) as stream:
            assert stream.status == 403, stream.head
    with EventStream(port, "nobody", events(scene)) as stream:
        assert stream.status == 401


@pytest.mark.slow
def test_a_right_that_is_taken_away_ends_the_stream(scene, token, replica):
    scene.jobs("pi")
    some = account(scene, "some", "events-of-jobs")
    with EventStream(replica().port, some, events(scene)) as stream:
        stream.until_sync()
        scene.plane.kubectl("delete", "rolebinding", "some", "-n", scene.namespace)
        last = stream.until(lambda each: each["type"] == "end")[-1]
        assert last["reason"] == "Forbidden"
        assert stream.line() is None


# --- a thousand

class Crowd:
    """Many clients in one thread, as light as can be: what they hear is looked at afterwards."""

    def __init__(self, port, token, count, path):
        self.selector = selectors.DefaultSelector()
        self.members = []
        for _ in range(count):
            member = EventStream(port, token, path, accept="text/event-stream")
            assert member.status == 200, member.head
            member.pieces, member.tail = [(0.0, member.text + member.raw)], b""
            member.socket.setblocking(False)
            self.members.append(member)
            self.selector.register(member.socket, selectors.EVENT_READ, member)

    def read(self, last, deadline):
        """Until each has heard `last`, or the time is over."""
        missing = len(self.members)
        while missing and time.monotonic() < deadline:
            for key, _ in self.selector.select(0.2):
                member = key.data
                piece = member.socket.recv(1 << 18)
                member.pieces.append((time.monotonic(), piece))
                member.tail = member.tail[-len(last):] + piece
                if not piece or last in member.tail:
                    self.selector.unregister(member.socket)
                    missing -= 1
        assert not missing, f"{missing} have not heard the last change"

    def heard(self):
        """What each got: [(time, number of the change)]."""
        for member in self.members:
            out, text = [], b""
            for came, piece in member.pieces:
                # A piece may end anywhere in a line.
                *lines, text = (text + piece).split(b"\n")
                out += [(came, int(number)) for line in lines for number in re.findall(rb'"n":"(\d+)"', line)]
            # Nobody reads on behind the last change.
            out += [(came, int(number)) for number in re.findall(rb'"n":"(\d+)"', text)]
            yield out

    def close(self):
        self.selector.close()
        for member in self.members:
            member.close()


@pytest.mark.slow
def test_a_thousand_clients_get_every_change_in_order_and_dead_ones_delay_nobody(scene, token, replica):
    """Delivery time and memory are printed, not judged: writer and readers of the test share the machine
    with the operator and the control plane."""
    clients = int(os.environ.get("ESI_EVENT_CLIENTS", "1000"))
    # The batchjob operator writes a status after each change of a spec: two changes a write.
    changes, per_second = int(os.environ.get("ESI_EVENT_CHANGES", "150")), 25
    one = replica("--api-streams-per-caller=2000", "--api-requests-per-second=10000", "--api-request-burst=10000")
    scene.jobs("pi")
    path = events(scene, "?kinds=jobs")
    with EventStream(one.port, token, path) as stream:
        stream.until_sync()
    before = one.resident_kib()
    crowd = Crowd(one.port, token, clients, path)
    connected = one.resident_kib()
    dead = [EventStream(one.port, token, path, receive_buffer=4096) for _ in range(10)]
    done = []

    def write():
        begin = time.monotonic()
        for number in range(changes):
            let_pass(begin + number / per_second - time.monotonic(), "so many changes a second")
            scene.api.patch("BatchJob", scene.namespace, "pi",
                            {"spec": {"externalScheduler": {"n": [{"n": str(number)}]}}})
            done.append(time.monotonic())
    writer = threading.Thread(target=write)
    cpu = [one.cpu_seconds(), time.process_time()]
    try:
        writer.start()
        crowd.read(f'"n":"{changes - 1}"'.encode(), time.monotonic() + PATIENCE)
        writer.join()
        cpu = [one.cpu_seconds() - cpu[0], time.process_time() - cpu[1]]
        after = one.resident_kib()
    finally:
        crowd.close()
        for each in dead:
            each.close()
    times, total, first = [], 0, None
    for heard in crowd.heard():
        numbers = [number for _, number in heard]
        first = first or numbers
        # A change of the notes may be followed by one of the status, which shows the same notes.
        assert numbers[:numbers.index(changes - 1)] == first[:first.index(changes - 1)], "not what another got"
        assert sorted(numbers) == numbers and sorted(set(numbers)) == list(range(changes))
        total += len(numbers)
        arrival = {}
        for came, number in heard:
            arrival.setdefault(number, came)
        times += [max(0.0, arrival[number] - done[number]) * 1000 for number in range(changes)]
    times.sort()
    print(f"\n{clients} clients and 10 that read nothing, {total // clients} changes in "
          f"{done[-1] - done[0]:.1f} s, {total} events: from the API server's answer to the reader p50 "
          f"{times[len(times) // 2]:.1f} ms, p99 {times[len(times) * 99 // 100]:.1f} ms, max {times[-1]:.1f} ms; "
          f"memory {before} KiB before, {connected} KiB with all connected "
          f"({(connected - before) / clients:.1f} KiB each), {after} KiB at the end; CPU {cpu[0] / total * 1e6:.1f} us "
          f"an event in the operator, {cpu[1] / total * 1e6:.1f} us in the reader")
    scene.wait("all to be gone", lambda: metric(one.port, "esi_api_event_streams") == 0)
