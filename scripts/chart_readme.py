#!/usr/bin/env python3
"""Writes the table of values in helm/esi/README.md from the comments of helm/esi/values.yaml.

A comment that begins with "# --" describes the key below it, over as many lines as it has. With --check
nothing is written; the exit code is 1 where the README is not what it would be. Needs PyYAML.
"""
import json
import pathlib
import sys

import yaml

CHART = pathlib.Path(__file__).resolve().parents[1] / "helm" / "esi"
BEGIN, END = "<!-- values: begin -->", "<!-- values: end -->"


def comment_above(lines, number):
    """The text of the comment whose last line is above line `number`, or None."""
    text = []
    while number > 0 and lines[number - 1].lstrip().startswith("#"):
        number -= 1
        text.insert(0, lines[number].lstrip().removeprefix("#").strip())
        if text[0].startswith("--"):
            return " ".join(text).removeprefix("--").strip()
    return None


def rows(node, lines, path=()):
    """(key, default, text) of every value: what has a comment ends there, what has none is gone into."""
    for key, value in node.value:
        where = (*path, key.value)
        text = comment_above(lines, key.start_mark.line)
        inner = isinstance(value, yaml.MappingNode) and value.value
        if text is None and inner and not value.flow_style:
            yield from rows(value, lines, where)
        elif where != ("global",):
            default = yaml.safe_load(yaml.serialize(value))
            yield ".".join(where), json.dumps(default), text or ""


def table(values):
    lines = values.splitlines()
    cells = ["| key | default | |", "|---|---|---|"]
    for key, default, text in rows(yaml.compose(values), lines):
        cells.append(f"| `{key}` | `{default}` | {text.replace('|', chr(92) + '|')} |")
    return "\n".join(cells)


def main():
    readme = CHART / "README.md"
    old = readme.read_text("utf-8")
    before, rest = old.split(BEGIN)
    _, after = rest.split(END)
    values = (CHART / "values.yaml").read_text("utf-8")
    new = f"{before}{BEGIN}\n{table(values)}\n{END}{after}"
    if "--check" not in sys.argv[1:]:
        readme.write_text(new, "utf-8")
    elif new != old:
        print("helm/esi/README.md is not made from values.yaml: run scripts/chart_readme.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
