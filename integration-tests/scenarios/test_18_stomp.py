"""The original's topics: STOMP over WebSocket at /scheduler. Its recorded exchanges byte for byte, the
changes of real objects, clients from package registries, and a thousand subscribers."""
import json
import os
import pathlib
import re
import selectors
import shutil
import subprocess
import threading
import time

import pytest
import requests
import stomp

import objects
from operators import Operator
from patience import PATIENCE, let_pass
from stomp_wire import BINARY, CLOSE, PING, PONG, TEXT, Message, Stomp, Wire, frames, masked, recording, request

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE.parent / "fixtures" / "original"
NULL = None


@pytest.fixture
def port(scene, operators):
    """The topics speak of the namespace `default` only, which is empty between tests."""
    yield operators["scheduling"].port
    for kind in ("Scheduling", "BatchJob", "Testbed"):
        scene.api.delete_all(kind, "default")
        scene.wait(f"no {kind} in default", lambda kind=kind: not scene.api.list(kind, "default"))
    scene.wait("the interface to show nothing", lambda: not any(
        shown(operators["scheduling"].port, f"/external/{kind}") for kind in ("testbeds", "jobs", "schedulings")))


def rest(port, method, path, body=None):
    answer = requests.request(method, f"http://127.0.0.1:{port}{path}", json=body, timeout=PATIENCE)
    assert answer.status_code in (200, 304), answer.text
    return answer


def shown(port, path):
    """What REST shows of an object; {} until its cache, which follows the API server, has heard of it."""
    answer = requests.get(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE)
    return {} if answer.status_code == 404 else answer.json()


def metric(port, name):
    text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).text
    found = [line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith(name + " ")]
    return float(found[0]) if found else 0


# --- the recorded exchanges

def error(text, receipt=""):
    """In place of an answer that the original did not give, or gave in its own words."""
    return [(TEXT, f"ERROR\nmessage:{text}\n{receipt}content-length:0\n\n\0".encode()), (CLOSE, b"\x03\xea")]


def receipt(name):
    return [(TEXT, f"RECEIPT\nreceipt-id:{name}\n\n\0".encode())]


#: exchange -> {number of a frame that is sent: what comes then, instead of what was recorded}
DIFFERENT = {
    "01-connect-subscribe-disconnect-receipts": {2: receipt("r1"), 3: receipt("r2")},
    "02-version-2.0": {1: error("of the versions 2.0 none is spoken here; 1.0, 1.1 and 1.2 are")},
    "02-version-absent": {1: error("accept-version is missing; 1.0, 1.1 and 1.2 are spoken here")},
    "03-STOMP-command-heartbeat-10000": {
        1: [(TEXT, b"CONNECTED\nversion:1.2\nheart-beat:10000,10000\n\n\0")]},
    "06-subscribe-before-connect": {1: error("CONNECT has to come first")},
    "07-garbage-frame": {2: error("the command HELLO is not known")},
    "09-subscribe-no-id": {2: error("SUBSCRIBE needs an id")},
    "10-subscribe-no-destination": {2: error("SUBSCRIBE needs a destination")},
    "12-client-send": {4: error("SEND is refused, topics tell of changes and take nothing",
                                "receipt-id:rs\n")},
}
EXCHANGES = sorted(path.stem for path in (RECORDED / "stomp").glob("*.log"))


@pytest.mark.parametrize("name", EXCHANGES)
def test_a_recorded_exchange_is_the_same_again(port, name):
    steps = recording(RECORDED / "stomp" / f"{name}.log")
    different = DIFFERENT.get(name, {})
    hello, welcome = steps[0].data, steps[1].data.decode()
    wire = Wire(port, hello)
    if name == "05-origin":
        assert wire.status == 403
        hello = hello.replace(b"http://evil.example", b"http://127.0.0.1:8082")
        wire = Wire(port, hello)
    assert wire.status == 101
    recorded = [tuple(line.split(": ", 1)) for line in welcome.split("\r\n")[1:] if line]
    assert [pair for pair in sorted(wire.headers) if pair[0] not in ("Server", "Date")] == \
        [pair for pair in sorted(recorded) if pair[0] != "Date"]
    sent, ended = 0, False
    for step in steps[2:]:
        if ended:
            break
        if step.sent:
            sent += 1
            wire.send(step.data, step.kind)
            for expected in different.get(sent, []):
                assert wire.next() == expected
                ended = expected[0] == CLOSE
        elif sent in different and (step.kind != CLOSE or ended):
            continue  # what was said in its place has come
        elif step.kind == PONG:
            # What was sent before it was not written down: a ping, and a SUBSCRIBE as binary.
            wire.send(b"SUBSCRIBE\nid:0\ndestination:/topic/jobs\n\n\0", BINARY)
            wire.send(step.data, PING)
            assert wire.next() == (PONG, step.data)
        else:
            assert wire.next() == (step.kind, step.data)
    wire.close()


@pytest.mark.parametrize("name", ["17-sockjs-info", "18-scheduler-plain-get", "19-sockjs-iframe",
                                  "19b-scheduler-slash"])
def test_a_recorded_answer_of_sockjs_is_the_same_again(port, name):
    path = (RECORDED / "stomp" / f"{name}.req").read_text(encoding="utf-8").split()[1]
    head, _, body = (RECORDED / "stomp" / f"{name}.resp").read_bytes().decode().partition("\r\n\r\n")
    lines = head.split("\r\n")
    answer = requests.get(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE)
    assert answer.status_code == int(lines[0].split()[1])
    for line in lines[1:]:
        key, value = line.split(": ", 1)
        if key not in ("Date", "Connection", "Content-Length", "Vary"):
            assert answer.headers[key] == value
    vary = [line.split(": ", 1)[1] for line in lines if line.startswith("Vary")]
    assert answer.headers.get("Vary", "") == ", ".join(vary)
    if name != "17-sockjs-info":
        assert answer.text == body
    else:
        mine, theirs = answer.json(), json.loads(body)
        assert isinstance(mine.pop("entropy"), int) and theirs.pop("entropy")
        assert list(mine.items()) == list(theirs.items())


# --- changes of real objects

def bodies(messages, destination):
    return [each.body for each in messages if each.headers["destination"] == destination]


def recorded_bodies(name, destination):
    steps = recording(RECORDED / "stomp-events" / f"{name}.log")
    return bodies([Message(step.data) for step in steps if step.data.startswith(b"MESSAGE")], destination)


def test_changes_are_told_as_in_the_recording(scene, port):
    """The same objects under the same names; the frames but for the message's id, the bodies whole."""
    with Stomp(port, "/topic/jobs", "/topic/schedulings", "/topic/jobs/spark-job-1",
               "/topic/schedulings/cap-queue", "/topic/**") as client:
        scene.apply(objects.job("spark-job-1"), namespace="default")
        heard = client.until(lambda each: each.headers["destination"] == "/topic/jobs/spark-job-1"
                             and each.headers["subscription"] == "4"
                             and each.json()["resource"]["state"] == "ReadyState")
        rest(port, "PUT", "/external/jobs/", {"name": "spark-job-1", "externalScheduler": {
            "profiler": [{"spark-job-2": "12 (1)"}]}})
        rest(port, "POST", "/external/schedulings",
             {"name": "cap-queue", "testBed": "nope", "queue": ["spark-job-1", "spark-job-1"]})
        heard += client.until(lambda each: each.headers["destination"] == "/topic/schedulings/cap-queue")
        rest(port, "DELETE", "/external/schedulings/cap-queue")
        # It comes by another watch than the job's end.
        heard += client.until(lambda each: each.headers["destination"] == "/topic/schedulings/cap-queue"
                              and each.headers["subscription"] == "4" and each.json()["action"] == "DELETED")
        scene.api.delete("BatchJob", "default", "spark-job-1")
        heard += client.until(lambda each: each.headers["destination"] == "/topic/jobs/spark-job-1"
                              and each.headers["subscription"] == "4" and each.json()["action"] == "DELETED")

    name, first = "01-create-modify-delete", heard[0]
    assert first.raw.decode() == (
        "MESSAGE\ndestination:/topic/jobs\ncontent-type:application/json\nsubscription:0\n"
        f"message-id:{first.headers['message-id']}\ncontent-length:43\n\n"
        '{"action":"ADDED","resource":"spark-job-1"}\0')
    ids = [each.headers["message-id"] for each in heard]
    assert len(set(ids)) == len(ids)

    by_subscription = {number: [each for each in heard if each.headers["subscription"] == str(number)]
                       for number in range(5)}
    named = bodies(by_subscription[0], "/topic/jobs")
    assert named[0] == '{"action":"ADDED","resource":"spark-job-1"}'
    assert named[-1] == '{"action":"DELETED","resource":"spark-job-1"}'
    assert set(named[1:-1]) == {'{"action":"MODIFIED","resource":"spark-job-1"}'}
    named = bodies(by_subscription[1], "/topic/schedulings")
    assert named[0] == '{"action":"ADDED","resource":"cap-queue"}'
    assert named[-1] == '{"action":"DELETED","resource":"cap-queue"}'

    whole = bodies(by_subscription[2], "/topic/jobs/spark-job-1")
    theirs = recorded_bodies(name, "/topic/jobs/spark-job-1")
    assert whole[0] == theirs[0], "the first is ADDED, with nothing known of its state"
    ready = '{"action":"MODIFIED","resource":{"name":"spark-job-1","state":"ReadyState",' \
            '"externalScheduler":null,"scheduledEvents":[]}}'
    noted = '{"action":"MODIFIED","resource":{"name":"spark-job-1","state":"ReadyState",' \
            '"externalScheduler":{"profiler":[{"spark-job-2":"12 (1)"}]},"scheduledEvents":[]}}'
    assert ready in theirs and noted in theirs
    assert ready in whole and noted in whole and whole.index(ready) < whole.index(noted)
    assert json.loads(whole[-1])["action"] == "DELETED"

    whole = bodies(by_subscription[3], "/topic/schedulings/cap-queue")
    theirs = recorded_bodies(name, "/topic/schedulings/cap-queue")
    assert whole[0] == theirs[0], "the first is ADDED, with nothing known of its state"
    assert whole[-1].startswith('{"action":"DELETED","resource":{"name":"cap-queue",')
    assert [list(json.loads(each)["resource"]) for each in whole] == \
        [list(json.loads(theirs[0])["resource"])] * len(whole), "the members and their order"

    both = [(each.headers["destination"], each.body) for number in range(4) for each in by_subscription[number]]
    everything = [(each.headers["destination"], each.body) for each in by_subscription[4]
                  if each.headers["destination"] in ("/topic/jobs", "/topic/schedulings",
                                                     "/topic/jobs/spark-job-1", "/topic/schedulings/cap-queue")]
    assert sorted(everything) == sorted(both), "/topic/** is all of them"


def test_who_subscribes_to_an_object_is_told_its_present_state(scene, port):
    scene.apply(objects.job("pi"), namespace="default")
    scene.wait("pi to be ready", lambda: shown(port, "/external/jobs/pi").get("state") == "ReadyState")
    with Stomp(port, "/topic/jobs/pi") as client:
        assert [each.body for each in client.present] == [
            '{"action":"MODIFIED","resource":{"name":"pi","state":"ReadyState","externalScheduler":null,'
            '"scheduledEvents":[]}}']
        assert client.present[0].headers["destination"] == "/topic/jobs/pi"
    for others in ("/topic/jobs", "/topic/jobs/*", "/topic/**", "/topic/jobs/tau", "/topic/testbeds/pi"):
        with Stomp(port, others) as client:
            assert client.present == [], others


def test_a_testbed_that_becomes_usable_is_modified_with_success(scene, port):
    with Stomp(port, "/topic/testbeds/beds") as client:
        assert client.present == []
        scene.nodes(1)
        scene.apply(objects.testbed("beds", scene.label), namespace="default")
        heard = client.until(lambda each: each.json()["action"] == "MODIFIED"
                             and each.json()["resource"]["state"] == "SUCCESS"
                             and each.json()["resource"]["slotsByNode"])
    assert heard[0].json()["action"] == "ADDED"
    assert [each.json()["action"] for each in heard[1:]] == ["MODIFIED"] * (len(heard) - 1)
    last = heard[-1].json()["resource"]
    assert list(last) == ["name", "state", "numberOfNodes", "numberOfSlotsPerNode", "slotsByNode"]
    scene.wait("REST to show the same",
               lambda: shown(port, "/external/testbeds/beds")["slotsByNode"].keys()
               == last["slotsByNode"].keys())


def alike(body):
    """Without what differs from run to run: times, and the namespace of the recording."""
    return re.sub(r'"\d{4}-\d\d-\d\dT[\d:.]+Z"', '"T"', body).replace('"esij"', '"default"')


def shape(body):
    """The members of a Testbed and of its slots, in their order."""
    bed = json.loads(body)["resource"]
    return list(bed), {tuple(slot) for slots in bed["slotsByNode"].values() for slot in slots}


def test_a_plan_is_followed_to_its_end_by_its_topics_alone(scene, port):
    scene.nodes(1)
    scene.apply(objects.testbed("scheduler-slots", scene.label), namespace="default")
    scene.apply(objects.job("spark-job-1", seconds=600), namespace="default")
    topics = {"plan": "/topic/schedulings/flow-1", "job": "/topic/jobs/spark-job-1",
              "bed": "/topic/testbeds/scheduler-slots", "names": "/topic/schedulings"}
    scene.wait("two free slots", lambda: [
        slot["state"] for slots in
        shown(port, "/external/testbeds/scheduler-slots").get("slotsByNode", {}).values()
        for slot in slots] == ["FREE", "FREE"])
    scene.wait("the job to be ready",
               lambda: shown(port, "/external/jobs/spark-job-1").get("state") == "ReadyState")
    with Stomp(port, *topics.values()) as client:
        present = client.present
        rest(port, "POST", "/external/schedulings",
             {"name": "flow-1", "testBed": "scheduler-slots", "queue": ["spark-job-1", "spark-job-1"]})
        heard = client.until(lambda each: each.headers["destination"] == topics["job"]
                             and each.json()["resource"]["state"] == "RunningState")
        scene.finish("spark-job-1", namespace="default")
        heard += client.until(lambda each: each.headers["destination"] == topics["plan"]
                              and each.json()["resource"]["state"] == "CompletedState")
        rest(port, "DELETE", "/external/schedulings/flow-1")
        heard += client.until(lambda each: each.headers["destination"] == topics["job"]
                              and each.json()["resource"]["state"] == "ReadyState")
    ours = {name: [alike(body) for body in bodies(present + heard, topic)] for name, topic in topics.items()}
    theirs = {name: [alike(body) for part in ("03-scheduling-flow", "04-delete-flow")
                     for body in recorded_bodies(part, topic)] for name, topic in topics.items()}

    assert set(ours["job"]) <= set(theirs["job"]), "nothing is told of a job that the original did not tell"
    assert {theirs["job"][-3], theirs["job"][-1]} <= set(ours["job"]), "its end, and ready again"
    assert any('"RunningState"' in body for body in ours["job"])
    order = ["InQueueState", "SubmittedState", "ScheduledState", "RunningState", "CompletedState"]
    states = [json.loads(body)["resource"]["state"] for body in ours["job"]]
    assert [state for state in order if state in states] == \
        list(dict.fromkeys(state for state in states if state in order)), states

    assert ours["plan"][0] == theirs["plan"][0]
    completed = [body for body in theirs["plan"] if '"MODIFIED"' in body and '"CompletedState"' in body]
    assert completed[0] in ours["plan"]
    states = {json.loads(body)["resource"]["state"] for body in ours["plan"]}
    assert states <= {NULL, "InitialState", "AcquireState", "ConfirmationState", "SubmissionState",
                      "AwaitingCompletionState", "CompletedState", "FinishedState"}
    assert ours["names"][:2] == theirs["names"][:2]
    assert ours["bed"] and all(shape(body) == shape(theirs["bed"][0]) for body in ours["bed"])


def test_a_standby_tells_the_same_and_nothing_is_announced_at_its_start(scene, operators, folder, port):
    """Every replica serves out of its own caches, as with REST."""
    scene.apply(objects.job("old"), namespace="default")
    # Its spec is checked after it was said to be ready, and that is a change too.
    scene.wait("old to be ready and accepted", lambda: ("Accepted", "True") in [
        (each["type"], each["status"]) for each in (
            scene.api.get("BatchJob", "default", "old").get("status") or {}).get("conditions") or []])
    standby = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=7,
                       flags=("--stomp-max-connections=2", "--stomp-max-subscriptions=2",
                              "--stomp-allowed-origins=http://dashboard.example"))
    try:
        standby.start().ready()
        with Stomp(standby.port, "/topic/**") as client:
            scene.apply(objects.job("new"), namespace="default")
            assert client.message().body == '{"action":"ADDED","resource":"new"}'
            hello = request(standby.port, more="Origin: http://dashboard.example\r\n")
            with Wire(standby.port, hello) as second:
                assert second.status == 101
                with Wire(standby.port) as third:
                    assert (third.status, third.header("Retry-After")) == (503, ["2"])
            client.send("SUBSCRIBE\nid:b\ndestination:/topic/jobs\n\n\0"
                        "SUBSCRIBE\nid:c\ndestination:/topic/jobs\n\n\0")
            heard = client.until(lambda each: each.command == "ERROR")
            assert heard[-1].headers["message"] == "more than 2 subscriptions"
            assert client.next() == (CLOSE, b"\x03\xea")
        scene.wait("nobody to be connected", lambda: metric(standby.port, "esi_stomp_connections") == 0)
        with Stomp(standby.port, "/topic/jobs") as client:
            standby.process.terminate()
            opcode, reason = client.next()
            while opcode == TEXT:  # new may still change
                opcode, reason = client.next()
            assert (opcode, reason) == (CLOSE, b"\x03\xe9the operator is ending")
            client.send(reason[:2], CLOSE)
            assert standby.process.wait(30) == 0
    finally:
        standby.stop()


@pytest.mark.parametrize("origin, status", [
    ("http://127.0.0.1:{port}", 101), ("HTTP://127.0.0.1:{port}", 101), ("http://127.0.0.1:1", 403),
    ("http://evil.example", 403), ("null", 403)])
def test_pages_of_other_origins_may_not_connect(port, origin, status):
    with Wire(port, request(port, more=f"Origin: {origin.format(port=port)}\r\n")) as wire:
        assert wire.status == status


def test_who_asks_for_heart_beats_gets_them(scene, port):
    with Stomp(port, connect="accept-version:1.2\nheart-beat:0,1000\n") as client:
        assert client.connected.headers == {"version": "1.2", "heart-beat": "10000,0"}
        assert client.next() == (TEXT, b"\n")


# --- clients from registries

def test_stomp_py_follows_a_job(scene, port):
    heard, arrived = [], threading.Condition()

    class Listener(stomp.ConnectionListener):
        def on_message(self, frame):
            with arrived:
                heard.append((frame.headers["destination"], frame.body))
                arrived.notify_all()

    def wait_for(wanted):
        with arrived:
            assert arrived.wait_for(lambda: wanted in heard, timeout=PATIENCE), (wanted, heard)

    connection = stomp.WSStompConnection([("127.0.0.1", port)], ws_path="/scheduler", heartbeats=(4000, 4000))
    connection.set_listener("test", Listener())
    connection.connect(wait=True)
    try:
        connection.subscribe("/topic/jobs", id="all", ack="auto")
        connection.subscribe("/topic/jobs/pi", id="one", ack="auto")
        scene.wait("both subscriptions", lambda: metric(port, "esi_stomp_subscriptions") == 2)
        scene.apply(objects.job("pi"), namespace="default")
        wait_for(("/topic/jobs", '{"action":"ADDED","resource":"pi"}'))
        wait_for(("/topic/jobs/pi", '{"action":"MODIFIED","resource":{"name":"pi","state":"ReadyState",'
                                    '"externalScheduler":null,"scheduledEvents":[]}}'))
        scene.api.delete("BatchJob", "default", "pi")
        wait_for(("/topic/jobs", '{"action":"DELETED","resource":"pi"}'))
    finally:
        connection.disconnect()
    scene.wait("it to be gone", lambda: metric(port, "esi_stomp_connections") == 0)


@pytest.fixture(scope="session")
def node_modules():
    return subprocess.run([HERE.parent / "stomp-clients" / "install.sh"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def test_stompjs_follows_a_job(scene, port, node_modules):
    program = pathlib.Path(node_modules).parent / "follow.mjs"
    process = subprocess.Popen([shutil.which("node"), program, f"ws://127.0.0.1:{port}/scheduler",
                                "/topic/jobs", "/topic/jobs/pi"],
                               stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "connected 1.2\n"
        scene.wait("both subscriptions", lambda: metric(port, "esi_stomp_subscriptions") == 2)
        scene.apply(objects.job("pi"), namespace="default")
        lines = []
        ready = '/topic/jobs/pi {"action":"MODIFIED","resource":{"name":"pi","state":"ReadyState",' \
                '"externalScheduler":null,"scheduledEvents":[]}}\n'
        while not lines or lines[-1] != ready:
            lines.append(process.stdout.readline())
            assert lines[-1], lines
        assert lines[0] == '/topic/jobs {"action":"ADDED","resource":"pi"}\n'
        process.stdin.close()
        assert process.stdout.read().splitlines()[-1] == "disconnected"
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


# --- a thousand

class Crowd:
    """Many subscribers in one thread, as light as can be: what they hear is looked at afterwards."""

    def __init__(self, port, count, destination):
        self.selector = selectors.DefaultSelector()
        self.members, self.dropped = [], []
        for _ in range(count):
            member = Stomp(port, destination)
            member.pieces = [(0.0, bytes(member.buffer))]
            member.end = b""
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
                if b"\x89\x00" in piece:
                    member.socket.send(masked(PONG, b""))
                member.end = member.end[-len(last):] + piece  # `last` may come in two pieces
                if not piece or last in member.end:
                    self.selector.unregister(member.socket)
                    missing -= 1
        assert not missing, f"{missing} have not heard the last change"

    def heard(self):
        """What each got: [(time, number of the change)]."""
        for member in self.members:
            out, buffer = [], bytearray()
            for came, piece in member.pieces:
                buffer += piece
                for opcode, payload in frames(buffer):
                    if opcode == PING:
                        continue
                    at = payload.find(b'"n":"')
                    assert opcode == TEXT, (opcode, payload)
                    if at > 0:  # else the last change before the first
                        out.append((came, int(payload[at + 5:payload.index(b'"', at + 5)])))
            yield out

    def close(self):
        self.selector.close()
        for member in self.members:
            member.close()


@pytest.mark.slow
def test_a_thousand_subscribers_get_every_change_in_order_and_dead_ones_delay_nobody(scene, operators, port):
    """Delivery time and memory are printed, not judged: writer and readers of the test share the machine
    with the operator and the control plane."""
    subscribers = int(os.environ.get("ESI_STOMP_SUBSCRIBERS", "1000"))
    # The operator writes a status after each change of a spec: two changes a write.
    changes, per_second = int(os.environ.get("ESI_STOMP_CHANGES", "150")), 25
    scene.apply(objects.job("pi"), namespace="default")
    scene.wait("pi to be ready", lambda: shown(port, "/external/jobs/pi").get("state") == "ReadyState")
    before = operators["scheduling"].resident_kib()
    crowd = Crowd(port, subscribers, "/topic/jobs/pi")
    connected = operators["scheduling"].resident_kib()
    dead = [Stomp(port, "/topic/jobs/pi", receive_buffer=4096) for _ in range(10)]
    done = []

    def write():
        begin = time.monotonic()
        for number in range(changes):
            let_pass(begin + number / per_second - time.monotonic(), "so many changes a second")
            scene.api.patch("BatchJob", "default", "pi",
                            {"spec": {"externalScheduler": {"n": [{"n": str(number)}]}}})
            done.append(time.monotonic())
    writer = threading.Thread(target=write)
    cpu = [operators["scheduling"].cpu_seconds(), time.process_time()]
    try:
        writer.start()
        crowd.read(f'"n":"{changes - 1}"'.encode(), time.monotonic() + PATIENCE)
        writer.join()
        cpu = [operators["scheduling"].cpu_seconds() - cpu[0], time.process_time() - cpu[1]]
        after = operators["scheduling"].resident_kib()
    finally:
        crowd.close()
        for each in dead:
            each.close()
    times, total = [], 0
    first = None
    for heard in crowd.heard():
        # A change of the notes may be followed by one of the status, which shows the same notes.
        numbers = [number for _, number in heard]
        first = first or numbers
        assert numbers[:numbers.index(changes - 1)] == first[:first.index(changes - 1)], "not what another got"
        assert sorted(numbers) == numbers and sorted(set(numbers)) == list(range(changes))
        total += len(numbers)
        arrival = {}
        for came, number in heard:
            arrival.setdefault(number, came)
        times += [max(0.0, arrival[number] - done[number]) * 1000 for number in range(changes)]
    times.sort()
    print(f"\n{subscribers} subscribers and 10 that read nothing, {total // subscribers} changes in "
          f"{done[-1] - done[0]:.1f} s, {total} messages: from the API server's answer to the reader p50 "
          f"{times[len(times) // 2]:.1f} ms, p99 {times[len(times) * 99 // 100]:.1f} ms, max {times[-1]:.1f} ms; "
          f"memory {before} KiB before, {connected} KiB with all connected "
          f"({(connected - before) / subscribers:.1f} KiB each), {after} KiB at the end; CPU {cpu[0] / total * 1e6:.1f} us a message in the operator, "
          f"{cpu[1] / total * 1e6:.1f} us in the reader")
    scene.wait("all to be gone", lambda: metric(port, "esi_stomp_connections") == 0)


def test_who_does_not_read_is_dropped_with_a_reason(scene, operators, port):
    scene.apply(objects.job("pi"), namespace="default")
    scene.wait("pi to be ready", lambda: shown(port, "/external/jobs/pi").get("state") == "ReadyState")
    dropped = metric(port, 'esi_stomp_dropped_total{reason="slow"}')
    begin = operators["scheduling"].size()
    padding = {f"k{i}": [{"v": "x" * 1000}] * 4 for i in range(15)}
    # One with thirty subscriptions that reads nothing, one that reads all.
    dead = Stomp(port, *["/topic/jobs/pi"] * 30, receive_buffer=4096)
    with Stomp(port, "/topic/jobs/pi") as live:
        for number in range(20):
            scene.api.patch("BatchJob", "default", "pi", {"spec": {"externalScheduler": {
                "n": [{"n": str(number)}], **padding}}})
            live.until(lambda each, number=number: f'"n":[{{"n":"{number}"}}]' in each.body)
            if metric(port, 'esi_stomp_dropped_total{reason="slow"}') > dropped:
                break
        assert metric(port, 'esi_stomp_dropped_total{reason="slow"}') == dropped + 1
        scene.wait("it to be gone", lambda: metric(port, "esi_stomp_connections") == 1)
    scene.wait("a line in the log", lambda: "too slow: " in operators["scheduling"].tail(200, begin))
    dead.close()
