#!/usr/bin/env python3
"""The order of the folders: which may include which. Reads the #include lines of the C++ sources and prints

- each include that runs up, or from one folder to another of the same floor (an operator to another operator, say),
- the same between the folders of one part (ROOMS),
- each circle of rooms. A room is a header with the source file of its name.

    scripts/layers.py            exit code 1 and a line each for what is wrong
    scripts/layers.py --table    prints the floors as docs/architecture.md has them
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: What an #include is searched in, as the compiler does (cmake/esi.cmake), after the file's own folder.
SEARCHED = ("common", "operators", "integration-tests/simulation")
SIMULATION = "integration-tests/simulation"

#: The parts, from the ground up. A file includes files of its own part and of lower floors only. Parts of one floor do
#: not know each other. `*` is each folder at that place; a folder that has no floor is a fault.
FLOORS = (
    ("common/base",),
    ("common/model", "common/http"),
    ("common/kube", "common/grid"),
    ("common/controller", "common/placement"),
    ("common/stomp",),
    (f"{SIMULATION}/base",),
    (f"{SIMULATION}/server", f"{SIMULATION}/plan"),
    (f"{SIMULATION}/world", f"{SIMULATION}/conformance"),
    (f"{SIMULATION}/neighbours", f"{SIMULATION}/check"),
    # Above most of the simulation: only what puts a run together knows which operators there are.
    ("operators/testbed", "operators/gangs", "operators/batchjob", "operators/scheduling"),
    # What asks the pure parts of scheduling; no operator knows either.
    ("operators/interface", "operators/kubectl-esi"),
    # A program puts parts together.
    ("operators/programs/*",),
    (f"{SIMULATION}/run", "integration-tests/fuzz"),
    (f"{SIMULATION}/sweep", f"{SIMULATION}/foresee"),
    (f"{SIMULATION}/program",),
)

#: The folders of a part, from the ground up; "." is the part's own folder. Their rule is that of the floors.
ROOMS = {
    "common/kube": ((".", "auth", "testing"), ("connection", "watch")),
    "operators/testbed": (("view", "extender"), ("room",), ("caches", "ledger"), ("swap", "claims", "original"), (".",)),
    "operators/batchjob": (("backends",), ("backends/*",), ("backends/flink_cluster", "drivers"), (".",)),
    "operators/scheduling": ((".",), ("answers",)),
    "operators/interface": (("legacy", "page", "v1/wire"), ("v1/access",), ("v1/events",), ("v1",), (".",)),
    "operators/kubectl-esi": (("shown", "completion"), ("read",), ("commands", "doctor"), (".",)),
}
#: What is delivered never includes what tests it, whatever the floors.
DELIVERED = ("common/", "operators/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)
#: Tests, and what only tests use, look at all folders of their part.
TEST = re.compile(r"_test\.cpp$|_bench\.cpp$|(^|/)testing(\.h$|/)")


def floors_of(root, floors, below=""):
    """{folder: its floor}, for the folders that there are. The last floor that names a folder counts."""
    found = {}
    for number, floor in enumerate(floors):
        for pattern in floor:
            for folder in root.glob(below + pattern):
                if folder.is_dir():
                    found[folder.relative_to(root).as_posix()] = number
    return found


def rooms_of(root):
    """{part: {folder: its floor}}"""
    return {part: floors_of(root, floors, part + "/") for part, floors in ROOMS.items()}


def folder_of(path, floors):
    """The folder with a floor that `path` is in, or None."""
    return next((str(each) for each in pathlib.PurePosixPath(path).parents if str(each) in floors), None)


def sources(root):
    for top in ("common", "operators", SIMULATION, "integration-tests/fuzz"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path.relative_to(root).as_posix()


def meant(included, path, root):
    """The files that an #include may mean; more than one is a trap for the reader."""
    own = pathlib.PurePosixPath(path).parent
    found = {f"{place}/{included}" for place in (own, *SEARCHED) if (root / place / included).is_file()}
    return sorted(found)


def circles(edges):
    """The sets of rooms of which each reaches each other (Tarjan), as sorted lists."""
    index, low, stack, found = {}, {}, [], []

    def visit(room):
        index[room] = low[room] = len(index)
        stack.append(room)
        for other in edges.get(room, ()):
            if other not in index:
                visit(other)
                low[room] = min(low[room], low[other])
            elif other in stack:
                low[room] = min(low[room], index[other])
        if low[room] == index[room]:
            at = stack.index(room)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for room in sorted(edges):
        if room not in index:
            visit(room)
    return found


def wrong(root=ROOT):
    """A line for each include that must not be, and for each circle."""
    floors = floors_of(root, FLOORS)
    rooms = rooms_of(root)
    found = []
    edges = {}
    for path in sources(root):
        here = folder_of(path, floors)
        if here is None:
            found.append(f"{path}: its folder has no floor in scripts/layers.py")
            continue
        tests = TEST.search(path) is not None
        for included in INCLUDE.findall((root / path).read_text("utf-8")):
            files = meant(included, path, root)
            if len(files) != 1:
                found.append(f'{path}: "{included}" is {" and ".join(files) or "no file of this repository"}')
                continue
            there = folder_of(files[0], floors)
            if not tests and path.startswith(DELIVERED):
                edges.setdefault(path.rpartition(".")[0], set()).add(files[0].rpartition(".")[0])
            if there == here:
                inner = rooms.get(here, {})
                room, other = folder_of(path, inner), folder_of(files[0], inner)
                if inner and not tests and room != other and (room is None or other is None or inner[other] >= inner[room]):
                    found.append(f"{path}: {room} must not include {other} ({included})")
            elif there is None:
                continue
            elif floors[there] >= floors[here]:
                found.append(f"{path}: {here} must not include {there} ({included})")
            elif path.startswith(DELIVERED) and not files[0].startswith(DELIVERED):
                found.append(f"{path}: includes {files[0]}, which only tests may")
    for room, others in edges.items():
        others.discard(room)
    found += [f"a circle of rooms: {', '.join(each)}" for each in circles(edges)]
    return found


def table():
    """The floors in Markdown, the upper ones first."""
    def shown(part):
        folders = [" ".join(f"`{each}`" for each in floor) for floor in reversed(ROOMS.get(part, ()))]
        return f"| `{part}` | {' > '.join(folders)} |"
    lines = ["| floor, part | its folders, the upper ones first |", "|---|---|"]
    for number, floor in reversed(list(enumerate(FLOORS))):
        for part in floor:
            lines.append(shown(part).replace("| `", f"| {number} `", 1))
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] == ["--table"]:
        sys.stdout.write(table())
        return 0
    found = wrong()
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
