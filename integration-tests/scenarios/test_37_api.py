"""The resources of /api/v1 on the real control plane: every operation, two replicas, two clients at a time. Each
answer is checked against the OpenAPI document (interface.py). Who may do what: test_36.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import threading
import time

import openapi_spec_validator
import pytest
import requests

import objects
from control_plane import MANIFESTS
from interface import Document, Interface
from operators import ROOT, Operator, binaries
from patience import PATIENCE

REQUESTED_BY = objects.PREFIX + "requested-by"
#: Nobody is asked who he is: rights are those of test_36.
FLAGS = ("--api-auth=none", "--api-requests-per-second=100000", "--api-request-burst=100000")


@pytest.fixture(scope="module")
def replicas(operators, folder):
    """Two that never lead: every replica answers reads and writes."""
    made = [Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=number,
                     flags=FLAGS).start() for number in (371, 372)]
    yield [each.ready() for each in made]
    for each in made:
        if each.alive():
            assert each.stop() == 0, each.tail()


@pytest.fixture(scope="module")
def document(replicas):
    return Document(requests.get(replicas[0].url + "/openapi.json", timeout=PATIENCE).json())


@pytest.fixture
def api(replicas, document):
    return Interface(replicas[0].url, document)


@pytest.fixture
def other(replicas, document):
    return Interface(replicas[1].url, document)


@pytest.fixture
def place(scene):
    return f"/namespaces/{scene.namespace}"


def queue(name, jobs, testbed="slots", **more):
    return objects.queue(name, testbed, jobs, **more)


def faults_of(response, status=422):
    assert response.status_code == status, response.text
    return [(each["pointer"], each["code"]) for each in response.json()["errors"]]


# --- the document

def test_the_document_is_valid_and_is_the_one_that_is_kept(document):
    openapi_spec_validator.validate(document.document, cls=openapi_spec_validator.OpenAPIV31SpecValidator)
    printed = subprocess.run([binaries() / "esi-scheduling", "--print-openapi"], check=True, capture_output=True, text=True)
    assert json.loads(printed.stdout) == document.document
    kept = pathlib.Path(ROOT / "docs" / "openapi.json").read_text("utf-8")
    assert kept == printed.stdout, "docs/openapi.json: esi-scheduling --print-openapi > docs/openapi.json"


# --- a plan from its preview to its end

def test_a_plan_from_its_preview_to_its_release(scene, api, other, place):
    scene.nodes(2)
    scene.testbed()
    scene.jobs("pi", "tau")
    plan = queue("first", ["pi", "pi", "tau"])

    preview = api("POST", f"{place}/schedulings:preview", plan).json()
    assert preview["verdict"] == "Starts"
    assert [(each["name"], each["slots"]) for each in preview["starts"]] == [("pi", [0, 1]), ("tau", [2])]
    assert api.get(f"{place}/schedulings")["items"] == []
    assert [each["metadata"]["name"] for each in api.get(f"{place}/testbeds")["items"]] == ["slots"]

    made = api("POST", f"{place}/schedulings", plan)
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == f"/api/v1{place}/schedulings/first"
    shown = api("GET", f"{place}/schedulings/first")
    assert shown.status_code == 200, "a GET right behind the write shows it"
    assert shown.headers["ETag"].strip('"') == shown.json()["metadata"]["resourceVersion"]
    assert scene.get("Scheduling", "first")["metadata"]["annotations"][REQUESTED_BY] == "system:anonymous"

    done = other.get(f"{place}/schedulings/first?waitFor=state%3DCompletedState&wait=5m")
    assert done["status"]["progress"]["done"] == 2
    assert other.get(f"{place}/schedulings/first?waitFor=condition:Completed%3DTrue")["metadata"]["name"] == "first"
    explained = api.get(f"{place}/schedulings/first/explain")
    assert {each["name"]: each["outcome"] for each in explained["jobs"]} == {"pi": "Succeeded", "tau": "Succeeded"}
    job = api.get(f"{place}/jobs/pi?waitFor=state%3DCompletedState&wait=1m")
    assert job["spec"]["sparkSpec"] == scene.get("BatchJob", "pi")["spec"]["sparkSpec"], "served whole"
    assert api.get(f"{place}/jobs/pi/explain")["plans"][0]["name"] == "first"
    [run] = api.get(f"{place}/jobs/pi/runs")["items"]
    assert run["slots"] == [0, 1] and run["outcome"] == "Succeeded"
    matrix = api.get(f"{place}/matrix?testbed=slots")
    assert {each["job"]["name"] for each in matrix["pairs"]} == {"pi", "tau"}

    gone = api("DELETE", f"{place}/schedulings/first", If_Match=api("GET", f"{place}/schedulings/first").headers["ETag"])
    assert gone.status_code == 202 and "deletionTimestamp" in gone.json()["metadata"]
    scene.wait("the plan to go", lambda: api("GET", f"{place}/schedulings/first?waitFor=state%3DNever&wait=10s").status_code == 404)
    assert api.get(f"{place}/testbeds/slots?waitFor=state%3DSUCCESS&wait=1m")["status"].get("heldBy") is None


# --- lists, versions, waits

def test_lists_go_on_at_another_replica_and_are_filtered(scene, api, other, place):
    for number in range(7):
        body = queue(f"plan-{number}", ["absent"], testbed="absent")
        body["metadata"]["labels"] = {"parity": "odd" if number % 2 else "even"}
        assert api("POST", f"{place}/schedulings", body).status_code == 201
    scene.wait("the other replica to see them", lambda: len(other.get(f"{place}/schedulings")["items"]) == 7)
    names, token, asked = [], "", 0
    while token is not None:
        part = (api, other)[asked % 2].get(f"{place}/schedulings?limit=3&continue={token}" if token else f"{place}/schedulings?limit=3")
        names += [each["metadata"]["name"] for each in part["items"]]
        token, asked = part.get("continue"), asked + 1
    assert names == [f"plan-{number}" for number in range(7)] and asked == 3
    odd = api.get(f"{place}/schedulings?labelSelector=parity+in+(odd),!other&state=AcquireState,InitialState")
    assert len(odd["items"]) == 3
    assert {f"plan-{number}" for number in range(7)} <= {each["metadata"]["name"] for each in api.get("/schedulings?limit=500")["items"]}
    everything = api.get("/testbeds"), api.get("/jobs")
    assert all(isinstance(each["items"], list) for each in everything)
    for number in range(7):
        assert api("DELETE", f"{place}/schedulings/plan-{number}").status_code in (202, 204)


def test_jobs_of_a_list_are_whole_and_come_in_one_request(scene, api, place):
    scene.jobs("one", "two")
    found = {each["metadata"]["name"]: each for each in api.get(f"{place}/jobs")["items"]}
    for name in ("one", "two"):
        assert found[name]["spec"]["sparkSpec"] == scene.get("BatchJob", name)["spec"]["sparkSpec"]


def all_parts(api, path):
    """The names of all parts of a list, as they were told."""
    names, more = [], ""
    while True:
        part = api.get(path + more)
        names += [each["metadata"]["name"] for each in part["items"]]
        if "continue" not in part:
            return names
        more = f"&continue={part['continue']}"


def test_lists_of_large_jobs_take_no_more_memory_than_an_answer(scene, operators, folder, document, place):
    """Forty jobs of 1.25 MB: whole they are twice what one list may take, four at once have no more."""
    large = [f"large-{number:02}" for number in range(40)]
    for name in large:
        scene.apply(objects.job(name, arguments=["x" * 1250] * 1000))
    replica = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=374, flags=FLAGS)
    replica.start().ready()
    own = Interface(replica.url, document)
    try:
        scene.wait("the cache to have them", lambda: own.get(f"{place}/jobs/{large[-1]}"))
        assert len(own.get(f"{place}/schedulings")["items"]) == 0
        before = replica.resident_kib()
        replica.forget_most_resident()
        assert len(own.get(f"{place}/jobs?limit=500")["items"]) == 4, "4 MiB, and what passes them"
        one = replica.most_resident_kib() - before
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            told = list(pool.map(lambda _: all_parts(Interface(replica.url, document), f"{place}/jobs?limit=500"), range(4)))
        four = replica.most_resident_kib() - before
        print(f"resident KiB: {before} before, {one} more for one list, {four} more for four at once")
        assert told == [large] * 4
        assert one < 24 << 10, (before, one)
        assert four < 24 << 10, (before, four)
    finally:
        assert replica.stop() == 0, replica.tail()
        for name in large:
            scene.delete("BatchJob", name, wait=False)


def test_a_version_that_is_known_is_not_sent_again(scene, api, place):
    scene.nodes(1)
    scene.testbed()
    first = api("GET", f"{place}/testbeds/slots")
    again = api("GET", f"{place}/testbeds/slots", If_None_Match=first.headers["ETag"])
    if again.headers["ETag"] == first.headers["ETag"]:
        assert again.status_code == 304 and not again.content
    assert [each["position"] for each in api.get(f"{place}/testbeds/slots/slots")["items"]] == [0, 1]
    assert api.get(f"{place}/testbeds/slots/slots?state=OCCUPIED")["items"] == []
    assert len(api.get(f"{place}/testbeds/slots/slots?node={scene.node(0)}&limit=1")["items"]) == 1


def test_a_blocking_query_is_woken_by_a_change(scene, api, other, place):
    scene.jobs("pi")

    def when_nothing_changes():
        first = api("GET", f"{place}/jobs/pi").headers["X-ESI-Index"]
        then = api("GET", f"{place}/jobs/pi?index={first}&wait=2s").headers["X-ESI-Index"]
        return first if then == first else None

    index = scene.wait("two seconds without a change of the job", when_nothing_changes)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        waiting = pool.submit(api, "GET", f"{place}/jobs/pi?index={index}&wait=1m")
        listed = pool.submit(Interface(api.url, api.document), "GET", f"{place}/jobs?index={index}&wait=1m")
        scene.wait("both to wait", lambda: 'esi_api_under_way{what="waits"} 2' in
                   requests.get(api.url + "/metrics", timeout=PATIENCE).text)
        assert not waiting.done()
        began = time.monotonic()
        note = other("PATCH", f"{place}/jobs/pi/external-scheduler", {"profiler": [{"tau": "24 (16)"}]})
        assert note.status_code == 200, note.text
        answer = waiting.result(PATIENCE)
        assert time.monotonic() - began < 30
        assert answer.json()["spec"]["externalScheduler"] == {"profiler": [{"tau": "24 (16)"}]}
        assert int(answer.headers["X-ESI-Index"]) > int(index)
        assert listed.result(PATIENCE).status_code == 200
    late = api("GET", f"{place}/jobs/pi?waitFor=state%3DRunningState&wait=200ms")
    assert late.status_code == 504 and late.json()["code"] == "Timeout" and late.json()["state"] == "ReadyState"


def test_who_waits_is_told_that_the_replica_ends(scene, operators, folder, document, place):
    scene.jobs("pi")
    short = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=373, flags=FLAGS).start().ready()
    try:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            waiting = pool.submit(Interface(short.url, document), "GET", f"{place}/jobs/pi?waitFor=state%3DRunningState&wait=5m")
            scene.wait("the request to wait", lambda: 'esi_api_under_way{what="waits"} 1' in
                       requests.get(short.url + "/metrics", timeout=PATIENCE).text)
            assert short.stop() == 0
            answer = waiting.result(PATIENCE)
            assert answer.status_code == 503 and answer.json()["code"] == "Stopping", answer.text
            assert answer.headers["Retry-After"]
    finally:
        if short.alive():
            short.kill()


# --- writes

def test_of_two_clients_with_one_version_one_changes_it_a_thousand_times(scene, replicas, document, place):
    """One 200 and one 412 each time, whichever replica each of them asks."""
    clients = [Interface(each.url, document) for each in replicas]
    assert clients[0]("POST", f"{place}/schedulings", queue("contended", ["absent"], testbed="absent")).status_code == 201
    scene.wait("the other replica to see it", lambda: clients[1]("GET", f"{place}/schedulings/contended").status_code == 200)
    scene.wait("the operator to have looked at it",
               lambda: scene.status("Scheduling", "contended").get("observedGeneration") == 1)
    gate, answers, rounds = threading.Barrier(3), [None, None], 1000
    tag = None

    def client(number):
        for turn in range(rounds):
            gate.wait(PATIENCE)
            # A label: of a change of the spec the operator would write the status, another version.
            answers[number] = clients[number]("PATCH", f"{place}/schedulings/contended",
                                              {"metadata": {"labels": {"turn": f"{turn}-{number}"}}}, If_Match=tag)
            gate.wait(PATIENCE)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = [pool.submit(client, number) for number in (0, 1)]
        version = scene.get("Scheduling", "contended")["metadata"]["resourceVersion"]
        for turn in range(rounds):
            tag = f'"{version}"'
            gate.wait(PATIENCE)
            gate.wait(PATIENCE)
            assert sorted(each.status_code for each in answers) == [200, 412], [each.text for each in answers]
            number = next(number for number in (0, 1) if answers[number].status_code == 200)
            stored = answers[number].json()["metadata"]
            assert stored["labels"] == {"turn": f"{turn}-{number}"}
            version = stored["resourceVersion"]
            assert answers[number].headers["ETag"] == f'"{version}"'
        for each in running:
            each.result(PATIENCE)
    assert scene.get("Scheduling", "contended")["metadata"]["resourceVersion"] == version
    assert clients[0]("DELETE", f"{place}/schedulings/contended").status_code in (202, 204)


def test_of_two_plans_for_one_testbed_one_holds_and_the_other_names_it(scene, api, other, place):
    scene.nodes(1)
    scene.testbed()
    scene.jobs("pi", "tau", seconds=600)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = [pool.submit(ask, "POST", f"{place}/schedulings", queue(name, [job]))
                for ask, name, job in ((api, "red", "pi"), (other, "blue", "tau"))]
        assert [each.result(PATIENCE).status_code for each in made] == [201, 201]

    def judged():
        found = {name: {each["type"]: each for each in api.get(f"{place}/schedulings/{name}")["status"]["conditions"]}
                 for name in ("red", "blue")}
        acquired = {name: each.get("Acquired", {}).get("status") for name, each in found.items()}
        return found if sorted(map(str, acquired.values())) == ["False", "True"] else None
    found = scene.wait("one to hold and one to wait", judged)
    holder, waiter = sorted(found, key=lambda name: found[name]["Acquired"]["status"], reverse=True)
    assert f"{scene.namespace}/{holder}" in found[waiter]["Acquired"]["message"]
    blockers = api.get(f"{place}/schedulings/{waiter}/explain")["blockers"]
    assert holder in {each.get("holder", {}).get("name") for each in blockers}
    for name in (holder, waiter):
        assert api("DELETE", f"{place}/schedulings/{name}").status_code in (202, 204)


def test_an_explanation_has_the_words_of_kube_scheduler(scene, api, place):
    """The caches do not keep them, and the chart lets esi-scheduling list pods, not get them."""
    scene.nodes(1)
    scene.testbed()
    job = objects.job("pi", seconds=600)
    # ESI lets the executor in; kube-scheduler does not bind it beside the ghost of the other slot.
    job["spec"]["sparkSpec"]["executor"] = {"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": {objects.PREFIX + "ghost": "true"}}}]}}}
    scene.apply(job)
    scene.job_state("pi", "ReadyState")
    assert api("POST", f"{place}/schedulings", queue("plan", ["pi"])).status_code == 201

    def told():
        return [each["text"] for each in api.get(f"{place}/schedulings/plan/explain")["pods"] if each["reason"] == "NotBound"
                and "nodes are available" in each["text"]]
    [text] = scene.wait("kube-scheduler's own words", told)
    assert text.startswith("its scheduler has not bound it") and "anti-affinity" in text, text
    assert text.split(": ", 1)[1] in json.dumps(api.get(f"{place}/jobs/pi/explain"))
    assert api("DELETE", f"{place}/schedulings/plan").status_code in (202, 204)


def test_one_idempotency_key_makes_one_object_on_every_replica(scene, api, other, place):
    plan = queue("once", ["absent"], testbed="absent")
    first = api("POST", f"{place}/schedulings", plan, Idempotency_Key="key-1")
    second = other("POST", f"{place}/schedulings", plan, Idempotency_Key="key-1")
    assert (first.status_code, second.status_code) == (201, 201), second.text
    assert first.json()["metadata"]["uid"] == second.json()["metadata"]["uid"]
    assert api("POST", f"{place}/schedulings", plan).json()["code"] == "AlreadyExists"
    reused = other("POST", f"{place}/schedulings", queue("once", ["other"], testbed="absent"), Idempotency_Key="key-1")
    assert reused.json()["code"] == "IdempotencyKeyReused"
    dry = api("POST", f"{place}/schedulings?dryRun=true", queue("never", ["absent"], testbed="absent"))
    assert dry.status_code == 200 and "Warning" in dry.headers
    assert api("GET", f"{place}/schedulings/never").status_code == 404
    assert api("DELETE", f"{place}/schedulings/once").status_code in (202, 204)


def test_a_running_plan_is_extended_suspended_and_shortened(scene, api, place):
    scene.nodes(1)
    scene.testbed()
    scene.jobs("pi", "tau", "phi", seconds=600)
    assert api("POST", f"{place}/schedulings", queue("plan", ["pi", "pi"])).status_code == 201
    api.get(f"{place}/jobs/pi?waitFor=state%3DRunningState&wait=5m")
    shown = api("GET", f"{place}/schedulings/plan")
    missing = api("PUT", f"{place}/schedulings/plan", shown.json())
    assert missing.status_code == 428
    whole = shown.json()
    del whole["metadata"]["resourceVersion"]
    whole["spec"]["queueBased"] += [{"namespace": scene.namespace, "name": "tau"}]
    longer = api("PUT", f"{place}/schedulings/plan", whole, If_Match="*")
    assert longer.status_code == 200, longer.text
    assert [each["name"] for each in longer.json()["spec"]["queueBased"]] == ["pi", "pi", "tau"]
    entries = longer.json()["spec"]["queueBased"] + [{"name": "phi"}]
    longer = api("PATCH", f"{place}/schedulings/plan", {"spec": {"queueBased": entries}}, If_Match="*")
    assert longer.status_code == 200 and len(longer.json()["spec"]["queueBased"]) == 4
    explained = api.get(f"{place}/schedulings/plan/explain")
    assert {each["name"] for each in explained["jobs"]} == {"pi", "tau", "phi"}
    testbed = api("PATCH", f"{place}/schedulings/plan", {"spec": {"testbed": {"name": "other"}}}, If_Match="*")
    assert faults_of(testbed) == [("/spec/testbed", "FieldImmutable")]
    for verb, body in (("suspend", {"policy": "Keep"}), ("resume", None), ("cancel", {"job": "phi"})):
        answer = api("POST", f"{place}/schedulings/plan:{verb}", body)
        assert answer.status_code == 202, answer.text
    assert faults_of(api("POST", f"{place}/schedulings/plan:cancel", {"job": "absent"})) == [("/job", "JobUnknown")]
    released = api("POST", f"{place}/jobs/pi:release")
    assert released.status_code == 202
    scene.wait("the run to end", lambda: [each["outcome"] for each in api.get(f"{place}/schedulings/plan/explain")["jobs"]
                                          if each["name"] == "pi" and each.get("outcome")] == ["ReleasedByHand"])
    assert api("DELETE", f"{place}/schedulings/plan").status_code == 202


def test_a_failed_job_is_reset(scene, api, place):
    scene.nodes(1)
    scene.testbed()
    scene.apply(objects.job("bad", driver={"esi-test/fail": "true"}))
    scene.job_state("bad", "ReadyState")
    assert api("POST", f"{place}/jobs/bad:reset").status_code == 409
    assert api("POST", f"{place}/schedulings", queue("plan", ["bad"])).status_code == 201
    api.get(f"{place}/jobs/bad?waitFor=state%3DFailedState&wait=5m")
    assert api("DELETE", f"{place}/schedulings/plan").status_code == 202
    scene.wait("the plan to go", lambda: api("GET", f"{place}/schedulings/plan").status_code == 404)
    assert api("POST", f"{place}/jobs/bad:reset").status_code == 202
    assert api.get(f"{place}/jobs/bad?waitFor=state%3DReadyState&wait=5m")["status"]["state"] == "ReadyState"


# --- what is refused

def test_every_fault_is_told_at_once_and_none_is_a_500(scene, api, place):
    scene.nodes(1)
    scene.testbed()
    plan = queue("plan", ["pi", "pi", "pi"])
    assert faults_of(api("POST", f"{place}/schedulings", plan)) == [("/spec/queueBased/0", "TooManySlots")]
    plan["spec"] |= {"slotBased": {"mode": "strict", "jobs": [{"name": {"name": "pi"}, "slotIds": [0, 0]}]}, "more": 1}
    assert faults_of(api("POST", f"{place}/schedulings", plan)) == [
        ("/spec/more", "FieldUnknown"), ("/spec", "QueueAndSlots"), ("/spec/slotBased/jobs/0/slotIds/1", "SlotTwice")]
    table = [
        ("GET", "/schedulings?limit=0&x=1", None, {}, 400),
        ("GET", f"{place}/schedulings?labelSelector=a+b", None, {}, 400),
        ("GET", f"{place}/schedulings?continue=x", None, {}, 400),
        ("GET", f"{place}/schedulings/absent?wait=5", None, {}, 400),
        ("GET", f"{place}/schedulings/absent", None, {}, 404),
        ("GET", f"{place}/schedulings", None, {"Accept": "text/html"}, 406),
        ("GET", f"{place}/matrix", None, {}, 400),
        ("POST", f"{place}/schedulings", "{", {"Content-Type": "application/json"}, 400),
        ("POST", f"{place}/schedulings", "[" * 1000, {"Content-Type": "application/json"}, 400),
        ("POST", f"{place}/schedulings", "a: b", {"Content-Type": "application/yaml"}, 415),
        ("POST", f"{place}/schedulings", '{"x": "' + "y" * (1 << 20) + '"}', {"Content-Type": "application/json"}, 413),
        ("POST", f"{place}/schedulings", "{}", {"Content-Type": "application/json"}, 422),
        ("PUT", f"{place}/testbeds/slots/nodes", '{"count": 1}', {"Content-Type": "application/json"}, 403),
    ]
    for method, path, text, headers, status in table:
        answer = api(method, path, text=text, **{name.replace("-", "_"): value for name, value in headers.items()})
        assert answer.status_code == status, f"{method} {path}: {answer.text[:300]}"
    assert requests.delete(f"{api.url}/api/v1{place}/testbeds", timeout=PATIENCE).headers["Allow"] == "GET"


def test_a_plan_slot_by_slot_grows_while_it_runs(scene, api, place):
    """As an external scheduler does that decides online: a job with its slots at a time, and what is not acted on."""
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("a", seconds=600)
    scene.jobs("b", seconds=1)

    def patch(*jobs):
        return api("PATCH", f"{place}/schedulings/plan", {"spec": {"slotBased": {"mode": "relaxed", "jobs": [
            {"name": {"name": name}, "slotIds": slots} for name, slots in jobs]}}}, If_Match="*")

    body = objects.slot_plan("plan", "slots", "relaxed", [("a", [0])])
    assert api("POST", f"{place}/schedulings", {"metadata": body["metadata"], "spec": body["spec"]}).status_code == 201
    scene.job_state("a", "RunningState")
    grown = patch(("a", [0]), ("b", [1]))
    assert (grown.status_code, grown.headers.get("Warning")) == (200, None), grown.text
    scene.job_state("b", "CompletedState")
    moved = patch(("a", [1]), ("b", [1]))
    assert moved.status_code == 200 and "was started in slot 0, which stands" in moved.headers["Warning"]
    scene.finish("a")


# --- nodes

@pytest.fixture
def labelling(plane, operators, folder, document):
    """A replica with the right to label nodes."""
    files = sorted((MANIFESTS / "nodes").glob("*.yaml"))
    assert files
    for each in files:
        plane.kubectl("apply", "-f", str(each))
    one = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=374,
                   flags=(*FLAGS, "--api-nodes")).start().ready()
    yield Interface(one.url, document)
    assert one.stop() == 0, one.tail()
    for each in files:
        plane.kubectl("delete", "-f", str(each))


def test_nodes_are_given_to_a_testbed(scene, labelling, place):
    names = scene.nodes(2, labelled=False)
    scene.testbed(ready=False)
    answer = scene.wait("the right", lambda: (lambda each: each if each.status_code == 200 else None)(
        labelling("PUT", f"{place}/testbeds/slots/nodes", {"nodes": names})))
    assert answer.json() == {"nodes": names, "changed": names}
    # The first node may make a layout before the second has its label.
    scene.wait("both nodes", lambda: scene.testbed_ready()["counts"]["total"] == 4)
    assert labelling("PUT", f"{place}/testbeds/slots/nodes", {"nodes": names}).json()["changed"] == []
    few = labelling("PUT", f"{place}/testbeds/slots/nodes", {"count": 10_000})
    assert few.json()["code"] == "TooFewNodes"
    assert faults_of(labelling("PUT", f"{place}/testbeds/slots/nodes", {"nodes": ["absent"]})) == [("/nodes/0", "FieldValue")]
    assert labelling("PUT", f"{place}/testbeds/slots/nodes", {"nodes": names[:1]}).json()["changed"] == [names[1]]


def test_every_operation_was_answered_well_once(document):
    """The last of this file."""
    answered = {name for name, status in document.seen if status < 300}
    known = {each["operationId"] for methods in document.document["paths"].values() for each in methods.values()}
    assert {each for each in known - answered if "Events" not in each} == set()
