#!/usr/bin/env python3
"""count_results.py FOLDER test|all: adds up the results of one folder (JUnit files, and `go test -json`) and prints "N passed, N failed, N skipped",
for each layer with the time that it took (layers.tsv, which layers.sh writes), and the files of tests that took longest.

Exit code 1 when a test failed, when a file is missing, when a layer has fewer tests than it is known to have,
and when a test was skipped for a reason that is not listed here: what did not run is not a success.
"""
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

#: command -> file, or folder of files -> how many tests there are at least. A little below what there are; raise it when they grow.
LEAST = {
    "test": {"unit": 3000, "simulation.xml": 4, "launcher.json": 60, "scenarios.xml": 220, "interface.xml": 44,
             "chart.xml": 370, "client.xml": 60, "page.xml": 90},
    "all": {"scenarios.xml": 1500, "simulation.xml": 8, "colocation.xml": 105, "chart.xml": 240, "page.xml": 5,
            "images.xml": 95, "bench.xml": 55, "nodes.xml": 4},
}
#: file -> reasons (regular expressions) for which a test may be skipped.
MAY_BE_SKIPPED = {
    "images.xml": ["buildah builds as root here", "containers need root and the right to make namespaces"],
    "nodes.xml": ["^real nodes: "],
}
#: command -> how many seeds the simulation runs where time does not end it before.
SEEDS = {"test": 250, "all": 1000}

#: How many failed tests of one file are named.
MOST_FAILED = 20


class Layer:
    """What one file says: numbers, and in words what is wrong with it and what is not as usual."""

    def __init__(self, name, least=0, seeds=SEEDS["all"]):
        self.name, self.least, self.seeds = name, least, seeds
        self.passed = self.failed = self.skipped = 0
        self.wrong, self.notes = [], []
        self.files = collections.Counter()  #: file or suite of tests -> seconds

    def skip(self, test, reason):
        if any(re.search(each, reason) for each in MAY_BE_SKIPPED.get(self.name, ())):
            self.skipped += 1
        else:
            self.failed += 1
            self.wrong.append(f"{test} was skipped, which is in no list: {reason or 'without a reason'}")

    def fail(self, test, message):
        """One failed test: its name and the first line of what it says, for at most MOST_FAILED of a file."""
        self.failed += 1
        if self.failed <= MOST_FAILED:
            self.wrong.append(f"failed: {test}: {(message.strip().splitlines() or ['it gives no reason'])[0][:200]}")

    def done(self):
        count = self.passed + self.failed + self.skipped
        if count < self.least:
            self.failed += 1
            self.wrong.append(f"{count} tests, there are at least {self.least}")
        return self

    def text(self, seconds):
        layer = self.name.partition(".")[0]
        line = f"{layer}: {self.passed} passed, {self.failed} failed, {self.skipped} skipped"
        took = [f"{seconds[layer]:,} s"] if layer in seconds else []
        return "\n".join([", ".join([line, *self.notes, *took]), *(f"    {each}" for each in self.wrong)])


def read_go(layer, path):
    for line in path.read_text().splitlines():
        event = json.loads(line)
        # An event without a test is about its package; only a failed one tells more.
        if event["Action"] == "pass" and "Test" in event:
            layer.passed += 1
        elif event["Action"] == "fail":
            layer.fail(event.get("Test", event.get("Package", "")), "")
        elif event["Action"] == "skip" and "Test" in event:
            layer.skip(event["Test"], "")


def read_junit(layer, path):
    root = tree.parse(path).getroot()
    for case in root.iter("testcase"):
        name = case.get("classname") or case.get("name", "")
        layer.files[f"{layer.name.partition('.')[0]} {name}"] += float(case.get("time", 0))
        skipped = case.find("skipped")
        wrong = case.find("failure") if case.find("failure") is not None else case.find("error")
        if wrong is not None:
            test = name if name == case.get("name") else f"{name}: {case.get('name')}"
            layer.fail(test, wrong.get("message") or wrong.text or "")
        elif skipped is not None or case.get("status") in ("notrun", "disabled"):
            layer.skip(case.get("name"), "" if skipped is None else skipped.get("message", ""))
        else:
            layer.passed += 1
    for each in root.iter("property"):
        if each.get("name") == "seeds" and int(each.get("value")) != layer.seeds:
            layer.notes.append(f"with {int(each.get('value')):,} seeds instead of {layer.seeds:,}")


def read(path, least, seeds):
    layer = Layer(path.name, least, seeds)
    if not path.exists():
        layer.failed += 1
        layer.wrong.append("no results")
        return layer
    for each in sorted(path.glob("*.xml")) if path.is_dir() else [path]:
        (read_go if each.suffix == ".json" else read_junit)(layer, each)
    return layer.done()


def times(path):
    """{layer, or what else was done: seconds}, in the order in which they ended."""
    rows = [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []
    return {name or what: int(seconds) for name, seconds, _, what in rows}


def slowest_text(layers, most=12, least=5):
    """ "slowest: chart test_release 152 s, ...": those that took `least` seconds or more."""
    files = sum((each.files for each in layers), collections.Counter()).most_common(most)
    told = [f"{name} {seconds:,.0f} s" for name, seconds in files if seconds >= least]
    return "slowest: " + (", ".join(told) or f"none took {least} s")


def main() -> int:
    folder = pathlib.Path(sys.argv[1])
    command = sys.argv[2]
    expected = LEAST[command]
    layers = [read(folder / name, least, SEEDS[command]) for name, least in expected.items()]
    seconds = times(folder / "layers.tsv")
    for what, took in seconds.items():
        if what not in {name.partition(".")[0] for name in expected}:
            print(f"{what}: {took:,} s")
    for layer in layers:
        print(layer.text(seconds))
    passed, failed, skipped = (sum(getattr(layer, what) for layer in layers)
                               for what in ("passed", "failed", "skipped"))
    print(slowest_text(layers))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
