#!/usr/bin/env python3
"""Puts known mistakes into a copy of the product code, one at a time, and shows what catches each.

See README.md. Exit code: 0 all caught (or, with --check, all apply); 1 some survived, do not apply or
do not compile; 2 the unmutated program cannot be built.
"""

import argparse
import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[2]
LIST = HERE / "list"
WORK = CHECKOUT / "build" / "mutations"
TREE = WORK / "tree"
# Where the preset would put it, seen from the copy.
BUILD = TREE / "build" / "release"
CLEAN = WORK / "esi-simulation.clean"
# All that the build of the program reads.
SOURCES = ["CMakeLists.txt", "CMakePresets.json", "cmake", "scripts/build.sh", "common", "operators", "crds", "helm",
           "integration-tests/simulation", "integration-tests/fuzz", "integration-tests/memory"]
KEYS = {"mistake", "source", "expect", "needs"}
# Nothing of a run but `foresee` asks these.
ANSWERS = ("operators/scheduling/answers/", "operators/scheduling/decider_outlook.cpp")
# Plans of gangs, four of ten of which have claims, come here most.
GANGS = ("operators/gangs/", "operators/testbed/claims/")
# Seeds in growing steps: most mistakes show within a few.
STEPS = [20, 80, 400]
# "seed 7: RULE: TEXT", "case NAME: ...", "sweep NAME: ...", "SCENARIO --crash OPERATOR:WRITE:WHEN: ..."
VIOLATION = re.compile(r"^((?:seed|case|sweep) \S+|foresee|.+ --crash \S+|.+: undisturbed): "
                       r"([a-z][a-z0-9-]*): (.*)$")


class Problem(Exception):
    pass


@dataclasses.dataclass
class Part:
    file: str
    find: str
    replace: str


@dataclasses.dataclass
class Mutation:
    name: str
    mistake: str
    source: str
    expect: str
    needs: str
    parts: list

    def command(self):
        """Which seeds can notice it."""
        if all(part.file.startswith(ANSWERS) for part in self.parts):
            return "foresee"
        return "gangs" if all(part.file.startswith(GANGS) for part in self.parts) else "seeds"


@dataclasses.dataclass
class Verdict:
    name: str
    caught: str = ""  # by which seed or case
    rule: str = ""
    seeds: int = 0  # looked at until then
    build: float = 0.0
    run: float = 0.0
    trouble: str = ""  # it could not be tried


def parse(path):
    head, parts = {}, []
    lines = path.read_text().splitlines()
    while lines and lines[0].strip():
        key, _, value = lines.pop(0).partition(": ")
        if key not in KEYS or not value.strip():
            raise Problem(f"{path.name}: unknown or empty head line '{key}'")
        head[key] = value.strip()
    for key in KEYS - {"needs"}:
        if key not in head:
            raise Problem(f"{path.name}: has no '{key}'")
    file, find, replace = None, [], []

    def end_part():
        if file is None:
            return
        while find and replace and not find[-1] and not replace[-1]:
            find.pop()
            replace.pop()
        if find == replace or not find:
            raise Problem(f"{path.name}: a part for {file} finds or changes nothing")
        parts.append(Part(file, "\n".join(find) + "\n", "\n".join(replace) + "\n" if replace else ""))

    for line in lines:
        if line.startswith("@ "):
            end_part()
            file, find, replace = line[2:].strip(), [], []
        elif file is None:
            if line.strip():
                raise Problem(f"{path.name}: expected '@ FILE', found '{line}'")
        elif line.startswith("-"):
            find.append(line[1:])
        elif line.startswith("+"):
            replace.append(line[1:])
        elif line.startswith(" ") or not line:
            find.append(line[1:])
            replace.append(line[1:])
        else:
            raise Problem(f"{path.name}: a line must begin with ' ', '-' or '+': '{line}'")
    end_part()
    if not parts:
        raise Problem(f"{path.name}: has no part")
    return Mutation(path.name.removesuffix(".mutation"), head["mistake"], head["source"],
                    head["expect"], head.get("needs", ""), parts)


def mutated_files(mutation, root):
    """File -> its text with the mutation; a Problem where it does not apply."""
    texts = {}
    for part in mutation.parts:
        path = root / part.file
        if part.file not in texts:
            if not path.is_file():
                raise Problem(f"{mutation.name}: {part.file} does not exist")
            texts[part.file] = "\n" + path.read_text()
        # Whole lines only.
        find, replace = "\n" + part.find, "\n" + part.replace
        # Also where two of them share a line's end.
        count = len(re.findall("(?=" + re.escape(find) + ")", texts[part.file]))
        if count != 1:
            raise Problem(f"{mutation.name}: its lines are {count} times in {part.file}, must be "
                          f"once:\n{part.find}")
        texts[part.file] = texts[part.file].replace(find, replace)
    return {file: text[1:] for file, text in texts.items()}


def load(only):
    mutations, problems = [], []
    for path in sorted(LIST.glob("*.mutation")):
        try:
            mutations.append(parse(path))
        except Problem as problem:
            problems.append(str(problem))
    known = {mutation.name for mutation in mutations}
    problems += [f"{name}: no such mutation, see --list" for name in only if name not in known]
    return [m for m in mutations if not only or m.name in only], problems


def not_copied(cmake):
    """Folders that a CMakeLists.txt always adds and SOURCES does not have: the copy could not be built."""
    without_options = re.sub(r"^if\(ESI_\w+\)$.*?^endif\(\)$", "", cmake, flags=re.MULTILINE | re.DOTALL)
    added = re.findall(r"^add_subdirectory\((\S+?)[ )]", without_options, re.MULTILINE)
    return [each for each in added if not any(each == source or each.startswith(source + "/") for source in SOURCES)]


def check(mutations):
    problems = [f"{folder}: the build has this folder, and SOURCES has not"
                for folder in not_copied((CHECKOUT / "CMakeLists.txt").read_text())]
    for mutation in mutations:
        try:
            mutated_files(mutation, CHECKOUT)
        except Problem as problem:
            problems.append(str(problem))
    return problems


# --- the copy ---

def write_if_different(path, content):
    """A changed file gets the present time, so that ninja sees it, also when it is restored."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def copy_sources():
    """Makes TREE equal to the checkout: also what an interrupted run has left mutated."""
    present = set()
    for source in SOURCES:
        top = CHECKOUT / source
        files = [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file())
        for file in files:
            relative = file.relative_to(CHECKOUT)
            if "__pycache__" in relative.parts:
                continue
            present.add(relative)
            write_if_different(TREE / relative, file.read_bytes())
    for source in SOURCES:
        top = TREE / source
        for file in sorted(top.rglob("*")) if top.is_dir() else []:
            if file.is_file() and file.relative_to(TREE) not in present:
                file.unlink()


def run_logged(command, log, timeout, cwd=TREE):
    """Exit code, or None when it took too long; all output goes to `log`."""
    with open(log, "wb") as out:
        process = subprocess.Popen(command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def tail(log, lines=15):
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def build(jobs):
    log = WORK / "build.log"
    if not (BUILD / "build.ninja").is_file():
        code = run_logged(["cmake", "--preset", "release", "-DESI_BENCHMARKS=OFF"], log, 600)
        if code != 0:
            raise Problem("cmake failed:\n" + tail(log))
    # As every checkout is built, so that the compiler's cache has what the checkout has built.
    os.environ["JOBS"] = str(jobs)
    code = run_logged(["bash", str(TREE / "scripts" / "build.sh"), "release", "esi-simulation"], log, 3600)
    if code != 0:
        raise Problem("it does not compile:\n" + tail(log))
    found = [p for p in BUILD.rglob("esi-simulation") if p.is_file() and os.access(p, os.X_OK)]
    if len(found) != 1:
        raise Problem(f"the build made {len(found)} programs esi-simulation, expected one")
    return found[0]


# --- running ---

def look(program, arguments, timeout):
    """(what, rule) of the first violation; ("", "") when green. A program that dies or hangs is
    caught, too: that is how some mistakes show."""
    log = WORK / "run.log"
    code = run_logged([str(program), *arguments], log, timeout, cwd=WORK)
    if code == 0:
        return "", ""
    for line in log.read_text(errors="replace").splitlines():
        found = VIOLATION.match(line)
        if found:
            return found.group(1), found.group(2)
    what = " ".join(arguments[:1])
    if code is None:
        return what, f"hangs (no end within {timeout} s)"
    if code < 0:
        return what, f"dies ({signal.Signals(-code).name})"
    raise Problem(f"{' '.join(arguments)} ended with {code} and named no violation:\n" + tail(log))


class Clean:
    """The program without a mutation: what is red there says nothing about a mutation."""

    def __init__(self, options):
        self.options = options
        self.known = {}
        self.red = set()

    def passes(self, arguments):
        key = tuple(arguments)
        if key not in self.known:
            try:
                what, rule = look(CLEAN, arguments, self.options.timeout)
            except Problem as problem:
                what, rule = arguments[0], str(problem).splitlines()[0]
            self.known[key] = not what
            if what:
                self.red.add(f"{what}: {rule}")
        return self.known[key]

    def passes_seed(self, command, seed):
        return self.passes([command, "--from", str(seed), "--count", "1", "--jobs", "1"])


def hunt(program, options, clean, verdict, command="seeds"):
    """Looks at the kept cases, at seeds in growing steps, at last at the tables, until it is red.
    `command`: foresee looks at the states of seeds that preview and explain are asked about, and at
    nothing else; gangs at the kept cases and at plans of gangs."""
    jobs = ["--jobs", str(options.jobs)]

    def whole(command):
        """Of these only all together is known to be green."""
        if not clean.passes([command, *jobs]):
            return False
        verdict.caught, verdict.rule = look(program, [command, *jobs], options.timeout)
        return bool(verdict.caught)

    if command != "foresee" and whole("cases"):
        return
    at, end, steps = options.start, options.start + options.budget, list(STEPS)
    while at < end:
        count = min(steps.pop(0) if steps else end - at, end - at)
        what, rule = look(program, [command, "--from", str(at), "--count", str(count), *jobs,
                                    "--until-failure"], options.timeout)
        if not what:
            at += count
            continue
        number = what.removeprefix("seed ")
        if not number.isdigit():
            # It died or hung as a whole; without the mutation these seeds must end.
            if clean.passes([command, "--from", str(at), "--count", str(count), *jobs]):
                verdict.caught, verdict.rule = what, rule
                return
            at += count
            continue
        seed = int(number)
        if clean.passes_seed(command, seed):
            verdict.caught, verdict.rule, verdict.seeds = what, rule, seed - options.start + 1
            return
        at = max(at, seed) + 1
    verdict.seeds = options.budget
    if command == "seeds" and not options.quick and not whole("crash-table"):
        whole("sweep")


def try_mutation(mutation, options, clean):
    verdict = Verdict(mutation.name)
    originals = {part.file: (TREE / part.file).read_bytes() for part in mutation.parts
                 if (TREE / part.file).is_file()}
    try:
        for file, text in mutated_files(mutation, TREE).items():
            write_if_different(TREE / file, text.encode())
        begun = time.monotonic()
        program = build(options.jobs)
        verdict.build = time.monotonic() - begun
        begun = time.monotonic()
        hunt(program, options, clean, verdict, mutation.command())
        verdict.run = time.monotonic() - begun
    except Problem as problem:
        verdict.trouble = str(problem)
    finally:
        for file, content in originals.items():
            write_if_different(TREE / file, content)
    return verdict


def row(verdict, expect):
    if verdict.trouble:
        caught = "NOT TRIED: " + verdict.trouble.splitlines()[0]
    elif verdict.caught:
        caught = f"{verdict.caught}: {verdict.rule}"
        if verdict.rule != expect:
            caught += f" (expected {expect})"
    else:
        caught = f"SURVIVED (expected {expect})"
    return (f"{verdict.name:42} {verdict.seeds:6} {verdict.build:7.0f} {verdict.run:7.0f}  {caught}")


def hunt_all(mutations, options):
    WORK.mkdir(parents=True, exist_ok=True)
    copy_sources()
    print("building without a mutation", flush=True)
    shutil.copy2(build(options.jobs), CLEAN)
    print(f"{'mutation':42} {'seeds':>6} {'build s':>7} {'run s':>7}  caught by", flush=True)
    verdicts, clean = [], Clean(options)
    for mutation in mutations:
        verdict = try_mutation(mutation, options, clean)
        verdicts.append(verdict)
        print(row(verdict, mutation.expect), flush=True)
        if verdict.trouble:
            print("    " + verdict.trouble.replace("\n", "\n    "), flush=True)
    for what in sorted(clean.red):
        print(f"red without a mutation, not counted: {what[:200]}")
    return verdicts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only see that every mutation applies")
    parser.add_argument("--list", action="store_true", help="only list them")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--from", dest="start", type=int, default=1, help="first seed (1)")
    parser.add_argument("--budget", type=int, default=2000, help="seeds for each mutation (2000)")
    parser.add_argument("--quick", action="store_true",
                        help="cases and seeds only, not the crash table and the sweep")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds for one look (1800)")
    parser.add_argument("--json", type=Path, help="write the table there, too")
    options = parser.parse_args()

    # Ended from outside, it ends what it has started and restores the copy.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    mutations, problems = load(options.only)
    if options.list:
        for mutation in mutations:
            print(f"{mutation.name}: {mutation.mistake} [{mutation.expect}; {mutation.source}]")
    else:
        problems += check(mutations)
    for problem in problems:
        print("mutations: " + problem, file=sys.stderr)
    if problems:
        return 1
    if options.check:
        print(f"mutations: {len(mutations)} of {len(mutations)} apply")
    if options.check or options.list:
        return 0
    try:
        verdicts = hunt_all(mutations, options)
    except Problem as problem:
        print(f"mutations: {problem}", file=sys.stderr)
        return 2
    caught = sum(1 for verdict in verdicts if verdict.caught)
    print(f"{caught} of {len(verdicts)} mutations caught")
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(v) for v in verdicts], indent=1))
    return 0 if caught == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
