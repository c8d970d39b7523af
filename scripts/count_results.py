#!/usr/bin/env python3
"""Adds up JUnit files of one folder and prints "N passed, N failed, N skipped".

Exit code 1 when a test failed, when a file is missing or when nothing ran: a run without tests is
not a success.
"""
import pathlib
import sys
import xml.etree.ElementTree as tree

EXPECTED = ("unit.xml", "scenarios.xml")


def count(path: pathlib.Path) -> tuple[int, int, int]:
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
    for path in sorted(folder.glob("*.xml")):
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
