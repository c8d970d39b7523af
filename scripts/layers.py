#!/usr/bin/env python3
"""The order of the folders: which may include which. Reads the #include lines of the C++ sources and prints each
one that runs up, or from one folder to another of the same floor (an operator to another operator, say).

    scripts/layers.py        exit code 1 and a line each for what is wrong
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: What an #include is searched in, as the compiler does (cmake/esi.cmake), after the file's own folder.
SEARCHED = ("common", "operators", "integration-tests/simulation")
SIMULATION = "integration-tests/simulation"

#: From the ground up. A file includes files of its own folder and of lower floors only. Folders of one floor do
#: not know each other. `*` is each folder at that place; a folder that has no floor is a fault.
FLOORS = (
    ("common/base",),
    ("common/model", "common/http"),
    ("common/kube", "common/grid"),
    ("common/controller",),
    ("common/stomp",),
    (f"{SIMULATION}/base",),
    (f"{SIMULATION}/server", f"{SIMULATION}/plan"),
    (f"{SIMULATION}/world", f"{SIMULATION}/conformance"),
    (f"{SIMULATION}/neighbours", f"{SIMULATION}/check"),
    # Above most of the simulation: only what puts a run together knows which operators there are.
    ("operators/*",),
    # `kubectl esi` asks the operators' pure parts; none of them knows it. The last floor that names a folder counts.
    ("operators/kubectl-esi",),
    (f"{SIMULATION}/run", "integration-tests/fuzz"),
    (f"{SIMULATION}/sweep", f"{SIMULATION}/foresee"),
    (f"{SIMULATION}/program",),
)
#: What is delivered never includes what tests it, whatever the floors.
DELIVERED = ("common/", "operators/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def floors_of(root):
    """{folder: its floor}, for the folders that there are."""
    found = {}
    for number, floor in enumerate(FLOORS):
        for pattern in floor:
            for folder in root.glob(pattern):
                if folder.is_dir():
                    found[folder.relative_to(root).as_posix()] = number
    return found


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


def wrong(root=ROOT):
    """A line for each include that must not be."""
    floors = floors_of(root)
    found = []
    for path in sources(root):
        here = folder_of(path, floors)
        if here is None:
            found.append(f"{path}: its folder has no floor in scripts/layers.py")
            continue
        for included in INCLUDE.findall((root / path).read_text("utf-8")):
            files = meant(included, path, root)
            if len(files) != 1:
                found.append(f'{path}: "{included}" is {" and ".join(files) or "no file of this repository"}')
                continue
            there = folder_of(files[0], floors)
            if there is None or there == here:
                continue
            if floors[there] >= floors[here]:
                found.append(f"{path}: {here} must not include {there} ({included})")
            elif path.startswith(DELIVERED) and not files[0].startswith(DELIVERED):
                found.append(f"{path}: includes {files[0]}, which only tests may")
    return found


def main():
    found = wrong()
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
