"""What the demo shows: the slots of all testbeds with who is in each, plans, and the table of runs.

Pure functions from objects, as the API server has them, to lines of text.
"""
import datetime

PREFIX = "esi.tu-berlin.de/"
COLOURS = {"plain": "", "dim": "\033[2m", "green": "\033[32m", "yellow": "\033[33m", "red": "\033[31m",
           "bold": "\033[1m"}
END = "\033[0m"
WIDTH = 18


def paint(text, colour, colours):
    return f"{COLOURS[colour]}{text}{END}" if colours and COLOURS[colour] else text


def cell(row, jobs_by_pod):
    """(text, colour) of one slot."""
    if row["state"] == "FREE":
        return "ghost", "dim"
    if row["state"] == "OCCUPIED":
        return jobs_by_pod.get(row.get("podUId"), row.get("podName") or "?"), "green"
    if row["state"] == "RESERVED":
        taker = row.get("reservedFor")
        return (f"for {jobs_by_pod.get(taker, taker)}" if taker else "ghost comes"), "yellow"
    return "error", "red"


def job_names(pods, found):
    """Job of each job pod, by uid and by name. `found` keeps those that are gone by now: a Testbed's
    status may still name them."""
    for pod in pods:
        job = (pod["metadata"].get("labels") or {}).get(PREFIX + "job")
        if job:
            found[pod["metadata"]["uid"]] = found[pod["metadata"]["name"]] = job
    return found


def testbed_lines(testbed, jobs_by_pod, colours):
    status = testbed.get("status") or {}
    held = status.get("heldBy") or {}
    by = f"held by {held['name']}" if held.get("name") else "free"
    lines = [paint(testbed["metadata"]["name"], "bold", colours) + f"  {status.get('state', '-')}, {by}"]
    rows = status.get("slots") or []
    nodes = sorted({(row["nodeId"], row["nodeName"]) for row in rows})
    if nodes:
        lines.append("         " + "".join(f"{name:<{WIDTH}}" for _, name in nodes))
    for index in sorted({row["slotPositionOnNode"] for row in rows}):
        line = f"  slot {index} "
        for _, name in nodes:
            here = [row for row in rows if (row["nodeName"], row["slotPositionOnNode"]) == (name, index)]
            text, colour = cell(here[0], jobs_by_pod) if here else ("", "plain")
            line += paint(f"{text[:WIDTH - 2]:<{WIDTH}}", colour, colours)
        lines.append(line.rstrip())
    return lines


def plan_lines(schedulings, colours):
    lines = []
    for plan in schedulings:
        status = plan.get("status") or {}
        progress = status.get("progress") or {}
        counts = f"{progress.get('done', 0)} of {progress.get('total', '?')} done"
        if progress.get("failed"):
            counts += paint(f", {progress['failed']} failed", "red", colours)
        words = (status.get("waitingFor") or "")[:70]
        lines.append(f"  {plan['metadata']['name']:<14} {status.get('state', '-'):<24} {counts}  {words}".rstrip())
    return lines


def screen(testbeds, schedulings, jobs, names, colours):
    """`names`: see job_names."""
    lines = []
    for testbed in testbeds:
        lines += testbed_lines(testbed, names, colours) + [""]
    lines += [paint("plans", "bold", colours), *plan_lines(schedulings, colours), "",
              paint("jobs", "bold", colours)]
    lines += [f"  {job['metadata']['name']:<14} {(job.get('status') or {}).get('state', '-')}" for job in jobs]
    return lines


def one_line(testbeds, schedulings, names):
    """The same in one line, for logs: `scheduler-slots 0:spark-job-1 1:ghost ... | queue AwaitingCompletion`."""
    parts = []
    for testbed in testbeds:
        rows = sorted((testbed.get("status") or {}).get("slots") or [], key=lambda row: row["position"])
        parts.append(testbed["metadata"]["name"] + " " + " ".join(
            f"{row['position']}:{cell(row, names)[0].replace(' ', '-')}" for row in rows))
    plans = ", ".join(f"{plan['metadata']['name']} {(plan.get('status') or {}).get('state', '-')}"
                      for plan in schedulings)
    return " | ".join([*parts, plans])


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def runs_table(jobs):
    """Every run of every job, by start: job, plan, slots, nodes, neighbours, start, duration, outcome."""
    rows = []
    for job in jobs:
        for run in (job.get("status") or {}).get("runs") or []:
            started, stopped = run.get("started"), run.get("stopped")
            neighbours = sorted({name.rpartition("/")[2] for each in run.get("neighbours") or []
                                 for name in each.get("jobs") or []})
            lasted = f"{(moment(stopped) - moment(started)).total_seconds():.0f} s" if started and stopped else "-"
            rows.append((started or run.get("submitted") or "", [
                job["metadata"]["name"], (run.get("scheduling") or {}).get("name", "-"),
                (run.get("testbed") or {}).get("name", "-"),
                ",".join(map(str, run.get("slots") or [])), ",".join(dict.fromkeys(run.get("nodes") or [])),
                ",".join(neighbours) or "-", moment(started).strftime("%H:%M:%S") if started else "-", lasted,
                run.get("outcome", "-") + (f" ({run['reason']})" if run.get("outcome") == "Failed" else "")]))
    titles = ["job", "plan", "testbed", "slots", "nodes", "neighbours", "start", "duration", "outcome"]
    table = [titles, *[row for _, row in sorted(rows, key=lambda row: (row[0], row[1]))]]
    widths = [max(len(row[column]) for row in table) for column in range(len(titles))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in table]
