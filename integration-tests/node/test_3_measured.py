"""The times of docs/performance.md, measured here; the table is printed and kept as measured.txt."""
import pathlib
import statistics
import time

import jobs
from cluster import ROOT, wait
from history import summary, swaps
from test_1_install import OPERATORS

#: Starts through ESI, and as many by hand, in turns.
STARTS = 5


def is_ready(pod):
    return any(each["type"] == "Ready" and each["status"] == "True"
               for each in pod.get("status", {}).get("conditions") or [])


def start_up(cluster, operator):
    """Seconds from the creation of a pod of the operator to its being ready; of two, one after another."""
    seconds = []
    for pod in [pod for pod in cluster.api.list("Pod", "esi-system")
                if pod["spec"]["serviceAccountName"] == operator]:
        known = {each["metadata"]["uid"] for each in cluster.api.list("Pod", "esi-system")}
        cluster.api.delete("Pod", "esi-system", pod["metadata"]["name"])

        def fresh(known=known):
            return [each for each in cluster.api.list("Pod", "esi-system")
                    if each["spec"]["serviceAccountName"] == operator
                    and each["metadata"]["uid"] not in known]
        begin = time.monotonic() if wait("a new pod", fresh, 60, every=0.02) else None
        wait(f"a new pod of {operator} to be ready", lambda: is_ready(fresh()[0]), 120, every=0.02)
        seconds.append(time.monotonic() - begin)
    return seconds


def resident(program):
    """MiB of each process of that program that runs in a pod."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if folder.joinpath("exe").readlink() != pathlib.Path("/usr/local/bin") / program:
                continue
            lines = folder.joinpath("status").read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        found += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")]
    return found


def until_running(history, begin):
    """Seconds from `begin` until both executors of the one application since then ran."""
    running = [pod.running for pod in history.pods(since=begin) if pod.labels.get("spark-role") == "executor"]
    assert len(running) == 2 and all(running), "two executors ran"
    return max(running) - begin


def through_esi(esi, history, plan):
    """Seconds from a Scheduling of two slots to both executors."""
    begin = time.time()
    jobs.put(esi, jobs.slots(plan, {"measured": [0, 1]}))
    jobs.wait_finished(esi, plan)
    esi.api.delete("Scheduling", jobs.NAMESPACE, plan)
    return until_running(history, begin)


def by_hand(esi, history, name):
    """The same of the same application, made by hand: its executors have the slots' size, on nodes without slots."""
    spec = jobs.spark(name, 4, 50)["spec"]["sparkSpec"]
    spec["executor"] = {"instances": 2, "cores": 2, "coreRequest": "2", "memory": "1100m", "memoryOverhead": "436m"}
    begin = time.time()
    esi.api.create("SparkApplication", jobs.NAMESPACE, {
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
        "metadata": {"name": name, "namespace": jobs.NAMESPACE}, "spec": spec})

    def ended():
        found = esi.api.get("SparkApplication", jobs.NAMESPACE, name)
        return ((found.get("status") or {}).get("applicationState") or {}).get("state") in ("COMPLETED", "FAILED")
    wait(f"application {name} to end", ended, 400)
    seconds = until_running(history, begin)
    esi.api.delete("SparkApplication", jobs.NAMESPACE, name)
    wait(f"pods of {name} to go", lambda: not esi.api.list(
        "Pod", jobs.NAMESPACE, labels=f"sparkoperator.k8s.io/app-name={name}"), 180)
    return seconds


def test_measured(esi, history, capsys):
    table = []
    launches, manual = [], []
    jobs.put(esi, jobs.spark("measured", 4, 50))
    for number in range(STARTS):
        launches.append(through_esi(esi, history, f"measured-{number}"))
        manual.append(by_hand(esi, history, f"by-hand-{number}"))
    table.append(f"{'Scheduling created -> all executors Running':45} {summary(launches)}")
    table.append(f"{'by hand: application created -> the same':45} {summary(manual)}")
    share, hand = statistics.median(launches) - statistics.median(manual), statistics.median(manual)
    table.append(f"{'what the first is longer by, to the second':45} {share:.2f} s, {share / hand:.2f}")
    assert share <= hand / 2, "ESI takes more than half of what the application takes by itself"
    ins, outs = swaps(history.pods())
    assert len(ins) >= 6 and len(outs) >= 4
    table.append(f"{'ghost gone -> job pod Running':45} {summary([swap.seconds for swap in ins])}")
    table.append(f"{'job pod gone -> ghost Running':45} {summary([swap.seconds for swap in outs])}")
    for operator in OPERATORS:
        archive = ROOT / "build" / "images" / f"{operator}.tar"
        seconds = start_up(esi, operator)
        memory = resident(operator)
        assert len(memory) == 2, f"{operator}: {memory}"
        table.append(f"{operator + ': pod created -> ready':45} {summary(seconds)}")
        table.append(f"{operator + ': image, resident memory':45} {archive.stat().st_size / 1e6:.1f} MB, "
                     f"{max(memory):.0f} MiB")
    text = "\n".join(table) + "\n"
    (esi.folder / "measured.txt").write_text(text, encoding="utf-8")
    with capsys.disabled():
        print("\n" + text)
