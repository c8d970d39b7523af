#!/usr/bin/env python3
"""Each recipe of docs/recipes has a sample, scripts/check/recipes/NAME.patch: the change that a reader makes who follows
the recipe. This check keeps both true:

- the sample applies to the files as they are;
- the files that it touches are those that the recipe has in bold, such as **`common/model/kept.cpp`**. `{a,b}` names
  several, NAME stands for the name of what is new (operators/batchjob/backends/NAME/backend.h), `*` for any part of a
  name;
- docs/recipes/README.md has the table of counts.

    recipes.py                   exit code 1 with one line for each that is wrong
    recipes.py --table           prints the table of counts
    recipes.py --apply NAME      applies a sample to the working tree, with what does not apply in *.rej
    recipes.py --save NAME       makes the sample of the changes in the working tree
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from kinds import is_product

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = "docs/recipes"
SAMPLES = "scripts/check/recipes"
#: A line before and a line after each change have to be as they were; they may have moved.
APPLY = ("git", "apply", "-C1", "--whitespace=nowarn")
BOLD = re.compile(r"\*\*`([\w.*{},+/-]+)`\*\*")
PLACEHOLDER = re.compile(r"(?<![A-Za-z])(?:NAME|KIND)(?![A-Za-z])|\*")
#: A line that makes a way of its own for what is new, as a row of a table does not.
BRANCH = re.compile(r"\b(?:if|else|case)\b|\? .* : |^\s+\? ")
NEW_FUNCTION = re.compile(r"[A-Za-z].*[({,]$")
HEAD = "| add | files | of them new | in `common/`, `operators/`, no tests | places with one more branch |"


class Sample:
    """What a patch does: the files that it touches, which of them are new, and where it adds branches."""

    def __init__(self, text):
        self.files, self.new, self.branches = set(), set(), []
        for part in re.split(r"^diff --git ", text, flags=re.MULTILINE)[1:]:
            head, *hunks = re.split(r"^@@.*$", part, flags=re.MULTILINE)
            file = re.match(r"a/\S+ b/(\S+)$", head, re.MULTILINE).group(1)
            self.files.add(file)
            if "\nnew file mode" in head:
                self.new.add(file)
            elif is_product(file):
                self.branches += [file for hunk in hunks if adds_a_branch(hunk)]

    def product(self):
        return {each for each in self.files if is_product(each)}


def adds_a_branch(hunk):
    """Whether existing code gets one more way. A function that is all new is no such place."""
    added = [line[1:].partition("//")[0] for line in hunk.splitlines() if line.startswith("+")]
    return any(BRANCH.search(line) for line in added) and not any(NEW_FUNCTION.match(line) for line in added)


def expanded(name):
    """The names that a{b,c}d stands for."""
    found = re.search(r"\{([^{}]*)\}", name)
    if not found:
        return [name]
    return [each for part in found.group(1).split(",")
            for each in expanded(name[:found.start()] + part + name[found.end():])]


def named(page):
    """{file as the recipe has it: expression that its files match}"""
    out = {}
    for span in BOLD.findall(page):
        for each in expanded(span):
            parts = PLACEHOLDER.split(each)
            out[each] = re.compile(r"[\w.-]+".join(re.escape(part) for part in parts) + "$")
    return out


def differences(name, page, sample):
    """The lines for what the recipe has and the sample has not, and the other way round."""
    wanted = named(page)
    for each, matches in sorted(wanted.items()):
        if not any(matches.match(file) for file in sample.files):
            yield f"{PAGES}/{name}.md: has {each} in bold, which the sample does not touch"
    for file in sorted(sample.files):
        if not any(matches.match(file) for matches in wanted.values()):
            what = "makes" if file in sample.new else "changes"
            yield f"{PAGES}/{name}.md: lacks {file}, which the sample {what}"


def misfits(root, name, patch):
    """The lines for what of the sample does not apply."""
    done = subprocess.run([*APPLY, "--check", str(patch)], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    told = [line.removeprefix("error: ") for line in done.stderr.splitlines() if line.startswith("error: ")]
    hunks = [line.removeprefix("patch failed: ") for line in told if "does not apply" not in line]
    for hunk in hunks or told or [done.stderr.strip()]:
        yield (f"{PAGES}/{name}.md: its sample does not apply at {hunk}: the recipe or its sample is out of date: "
               f"mend both (recipes.py --apply {name}, then --save {name})")


def title_of(page):
    return re.search(r"^# Add (.+)$", page, re.MULTILINE).group(1)


def table(root):
    rows = [HEAD, "|---|---|---|---|---|"]
    for page in pages(root):
        patch = root / SAMPLES / f"{page.stem}.patch"
        if patch.exists():
            of = Sample(patch.read_text("utf-8"))
            counts = (len(of.files), len(of.new), len(of.product()), len(of.branches))
            rows.append(f"| [{title_of(page.read_text('utf-8'))}]({page.name}) | {' | '.join(map(str, counts))} |")
    return rows


def pages(root):
    return sorted(each for each in (root / PAGES).glob("*.md") if each.name != "README.md")


def check(root):
    """All that is wrong, one line each."""
    out, recipes = [], pages(root)
    for page in recipes:
        patch = root / SAMPLES / f"{page.stem}.patch"
        if not patch.exists():
            out.append(f"{PAGES}/{page.name}: has no sample {SAMPLES}/{patch.name}")
            continue
        out += misfits(root, page.stem, patch)
        out += differences(page.stem, page.read_text("utf-8"), Sample(patch.read_text("utf-8")))
    known = {page.stem for page in recipes}
    out += [f"{SAMPLES}/{each.name}: there is no recipe of that name"
            for each in sorted((root / SAMPLES).glob("*.patch")) if each.stem not in known]
    shown = (root / PAGES / "README.md").read_text("utf-8").splitlines()
    out += [f"{PAGES}/README.md: its table of counts lacks the line {row} (recipes.py --table)" for row in table(root)
            if row not in shown]
    return out


def apply(root, name):
    return subprocess.run([*APPLY, "--reject", f"{SAMPLES}/{name}.patch"], cwd=root, check=False).returncode


def save(root, name):
    """One line of context: the fewest lines that other changes can disturb."""
    def git(*words):
        return subprocess.run(("git", *words), cwd=root, env=env, capture_output=True, text=True, check=True).stdout

    env = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        # A copy of the index, in which new files are noted.
        index = git("rev-parse", "--path-format=absolute", "--git-path", "index").strip()
        env["GIT_INDEX_FILE"] = shutil.copy(index, folder)
        git("add", "--intent-to-add", ".")
        made = git("diff", "-U1", "--no-renames", "--no-color", "--no-ext-diff", "HEAD", "--", ".",
                   f":!{SAMPLES}", f":!{PAGES}", ":!*.rej")
    # Which blobs they were is of no use, and is another number each time.
    made = re.sub(r"^index [0-9a-f]+\.\.[0-9a-f]+.*\n", "", made, flags=re.MULTILINE)
    (root / SAMPLES).mkdir(exist_ok=True)
    (root / SAMPLES / f"{name}.patch").write_text(made, "utf-8")
    return 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--table", action="store_true")
    options.add_argument("--apply", metavar="NAME")
    options.add_argument("--save", metavar="NAME")
    options.add_argument("root", nargs="?", type=pathlib.Path, default=ROOT)
    asked = options.parse_args()
    if asked.apply:
        return apply(asked.root, asked.apply)
    if asked.save:
        return save(asked.root, asked.save)
    if asked.table:
        print("\n".join(table(asked.root)))
        return 0
    wrong = check(asked.root)
    print("\n".join(wrong) or f"recipes: {len(pages(asked.root))} samples apply and touch what their recipes name")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
