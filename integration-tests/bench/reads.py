"""GET of one Testbed of 64 slots, at /api/v1 and at the frozen /external, as fast as wrk asks and takes.

wrk (one thread) and esi-scheduling (one thread) share the machine's processors, so that each has one where there are
two. The cluster is the file server's, which is not asked meanwhile. There is no token (--api-auth=none): a token is
reviewed once in ten seconds, by the API server, which the file server does not play.
"""
import re
import subprocess

import files
import processes
from control_plane import ROOT
from processes import say
from server import World

WORLD = World(16, 4, 0)
PATHS = {"/api/v1": "/api/v1/namespaces/default/testbeds/slots", "/external": "/external/testbeds/slots"}
CONNECTIONS = (1, 8)
SECONDS = 10
ROUNDS = 3
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s)", text).groups()
    return float(number) * UNITS[unit]


def ask(operator, path, connections):
    """One run of wrk: requests a second, quantiles in seconds, bytes and CPU seconds of an answer."""
    used = processes.cpu_seconds(operator.pid)
    done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", operator.url + path],
                          capture_output=True, text=True, check=True, timeout=SECONDS + 60).stdout
    if re.search(r"Non-2xx|Socket errors", done):
        raise RuntimeError(done)
    used = processes.cpu_seconds(operator.pid) - used
    count = int(re.search(r"(\d+) requests in", done)[1])
    quantiles = {mark: seconds(re.search(rf"^\s+{mark}%\s+(\S+)$", done, re.MULTILINE)[1]) for mark in (50, 99)}
    return {"rate": float(re.search(r"Requests/sec:\s+([\d.]+)", done)[1]), "p50": quantiles[50],
            "p99": quantiles[99], "cpu": used / count}


def measure(folder, worlds):
    subprocess.run([ROOT / "scripts" / "setup.sh", ROOT / "integration-tests" / "bench" / "debian-packages.txt"],
                   check=True, stdout=subprocess.DEVNULL)
    flags = {"scheduling": ("--api-auth=none", "--api-requests-per-second=1000000", "--api-request-burst=1000000")}
    out = {}
    with files.town(WORLD, folder / "town", worlds, flags=flags) as town:
        town.start_all()
        operator = town.running["scheduling"]
        for turn in range(ROUNDS):
            for name, path in PATHS.items():
                for connections in CONNECTIONS:
                    say(f"reads: {name}, {connections} at a time, {turn + 1} of {ROUNDS}")
                    out.setdefault(name, {}).setdefault(connections, []).append(ask(operator, path, connections))
    return out
