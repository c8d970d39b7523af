"""A running evaluation set-up from nothing, shown while it works: `make demo`.

Starts a real control plane with simulated nodes and the Spark operator, installs ESI's CRDs, rights and
operators, labels nodes, applies examples/, and watches the plans of examples/schedulings to their end.
Exit code 0: every job of every plan succeeded. Everything is taken down at the end, also by Ctrl-C;
with KEEP=1 all is left running, and it says how to look around. A folder (ESI_DEMO_DIR, build/demo of this
checkout by default) has one demo at a time: a second one is refused.
"""
import fcntl
import json
import os
import pathlib
import signal
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scenarios"))

import grid  # noqa: E402  (after the path is set)
from control_plane import ROOT, ControlPlane  # noqa: E402
from operators import Operators, binaries, free_port  # noqa: E402
from patience import wait  # noqa: E402
from product import OPERATORS, PORTS  # noqa: E402

NAMESPACE = "default"
PLANS = ("queue", "slots-strict", "slots-relaxed")
#: Three nodes for each testbed's slots as in the evaluation, one for pairs of jobs, one for drivers,
#: which have no place on a testbed.
LABELS = [("node-0", "tuberlin.de/scheduler-slots=0"), ("node-1", "tuberlin.de/scheduler-slots=1"),
          ("node-2", "tuberlin.de/scheduler-slots=2"), ("node-3", "tuberlin.de/profiler-slots=0")]
#: Seconds; long, as a wait ends when its condition holds, and machines may be slow.
PATIENCE = 600
PLANS_PATIENCE = 1200  # for all plans together
#: There is one replica of each. Without a lease a slow machine, or one that was suspended, ends none of them.
ALONE = ("--leader-elect=false",)
FOLDER = pathlib.Path(os.environ.get("ESI_DEMO_DIR", ROOT / "build" / "demo")).absolute()
KEEP = os.environ.get("KEEP", "") not in ("", "0")
#: The command that ends a demo that was kept; a folder that somebody chose belongs to it.
STOP = (f"ESI_DEMO_DIR={FOLDER} " if "ESI_DEMO_DIR" in os.environ else "") \
    + f"{ROOT / 'integration-tests' / 'demo' / 'run.sh'} stop"


class Failure(Exception):
    """What went wrong, for the person who watches."""


class Screen:
    """Progress on a terminal (redrawn in place) or in a log (one line now and then)."""

    def __init__(self):
        self.live = sys.stdout.isatty()
        self.begin = time.monotonic()
        self.drawn = 0
        self.names = {}
        self.last_line, self.last_time = "", 0.0

    def say(self, text):
        self.drawn = 0
        print(f"[{time.monotonic() - self.begin:5.1f} s] {text}", flush=True)

    def draw(self, testbeds, schedulings, jobs, pods):
        names = grid.job_names(pods, self.names)
        self.show(grid.screen(testbeds, schedulings, jobs, names, colours="NO_COLOR" not in os.environ),
                  grid.one_line(testbeds, schedulings, names))

    def show(self, lines, line):
        """The lines on a terminal, the one line in a log."""
        if self.live:
            lines = [f"[{time.monotonic() - self.begin:5.1f} s]", *lines]
            up = f"\033[{self.drawn}A" if self.drawn else ""
            # Without wrapping (7l, 7h): a line that is too long must stay one line for the way back up.
            sys.stdout.write(up + "\033[?7l" + "".join(f"\033[2K{each}\n" for each in lines) + "\033[J\033[?7h")
            sys.stdout.flush()
            self.drawn = len(lines)
            return
        now = time.monotonic()
        if line != self.last_line and now - self.last_time >= 1 or now - self.last_time >= 10:
            self.say(line)
            self.last_line, self.last_time = line, now


class Demo:
    def __init__(self, screen):
        self.screen = screen
        self.plane = ControlPlane(FOLDER / "cluster")
        self.operators = None

    def up(self):
        say = self.screen.say
        missing = [name for name in OPERATORS if not (binaries() / f"esi-{name}").exists()]
        if missing:
            raise Failure(f"{binaries()} has no {', '.join('esi-' + name for name in missing)}: "
                          "run `make build` first")
        clear_away(say)     # what a demo that was killed has left
        say("starting a control plane: etcd, API server, controllers, scheduler, 5 simulated nodes, Spark operator")
        self.plane.up(nodes=5, cpu="4", memory="16Gi", audit=False, parent=not KEEP)
        say("installing namespace, priority classes and rights of the operators")
        self.plane.install()
        say("starting the operators: " + ", ".join(f"esi-{name}" for name in OPERATORS))
        self.operators = Operators(self.plane, FOLDER / "operators", {name: ALONE for name in OPERATORS})
        for operator in self.operators:
            operator.port = port_or_another(PORTS[operator.name])
        self.operators.start()
        if KEEP:
            remember(self.operators)
        for node, label in LABELS:
            say(f"kubectl label node {node} {label}")
            self.plane.kubectl("label", "node", node, label)
        say("kubectl apply -k examples")
        self.plane.kubectl("apply", "-k", str(ROOT / "examples"))

    def objects(self, kind):
        return sorted(self.plane.api.list(kind, NAMESPACE), key=lambda thing: thing["metadata"]["name"])

    def draw(self):
        self.screen.draw(self.objects("Testbed"), sorted(
            self.objects("Scheduling"), key=lambda plan: PLANS.index(plan["metadata"]["name"])
            if plan["metadata"]["name"] in PLANS else len(PLANS)), self.objects("BatchJob"),
            self.plane.api.list("Pod", NAMESPACE, labels=grid.PREFIX + "job"))

    def watch(self, what, done, patience):
        """Draws until done() is true."""
        def drawn():
            if done():
                return True
            for operator in self.operators:
                if not operator.alive():
                    raise Failure(f"esi-{operator.name} ended with {operator.process.returncode}:\n{operator.tail(15)}")
            self.draw()
            return False
        wait(what, drawn, patience, pause=0.3, fault=Failure)
        self.draw()

    def slots_are_free(self):
        counts = [(testbed.get("status") or {}).get("counts") or {} for testbed in self.objects("Testbed")]
        return len(counts) == 2 and all(count.get("total") and count["free"] == count["total"] for count in counts) \
            and all((job.get("status") or {}).get("state") == "ReadyState" for job in self.objects("BatchJob"))

    def plan(self, name):
        return self.plane.api.get("Scheduling", NAMESPACE, name) or {}

    def run_plans(self):
        for number, name in enumerate(PLANS):
            self.screen.say(f"kubectl apply -f examples/schedulings/{name}.yaml")
            self.plane.kubectl("apply", "-f", str(ROOT / "examples" / "schedulings" / f"{name}.yaml"))
            if number == 0:     # the first is under way when the others come, and wait
                self.watch("the first job to run", lambda: any(
                    (job.get("status") or {}).get("state") == "RunningState" for job in self.objects("BatchJob")), PATIENCE)
        ends = ("FinishedState", "Error")
        self.watch("all plans to end", lambda: all(
            (self.plan(name).get("status") or {}).get("state") in ends for name in PLANS), PLANS_PATIENCE)

    def judge(self):
        """What did not go as it should, one line each."""
        faults = []
        for name in PLANS:
            status = self.plan(name).get("status") or {}
            if status.get("state") != "FinishedState" or (status.get("progress") or {}).get("failed"):
                faults.append(f"plan {name} ended as {status.get('state')} with {status.get('progress')}: "
                              f"{'; '.join(status.get('problems') or [])}")
        for job in self.objects("BatchJob"):
            for run in (job.get("status") or {}).get("runs") or []:
                if run.get("outcome") != "Succeeded":
                    faults.append(f"{job['metadata']['name']}: {run.get('outcome')} {run.get('reason', '')} "
                                  f"{run.get('message', '')}")
        return faults

    def table(self):
        self.screen.drawn = 0
        print("\n" + "\n".join(grid.runs_table(self.objects("BatchJob"))) + "\n", flush=True)

    def down(self):
        if self.operators is not None:
            for fault in self.operators.stop():
                self.screen.say(fault)
        self.plane.down()


def port_or_another(wanted):
    """The port, or a free one where somebody listens on it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
            return wanted
        except OSError:
            return free_port()


# --- one demo in a folder; what KEEP=1 leaves behind, and how it is ended

def claim(folder):
    """The folder is this process's as long as the file that is returned is open."""
    folder.mkdir(parents=True, exist_ok=True)
    claimed = open(folder / "lock", "a+", encoding="utf-8")
    try:
        fcntl.flock(claimed, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        claimed.seek(0)
        pid = claimed.read().strip()
        claimed.close()
        raise Failure(f"{folder} has a demo under way (pid {pid}). End that one with Ctrl-C, or give this one "
                      "a folder of its own: ESI_DEMO_DIR=/tmp/esi-demo make demo") from None
    claimed.truncate(0)
    claimed.write(str(os.getpid()))
    claimed.flush()
    return claimed


def start_time(pid):
    """Of a process, in ticks since boot; None where there is none. With the pid it is unmistakable."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return None


def remember(operators):
    kept = [[operator.pid, start_time(operator.pid)] for operator in operators]
    (FOLDER / "kept.json").write_text(json.dumps(kept), encoding="utf-8")


def kept_alive(folder):
    """The pids of the operators that KEEP=1 left in that folder and that run."""
    kept = folder / "kept.json"
    if not kept.exists():
        return []
    return [pid for pid, started in json.loads(kept.read_text(encoding="utf-8")) if start_time(pid) == started]


def refuse_beside_a_kept_one(folder):
    if kept_alive(folder):
        raise Failure(f"{folder} has a demo that KEEP=1 left running. End it with `{STOP}`, or give this one a "
                      "folder of its own: ESI_DEMO_DIR=/tmp/esi-demo make demo")


def clear_away(say):
    """Ends what an earlier demo left in the folder, running or not."""
    left = kept_alive(FOLDER)
    if left:
        say("ending what KEEP=1 left running")
    for pid in left:
        os.kill(pid, signal.SIGTERM)
    (FOLDER / "kept.json").unlink(missing_ok=True)
    ControlPlane(FOLDER / "cluster").down()


def ports_text(operators):
    """One line for each operator: where it listens, and what it serves there."""
    serves = {"testbed": "/metrics /readyz /debug /extender", "batchjob": "/metrics /readyz",
              "scheduling": "the page at /, /api/v1 /openapi.json /metrics /readyz /external, STOMP at /scheduler"}
    return "\n".join(
        f"    esi-{operator.name:<11} {operator.url}  {serves[operator.name]}"
        + ("" if operator.port == PORTS[operator.name] else f"  (in the guide {PORTS[operator.name]}, which is taken)")
        for operator in operators)


def how_to_look_around(demo):
    print(f"""It is left running (KEEP=1). The operators listen at:

{ports_text(demo.operators)}

To look around:

    eval "$({demo.plane.binary} env --dir {demo.plane.folder})"
    kubectl get tb,bj,sched
    kubectl events --for sched/queue
    kubectl get pods -o wide
    curl {demo.operators['scheduling'].url}/external/schedulings
    tail -f {FOLDER}/operators/esi-*.log

The page in a browser, {demo.operators['scheduling'].url}/, and /api/v1 want a token:

    kubectl create clusterrolebinding look --clusterrole cluster-admin --serviceaccount default:default
    kubectl create token default --audience esi

To end it:

    {STOP}
""", flush=True)


def main():
    screen = Screen()
    try:
        claimed = claim(FOLDER)
        if sys.argv[1:] == ["stop"]:
            clear_away(screen.say)
            return 0
        refuse_beside_a_kept_one(FOLDER)
    except Failure as failure:
        screen.say(f"REFUSED: {failure}")
        return 1
    with claimed:
        return show(screen)


def show(screen):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    demo = Demo(screen)
    kept = False
    try:
        demo.up()
        demo.watch("all slots to hold a ghost and all jobs to be ready", demo.slots_are_free, PATIENCE)
        demo.run_plans()
        demo.table()
        faults = demo.judge()
        if faults:
            raise Failure("\n".join(faults))
        if KEEP:
            kept = True
            how_to_look_around(demo)
        else:
            screen.say("all plans are finished, all jobs succeeded; taking everything down")
        return 0
    except KeyboardInterrupt:
        screen.say("interrupted; taking everything down")
        return 130
    except (Failure, RuntimeError) as failure:
        screen.say(f"FAILED: {failure}")
        print(f"logs: {FOLDER}/operators/*.log and {FOLDER}/cluster/logs/*.log", file=sys.stderr)
        if KEEP and demo.operators is not None:
            kept = True
            how_to_look_around(demo)
        return 1
    finally:
        if not kept:
            signal.signal(signal.SIGINT, signal.SIG_IGN)    # a second Ctrl-C must not leave things behind
            demo.down()


if __name__ == "__main__":
    sys.exit(main())
