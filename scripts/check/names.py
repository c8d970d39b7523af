#!/usr/bin/env python3
"""What the documents name exists: files, folders, functions, links, anchors and make targets.

    names.py [ROOT]      exit code 1 with one line for each name that leads nowhere

The documents are all Markdown files of the repository (of CHANGELOG.md only the links: it tells of what was).
What is checked in them:

- `path/to/file.cpp` or `path/to/folder/`: a file or folder of the repository, or of the document's own folder. The end of
  a path is enough, and so is a path without its ending. A code span is taken for a path if it ends like a source file or
  begins with a folder of the repository's root. `{a,b}` names several, a `*` or a word in capitals (`NAME_test.cpp`)
  stands for anything.
- `path/to/file.cpp` `function`: a file and right behind it one word. The file declares or defines that function or type.
- [text](path#anchor): the file exists, and has that heading.
- mutation `name` and kept plan `name`, also several: the list has it.
- `make target`, also in blocks of commands: the Makefile has it.
- the first column of a table in a README whose head is "file", "folder", "file or folder" or the like.

In all other text files, docs/NAME.md and docs/NAME.md#anchor are looked for, so that comments and the source lines of
the mutations cite pages that exist.
"""
import fnmatch
import functools
import itertools
import os
import pathlib
import re
import sys

NOT_OURS = {".git", "build", ".cache", "node_modules", "__pycache__", ".pytest_cache", "seeds"}
SOURCES = ("cpp", "h", "py", "sh", "go", "md", "yaml", "yml", "json", "txt", "mjs", "tpl", "cmake", "mutation", "in")
#: Text that is not Markdown, but may cite a page.
CITING = {".cpp", ".h", ".py", ".sh", ".go", ".yaml", ".mutation", ".txt", ".cmake"}
PATH = re.compile(r"[\w.*{},+/-]+")
ENDS_LIKE_A_SOURCE = re.compile(rf"\.(?:{'|'.join(SOURCES)}|\{{[a-z,]+\}})$")
FUNCTION = re.compile(r"[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*")
SPAN = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")
CITATION = re.compile(r"\bdocs/[\w/-]+\.md(?:#[\w-]+)?")
MAKE = re.compile(r"(?:^|[;&|(]\s*|\s)make ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)*)")
FILE_HEADS = {"file", "files", "folder", "file or folder", "folder or file"}
#: A declaration has a type before the name; these words are no types.
NO_TYPE = {"return", "co_return", "co_await", "co_yield", "else", "case", "throw", "new", "delete", "not", "and", "or"}
#: Names of files that others write, or that are examples of a name.
ELSEWHERE = {"case.json", "record.json", "values.yaml", "esi-backup.json", "nominator.go", "executor.go",
             "eventhandlers.go", "read_your_own_write_client.md"}
#: Folders that a command makes.
MADE = ("build/", "helm/manifests")
#: "mutation `NAME`", "kept plans `NAME` and `NAME`": where these are.
LISTS = {"mutation": "integration-tests/simulation/mutations/list/{}.mutation",
         "kept plan": "integration-tests/simulation/cases/{}.json"}
LISTED = re.compile(r"\b([Mm]utation|[Kk]ept plan)s?((?:(?:,| and|, and)? `[\w-]+`(?!/))+)")


class Page:
    """A Markdown file, taken apart: headings, links, code spans in order, lines of blocks."""

    def __init__(self, text):
        self.anchors, self.links, self.spans, self.commands, self.tables = set(), [], [], [], []
        counts = {}
        fence, head = "", None
        for number, line in enumerate(text.splitlines(), 1):
            opening = re.match(r"\s*(```+|~~~+)", line)
            if opening and (not fence or line.strip() == fence):
                fence = "" if fence else opening.group(1)
                continue
            if fence:
                self.commands.append((number, line))
                continue
            heading = re.match(r"#{1,6} +(.+?)\s*#*$", line)
            if heading:
                slug = slug_of(heading.group(1))
                seen = counts.setdefault(slug, 0)
                counts[slug] += 1
                self.anchors.add(f"{slug}-{seen}" if seen else slug)
            self.anchors.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
            self.links += [(number, target) for target in LINK.findall(SPAN.sub(keep_length, line))]
            spans = [(found.start(), found.end(), found.group(2).strip()) for found in SPAN.finditer(line)]
            self.spans.append((number, line, spans))
            head = self.row(number, line, head)

    def row(self, number, line, head):
        """Remembers the first cells of tables of files. Gives the head that the next line is under."""
        if not line.startswith("|"):
            return None
        first = line.strip().strip("|").split("|")[0].strip()
        if head is None:
            return first
        if head in FILE_HEADS and not re.fullmatch(r":?-+:?", first):
            self.tables.append((number, first))
        return head


def slug_of(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text).strip().lower().replace(" ", "-")


def keep_length(found):
    return " " * len(found.group(0))


def expanded(name):
    """The names that a{b,c}d stands for."""
    parts = re.split(r"\{([^{}]*)\}", name)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(each) for each in itertools.product(*choices)]


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files, self.folders = [], set()
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(each for each in folders if each not in NOT_OURS)
            at = pathlib.Path(folder).relative_to(self.root)
            self.folders.add(at.as_posix())
            self.files += [(at / each).as_posix() for each in sorted(files)]
        self.names = set(self.files) | self.folders
        self.top = {each for each in self.folders if each != "." and "/" not in each}
        makefile = self.root / "Makefile"
        text = makefile.read_text("utf-8") if makefile.exists() else ""
        self.targets = set(re.findall(r"^([a-z][a-z-]*):", text, re.MULTILINE))

    @functools.cache
    def page(self, name):
        return Page((self.root / name).read_text("utf-8"))

    @functools.cache
    def text(self, name):
        return (self.root / name).read_text("utf-8", errors="replace")

    def find(self, name, beside):
        """Paths in the repository that `name` may mean in a document of the folder `beside`."""
        out = []
        for each in expanded(name.rstrip("/")):
            pattern = re.sub(r"(?<![A-Za-z])(?:NAME|KIND|OPERATOR)(?![A-Za-z])", "*", each)
            found = []
            for base in ("", beside):
                path = os.path.normpath(os.path.join(base, pattern))
                if "*" in path:
                    found += fnmatch.filter(self.names, path)
                elif path in self.names:
                    found.append(path)
            if not found:
                # The end of a path is enough where the document has named the folder.
                found = fnmatch.filter(self.files, "*/" + pattern)
            if not found:
                return []
            out += found
        return out

    def is_path(self, span):
        if not PATH.fullmatch(span) or span.startswith(("/", "-", ".")) or "//" in span:
            return False
        if span.split("/")[-1] in ELSEWHERE or span.startswith(MADE):
            return False
        if ENDS_LIKE_A_SOURCE.search(span) and not span.startswith("*"):
            return True
        return "/" in span and span.split("/")[0] in self.top


def declares(name, text, file):
    """Whether a source file declares or defines a function or a type of that name."""
    last = re.escape(name.rsplit("::", 1)[-1])
    if file.endswith(".py"):
        return re.search(rf"^\s*(?:async )?(?:def|class) {last}\b", text, re.MULTILINE) is not None
    if file.endswith(".sh"):
        return re.search(rf"^{last}\s*\(\)", text, re.MULTILINE) is not None
    if file.endswith(".go"):
        return re.search(rf"^(?:func(?: \([^)]*\))?|type) {last}\b", text, re.MULTILINE) is not None
    if not file.endswith((".cpp", ".h")):
        return re.search(rf"\b{last}\b", text) is not None
    if re.search(rf"\b(?:struct|class|enum class|namespace|using)\s+(?:\w+::)*{last}\b(?!\s*\()", text):
        return True
    for found in re.finditer(rf"([\w>\]&*]+)\s+[&*]*((?:\w+::)*){last}\(", text):
        if found.group(1) not in NO_TYPE and (not name.count("::") or not found.group(2) or
                                              f"{found.group(2)}{name.rsplit('::', 1)[-1]}".endswith(name)):
            return True
    return False


def functions_behind(lines, at, index):
    """The code spans right behind span `index` of line `at`: `file` `function` `function`, also in the next line."""
    _, line, spans = lines[at]
    out, end = [], spans[index][1]
    for start, stop, text in spans[index + 1:]:
        if line[end:start].strip("* ") or start == end:
            return out
        out.append(text)
        end = stop
    if not line[end:].strip() and at + 1 < len(lines):
        _, line, spans = lines[at + 1]
        if spans and not line[:spans[0][0]].strip():
            out += [spans[0][2]] if not out else []
    return out


def check_page(tree, name):
    page, beside = tree.page(name), os.path.dirname(name)
    for number, target in page.links:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        aim = os.path.normpath(os.path.join(beside, path)) if path else name
        if aim not in tree.names and not aim.startswith("build/"):
            yield f"{name}:{number}: link to {target}: there is no {aim}"
        elif anchor and aim.endswith(".md") and anchor not in tree.page(aim).anchors:
            yield f"{name}:{number}: link to {target}: {aim} has no heading #{anchor}"
    if name == "CHANGELOG.md":
        return
    for at, (number, line, spans) in enumerate(page.spans):
        for index, (_, _, span) in enumerate(spans):
            yield from check_targets(tree, name, number, span)
            if not tree.is_path(span):
                continue
            found = tree.find(span, beside) or tree.find(span + ".*", beside)
            if not found:
                yield f"{name}:{number}: `{span}` does not exist"
                continue
            for function in functions_behind(page.spans, at, index):
                if not FUNCTION.fullmatch(function):
                    yield f"{name}:{number}: `{span}` `{function}`: that is no name of a function"
                elif not any(file in tree.files and declares(function, tree.text(file), file) for file in found):
                    yield f"{name}:{number}: `{span}` `{function}`: the file has no such function"
        for what, names in LISTED.findall(line):
            for each in re.findall("`(.+?)`", names):
                file = LISTS[what.lower()].format(each)
                if file not in tree.names:
                    yield f"{name}:{number}: {what.lower()} `{each}`: there is no {file}"
    for number, line in page.commands:
        yield from check_targets(tree, name, number, line.split("#")[0])
        for word in re.findall(r"(?<![\w./$}~:-])[\w.-]+(?:/[\w.{},*-]+)+/?", line):
            if tree.is_path(word) and word.split("/")[0] in tree.top and not tree.find(word, ""):
                yield f"{name}:{number}: {word} does not exist"
    if os.path.basename(name) == "README.md":
        yield from check_tables(tree, name, page, beside)


def check_targets(tree, name, number, text):
    for found in MAKE.findall(text):
        for target in found.split():
            if target not in tree.targets:
                yield f"{name}:{number}: make {target}: the Makefile has no such target"


def check_tables(tree, name, page, beside):
    for number, cell in page.tables:
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell)
        in_code = [found.group(2) for found in SPAN.finditer(plain)]
        for word in in_code or re.split(r",\s+|\s+and\s+", plain):
            if not PATH.fullmatch(word) or word.isdigit():
                continue
            if any(tree.find(word + end, beside) for end in ("", ".*", "_*")):
                continue
            yield f"{name}:{number}: {word} is in a table of files and does not exist"


def check_citations(tree):
    for name in tree.files:
        if pathlib.PurePath(name).suffix not in CITING or name.startswith("scripts/check/"):
            continue
        for number, line in enumerate(tree.text(name).splitlines(), 1):
            for cited in CITATION.findall(line):
                path, _, anchor = cited.partition("#")
                if path not in tree.names:
                    yield f"{name}:{number}: cites {path}, which does not exist"
                elif anchor and anchor not in tree.page(path).anchors:
                    yield f"{name}:{number}: cites {cited}: there is no such heading"


def check(root):
    """All that is wrong, one line each."""
    tree = Tree(root)
    out = []
    for name in tree.files:
        if name.endswith(".md"):
            out += check_page(tree, name)
    return out + list(check_citations(tree))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
    wrong = check(root)
    print("\n".join(wrong) or "names: all that the documents name exists")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
