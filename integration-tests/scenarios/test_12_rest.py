"""The original's REST interface: every row of its table, and anything else without a 500."""
import http.client
import json
import random
import time

import pytest
import requests

import objects
from patience import PATIENCE
from product import OPERATORS

NULL = None


@pytest.fixture
def rest(scene, operators):
    """The REST interface shows the namespace `default` only, which is empty between tests."""
    session = requests.Session()
    session.base = operators["scheduling"].url
    yield session
    for kind in ("Scheduling", "BatchJob", "Testbed"):
        scene.api.delete_all(kind, "default")
        scene.wait(f"no {kind} in default", lambda kind=kind: not scene.api.list(kind, "default"))
    for path, nothing in (("testbeds", []), ("jobs", {}), ("schedulings", [])):
        eventually(scene, session, f"/external/{path}", nothing)
    session.close()


def ask(rest, method, path, body=None, **headers):
    """`body`: a dict, sent as JSON, or text, sent as it is with the type that `headers` give."""
    if isinstance(body, (dict, list)):
        body, headers = json.dumps(body), {"Content-Type": "application/json", **headers}
    return rest.request(method, rest.base + path, data=body, timeout=PATIENCE,
                        headers={key.replace("_", "-"): value for key, value in headers.items()})


def error(answer, status, word, path):
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    body = answer.json()
    assert (body["status"], body["error"], body["path"]) == (status, word, path)
    assert isinstance(body["timestamp"], int)


def eventually(scene, rest, path, expected):
    """The interface answers from a cache that follows the API server."""
    scene.wait(f"{path} to be {expected}", lambda: (
        lambda answer: answer.status_code == 200 and answer.json() == expected)(ask(rest, "GET", path)))


def read_back(scene, rest, written, path, expected, part=lambda shown: shown):
    """The answer to a write waits for the cache, but for a second at most: only then may a read be behind."""
    def shown():
        return part(ask(rest, "GET", path).json())
    if written.elapsed.total_seconds() < 1:
        assert shown() == expected, "reads what it wrote"
    else:
        scene.wait(f"{path} to be {expected}", lambda: shown() == expected)


# --- nothing there

@pytest.mark.parametrize("path, expected", [
    ("/external/testbeds", "[]"), ("/external/jobs", "{}"), ("/external/jobs/", "{}"),
    ("/external/schedulings", "[]")])
def test_with_nothing_there_the_lists_are_empty(rest, path, expected):
    answer = ask(rest, "GET", path)
    assert (answer.status_code, answer.text) == (200, expected)
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("method, path, status, word", [
    ("GET", "/external/testbeds/nope", 404, "Not Found"),
    ("GET", "/external/jobs/nope", 404, "Not Found"),
    ("GET", "/external/schedulings/nope", 404, "Not Found"),
    ("GET", "/external/nothing", 404, "Not Found"),
    ("PUT", "/external/jobs", 405, "Method Not Allowed"),
    ("DELETE", "/external/schedulings", 405, "Method Not Allowed"),
    ("POST", "/external/testbeds", 405, "Method Not Allowed")])
def test_what_is_not_there_is_a_404_or_405_in_the_originals_words(rest, method, path, status, word):
    error(ask(rest, method, path, "{}", Content_Type="application/json"), status, word, path)


@pytest.mark.parametrize("method, path, allowed", [
    ("PUT", "/external/jobs", {"GET"}), ("DELETE", "/external/schedulings", {"POST", "GET"}),
    ("POST", "/external/testbeds", {"GET"})])
def test_a_405_says_which_methods_there_are(rest, method, path, allowed):
    answer = ask(rest, method, path)
    assert {word.strip() for word in answer.headers["Allow"].split(",")} == allowed


def test_deleting_what_is_not_there_is_a_304(rest):
    answer = ask(rest, "DELETE", "/external/schedulings/nope")
    assert (answer.status_code, answer.text) == (304, "")


@pytest.mark.parametrize("body", [
    '{"name": "x", ', "", "[]", "null", '{"name":"x","testBed":"t","queue":["a"],"surprise":1}',
    '{"testBed":"t","queue":["a"]}', '{"name":"x","testBed":" ","queue":["a"]}',
    '{"name":"neither","testBed":"t"}',
    '{"name":"both","testBed":"t","queue":["a"],"slots":{"mode":"STRICT","jobs":[{"name":"a","slots":[0]}]}}',
    '{"name":"Bad_Name","testBed":"t","queue":["a"]}', '{"name":"x","testBed":"t","queue":"a"}',
    '{"name":"x","testBed":"t","slots":{"mode":"WHATEVER","jobs":[]}}',
    '{"name":"x","testBed":"t","slots":{"mode":"STRICT","jobs":[{"name":"a","slots":[-1]}]}}',
    '{"name":"x","testBed":"t","slots":{"mode":"STRICT","jobs":[{"name":"a","slots":[0.5]}]}}'])
def test_a_scheduling_that_makes_no_sense_is_a_400(rest, body):
    error(ask(rest, "POST", "/external/schedulings", body, Content_Type="application/json"),
          400, "Bad Request", "/external/schedulings")


@pytest.mark.parametrize("headers", [{"Content_Type": "text/plain"}, {}])
def test_a_body_that_is_not_declared_as_json_is_a_415(rest, headers):
    answer = ask(rest, "POST", "/external/schedulings", b'{"name":"x"}', **headers)
    error(answer, 415, "Unsupported Media Type", "/external/schedulings")
    assert "application/json" in answer.headers["Accept"]


def test_an_accept_that_nobody_can_serve_is_a_406(rest):
    assert ask(rest, "GET", "/external/testbeds", Accept="application/xml").status_code == 406


def test_head_and_options_are_answered(rest):
    answer = ask(rest, "HEAD", "/external/testbeds")
    assert (answer.status_code, answer.headers["Content-Length"], answer.text) == (200, "2", "")
    answer = ask(rest, "OPTIONS", "/external/schedulings")
    assert answer.status_code == 200
    assert {"GET", "POST"} <= {word.strip() for word in answer.headers["Allow"].split(",")}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("path", ["/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness"])
def test_every_operator_answers_the_originals_health_checks(operators, name, path):
    answer = requests.get(operators[name].url + path, timeout=PATIENCE)
    assert (answer.status_code, answer.json()) == (200, {"status": "UP"})


# --- testbeds

def test_testbeds_are_shown_with_their_slots_by_node(scene, rest):
    n0, n1 = scene.nodes(2)
    scene.apply(objects.testbed("beds", scene.label), namespace="default")
    eventually(scene, rest, "/external/testbeds/beds", shown_bed(scene, n0, n1))
    answer = ask(rest, "GET", "/external/testbeds")
    assert answer.json() == [shown_bed(scene, n0, n1)]
    assert list(answer.json()[0]) == ["name", "state", "numberOfNodes", "numberOfSlotsPerNode", "slotsByNode"]
    assert list(answer.json()[0]["slotsByNode"][n0][0]) == [
        "reservedFor", "state", "podName", "nodeName", "nodeId", "slotPositionOnNode", "podUId", "position"]


def shown_bed(scene, n0, n1):
    def ghosts():
        found = scene.api.list("Pod", "default", labels="esi.tu-berlin.de/testbed=beds")
        return len(found) == 4 and all(pod["spec"].get("nodeName") for pod in found) and {
            (pod["metadata"]["annotations"]["esi.tu-berlin.de/node"],
             int(pod["metadata"]["annotations"]["esi.tu-berlin.de/index"])): pod for pod in found}
    pods = scene.wait("four ghosts", ghosts)

    def slot(node, number, index, position):
        metadata = pods[node, index]["metadata"]
        return {"reservedFor": NULL, "state": "FREE", "podName": metadata["name"], "nodeName": node,
                "nodeId": number, "slotPositionOnNode": index, "podUId": metadata["uid"], "position": position}
    return {"name": "beds", "state": "SUCCESS", "numberOfNodes": 2, "numberOfSlotsPerNode": 2,
            "slotsByNode": {n0: [slot(n0, 0, 0, 0), slot(n0, 0, 1, 2)], n1: [slot(n1, 1, 0, 1), slot(n1, 1, 1, 3)]}}


def test_a_testbed_without_nodes_is_shown_empty(scene, rest):
    scene.apply(objects.testbed("bare", scene.label), namespace="default")
    eventually(scene, rest, "/external/testbeds/bare", {
        "name": "bare", "state": "SUCCESS", "numberOfNodes": 0, "numberOfSlotsPerNode": 2, "slotsByNode": {}})


# --- jobs

def shown_job(name, notes=NULL):
    return {"name": name, "state": "ReadyState", "externalScheduler": notes, "scheduledEvents": []}


def test_jobs_are_shown_by_name(scene, rest):
    scene.apply(objects.job("pi"), namespace="default")
    scene.apply(objects.job("tau"), namespace="default")
    eventually(scene, rest, "/external/jobs", {"pi": shown_job("pi"), "tau": shown_job("tau")})
    answer = ask(rest, "GET", "/external/jobs/pi")
    assert answer.text == '{"name":"pi","state":"ReadyState","externalScheduler":null,"scheduledEvents":[]}'


def test_put_takes_the_external_schedulers_notes_and_nothing_else(scene, rest):
    scene.apply(objects.job("pi"), namespace="default")
    eventually(scene, rest, "/external/jobs/pi", shown_job("pi"))
    for body, notes in (
            ({"name": "pi", "externalScheduler": {"profiler": [{"tau": "12 (1)"}]}}, {"profiler": [{"tau": "12 (1)"}]}),
            ({"name": "pi", "state": "RunningState", "externalScheduler": {"other": []}, "scheduledEvents": []},
             {"other": []}),
            ({"name": "pi"}, NULL)):
        answer = ask(rest, "PUT", "/external/jobs/", body)
        assert (answer.status_code, answer.json()) == (200, shown_job("pi", notes))
        read_back(scene, rest, answer, "/external/jobs/pi", shown_job("pi", notes))
        assert scene.api.get("BatchJob", "default", "pi")["spec"].get("externalScheduler") == notes


@pytest.mark.parametrize("body, status, word", [
    ({"name": "pi", "x": 1}, 400, "Bad Request"), ({"name": "pi", "state": "Foo"}, 400, "Bad Request"),
    ({"name": "pi", "externalScheduler": {"p": "text"}}, 400, "Bad Request"),
    ({"name": "nope", "externalScheduler": {}}, 404, "Not Found"), ({}, 400, "Bad Request"),
    ("{", 400, "Bad Request")])
def test_put_of_a_job_that_makes_no_sense_is_refused(scene, rest, body, status, word):
    scene.apply(objects.job("pi"), namespace="default")
    eventually(scene, rest, "/external/jobs/pi", shown_job("pi"))
    answer = ask(rest, "PUT", "/external/jobs/", body, Content_Type="application/json")
    if body == {}:
        assert answer.status_code in (400, 404)     # the original's 500: no name
    else:
        error(answer, status, word, "/external/jobs/")


def test_put_of_what_the_store_does_not_take_is_413_and_loses_nothing(scene, rest):
    """Notes that are well by themselves, and with the job's spec more than etcd takes of one object (1.5 MiB)."""
    scene.apply(objects.job("wide", arguments=["x" * 1024] * 1480), namespace="default")
    eventually(scene, rest, "/external/jobs/wide", shown_job("wide"))
    before = scene.api.get("BatchJob", "default", "wide")["spec"]
    notes = {"profiler": [{"tau": "y" * 1000} for _ in range(64)]}
    answer = ask(rest, "PUT", "/external/jobs/", {"name": "wide", "externalScheduler": notes})
    error(answer, 413, "Payload Too Large", "/external/jobs/")
    assert "Retry-After" not in answer.headers
    assert scene.api.get("BatchJob", "default", "wide")["spec"] == before
    read_back(scene, rest, answer, "/external/jobs/wide", shown_job("wide"))


# --- schedulings

def shown_queue(name, testbed, queue):
    return {"name": name, "state": NULL, "jobStatus": [], "testBed": testbed, "queue": queue, "slots": NULL}


def shown_slots(name, testbed, mode, jobs):
    return {"name": name, "state": NULL, "jobStatus": [], "testBed": testbed, "queue": NULL,
            "slots": {"mode": mode, "jobs": jobs}}


def without_state(shown):
    return {key: value for key, value in shown.items() if key not in ("state", "jobStatus")}


def test_a_queue_is_created_shown_replaced_and_deleted(scene, rest):
    body = {"name": "plan", "testBed": "nope", "queue": ["pi", "pi"]}
    answer = ask(rest, "POST", "/external/schedulings", body)
    assert (answer.status_code, answer.json()) == (200, shown_queue("plan", "nope", ["pi", "pi"]))
    assert list(answer.json()) == ["name", "state", "jobStatus", "testBed", "queue", "slots"]
    read_back(scene, rest, answer, "/external/schedulings/plan", without_state(answer.json()), without_state)
    spec = scene.api.get("Scheduling", "default", "plan")["spec"]
    assert [entry["name"] for entry in spec["queueBased"]] == ["pi", "pi"]
    assert spec["testbed"]["name"] == "nope"
    assert ask(rest, "POST", "/external/schedulings", body).status_code == 200
    answer = ask(rest, "POST", "/external/schedulings", {"name": "plan", "testBed": "nope", "queue": ["pi"]})
    assert without_state(answer.json()) == without_state(shown_queue("plan", "nope", ["pi"]))
    read_back(scene, rest, answer, "/external/schedulings", [without_state(shown_queue("plan", "nope", ["pi"]))],
              lambda listed: [without_state(each) for each in listed])
    answer = ask(rest, "DELETE", "/external/schedulings/plan")
    assert (answer.status_code, without_state(answer.json())) == (
        200, without_state(shown_queue("plan", "nope", ["pi"])))
    scene.wait("it to be gone", lambda: ask(rest, "GET", "/external/schedulings/plan").status_code == 404)
    assert ask(rest, "DELETE", "/external/schedulings/plan").status_code == 304


@pytest.mark.parametrize("mode, stored, shown", [
    ("STRICT", "strict", "STRICT"), ("RELAXED", "relaxed", "RELAXED"), ("strict", "strict", "STRICT"),
    ("Relaxed", "relaxed", "RELAXED")])
def test_slots_are_created_in_any_case_of_the_mode_and_answered_in_upper_case(scene, rest, mode, stored, shown):
    jobs = [{"name": "pi", "slots": [0, 1]}, {"name": "tau", "slots": [2]}]
    answer = ask(rest, "POST", "/external/schedulings",
                 {"name": "plan", "testBed": "nope", "slots": {"mode": mode, "jobs": jobs}})
    assert (answer.status_code, answer.json()) == (200, shown_slots("plan", "nope", shown, jobs))
    assert list(answer.json()["slots"]["jobs"][0]) == ["slots", "name"]
    assert scene.api.get("Scheduling", "default", "plan")["spec"]["slotBased"]["mode"] == stored


def test_explicit_nulls_states_and_job_states_in_a_request_are_ignored(scene, rest):
    answer = ask(rest, "POST", "/external/schedulings", {
        "name": "plan", "state": "CompletedState", "jobStatus": [{"name": "pi", "state": "Scheduled"}],
        "testBed": "nope", "queue": ["pi"], "slots": NULL})
    assert (answer.status_code, answer.json()) == (200, shown_queue("plan", "nope", ["pi"]))


def test_slots_without_jobs_are_accepted_as_the_original_did(scene, rest):
    answer = ask(rest, "POST", "/external/schedulings",
                 {"name": "plan", "testBed": "nope", "slots": {"mode": "STRICT", "jobs": []}})
    assert (answer.status_code, answer.json()) == (200, shown_slots("plan", "nope", "STRICT", []))


def test_another_testbed_for_an_existing_scheduling_is_a_400(rest):
    assert ask(rest, "POST", "/external/schedulings",
               {"name": "plan", "testBed": "nope", "queue": ["pi"]}).status_code == 200
    error(ask(rest, "POST", "/external/schedulings", {"name": "plan", "testBed": "other", "queue": ["pi"]}),
          400, "Bad Request", "/external/schedulings")


def test_a_whole_evaluation_over_rest(scene, rest):
    """As the original's clients do it: look, post, wait for CompletedState, delete, wait for ReadyState."""
    n0, = scene.nodes(1)
    scene.apply(objects.testbed("beds", scene.label), namespace="default")
    scene.apply(objects.job("pi", seconds=600), namespace="default")
    scene.wait("two free slots", lambda: [slot["state"] for slots in ask(
        rest, "GET", "/external/testbeds/beds").json().get("slotsByNode", {}).values()
        for slot in slots] == ["FREE", "FREE"])
    eventually(scene, rest, "/external/jobs/pi", shown_job("pi"))
    assert ask(rest, "POST", "/external/schedulings",
               {"name": "plan", "testBed": "beds", "queue": ["pi", "pi"]}).status_code == 200
    scene.wait("the job to run", lambda: ask(rest, "GET", "/external/jobs/pi").json()["state"] == "RunningState")
    slots = scene.wait("two occupied slots", lambda: (lambda bed: bed["state"] == "RUNNING" and [
        slot["state"] for slot in bed["slotsByNode"][n0]] == ["OCCUPIED", "OCCUPIED"] and bed["slotsByNode"][n0])(
        ask(rest, "GET", "/external/testbeds/beds").json()))
    pods = {pod["metadata"]["name"] for pod in scene.api.list("Pod", "default", labels="esi.tu-berlin.de/testbed,esi.tu-berlin.de/job=pi")}
    assert {slot["podName"] for slot in slots} == pods
    assert {slot["reservedFor"] for slot in slots} <= pods | {NULL}
    scene.finish("pi", namespace="default")
    shown = scene.wait("the end", lambda: (lambda plan: plan["state"] == "CompletedState" and plan)(
        ask(rest, "GET", "/external/schedulings/plan").json()))
    assert shown["jobStatus"] == [{"name": "pi", "state": "Completed"}]
    job = ask(rest, "GET", "/external/jobs/pi").json()
    event, = job["scheduledEvents"]
    assert event["successful"] is True and event["scheduling"] == {"namespace": "default", "name": "plan"}
    assert list(event) == ["start", "stop", "successful", "scheduling"]
    assert ask(rest, "DELETE", "/external/schedulings/plan").status_code == 200
    scene.wait("the job to be ready again",
               lambda: ask(rest, "GET", "/external/jobs/pi").json()["state"] == "ReadyState")


def test_posting_over_one_that_is_being_deleted_waits_for_its_end(scene, rest):
    scene.nodes(1)
    scene.apply(objects.testbed("beds", scene.label), namespace="default")
    scene.apply(objects.job("pi", seconds=600), namespace="default")
    ask(rest, "POST", "/external/schedulings", {"name": "plan", "testBed": "beds", "queue": ["pi"]})
    scene.wait("the job to run",
               lambda: ask(rest, "GET", "/external/jobs/pi").json().get("state") == "RunningState")
    before = scene.api.get("Scheduling", "default", "plan")["metadata"]["uid"]
    assert ask(rest, "DELETE", "/external/schedulings/plan").status_code == 200

    def posted():
        answer = ask(rest, "POST", "/external/schedulings", {"name": "plan", "testBed": "beds", "queue": ["pi"]})
        if answer.status_code == 503 and answer.elapsed.total_seconds() >= 10:
            return False  # as long as it waits; the release took longer
        assert answer.status_code == 200, answer.text
        return True
    scene.wait("it to be posted", posted)
    after = scene.api.get("Scheduling", "default", "plan")["metadata"]
    assert after["uid"] != before and "deletionTimestamp" not in after


def test_reset_all_jobs_makes_failed_jobs_ready(scene, rest, operators):
    scene.nodes(1)
    scene.apply(objects.testbed("beds", scene.label), namespace="default")
    scene.apply(objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}), namespace="default")
    scene.apply(objects.job("fine"), namespace="default")
    ask(rest, "POST", "/external/schedulings", {"name": "plan", "testBed": "beds", "queue": ["bad"]})
    scene.wait("the failure", lambda: ask(rest, "GET", "/external/jobs/bad").json().get("state") == "FailedState")
    ask(rest, "DELETE", "/external/schedulings/plan")
    scene.wait("the release", lambda: not scene.api.get("BatchJob", "default", "bad")["spec"].get("activeScheduling"))
    answer = scene.wait("the other operator to see the failure", lambda: (
        lambda answer: answer.text != "[]" and answer)(
        requests.get(operators["testbed"].url + "/debug/reset-all-jobs", headers=objects.DEBUG, timeout=PATIENCE)))
    assert (answer.status_code, answer.json()) == (200, ["bad"])
    scene.wait("it to be ready", lambda: ask(rest, "GET", "/external/jobs/bad").json()["state"] == "ReadyState")


# --- anything

BASE = [
    ("GET", "/external/testbeds", "", {}), ("GET", "/external/testbeds/beds", "", {}),
    ("GET", "/external/jobs/", "", {}), ("GET", "/external/jobs/pi", "", {"Accept": "text/html"}),
    ("GET", "/external/schedulings/plan", "", {"Accept": "application/json;q=0.5, */*"}),
    ("PUT", "/external/jobs/", '{"name":"pi","externalScheduler":{"profiler":[{"tau":"12 (1)"}]}}', {}),
    ("PUT", "/external/jobs/", '{"name":"pi","state":null,"externalScheduler":null,"scheduledEvents":[{"start":'
     '"2024-01-01T00:00:00Z","stop":null,"successful":false,"scheduling":{"namespace":"default","name":"x"}}]}', {}),
    ("POST", "/external/schedulings", '{"name":"plan","testBed":"nope","queue":["pi","tau","pi"]}', {}),
    ("POST", "/external/schedulings", '{"name":"plan","state":null,"jobStatus":[],"testBed":"nope","queue":null,'
     '"slots":{"mode":"STRICT","jobs":[{"slots":[0,1],"name":"pi"},{"slots":[2],"name":"tau"}]}}', {}),
    ("DELETE", "/external/schedulings/plan", "", {}), ("OPTIONS", "/external/schedulings", "", {}),
    ("HEAD", "/external/jobs", "", {}), ("GET", "/actuator/health/liveness", "", {}), ("GET", "/", "", {}),
]
PIECES = ['"', "{", "}", "[", "]", ",", ":", "null", "true", "-1", "1e999", "0.1", "99999999999999999999", "\\u0000",
          "\\ud800", "\x00", "\xff", "ä", "\U0001f600", "%", "%00", "%2f", "..", "//", "?", "#", "&", " ", "\\", "a" * 300,
          "[" * 200, '{"a":' * 100]


def mutated(chance):
    """One of the recorded requests, with some of its bytes, tokens, headers or its verb changed."""
    method, path, body, headers = chance.choice(BASE)
    headers = {"Content-Type": "application/json", **headers}

    def change(text, pieces=PIECES):
        at = chance.randrange(len(text) + 1)
        kind = chance.randrange(5)
        if kind == 0:
            return text[:at] + chance.choice(pieces) + text[at:]
        if kind == 1:
            return text[:at] + text[at + chance.randrange(1, 8):]
        if kind == 2:
            return text[:at]
        if kind == 3:
            return text[:at] + chr(chance.randrange(1, 256)) + text[at + 1:]
        end = min(len(text), at + chance.randrange(1, 40))
        return text[:end] + text[at:]
    for _ in range(chance.randrange(1, 4)):
        what = chance.randrange(10)
        if what < 5:
            body = change(body)
        elif what < 7:
            path = "/" + "".join(letter for letter in change(path, [
                piece for piece in PIECES if piece.isascii()])[1:] if 0x20 < ord(letter) < 0x7f)
        elif what < 8:
            method = chance.choice(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"])
        else:
            header = chance.choice(["Content-Type", "Accept", "Accept-Encoding", "Origin", "X-Request-Id", "Expect-Not"])
            headers[header] = "".join(letter for letter in change(headers.get(header, "a/b"))
                                      if 0x20 <= ord(letter) < 0x7f).strip()
    return method, path, body.encode("utf-8", "surrogatepass"), headers


def exchange(server, method, path, body, headers):
    """One request as it is: `requests` would tidy it up. A connection that was closed is opened anew."""
    for again in (True, False):
        try:
            server.request(method, path, body or None, headers)
            answer = server.getresponse()
            return answer.status, answer.read()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            server.close()
            if not again:
                raise
    return None


def test_ten_thousand_mutated_requests_never_get_a_5xx_and_the_operator_lives(scene, rest, operators):
    scene.apply(objects.job("pi"), namespace="default")
    scene.apply(objects.testbed("beds", scene.label), namespace="default")
    eventually(scene, rest, "/external/jobs/pi", shown_job("pi"))
    seed = int(time.time())
    print(f"seed {seed}")
    chance = random.Random(seed)
    answers = {}
    server = http.client.HTTPConnection("127.0.0.1", operators["scheduling"].port, timeout=PATIENCE)
    for number in range(10_000):
        method, path, body, headers = mutated(chance)
        sent = f"seed {seed}, request {number}: {method} {path} {headers} {body!r}"
        try:
            status, text = exchange(server, method, path, body, headers)
        except (OSError, http.client.HTTPException) as gone:
            pytest.fail(f"no answer to {sent}: {gone!r}")
        assert status < 500, f"{status} {text} to {sent}"
        answers[status] = answers.get(status, 0) + 1
    server.close()
    print(f"answers by status: {dict(sorted(answers.items()))}")
    scene.wait("the operator to answer", lambda: operators["scheduling"].answers("/livez")
               and operators["scheduling"].answers("/readyz"))
    assert answers.get(200, 0) > 500 and answers.get(400, 0) > 500, "the mutations no longer reach the parsers"
