"""The numbers of docs/performance.md. Progress goes to stderr, the tables to stdout as markdown.

    scripts/bench.sh                  everything
    scripts/bench.sh --quick          the small size only
    scripts/bench.sh --parts files    some of: plane, files, micro, stomp, streams, reads, gangs, tenants (the last two: only this asks for them)
    scripts/bench.sh --docs           puts tables and plots into docs/performance.md and docs/performance/

What was measured is kept as JSON (--results, build/bench/results.json): parts that are not run are taken from
there, with the load that was noted when they were, so that a long run can be had in pieces.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import files
import gang_bench
import micro
import plane
import reads
import report
import tenants
from control_plane import ROOT
from processes import say
from server import World

BUILD = ROOT / "build" / "bench"
#: The clusters of files, and how many starts in each.
SMALL = World(3, 2, 30)
WORLDS = {"6": SMALL, "2,000": World(500, 4, 15_000), "10,000": World(1000, 10, 30_000),
          "50,000": World(5000, 10, 150_000)}
#: What one more slot, node and pod of others costs: each differs from the first in one of them only.
DIFFERENCES = {"base": World(500, 10), "slots": World(500, 20), "nodes": World(1000, 5), "pods": World(500, 10, 10_000)}
EMPTY = {"6": SMALL._replace(empty=True, others=0), "2,000": World(500, 4, 0, 8, True)}


def measure_files(options):
    with tempfile.TemporaryDirectory(prefix="esi-bench-") as folder:
        return measure_towns(options, pathlib.Path(folder), BUILD / "worlds")


def measure_towns(options, folder, worlds):
    found = {"starts": {}, "memory": {}, "start-up": {}, "events": {}, "rest": {}, "numbers": {}, "filling": {},
             "differences": {}}
    chosen = {name: WORLDS[name] for name in (["6"] if options.quick else options.sizes)}
    largest = list(chosen)[-1]
    flags = {"testbed": ("--compact-layouts",)} if options.compact_layouts else {}
    for name, world in chosen.items():
        say(f"{name} slots, {world.nodes} nodes, {world.others} other pods, out of files")
        with files.town(world, folder / f"town-{name}", worlds, flags=flags) as town:
            found["numbers"][name] = town.server.numbers()
            if name in ("6", largest):
                found["start-up"][name] = files.start_ups(town, options.start_ups)
            town.start_all()
            found["memory"][name] = files.memory_of_all(town)
            if options.starts:
                found["starts"][name] = files.starts_of(town, options.starts)
            if name in ("6", largest):
                found["events"][name] = files.cost_of_events(town, options.rate, options.seconds)
            found["rest"][name] = files.rest(town)
    for name, world in EMPTY.items():
        if options.quick and name != "6":
            continue
        say(f"filling {name} slots")
        with files.town(world, folder / f"empty-{name}", worlds) as town:
            found["filling"][name] = files.filling(town)
    if not options.quick:
        for name, world in DIFFERENCES.items():
            say(f"memory: {name}")
            with files.town(world, folder / f"memory-{name}", worlds) as town:
                town.start_all()
                found["differences"][name] = files.memory_of_all(town)
    world = chosen[largest]
    say(f"failover at {largest} slots")
    with files.town(world, folder / "failover", worlds, lease=15) as town:
        found["failover"] = {"slots": largest, "runs": files.failover(town, options.failovers)}
    return found


def line_of(scenario, begin, **environment):
    """The line that a scenario prints about a thousand of its clients."""
    done = subprocess.run(
        [ROOT / "integration-tests" / "scenarios" / "run.sh", scenario, "-s", "-k", "thousand"],
        capture_output=True, text=True, timeout=900, check=False, env=dict(os.environ, **environment))
    line = re.search(rf"^{begin}.*$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not line:
        raise RuntimeError(done.stdout[-2000:])
    return {"line": line[0]}


def measure_stomp(_):
    return line_of("test_18_stomp.py", r"\d+ subscribers and 10", ESI_STOMP_CHANGES="250")


def measure_streams(_):
    """Events of /api/v1: 50 changes a second for 20 s."""
    return line_of("test_38_api_events.py", r"\d+ clients and 10", ESI_EVENT_CHANGES="500")


def measure_reads(_):
    with tempfile.TemporaryDirectory(prefix="esi-bench-") as folder:
        return reads.measure(pathlib.Path(folder), BUILD / "worlds")


def measure_plane(options):
    sizes = [] if options.quick else [name for name in plane.SIZES if name != "6" and name in options.sizes]
    return plane.measure(options.starts, options.large_starts, sizes, options.keep)


def measure_gangs(options):
    """With coscheduling on Kubernetes gang_bench.KUBERNETES, which is built first, as is that scheduler."""
    sides = [side for side in gang_bench.SIDES if side in options.gang_sides]
    return gang_bench.measure_sides(gang_bench.SMALL if options.quick else gang_bench.FULL, sides, options.keep)


def measure_tenants(_):
    return tenants.measure()


MEASURED = {"plane": measure_plane, "files": measure_files, "micro": micro.measure, "stomp": measure_stomp,
            "streams": measure_streams, "reads": measure_reads, "gangs": measure_gangs,
            "tenants": measure_tenants}
#: Parts that are measured only where --parts names them; where --quick stands, these neither.
ASKED_FOR, LONG = ("gangs", "tenants"), ("stomp", "streams", "reads")


def circumstances():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", lines, re.MULTILINE)
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    return {"machine": f"{model[1] if model else 'unknown processor'}, {os.cpu_count()} cores",
            "day": datetime.date.today().isoformat(), "commit": commit, "load": f"{os.getloadavg()[0]:.1f}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the small size only")
    parser.add_argument("--parts", nargs="*", choices=MEASURED, help="what is measured now")
    parser.add_argument("--sizes", nargs="+", choices=WORLDS, default=list(WORLDS), help="slots; 50,000 only out of files")
    parser.add_argument("--docs", action="store_true", help="write docs/performance.md and its plots")
    parser.add_argument("--compact-layouts", action="store_true", help="esi-testbed writes them; starts, events, memory")
    parser.add_argument("--starts", type=int, default=20, help="0: none out of files")
    parser.add_argument("--large-starts", type=int, default=5)
    parser.add_argument("--start-ups", type=int, default=3)
    parser.add_argument("--failovers", type=int, default=3)
    parser.add_argument("--rate", type=int, default=100, help="events a second")
    parser.add_argument("--seconds", type=int, default=20, help="how long there are events")
    parser.add_argument("--gang-sides", nargs="+", choices=gang_bench.SIDES, default=gang_bench.SIDES,
                        help="whose gangs are started; without coscheduling no other Kubernetes is built")
    parser.add_argument("--keep", type=pathlib.Path, help="keep audit log and logs in this folder")
    parser.add_argument("--results", type=pathlib.Path, default=BUILD / "results.json")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(options.results.read_text("utf-8")) if options.results.exists() else {}
    parts = [each for each in MEASURED if each not in ASKED_FOR and (each not in LONG or not options.quick)]
    for part in parts if options.parts is None else options.parts:
        about = circumstances()
        found = MEASURED[part](options)
        about["load after"] = f"{os.getloadavg()[0]:.1f}"
        results[part] = {"about": about, "found": found}
        options.results.write_text(json.dumps(results, indent=1), encoding="utf-8")
    # As it is read back, so that a part of an earlier run and one of this look the same.
    results = json.loads(json.dumps(results))
    tables = report.tables(results)
    for name, body in tables.items():
        print(f"\n### {name}\n\n{body}")
    plots = report.plots(results)
    target = ROOT / "docs" / "performance" if options.docs else BUILD
    target.mkdir(parents=True, exist_ok=True)
    for name, body in plots.items():
        (target / f"{name}.svg").write_text(body, encoding="utf-8")
    if options.docs:
        for page, names in (("performance.md", set(tables) - {"tenants"}), ("security.md", {"tenants"} & set(tables))):
            file = ROOT / "docs" / page
            parts = {name: tables[name] for name in names}
            file.write_text(report.into_document(file.read_text("utf-8"), parts), encoding="utf-8")
    violations = results.get("plane", {}).get("found", {}).get("small", {}).get("violations") or []
    if "gangs" in results:
        violations += gang_bench.violations(results["gangs"]["found"])
    if violations:
        say("the recorder found: " + "; ".join(violations[:5]))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
