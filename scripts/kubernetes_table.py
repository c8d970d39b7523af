#!/usr/bin/env python3
"""Writes the row of one version into the table of docs/kubernetes-versions.md, from the JUnit file of a run.

    kubernetes_table.py 1.34 JUNIT-FILE DOCUMENT

Prints the row. Exit code 1 if the API server of that run was of another version than 1.34.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

ROW = re.compile(r"\| 1\.(\d+)\.\d+ \|")


def row(suite) -> str:
    """The cells: version, passed, failed, skipped, and what was lacking: the reasons of what was skipped."""
    version, = [each.get("value") for each in suite.iter("property") if each.get("name") == "kubernetes"]
    passed = failed = skipped = 0
    lacking = set()
    for case in suite.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
            lacking.add(case.find("skipped").get("message"))
        else:
            passed += 1
    cells = [version.removeprefix("v"), passed, failed, skipped, "; ".join(sorted(lacking)) or "nothing"]
    return f"| {' | '.join(map(str, cells))} |"


def with_row(document: str, new: str) -> str:
    """The document with this row in the place of the one of the same minor version; the newest first."""
    lines = document.splitlines()
    present = [index for index, line in enumerate(lines) if ROW.match(line)]
    head = present[0] if present else 1 + next(
        index for index, line in enumerate(lines) if re.match(r"\|-+\|", line))

    def minor(line):
        return int(ROW.match(line).group(1))

    rows = [lines[index] for index in present if minor(lines[index]) != minor(new)] + [new]
    others = [line for line in lines if not ROW.match(line)]
    return "\n".join(others[:head] + sorted(rows, key=minor, reverse=True) + others[head:]) + "\n"


def main() -> int:
    wanted, junit, document = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    new = row(tree.parse(junit).getroot())
    print(new)
    if not new.startswith(f"| {wanted}."):
        print(f"{junit}: the control plane was not of Kubernetes {wanted}", file=sys.stderr)
        return 1
    document.write_text(with_row(document.read_text("utf-8"), new), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
