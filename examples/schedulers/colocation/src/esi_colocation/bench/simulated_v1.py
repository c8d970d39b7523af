"""/api/v1 of the simulated ESI: the part of it that this program uses. An answer that waits lets time pass.

    esi = esi_client.connect("http://esi", transport=Transport(world))
"""
from __future__ import annotations

import json
import re
from urllib.parse import unquote

import httpx

from esi_colocation.bench.simulated import REQUEST, Gone, Plan, Simulated

API_VERSION = "esi.tu-berlin.de/v1alpha1"
KINDS = {"testbeds": "Testbed", "jobs": "BatchJob", "schedulings": "Scheduling"}


class Problem(Exception):
    def __init__(self, status: int, code: str, detail: str):
        self.status, self.code, self.detail = status, code, detail


class V1:
    """What is shown of a world, with versions that grow with each change that can be seen."""

    def __init__(self, world: Simulated):
        self.world = world
        self.newest = 0
        self.last = dict.fromkeys(KINDS, 0)  # of each kind
        self.versions: dict[tuple[str, str], tuple[dict, int]] = {}
        self.keys: dict[str, tuple[str, dict]] = {}  # Idempotency-Key by Scheduling

    # --- objects

    def names(self, kind: str) -> list[str]:
        return sorted({"testbeds": self.world.testbeds, "jobs": self.world.jobs, "schedulings": self.world.plans}[kind])

    def look(self, kind: str, name: str) -> dict | None:
        """The object with its version as it is now; None where there is none."""
        if name not in self.names(kind):
            if self.versions.pop((kind, name), None):
                self.change(kind)
            return None
        shown = {"testbeds": self.testbed, "jobs": self.job, "schedulings": self.plan}[kind](name)
        before = self.versions.get((kind, name))
        if before is None or before[0] != shown:
            self.versions[kind, name] = before = (shown, self.change(kind))
        return {"apiVersion": API_VERSION, "kind": KINDS[kind],
                "metadata": {"name": name, "namespace": "default", "resourceVersion": str(before[1]), "generation": 1,
                             "labels": {}}} | shown

    def change(self, kind: str) -> int:
        self.newest += 1
        self.last[kind] = self.newest
        return self.newest

    def testbed(self, name: str) -> dict:
        nodes, slots = self.world.testbeds[name]
        return {"spec": {"slotsPerNode": slots, "nodeLabel": name, "resourcesPerSlot": {"cpu": "1"}},
                "status": {"state": "SUCCESS", "slots": [], "nodeProblems": {}, "problems": [], "conditions": [],
                           "observedGeneration": 1}}

    def job(self, name: str) -> dict:
        job = self.world.jobs[name]
        runs = [{"run": f"r{number}", "slots": [], "nodes": [], "neighbours": [], "scheduling": event["scheduling"],
                 "started": event["start"],
                 "outcome": {None: "Running", True: "Succeeded", False: "Failed"}[event["successful"]]}
                | ({"stopped": event["stop"]} if event["stop"] else {}) for number, event in enumerate(job.events, 1)]
        return {"spec": {} if job.notes is None else {"externalScheduler": json.loads(json.dumps(job.notes))},
                "status": {"state": job.state, "scheduledEvents": [], "slotIds": [], "problems": [], "placements": [],
                           "conditions": [], "observedGeneration": 1, "runs": runs, "runCount": len(runs)}}

    def plan(self, name: str) -> dict:
        plan = self.world.plans[name]
        status = {"jobStates": [{"name": {"namespace": "default", "name": job}, "state": state}
                                for job, state in plan.status.items()], "problems": [], "assignments": [],
                  "epoch": 0, "lastRun": 0, "conditions": [], "waitingForSchedulings": [], "observedGeneration": 1}
        return {"spec": {"testbed": {"name": plan.body["testBed"]}, "slotBased": {
            "mode": plan.body["slots"]["mode"].lower(),
            "jobs": [{"name": {"name": job}, "slotIds": slots} for job, slots in plan.seats.items()]}},
            "status": status | ({"state": plan.state} if plan.state else {})}

    # --- operations

    def get(self, kind: str, name: str, query: dict) -> dict:
        if "index" not in query or self.look(kind, name) is None:
            return self.there(kind, name)
        self.wait(query, lambda: (now := self.look(kind, name)) is None or
                  int(now["metadata"]["resourceVersion"]) > int(query["index"]))
        return self.there(kind, name)

    def there(self, kind: str, name: str) -> dict:
        found = self.look(kind, name)
        if found is None:
            raise Problem(404, "NotFound", f"{KINDS[kind]} default/{name} does not exist")
        return found

    def list(self, kind: str, query: dict) -> dict:
        if "index" in query:
            self.wait(query, lambda: self.version(kind) > int(query["index"]))
        return {"items": [self.look(kind, name) for name in self.names(kind)],
                "resourceVersion": str(self.version(kind))}

    def version(self, kind: str) -> int:
        for name in {*self.names(kind), *(name for of, name in self.versions if of == kind)}:
            self.look(kind, name)
        return self.last[kind]

    def wait(self, query: dict, is_due) -> None:
        clock = self.world.clock
        deadline = clock.time + int(query["wait"].removesuffix("ms")) / 1000
        while not is_due():
            if not clock.planned or clock.planned[0][0] > deadline:
                clock.until(deadline)
                return
            clock.until(clock.planned[0][0])

    def slots(self, name: str) -> dict:
        shown = self.there("testbeds", name)
        nodes = self.world.shown_testbed(name)["slotsByNode"]
        items = [{key: value for key, value in slot.items() if value is not None}
                 for slots in nodes.values() for slot in slots]
        return {"testbed": {"namespace": "default", "name": name}, "items": sorted(items, key=lambda slot: slot["position"]),
                "resourceVersion": shown["metadata"]["resourceVersion"]}

    def explain(self, name: str) -> dict:
        self.there("schedulings", name)
        plan = self.world.plans[name]
        blockers = [{"reason": "TestbedHeld", "what": {"kind": "Testbed", "name": plan.body["testBed"]}, "slots": [],
                     "slotsLeftOut": 0, "text": f"Testbed {plan.body['testBed']} is held by Scheduling {other}"}
                    for other, held in self.world.plans.items()
                    if other != name and held.holds and held.body["testBed"] == plan.body["testBed"]]
        left_out = {f"{part}LeftOut": 0 for part in ("blockers", "cycle", "jobs", "pods")}
        return {"name": name, "testbed": {"name": plan.body["testBed"]}, "blockers": blockers, "cycle": [], "jobs": [],
                "pods": []} | left_out

    def create(self, body: dict, key: str | None) -> dict:
        name = body["metadata"]["name"]
        plan = self.world.plans.get(name)
        if plan is not None:
            if plan.deleting:
                raise Problem(409, "AlreadyExists", f"Scheduling default/{name} is being deleted")
            if key is None or self.keys.get(name) != (key, body):
                raise Problem(409, "AlreadyExists", f"Scheduling default/{name} exists")
            return self.there("schedulings", name)
        spec = body["spec"]["slotBased"]
        if spec["mode"] not in ("strict", "relaxed"):
            raise Problem(422, "FieldValue", f"/spec/slotBased/mode: must be one of strict, relaxed, not {spec['mode']}")
        status, shown = self.world.post({"name": name, "testBed": body["spec"]["testbed"]["name"], "queue": None, "slots": {
            "mode": spec["mode"].upper(), "jobs": [{"name": each["name"]["name"], "slots": each["slotIds"]} for each in spec["jobs"]]}})
        if status != 200:
            raise Problem(422, "Invalid", str(shown))
        if key is not None:
            self.keys[name] = (key, body)
        return self.there("schedulings", name)

    def delete(self, name: str) -> dict | None:
        shown = self.there("schedulings", name)
        held: Plan = self.world.plans[name]
        self.world.answer("DELETE", f"/external/schedulings/{name}", None)
        return shown if held.holds else None

    def patch_notes(self, name: str, patch: dict, if_match: str | None) -> dict:
        shown = self.there("jobs", name)
        if if_match not in (None, "*", f'"{shown["metadata"]["resourceVersion"]}"'):
            raise Problem(412, "PreconditionFailed", f"BatchJob default/{name} has another version")
        job = self.world.jobs[name]
        notes = {key: lines for key, lines in ((job.notes or {}) | patch).items() if lines is not None}
        job.notes = json.loads(json.dumps(notes))
        return self.there("jobs", name)

    # --- a request

    def answer(self, method: str, path: str, query: dict, headers, body) -> tuple[int, dict | None]:
        found = re.fullmatch(r"/api/v1/namespaces/default/(testbeds|jobs|schedulings)(?:/([^/]+))?(?:/([^/]+))?", path)
        if not found:
            raise Problem(404, "NotFound", f"nothing is at {path}")
        kind, name, part = found.groups()
        match method, kind, part:
            case "GET", _, None:
                return 200, self.get(kind, name, query) if name else self.list(kind, query)
            case "GET", "testbeds", "slots":
                return 200, self.slots(name)
            case "GET", "schedulings", "explain":
                return 200, self.explain(name)
            case "POST", "schedulings", None:
                return 201, self.create(body, headers.get("Idempotency-Key"))
            case "DELETE", "schedulings", None:
                shown = self.delete(name)
                return (202, shown) if shown else (204, None)
            case "PATCH", "jobs", "external-scheduler":
                return 200, self.patch_notes(name, body, headers.get("If-Match"))
        raise Problem(405, "MethodNotAllowed", f"{path} does not take {method}")


class Transport(httpx.BaseTransport):
    """A server without a network. `before` and `after` may raise: the request does not arrive, or its answer is
    lost."""

    def __init__(self, world: Simulated):
        self.world, self.shown = world, V1(world)
        self.before = self.after = lambda method, path: None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path, method = unquote(request.url.raw_path.decode().partition("?")[0]), request.method
        self.world.clock.sleep(REQUEST)
        try:
            self.before(method, path)
            answer = self.reply(request, path)
            self.after(method, path)
        except Gone as gone:
            raise httpx.ConnectError(f"[Errno 111] {gone}", request=request) from None
        return answer

    def reply(self, request: httpx.Request, path: str) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        try:
            status, shown = self.shown.answer(request.method, path, dict(request.url.params), request.headers, body)
        except Problem as problem:
            return httpx.Response(problem.status, headers={"Content-Type": "application/problem+json"}, json={
                "type": f"urn:esi:problem:{problem.code}", "title": problem.code, "status": problem.status,
                "detail": problem.detail, "code": problem.code, "retryable": False}, request=request)
        index = {} if shown is None else {"X-ESI-Index": shown.get("resourceVersion") or
                                          shown.get("metadata", {}).get("resourceVersion", "0")}
        if shown is None:
            return httpx.Response(status, request=request)
        return httpx.Response(status, json=shown, headers=index, request=request)
