"""What processes say of themselves: memory, processor time, metrics; and how long an operator is deaf."""
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import threading
import time

import requests

import patience

TICK = os.sysconf("SC_CLK_TCK")


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def wait(what, probe, timeout=300, pause=0.02):
    return patience.wait(what, probe, timeout, pause, fault=RuntimeError)


def status_kib(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}


def memory(pid):
    """(resident, of that its own, the most it ever had) in MB (10^6 bytes)."""
    kib = status_kib(pid)
    return tuple(kib[key] * 1024 / 1e6 for key in ("VmRSS", "RssAnon", "VmHWM"))


def cpu_seconds(pid):
    """What it has used so far, in user and kernel mode, to the microsecond where the kernel says it so."""
    try:
        tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
        return sum(int(each.read_text(encoding="ascii").split()[0]) for each in tasks) / 1e9
    except OSError:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK


def scrape(operator):
    """{series: value} of the operator's metrics."""
    text = requests.get(operator.url + "/metrics", timeout=60).text
    found = re.findall(r"^([a-zA-Z_:]+(?:\{[^}]*\})?) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def total(numbers, name):
    """The sum of all series of that name."""
    return sum(value for series, value in numbers.items() if series.split("{")[0] == name)


def reconciles(numbers):
    return total(numbers, "controller_runtime_reconcile_total")


#: Metrics of the operators that count slots looked at, by operator; what an older one does not have is None.
LOOKS = {"testbed": ("esi_testbed_slots_assessed_total",), "scheduling": ("esi_scheduling_slots_read_total",)}


def looks(numbers, operator):
    """Slots that the operator has looked at so far; None where it does not count them."""
    for name in LOOKS.get(operator, ()):
        if any(series.split("{")[0] == name for series in numbers):
            return total(numbers, name)
    return None


def counted(before, after, times=1):
    """Reconciles and looks of each operator between two scrapes, for each of `times`."""
    def looked(name):
        value = looks(after[name], name)
        return None if value is None else (value - (looks(before[name], name) or 0)) / times
    return {"reconciles": {name: (reconciles(after[name]) - reconciles(before[name])) / times for name in after},
            "looks": {name: looked(name) for name in after}}


def quantiles(times):
    """Median, p99 and longest."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[round(0.99 * (len(ordered) - 1))], ordered[-1]


class Pulse(threading.Thread):
    """Asks an operator for /livez all the time: how long its one thread is deaf at most."""

    def __init__(self, operator):
        super().__init__(daemon=True)
        self.url = operator.url + "/livez"
        self.times = []
        self.over = threading.Event()
        self.start()

    def run(self):
        with requests.Session() as session:
            while not self.over.wait(0.02):
                begin = time.monotonic()
                try:
                    session.get(self.url, timeout=120)
                except requests.ConnectionError:
                    continue  # it does not listen yet
                self.times.append(time.monotonic() - begin)

    def stop(self):
        """Median, p99 and longest, in seconds."""
        self.over.set()
        self.join()
        return quantiles(self.times)


class Floor:
    """esi-bench-floor (floor.cpp): the lists and watches of an operator without the operator."""

    def __init__(self, binary, url, what, kinds, log):
        with open(log, "ab") as errors:
            self.process = subprocess.Popen([str(binary), url, what, *kinds], stdout=subprocess.PIPE, stderr=errors,
                                            text=True, start_new_session=True)

    @property
    def pid(self):
        return self.process.pid

    def listed(self):
        """Waits for the first list of each kind; the number of objects."""
        line = self.process.stdout.readline().split()
        if not line:
            raise RuntimeError("esi-bench-floor ended")
        return int(line[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        self.process.stdout.close()
