"""Reads the commands out of a Markdown page, and the words out of headers, for test_31_guide.py.

A block of commands is fenced with ```sh, ```bash or ```console. What the page's readers do not see says more
of the block that follows, in HTML comments of two forms, each on a line of its own:

    <!-- not run: REASON -->     it cannot run in the test; REASON is a sentence
    <!-- shows: TEXT -->         its output has to contain TEXT; may come more than once
"""
import dataclasses
import re

COMMANDS = ("sh", "bash", "console")
#: What a line of a block that nobody has called commands must not begin with.
PROGRAMS = ("kubectl", "curl", "helm", "make", "pip", "export", "eval", "integration-tests/", "KEEP=")
FENCE = re.compile(r"^ *(`{3,}|~{3,}) *([^ `]*)[^`]*$")
COMMENT = re.compile(r"^<!-- (not run|shows): *(.*?) *-->$")


class Fault(AssertionError):
    """What is wrong with a page: file, line, and what should be there."""


@dataclasses.dataclass
class Block:
    page: str
    line: int  # of its first line of commands
    language: str
    text: str
    not_run: str = ""
    shows: list = dataclasses.field(default_factory=list)

    @property
    def where(self):
        return f"{self.page}:{self.line}"

    @property
    def first(self):
        return self.text.strip().splitlines()[0] if self.text.strip() else ""

    def script(self):
        """For bash: of a console session the lines after the prompt, of anything else the text."""
        if self.language != "console":
            return self.text
        return "".join(line[2:] + "\n" for line in self.text.splitlines() if line.startswith("$ "))


def blocks(page, text):
    """All fenced blocks of the page, in order, with what the comments before them say."""
    found, said, fence = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        if fence:
            if line.strip() == fence:
                fence = None
            else:
                found[-1].text += line + "\n"
            continue
        opens = FENCE.match(line)
        if opens:
            fence = opens[1]
            found.append(Block(page, number + 1, opens[2], ""))
            tell(found[-1], said)
            said = []
        elif line.lstrip().startswith("<!--"):
            said.append((number, line.strip()))
        elif line.strip() and said:
            raise Fault(f"{page}:{said[-1][0]}: {said[-1][1]!r} stands before no block")
    if fence:
        raise Fault(f"{page}:{found[-1].line}: the block has no end")
    if said:
        raise Fault(f"{page}:{said[-1][0]}: {said[-1][1]!r} stands before no block")
    for block in found:
        judge(block)
    return found


def tell(block, said):
    for number, line in said:
        comment = COMMENT.match(line)
        if not comment:
            raise Fault(f"{block.page}:{number}: {line!r} is neither <!-- not run: REASON --> nor "
                        "<!-- shows: TEXT --> on one line")
        kind, words = comment.groups()
        if kind == "shows":
            if not words:
                raise Fault(f"{block.page}:{number}: `shows` has no text")
            block.shows.append(words)
            continue
        if len(words.split()) < 3:
            raise Fault(f"{block.page}:{number}: `not run` needs a reason, a sentence, not {words!r}")
        block.not_run = words


def judge(block):
    if block.language not in COMMANDS:
        if block.not_run or block.shows:
            raise Fault(f"{block.where}: only a block of commands ({', '.join(COMMANDS)}) can be marked, "
                        f"not one of {block.language or 'no language'!r}")
        looks = [line for line in block.text.splitlines() if line.startswith(PROGRAMS)]
        if looks and not block.language:
            raise Fault(f"{block.where}: {looks[0]!r} looks like a command: fence the block with ```sh")
    elif not block.script().strip():
        raise Fault(f"{block.where}: the block has no command")
    elif block.not_run and block.shows:
        raise Fault(f"{block.where}: what is not run shows nothing")


def commands(page, text):
    """The page's blocks of commands, in order, those that are not run too."""
    return [block for block in blocks(page, text) if block.language in COMMANDS]


def section(text, heading):
    """The part of the page below the heading, up to the next of the same or a higher level."""
    level = len(heading) - len(heading.lstrip("#"))
    lines = text.splitlines()
    if heading not in lines:
        raise Fault(f"the page has no heading {heading!r}")
    begin = lines.index(heading) + 1
    ends = (at for at in range(begin, len(lines)) if re.match(rf"^#{{1,{level}}} ", lines[at]))
    return "\n".join(lines[begin:next(ends, len(lines))])


def table_words(text):
    """The words in the first cells of the page's tables, heads left out."""
    words, lines = set(), text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""]):
        is_head = re.match(r"^\|[-: |]+\|$", following)
        if line.startswith("|") and not is_head:
            words |= set(re.findall(r"[A-Za-z_]+", line.split("|")[1]))
    return words


def constants(text, namespaces=()):
    """{word: its namespace} of the header's constants; with `namespaces` of those only."""
    found, namespace = {}, ""
    for line in text.splitlines():
        opens = re.match(r"^namespace (\w+) \{", line)
        namespace = opens[1] if opens else namespace
        word = re.match(r'^inline constexpr std::string_view \w+ = "([^"]*)";', line)
        if word and (not namespaces or namespace in namespaces):
            found[word[1]] = namespace
    return found
