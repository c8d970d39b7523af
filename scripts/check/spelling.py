#!/usr/bin/env python3
"""Spelling of what people read: documents, CRD descriptions, the chart, scripts, comments and string literals.

    spelling.py [ROOT]      needs codespell; exit code 1 with one line for each word

words.txt beside this file holds words that are right all the same, one a line, in lower case. Names of Kubernetes'
own vocabulary and of other people's programs belong there; a word of ours that codespell does not like is renamed.

In the pages for people (PLAIN), the comments of the product and its unit tests (COMMENTS), the texts of the CRDs and the
descriptions of the OpenAPI document a subject has a name. Outside of code these are refused: VAGUE words, and a sentence
whose subject is a relative clause, or that begins at its end (riddle): "Who writes it waits.", "What is left is read.",
"Of which one runs."
"""
import bisect
import json
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
COMMENTS = tuple(f"{folder}/**/*.{ending}" for folder in ("common", "operators") for ending in ("h", "cpp"))
CRDS = ("helm/esi/files/crds/*.yaml",)
DOCUMENTS = ("docs/openapi.json",)

VAGUE = re.compile(r"\b(nobody|somebody|everybody|anybody|whoever|whomever|anew|"
                   r"(?:elder|heir|rival|pretender|misfit|hindrance|obstacle)s?)\b", re.IGNORECASE)
#: A sentence, or the part behind a colon or semicolon, that begins with one of these words.
OPENING = re.compile(r"(?:^|(?<=[.:;!?] ))\W{0,3}(?P<rest>(?P<word>Who|Whom|Whose|What|Of)\b"
                     r"(?:[^.;:?!]|[.;:?!](?=\S))*)(?P<end>[.;:?!]?)")
#: One is picked out of a number: "Of two patterns the first wins", "Of claims that wait, the oldest goes first".
PICKS = re.compile(r"Of (?:two|three|four|all|both|several|\d+)\b|"
                   r"Of [^,]+, (?:the|only|each|some|none|one|most|two|three|half|\d+)\b")
VERB = re.compile(r"(?<!and )\b(?:(?:may|must|can|could|will|would|should|does|do|did)(?: not| never)? \w+|"
                  r"cannot \w+|is|are|was|were|has|have|had|applies|becomes|begins|belongs|carries|comes|counts|"
                  r"creates|ends|fails|follows|gets|goes|happens|holds|keeps|lacks|lives|makes|matches|means|names|"
                  r"needs|points|reads|says|shows|stays|takes|waits|wants|writes)\b")
#: Further clauses of a title: "What it sends, when it is asked", "What keeps pods that wait".
FURTHER = re.compile(r"\b(?:after|and how|and what|and which|and who|and why|as|because|before|if|once|so that|than|unless|"
                     r"until|when|where|whether|while) .*|\b(?:that|which|who|whose \w+) (?:\w+ly )?\w+")
#: A comment, or a literal that may look like one.
TOKEN = re.compile(r"""R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|"""
                   r"(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)", re.DOTALL)
SCALAR = re.compile(r"(?P<before>\s*(?:- )?)(?:description|message):\s*(?P<text>.*)")


def riddle(opening):
    """True: the match of OPENING is a sentence without a subject that the reader can name."""
    word, rest = opening["word"], opening["rest"]
    if opening["end"] == "?":
        return False
    if word == "Of":
        return not PICKS.match(rest)
    # As a title or a question without its mark it has one verb: "What the API server keeps".
    return word != "What" or len(VERB.findall(FURTHER.sub("", rest))) > 1


def vague(text):
    """(place, words) of each vague word, and of the beginning of each riddle, in the (place, line) of one text."""
    starts, joined = [], ""
    for _, line in text:
        starts.append(len(joined))
        joined += line.strip() + " "
    joined = re.sub(r"`[^`]*`", lambda code: "x" * len(code.group()), joined)
    found = [(each.start(), each.group()) for each in VAGUE.finditer(joined)]
    found += [(each.start("word"), " ".join(each["rest"].split()[:5]))
              for each in OPENING.finditer(joined) if riddle(each)]
    for at, word in sorted(found):
        yield text[bisect.bisect_right(starts, at) - 1][0], word


def paragraphs(lines):
    """The texts of (number, line): an empty line ends one, and an item of a list or a cell of a table is one."""
    text = []
    for number, line in lines:
        cells = line.split("|")
        if not line.strip() or len(cells) > 2 or re.match(r"\s*(?:[-*>]|\d+\.|\(\w\)) ", line):
            yield text
            text = []
        if len(cells) > 2:
            yield from ([(number, cell)] for cell in cells)
        elif line.strip():
            text.append((number, re.sub(r"^\s*(?:[-*>]|\d+\.|\(\w\)) ", "", line)))
    yield text


def in_page(text):
    """The texts of a page, without blocks of code, headings, and the bold words that begin a paragraph."""
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced = fenced != fence
        heading = line.startswith("#") and not VAGUE.search(line)
        lines.append((number, "" if fenced or fence or heading else re.sub(r"\*\*[^*]+[.?:]\*\*", "", line)))
    yield from paragraphs(lines)


def in_source(text):
    """The texts of the comments of C++. One text: comments in consecutive lines and one column, with no code before."""
    lines, last = [], (0, 0)
    for token in TOKEN.finditer(text):
        comment = token["line"] or token["block"]
        if not comment:
            continue
        number = text.count("\n", 0, token.start()) + 1
        before = text[text.rfind("\n", 0, token.start()) + 1:token.start()]
        if before.strip() or (number, len(before)) != last:
            yield from paragraphs(lines)
            lines = []
        for more, line in enumerate(comment.splitlines()):
            lines.append((number + more, re.sub(r"^\s*(?:/{2,}<?|/\*+<?|\*+(?!/))|\*/$", "", line)))
        last = (lines[-1][0] + 1, len(before))
    yield from paragraphs(lines)


def in_crd(text):
    """The texts of a CRD: comments, descriptions, and messages of rules, also those that go over several lines."""
    lines, indent = [], None
    for number, line in enumerate(text.splitlines(), 1):
        comment, scalar = re.match(r"\s*#(.*)", line), SCALAR.match(line)
        if indent is not None and (not line.strip() or len(line) - len(line.lstrip()) > indent):
            lines.append((number, line))
        elif comment:
            indent = None
            lines.append((number, comment.group(1)))
        else:
            yield from paragraphs(lines)
            indent = len(scalar["before"]) if scalar else None
            lines = [(number, re.sub(r"^[>|][-+]?$|^['\"]|['\"]$", "", scalar["text"]))] if scalar else []
    yield from paragraphs(lines)


def in_document(text):
    """The texts of an OpenAPI document, each with its path in place of a line."""
    def walk(value, path):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, (dict, list)):
                yield from walk(inner, f"{path}/{key}")
            elif key in ("description", "summary"):
                yield [(f"{path}/{key}", inner)]

    return walk(json.loads(text), "")


def vague_in(root):
    """(number of files read, a line for each vague word) of all that is to be in plain words."""
    count, found = 0, []
    for patterns, texts_of in ((PLAIN, in_page), (COMMENTS, in_source), (CRDS, in_crd), (DOCUMENTS, in_document)):
        for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
            name = path.relative_to(root).as_posix()
            if name not in NOT_PLAIN:
                count += 1
                found += [f"{name}:{place}: '{word}': name the subject (docs/glossary.md, words that are not used)"
                          for text in texts_of(path.read_text("utf-8")) for place, word in vague(text)]
    return count, found


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1]
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    files = [each for each in listed if pathlib.PurePath(each).suffix in ENDINGS and (root / each).is_file() and
             not any(part in each for part in NOT_READ)]
    done = subprocess.run(["codespell", "--quiet-level=2", f"--ignore-words={HERE / 'words.txt'}", *files], cwd=root,
                          check=False)
    plain, found = vague_in(root)
    print("\n".join(found) or f"spelling: {len(files)} files, {plain} of them in plain words")
    return 1 if done.returncode or found else 0


if __name__ == "__main__":
    sys.exit(main())
