#!/usr/bin/env python3
"""The kinds of application are named in one table, common/model/application_kinds.h: no other product file names a
kind's member of the spec, its type or its definition.

    kinds.py [ROOT]      exit code 1 with one line for each place

Looked at are the sources of common/ and operators/ (C++ and the page's JavaScript) without tests and comments. A place
is wrong if it has

- `sparkSpec`, the field of a kind, or `.spark_spec`, its member;
- "Spark", its type, or its definition, as a whole string literal.

EXCEPTIONS holds the files that may, each with its reason; one that names no kind any more is an exception too many. The
list of the page, which C++ cannot include, is compared with the table.
"""
import pathlib
import re
import sys

from decisions import without_comments

TABLE = "common/model/application_kinds.h"
PAGE = "operators/interface/page/contract.js"
ROW = re.compile(r"\bapplication_kind\{\.(.*?)\}", re.DOTALL)
PRODUCT = re.compile(r"^(?:common|operators)/.*\.(?:cpp|h|js)$")
TEST = re.compile(r"_test\.cpp$|_bench\.cpp$|/testing(\.h$|/)")
EXCEPTIONS = {
    TABLE: "the table",
    "operators/batchjob/backends/*/*": "a backend is the one place that knows how its kind is made",
    "operators/batchjob/flink_kind.h": "Flink's row stands above its two backends",
    "operators/batchjob/flink_kind.cpp": "the same: its flags say what a flinkSpec becomes",
    "operators/batchjob/driver_jobs.cpp": "makes BatchJobs of Spark drivers, and of no other kind",
    "operators/batchjob/drivers/*": "makes BatchJobs of Spark drivers, and of no other kind",
    PAGE: "the page's list of types, which is compared with the table",
}


def rows_of(text):
    """[{member: text}] of the table; `spec` is the name of the member of batchjob_spec."""
    out = []
    for row in ROW.findall(text):
        found = dict(re.findall(r'\b(\w+) = "([^"]*)"', row))
        found["spec"] = re.search(r"&batchjob_spec::(\w+)", row).group(1)
        out.append(found)
    return out


def pattern_of(rows):
    fields = "|".join(each["spec_field"] for each in rows)
    members = "|".join(each["spec"] for each in rows)
    words = "|".join(re.escape(each[name]) for each in rows for name in ("type", "definition") if each.get(name))
    return re.compile(rf"\b(?:{fields})\b|(?:\.|->|batchjob_spec::)(?:{members})\b|\"(?:{words})\"")


def is_product(name):
    """It is a source of the product, and no test."""
    return PRODUCT.match(name) is not None and not TEST.search(name)


def sources(root):
    for top in ("common", "operators"):
        for path in sorted((root / top).rglob("*")):
            name = path.relative_to(root).as_posix()
            if is_product(name):
                yield path, name


def types_of_page(text):
    """{field: type} of the page's list, or None."""
    found = re.search(r"const jobTypes = \{(.*?)\};", text, re.DOTALL)
    return dict(re.findall(r'(\w+): "(\w+)"', found.group(1))) if found else None


def check(root):
    """All that is wrong, one line each."""
    rows = rows_of((root / TABLE).read_text("utf-8"))
    if not rows:
        return [f"{TABLE}: has no rows: has its form changed?"]
    naming, out, used = pattern_of(rows), [], set()
    for path, name in sources(root):
        allowed = {each for each in EXCEPTIONS if pathlib.PurePosixPath(name).match(each)}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            found = naming.search(without_comments(line))
            if found and allowed:
                used |= allowed
            elif found:
                out.append(f"{name}:{number}: names a kind of application ({found.group(0)}); its place is {TABLE}")
    out += [f"scripts/check/kinds.py: {each} names no kind any more: the exception can go" for each in EXCEPTIONS
            if each not in used]
    wanted = {each["spec_field"]: each["type"] for each in rows}
    shown = types_of_page((root / PAGE).read_text("utf-8"))
    if shown != wanted:
        out.append(f"{PAGE}: jobTypes is {shown}, the table has {wanted}")
    return out


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    wrong = check(root)
    print("\n".join(wrong) or f"kinds: {TABLE} alone lists the kinds of application")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
