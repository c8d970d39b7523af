#!/usr/bin/env python3
"""No decision reads text: what one operator decides by is a code (a state, a reason, a field made for it), never a
sentence that another part wrote for people.

    decisions.py [ROOT]      exit code 1 with one line for each place

Looked at are the files of operators/ that decide or take the view out of the caches (see DECIDING). A place is wrong if it

- compares a text member (message, text, note, problems, waiting_for) with == or !=, but for a look whether it is empty;
- asks such a member starts_with, ends_with, contains, find, rfind, compare, substr;
- compares anything with a sentence, or searches anything for one: a string literal with a blank in it.

What a decision writes into a status is no matter of this check. EXCEPTIONS holds the comparisons that are right all
the same, each with its reason.
"""
import pathlib
import re
import sys

DECIDING = ("decide*", "decider*", "acquire*", "claim*", "observe*", "view*", "planner*", "plan*", "release*", "orphan*",
            "wait_graph*", "assess*", "launch*", "progress*", "place*", "pass*", "layout*", "room*", "drive*", "wait_texts*", "outlook*",
            "swap*", "rights*", "backend.cpp", "keep*", "adopt*", "reserve*", "start*", "ends*", "fit*", "board*")
MEMBER = r"(?:\.|->)(?:message|text|note|problems|problem|waiting_for|node_problems)\b(?!\s*\()(?:\[[^\]]*\]|\.front\(\)|\.back\(\))?"
ASKS = r"(?:starts_with|ends_with|contains|find|rfind|find_first_of|compare|substr)"
SENTENCE = r'"[^"\s]*[^"\s\\] [^"]*"'
RULES = (
    (re.compile(rf"{MEMBER}\s*(?:==|!=|<=>)(?!\s*(?:\"\"|nullptr\b))"), "compares a text"),
    (re.compile(rf"(?:==|!=)\s*\*?[\w.>\-()\[\]]*?{MEMBER}(?!\s*\.\s*(?:size|empty|begin|end)\b)"), "compares a text"),
    (re.compile(rf"{MEMBER}\s*(?:\.|->)\s*{ASKS}\s*\("), "searches in a text"),
    (re.compile(rf"(?:\.|->){ASKS}\s*\(\s*{SENTENCE}"), "searches for a sentence"),
    (re.compile(rf"(?:==|!=)\s*{SENTENCE}|{SENTENCE}\s*(?:==|!=)"), "compares with a sentence"),
)
#: Folders of operators/ that are no operator: they decide nothing.
NO_OPERATORS = ("kubectl-esi", "interface", "programs")
#: What a line may contain all the same, and why.
EXCEPTIONS = {"told->second == what.text": "its own Event, which is not to be repeated: no other part wrote it"}


def without_comments(line):
    """The line up to a // that is not in a string literal."""
    quoted = False
    for index, char in enumerate(line):
        if char == '"' and line[index - 1:index] != "\\":
            quoted = not quoted
        if not quoted and line.startswith("//", index):
            return line[:index]
    return line


def faults(text):
    """(number of the line, what is wrong) for each place of a source file."""
    for number, line in enumerate(text.splitlines(), 1):
        if any(each in line for each in EXCEPTIONS):
            continue
        code = without_comments(line)
        for rule, what in RULES:
            if rule.search(code):
                yield number, what
                break


def files(root):
    for pattern in DECIDING:
        for path in sorted((root / "operators").glob(f"*/**/{pattern}")) + sorted((root / "common/placement").glob(pattern)):
            plain = path.stem.endswith(("_test", "_for_tests", "_bench")) or {"interface", "backends"} & set(path.parts)
            if path.suffix in (".cpp", ".h") and not plain:
                yield path


def check(root):
    out = []
    seen = sorted(set(files(root)))
    for operator in sorted(each for each in (root / "operators").iterdir() if each.is_dir()):
        if operator.name in NO_OPERATORS:
            continue
        if not any(each.is_relative_to(operator) and each.name in ("decide.cpp", "decider.cpp") for each in seen):
            out.append(f"{operator.relative_to(root)}: has no decide.cpp: has its form changed?")
    for path in seen:
        name = path.relative_to(root).as_posix()
        out += [f"{name}:{number}: {what}; a decision goes by codes" for number, what in faults(path.read_text("utf-8"))]
    return out


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    wrong = check(root)
    print("\n".join(wrong) or f"decisions: {len(set(files(root)))} files, none reads text")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
