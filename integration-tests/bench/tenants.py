"""What one tenant costs the others: each thing that it may do, one object a second (at full speed it fills etcd first, with
ESI and without), and meanwhile the memory of the operators, a good caller of /api/v1, and starts of another tenant, beside
the same application by hand, for which no ESI is needed."""
import contextlib
import pathlib
import statistics
import tempfile
import threading
import time

import requests

import objects
import plane
import processes
from api import ApiException, Api, path
from files import run_by_esi, run_by_hand
from patience import let_pass
from processes import say
from rights import roles_of_chart

EVIL = "bench-evil"
STARTS = 5
#: Of one kind of attack at a time, each with one object or request a period.
THREADS, PERIOD = 4, 4.0
#: Requests of ten accounts come as fast as they are answered.
QUICK = 0.0
ACCOUNTS = 10


def ignore_refusals(call, *arguments):
    with contextlib.suppress(ApiException, requests.RequestException):
        call(*arguments)


class Evil:
    """What the tenant does, over and over; its own objects only."""

    def __init__(self, place, tokens):
        self.kubeconfig, self.url, self.tokens = place.plane.kubeconfig, place.operators["scheduling"].url, tokens

    def stores_jobs(self, api, thread, number):
        """BatchJobs with specs of 1.2 MB, 40 of each thread at a time."""
        name = f"job-{thread}-{number % 40}"
        ignore_refusals(api.delete, "BatchJob", EVIL, name)
        ignore_refusals(api.create, "BatchJob", EVIL, objects.job(name, arguments=["x" * 1024] * 1200))

    def stores_plans(self, api, thread, number):
        """Schedulings of 4,096 jobs that do not exist, for a Testbed that does not."""
        name = f"plan-{thread}-{number % 20}"
        ignore_refusals(api.delete, "Scheduling", EVIL, name)
        ignore_refusals(api.create, "Scheduling", EVIL,
                        objects.queue(name, "none", [f"job-{each}" for each in range(4096)]))

    def makes_pods(self, api, thread, number):
        """Gated pods with a label of ESI and an affinity of 1.1 MB."""
        name = f"pod-{thread}-{number % 30}"
        terms = [{"matchExpressions": [{"key": "a", "operator": "In", "values": [f"{v:061}" for v in range(17_000)]}]}]
        body = objects.pod(name, cpu="0", memory="0", schedulingGates=[{"name": "x.y/z"}], affinity={"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}})
        body["metadata"]["labels"] = {objects.PREFIX + "job": "x"}
        ignore_refusals(lambda: api.delete("Pod", EVIL, name, grace=0))
        ignore_refusals(api.create, "Pod", EVIL, body)

    def asks(self, _, thread, number):
        """Lists of its namespace by /api/v1, from ten accounts."""
        token = self.tokens[(thread + number) % len(self.tokens)]
        ignore_refusals(lambda: requests.get(
            f"{self.url}/api/v1/namespaces/{EVIL}/jobs?limit=500", timeout=60,
            headers={"Authorization": f"Bearer {token}"}))


@contextlib.contextmanager
def at_work(evil, what):
    """Threads that do it until the block ends."""
    stop = threading.Event()

    def repeat(thread):
        api = Api(evil.kubeconfig)
        number = 0
        while not stop.wait(QUICK if what == evil.asks else PERIOD):
            what(api, thread, number)
            number += 1

    threads = [threading.Thread(target=repeat, args=(each,), daemon=True) for each in range(THREADS if what else 0)]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        stop.set()
        for each in threads:
            each.join(120)


class Good:
    """A caller of another tenant, four requests a second."""

    def __init__(self, url, token):
        self.url, self.token = url, token
        self.took, self.refused = [], 0
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {self.token}"
        while not self.stop.wait(0.25):
            begun = time.monotonic()
            answer = session.get(f"{self.url}/api/v1/namespaces/default/testbeds", timeout=60)
            self.took.append(time.monotonic() - begun)
            self.refused += answer.status_code != 200

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(60)


def timed(call, *arguments, **more):
    begun = time.monotonic()
    call(*arguments, **more)
    return time.monotonic() - begun


def is_empty(api, kind):
    with contextlib.suppress(ApiException):
        api.call("DELETE", path(kind, EVIL))
        return not api.list(kind, EVIL)
    return False


def cost(place, evil, what, token):
    for operator in place.operators:
        pathlib.Path(f"/proc/{operator.pid}/clear_refs").write_text("5", encoding="ascii")
    by_esi, by_hand = [], []
    with at_work(evil, what), Good(evil.url, token) as good:
        let_pass(5, "the load is there before what is measured")
        for number in range(STARTS):
            by_esi.append(timed(run_by_esi, place.api, f"victim-{number}", job="pi", total_slots=6, pause=0.1))
            by_hand.append(timed(run_by_hand, place.api, f"hand-{number}", pause=0.1))
    found = {"esi": by_esi, "hand": by_hand, "good": good.took, "refused": good.refused,
             "peak": {operator.name: processes.memory(operator.pid)[2] for operator in place.operators}}
    for kind in ("BatchJob", "Scheduling", "Pod"):
        processes.wait("the end of what was stored", lambda kind=kind: is_empty(place.api, kind))
    say(f"median by ESI {statistics.median(by_esi):.1f} s, by hand {statistics.median(by_hand):.1f} s, {found['peak']}")
    return found


def tokens_of(place, namespace, count):
    out = []
    for number in range(count):
        name = f"caller-{number}"
        place.plane.kubectl("create", "serviceaccount", name, "-n", namespace)
        place.plane.kubectl("create", "rolebinding", name, "-n", namespace, "--clusterrole=esi-view",
                            f"--serviceaccount={namespace}:{name}")
        out.append(place.plane.kubectl("create", "token", name, "-n", namespace, "--audience=esi").strip())
    return out


def measure():
    with tempfile.TemporaryDirectory(prefix="esi-bench-") as folder:
        place = plane.Plane(pathlib.Path(folder))
        try:
            place.up()
            plane.add_small(place)
            place.plane.kubectl("apply", "-f", "-", stdin=roles_of_chart())
            place.plane.kubectl("create", "namespace", EVIL)
            evil = Evil(place, tokens_of(place, EVIL, ACCOUNTS))
            token = tokens_of(place, "default", 1)[0]
            run_by_esi(place.api, "warm-up", job="pi", total_slots=6, pause=0.1)
            run_by_hand(place.api, "warm-up", pause=0.1)
            ways = {"nothing": None, "stores BatchJobs of 1.2 MB (`edit`)": evil.stores_jobs,
                    "stores plans of 4,096 jobs (`edit`)": evil.stores_plans,
                    "makes gated pods of 1.1 MB with a label of ESI (may create pods)": evil.makes_pods,
                    "lists by /api/v1 from ten accounts (`view`)": evil.asks}
            return {name: cost(place, evil, what, token) for name, what in ways.items()}
        finally:
            place.down()
