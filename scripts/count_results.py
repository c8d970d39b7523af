#!/usr/bin/env python3
"""Adds up the results of one folder (JUnit files, and `go test -json`) and prints "N passed, N failed, N skipped".

Exit code 1 when a test failed, when a file is missing or when nothing ran: a run without tests is
not a success.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as tree

EXPECTED = ("unit.xml", "simulation.xml", "colocation.xml", "images.xml", "launcher.json", "scenarios.xml",
            "chart.xml", "nodes.xml")


def count_go(path: pathlib.Path) -> tuple[int, int, int]:
    totals = {"pass": 0, "fail": 0, "skip": 0}
    for line in path.read_text().splitlines():
        event = json.loads(line)
        # An event without a test is about its package; only a failed one tells more.
        if event["Action"] in totals and ("Test" in event or event["Action"] == "fail"):
            totals[event["Action"]] += 1
    return totals["pass"], totals["fail"], totals["skip"]


def count(path: pathlib.Path) -> tuple[int, int, int]:
    if path.suffix == ".json":
        return count_go(path)
    passed = failed = skipped = 0
    for case in tree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    totals = [0, 0, 0]
    missing = [name for name in EXPECTED if not (folder / name).exists()]
    for path in sorted(folder / name for name in EXPECTED if name not in missing):
        passed, failed, skipped = count(path)
        print(f"{path.stem}: {passed} passed, {failed} failed, {skipped} skipped")
        totals = [total + more for total, more in zip(totals, (passed, failed, skipped))]
    for name in missing:
        print(f"{name}: no results")
    print()
    print(f"{totals[0]} passed, {totals[1] + len(missing)} failed, {totals[2]} skipped")
    return 1 if totals[1] or missing or totals[0] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
