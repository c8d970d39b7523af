"""An ESI in virtual time, as far as an external scheduler sees it: the original's REST interface and topics;
/api/v1 is in simulated_v1.py.

Stands in for the server in unit tests and in the benchmark. It keeps the rules that matter to a
client: a Scheduling takes its testbed and all its jobs together or waits; a job runs in its slots, its
time given by the model; times in events are whole seconds, as Kubernetes keeps them; a Scheduling that
has completed holds everything until it is deleted, and deletion takes a moment.

    world = Simulated(model, {"profiler-slots": (1, 2)})
    interface = Interface("http://esi", world.clock, say, session=world.session())
"""
from __future__ import annotations

import heapq
import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from itertools import count
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import BaseAdapter

from esi_colocation.bench.model import Model
from esi_colocation.records import Scheduling

EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)
MOMENT = 0.2  # seconds that the operators take for a step
LETTING_IN = (0.5, 1.5)  # seconds from assignment to the first container's start
REQUEST = 0.005  # seconds that a request takes


class Gone(Exception):
    """For `before` and `after` of an adapter: the server cannot be reached."""


class Clock:
    """Time passes only in `sleep`, and what is planned for it happens then."""

    def __init__(self):
        self.time = 0.0
        self.order = count()
        self.planned: list = []

    def now(self) -> float:
        return self.time

    def stamp(self) -> int:
        return int((EPOCH.timestamp() + self.time) * 1000)

    def sleep(self, seconds: float) -> None:
        self.until(self.time + seconds)

    def after(self, seconds: float, what) -> None:
        heapq.heappush(self.planned, (self.time + seconds, next(self.order), what))

    def until(self, time: float) -> None:
        while self.planned and self.planned[0][0] <= time:
            self.time, _, what = heapq.heappop(self.planned)
            what()
        self.time = max(self.time, time)


@dataclass
class JobState:
    name: str
    state: str = "ReadyState"
    notes: dict | None = None
    events: list[dict] = field(default_factory=list)
    holder: str | None = None
    node: str | None = None  # where it runs
    work: float = 0.0  # what is left of it, in seconds alone
    looked: float = 0.0  # when `work` was right
    generation: int = 0  # of its planned end
    runs: int = 0


@dataclass
class Plan:
    body: dict
    state: str | None = None
    status: dict[str, str] = field(default_factory=dict)
    holds: bool = False
    deleting: bool = False

    @property
    def seats(self) -> dict[str, list[int]]:
        return {each["name"]: each["slots"] for each in self.body["slots"]["jobs"]}


class Simulated:
    """`testbeds`: {name: (nodes, slots per node)}. `failing`: {job: how many of its next runs fail}."""

    def __init__(self, model: Model, testbeds: dict[str, tuple[int, int]], seed: int = 1):
        self.model, self.testbeds = model, testbeds
        self.clock = Clock()
        self.chance = random.Random(f"esi {seed}")
        self.jobs = {name: JobState(name) for name in model.jobs}
        self.plans: dict[str, Plan] = {}
        self.failing: dict[str, int] = {}
        self.history: list[tuple[str, dict[str, list[int]]]] = []  # Schedulings that took their testbed
        self.listeners: list = []

    # --- the operators

    def step(self) -> None:
        """Everything that can go on goes on; called after each change."""
        for plan in self.plans.values():
            if plan.state is None:
                plan.state = "AcquireState"
            if plan.state == "AcquireState" and not plan.deleting and self.can_acquire(plan):
                self.acquire(plan)
            if plan.state == "AwaitingCompletionState" and \
                    all(self.jobs[name].state in ("CompletedState", "FailedState") for name in plan.seats):
                plan.state = "CompletedState"
        for listener in list(self.listeners):
            listener()

    def can_acquire(self, plan: Plan) -> bool:
        nodes, slots = self.testbeds.get(plan.body["testBed"], (0, 0))
        if any(slot >= nodes * slots for taken in plan.seats.values() for slot in taken):
            plan.state = "Error"
            return False
        return nodes > 0 and not any(other.holds and other.body["testBed"] == plan.body["testBed"]
                                     for other in self.plans.values()) and \
            all(name in self.jobs and self.jobs[name].state == "ReadyState" for name in plan.seats)

    def acquire(self, plan: Plan) -> None:
        plan.holds, plan.state = True, "AwaitingCompletionState"
        self.history.append((plan.body["name"], plan.seats))
        nodes, _ = self.testbeds[plan.body["testBed"]]
        for name, slots in plan.seats.items():
            job = self.jobs[name]
            job.holder, job.state = plan.body["name"], "ScheduledState"
            plan.status[name] = "Scheduled"
            place, holder = f"{plan.body['testBed']}-{slots[0] % nodes}", job.holder
            delay = self.chance.uniform(*LETTING_IN)
            self.clock.after(delay, lambda job=job, place=place, holder=holder: self.begin(job, place, holder))

    def begin(self, job: JobState, node: str, holder: str) -> None:
        if job.holder != holder:
            return
        job.state, job.looked = "RunningState", self.clock.time
        job.work = self.model.work_of_run(job.name, job.runs)
        job.runs += 1
        job.events.append({"start": self.stamp(), "stop": None, "successful": None,
                           "scheduling": {"namespace": "default", "name": holder}})
        self.account(node)
        job.node = node
        self.foresee(node)
        self.step()

    def account(self, node: str) -> None:
        """Takes what was done since the last look off the work of the jobs on that node."""
        there = [job for job in self.jobs.values() if job.node == node]
        for job in there:
            job.work -= (self.clock.time - job.looked) / self.rate(job, there)
            job.looked = self.clock.time

    def rate(self, job: JobState, there: list[JobState]) -> float:
        return self.model.slowdown(job.name, [other.name for other in there if other is not job])

    def foresee(self, node: str) -> None:
        there = [job for job in self.jobs.values() if job.node == node]
        for job in there:
            job.generation += 1
            self.clock.after(max(0.0, job.work * self.rate(job, there)),
                             lambda job=job, number=job.generation: self.end(job, number))

    def end(self, job: JobState, generation: int) -> None:
        if job.node is None or job.generation != generation:
            return
        good = self.failing.get(job.name, 0) == 0
        if not good:
            self.failing[job.name] -= 1
        job.state = "CompletedState" if good else "FailedState"
        job.events[-1].update(stop=self.stamp(), successful=good)
        self.plans[job.holder].status[job.name] = "Completed"
        self.leave(job)
        self.step()

    def leave(self, job: JobState) -> None:
        node = job.node
        if node is not None:
            self.account(node)
            job.node = None
            job.generation += 1
            self.foresee(node)

    def release(self, plan: Plan) -> None:
        for name in plan.seats:
            job = self.jobs.get(name)
            if job is None or job.holder != plan.body["name"]:
                continue
            if job.node is not None:
                job.events[-1].update(stop=self.stamp(), successful=False)
                self.leave(job)
            if job.state != "FailedState":
                job.state = "PendingDeletion"
            job.holder = None

        def released():
            for name in plan.seats:
                if name in self.jobs and self.jobs[name].state == "PendingDeletion":
                    self.jobs[name].state = "ReadyState"
            del self.plans[plan.body["name"]]
            self.step()
        self.clock.after(MOMENT * 2, released)

    def stamp(self) -> str:
        return (EPOCH + timedelta(seconds=int(self.clock.time))).strftime("%Y-%m-%dT%H:%M:%SZ")

    # --- what it shows

    def shown_job(self, name: str) -> dict:
        job = self.jobs[name]
        return {"name": name, "state": job.state, "externalScheduler": job.notes,
                "scheduledEvents": [dict(event) for event in job.events]}

    def shown_plan(self, name: str) -> dict:
        plan = self.plans[name]
        return {"name": name, "state": plan.state,
                "jobStatus": [{"name": job, "state": state} for job, state in plan.status.items()],
                "testBed": plan.body["testBed"], "queue": None, "slots": plan.body["slots"]}

    def shown_testbed(self, name: str) -> dict:
        nodes, slots = self.testbeds[name]
        return {"name": name, "state": "SUCCESS", "numberOfNodes": nodes, "numberOfSlotsPerNode": slots,
                "slotsByNode": {f"{name}-{node}": [
                    {"reservedFor": None, "state": "FREE", "podName": f"ghost-{node}-{index}",
                     "nodeName": f"{name}-{node}", "nodeId": node, "slotPositionOnNode": index,
                     "podUId": f"{node}-{index}", "position": index * nodes + node}
                    for index in range(slots)] for node in range(nodes)}}

    # --- the interface

    def answer(self, method: str, path: str, body) -> tuple[int, object]:
        kind, _, name = path.removeprefix("/external/").partition("/")
        shown = {"testbeds": (self.testbeds, self.shown_testbed), "jobs": (self.jobs, self.shown_job),
                 "schedulings": (self.plans, self.shown_plan)}.get(kind)
        if shown is None:
            return 404, {"error": "Not Found"}
        there, show = shown
        if method == "GET" and name:
            return (200, show(name)) if name in there else (404, {"error": "Not Found"})
        if method == "GET":
            return 200, {each: show(each) for each in there} if kind == "jobs" else [show(e) for e in there]
        if (method, kind) == ("PUT", "jobs"):
            if body["name"] not in self.jobs:
                return 404, {"error": "Not Found"}
            self.jobs[body["name"]].notes = json.loads(json.dumps(body.get("externalScheduler")))
            return 200, self.shown_job(body["name"])
        if (method, kind) == ("POST", "schedulings"):
            return self.post(body)
        if (method, kind) == ("DELETE", "schedulings"):
            if name not in self.plans or self.plans[name].deleting:
                return 304, None
            plan = self.plans[name]
            plan.deleting = True
            self.clock.after(MOMENT, lambda: self.release(plan))
            return 200, self.shown_plan(name)
        return 405, {"error": "Method Not Allowed"}

    def post(self, body: dict) -> tuple[int, object]:
        try:
            seats = Scheduling.read(body).seats
        except (KeyError, TypeError) as wrong:
            return 400, {"error": "Bad Request", "messages": [str(wrong)]}
        if not seats or len({slot for seat in seats for slot in seat.slots}) != \
                sum(len(seat.slots) for seat in seats):
            return 400, {"error": "Bad Request", "messages": ["slots"]}
        name = body["name"]
        if name in self.plans and self.plans[name].deleting:
            return 503, {"error": "Service Unavailable"}
        if name not in self.plans:
            self.plans[name] = Plan(json.loads(json.dumps(body)))
            self.clock.after(MOMENT, self.step)
        return 200, self.shown_plan(name)

    def session(self) -> requests.Session:
        session = requests.Session()
        session.mount("http://", Adapter(self))
        return session

    def topics(self) -> Topics:
        return Topics(self)


class Adapter(BaseAdapter):
    """A server without a network: requests hands every request of the session to it. `before` and
    `after` may raise: the request does not arrive, or its answer is lost."""

    def __init__(self, world: Simulated):
        super().__init__()
        self.world = world
        self.before = self.after = lambda method, path: None

    def send(self, request, **_):
        path = unquote(urlsplit(request.url).path)
        self.world.clock.sleep(REQUEST)
        try:
            self.before(request.method, path)
            status, body = self.world.answer(request.method, path, json.loads(request.body or b"null"))
            self.after(request.method, path)
        except Gone as gone:
            raise requests.ConnectionError(f"[Errno 111] {gone}") from None
        response = requests.Response()
        response.status_code, response.request, response.url = status, request, request.url
        response._content = b"" if body is None else json.dumps(body).encode()
        response.headers["Content-Type"] = "application/json"
        return response

    def close(self):
        pass


class Topics:
    """Topics that never lose a message: `next` ends with the first change of anything."""

    def __init__(self, world: Simulated):
        self.world = world

    def subscribe(self, kind: str, name: str) -> Subscription:
        return Subscription(self.world)


class Subscription:
    live = True
    look = 10.0

    def __init__(self, world: Simulated):
        self.world, self.changed = world, False

    def __enter__(self):
        self.world.listeners.append(self.change)
        return self

    def __exit__(self, *_):
        self.world.listeners.remove(self.change)

    def change(self) -> None:
        self.changed = True

    def next(self, seconds: float):
        clock = self.world.clock
        deadline = clock.time + seconds
        self.changed = False
        while not self.changed and clock.planned and clock.planned[0][0] <= deadline:
            clock.until(clock.planned[0][0])
        if not self.changed:
            clock.until(deadline)
