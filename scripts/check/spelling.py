#!/usr/bin/env python3
"""Spelling of what people read: documents, CRD descriptions, the chart, scripts, comments and string literals.

    spelling.py [ROOT]      needs codespell; exit code 1 with one line for each word

words.txt beside this file holds words that are right all the same, one a line, in lower case. Names of Kubernetes'
own vocabulary and of other people's programs belong there; a word of ours that codespell does not like is renamed.

In the pages for people (PLAIN) a subject has a name: VAGUE words are refused, outside of code spans and blocks.
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ENDINGS = {".md", ".yaml", ".yml", ".tpl", ".txt", ".h", ".cpp", ".py", ".go", ".sh", ".json", ".mutation", ""}
#: Generated, recorded from others, or misspelt on purpose.
NOT_READ = ("integration-tests/fixtures/", "integration-tests/fuzz/seeds/", "helm/esi/dashboards/",
            "package-lock.json", "scripts/check/test_checks.py", ".sum", "requirements.txt", "LICENSE")
#: The pages that people read first. The glossary lists the words that it replaces.
PLAIN = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "crds/README.md", "examples/README.md")
NOT_PLAIN = ("docs/glossary.md",)
VAGUE = re.compile(r"\b(nobody|somebody|everybody|whoever|anew)\b", re.IGNORECASE)


def vague(text):
    """(number of the line, word) of each vague word of a page."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced:
            for found in VAGUE.finditer(re.sub(r"`[^`]*`", "", line)):
                yield number, found.group(1)


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1]
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    files = [each for each in listed if pathlib.PurePath(each).suffix in ENDINGS and (root / each).is_file() and
             not any(part in each for part in NOT_READ)]
    done = subprocess.run(["codespell", "--quiet-level=2", f"--ignore-words={HERE / 'words.txt'}", *files], cwd=root,
                          check=False)
    pages = sorted({page for pattern in PLAIN for page in root.glob(pattern)})
    found = [f"{page.relative_to(root)}:{number}: '{word}': name the subject (docs/glossary.md, words that are not used)"
             for page in pages if page.relative_to(root).as_posix() not in NOT_PLAIN
             for number, word in vague(page.read_text("utf-8"))]
    print("\n".join(found) or f"spelling: {len(files)} files, {len(pages)} pages in plain words")
    return 1 if done.returncode or found else 0


if __name__ == "__main__":
    sys.exit(main())
