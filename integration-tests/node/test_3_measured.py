"""The times of docs/performance.md, measured here; the table is printed and kept as measured.txt."""
import pathlib
import time

import jobs
from cluster import ROOT, wait
from history import summary, swaps
from test_1_install import OPERATORS


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


def test_measured(esi, history, capsys):
    table = []
    launches = []
    jobs.put(esi, jobs.spark("measured", 4, 50))
    for number in range(3):
        plan = f"measured-{number}"
        begin = time.time()
        jobs.put(esi, jobs.slots(plan, {"measured": [0, 1]}))
        jobs.wait_finished(esi, plan)
        esi.api.delete("Scheduling", jobs.NAMESPACE, plan)
        running = [pod.running for pod in history.pods(since=begin) if pod.job == "measured" and
                   pod.labels.get("spark-role") == "executor"]
        assert len(running) == 2 and all(running), "two executors ran"
        launches.append(max(running) - begin)
    table.append(f"{'Scheduling created -> all executors Running':45} {summary(launches)}")
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
