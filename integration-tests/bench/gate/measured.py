"""Measures what bounds.py bounds, within a minute or so: at six slots on a real control plane, and at 6 and 2,000
slots out of files."""
import pathlib
import statistics
import tempfile

import files
import gang_bench
import micro
import plane
from control_plane import ROOT
from product import OPERATORS
from server import World

WORLDS = ROOT / "build" / "bench" / "worlds"
SMALL, LARGE = World(3, 2, 30), World(500, 4, 2_000)
ALLOCATIONS = ("decode_pod/20", "apply_change/10000", "split_lines", "merge_difference_of_status/1000")


def share(of):
    return statistics.median(first + second for first, second, _ in of["shares"])


def out_of_files(folder):
    found = {}
    for name, world in (("small", SMALL), ("large", LARGE)):
        with files.town(world, folder / name, WORLDS) as town:
            town.start_all()
            found[name] = {"starts": files.starts_of(town, 5), "events": files.cost_of_events(town, 200, 2.5)}
    with files.town(LARGE._replace(empty=True, others=0), folder / "empty", WORLDS) as town:
        found["filling"] = files.filling(town)
    return found


def on_a_control_plane(folder):
    place = plane.Plane(folder)
    try:
        place.up()
        plane.add_small(place)
        return plane.small_starts(place, 5, records=False)
    finally:
        place.down()


def of_gangs():
    """Counts only: the sides run one after the other, so that a ratio of their times is also one of the loads."""
    found = gang_bench.measure(gang_bench.SMALL, ("esi",))
    return {"gangs: not started, in part, or a place lost": len(gang_bench.violations(found)),
            "writes for a gang of three": sum(found["esi"]["writes"]["steady"].values())}


def all_numbers():
    """{name: value} as bounds.py names them."""
    with tempfile.TemporaryDirectory(prefix="esi-gate-") as folder:
        real, played = on_a_control_plane(pathlib.Path(folder) / "plane"), out_of_files(pathlib.Path(folder))
    paths = {}
    for program in micro.programs():
        paths |= micro.run(program, "--benchmark_min_time=0.01")
    small, large, filling = played["small"], played["large"], played["filling"]
    quiet, lives = large["events"]["status"], [of["events"]["life"] for of in (small, large)]

    def nodes_looked_at(of, world):
        slots = of["events"]["life"]["looks"]["testbed"]
        return None if slots is None else slots / world.slots
    looks = nodes_looked_at(small, SMALL), nodes_looked_at(large, LARGE)
    out = {
        "requests of a start, one after the other": len(real["chain"]),
        "ESI's share of a start / the same by hand": share(real) / statistics.median(row[0] for row in real["hand"]),
        "writes of a start and its release": sum(real["writes"].values()),
        "writes of pods for a ghost": filling["pod writes"] / filling["ghosts"],
        "status writes for a ghost": filling["status writes"] / filling["ghosts"],
        "share of a start at 2,000 slots / at 6": share(large["starts"]) / share(small["starts"]),
        "CPU of a start at 2,000 slots / at 6":
            sum(large["starts"]["cpu"].values()) / sum(small["starts"]["cpu"].values()),
        "reconciles of a pod event that changes nothing": sum(quiet["reconciles"].values()) / quiet["events"],
        "reconciles of a pod event": max(sum(of["reconciles"][name] for name in OPERATORS) / of["events"] for of in lives),
        "writes for a pod event": max(of["writes"] / of["events"] for of in lives),
        "nodes looked at for a pod event, at 2,000 slots / at 6":
            None if not looks[0] or looks[1] is None else looks[1] / looks[0],
        "CPU for a pod event that changes nothing / the floor":
            quiet["cpu"]["esi-testbed"] / max(quiet["cpu"]["floor-keep"], 1e-6),
    }
    out |= {f"allocations: {name}": paths[name]["allocations"] for name in ALLOCATIONS if name in paths}
    return out | of_gangs()
