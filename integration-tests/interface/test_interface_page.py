"""docs/interface.md has a row for each operation, each code of the sources, each type and reason of the stream, and no
row for what there is not."""
import json
import re

import pytest

from conftest import ROOT

SOURCES = ROOT / "operators" / "interface" / "v1"
PAGE = (ROOT / "docs" / "interface.md").read_text("utf-8")
DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))


def section(title):
    """The text below that heading, up to the next one of its rank."""
    found = re.search(rf"^(#+) {re.escape(title)}$(.*?)(?=^\1 |\Z)", PAGE, re.M | re.S)
    assert found, f"docs/interface.md has no section {title}"
    return found[2]


def words_of_rows(text):
    """The words in the first cell of each row."""
    return [word for row in re.findall(r"^\| *(`.*?) *\|", text, re.M) for word in re.findall(r"`([^`]+)`", row)]


def text_of(*names):
    return "".join(path.read_text("utf-8") for name in names for path in sorted(SOURCES.glob(name)))


def codes_of_sources():
    """Those that the document lists, those of problems.h, and those of a status (common/http/problem.cpp)."""
    listed = {each["code"] for each in DOCUMENT["x-problem-codes"]}
    named = set(re.findall(r'constexpr std::string_view \w+ = "(\w+)"', text_of("wire/problems.h")))
    statuses = set(re.findall(r'return "(\w+)"', (ROOT / "common" / "http" / "problem.cpp").read_text("utf-8")))
    assert len(named) > 20 and len(statuses) > 10
    # One line there has two: "Internal" and "BadRequest".
    return listed | named | statuses | {"Internal"}


def test_each_code_has_its_row_with_cause_and_remedy():
    rows = words_of_rows(section("Errors"))
    assert sorted(rows) == sorted(codes_of_sources())
    for row in re.findall(r"^\| `\w+`.*$", section("Errors"), re.M):
        assert all(cell.strip() for cell in row.strip("|").split("|")), row


def test_the_status_of_a_code_is_that_of_the_document():
    told = {code: int(status) for code, status in re.findall(r"^\| `(\w+)` \| (\d{3}) ", section("Errors"), re.M)}
    known = {each["code"]: each["status"] for each in DOCUMENT["x-problem-codes"] if each.get("status")}
    assert {code: told.get(code) for code in known} == known


def operations():
    """{(method, path): rights}, written as in the table."""
    return {(method.upper(), path.removeprefix("/api/v1").replace("/namespaces/{namespace}", "NS")):
            {f"{each['verb']} {each['resource']}" for each in operation["x-required-rights"]}
            for path, methods in DOCUMENT["paths"].items() for method, operation in methods.items()}


def table():
    found = {}
    for first, needs in re.findall(r"^\| (`(?:GET|PUT|POST|PATCH|DELETE) .*?) \|.*\| (.*?) \|$",
                                   section("Operations and rights"), re.M):
        for each in re.findall(r"`([^`]+)`", first):
            found[tuple(each.split(" "))] = needs
    return found


def test_each_operation_has_its_row():
    assert sorted(table()) == sorted(operations())


@pytest.mark.parametrize("operation", [each for each in operations() if not each[1].endswith("/events")], ids="-".join)
def test_its_row_names_the_rights_that_it_needs(operation):
    needs = re.sub(r"[*]|\(.*?\)", "", table()[operation])
    assert {each.strip() for each in needs.split(";")} == operations()[operation]


def test_each_reason_and_type_of_the_stream_has_its_row():
    sources = text_of("events/*.cpp", "events/*.h")
    resets = set(re.findall(r'reason\{"(\w+)"', text_of("events/conversation.cpp")))
    ends = set(re.findall(r'finish\(to, "(\w+)"', text_of("events/conversation.cpp")))
    assert {"TooOld", "IdUnknown", "Relisted", "TooSlow"} <= resets and {"Stopping", "TooSlow"} <= ends
    assert (resets | ends) <= set(words_of_rows(section("Events")))
    types = set(re.findall(r'(?:return|=|,) "(ADDED|MODIFIED|DELETED|snapshot|sync|reset|end|HEARTBEAT)"', sources))
    assert types == {"ADDED", "MODIFIED", "DELETED", "snapshot", "sync", "reset", "end", "HEARTBEAT"}
    assert types <= set(words_of_rows(section("Events")))


@pytest.mark.parametrize("flag", ["--api-max-wait", "--api-requests-per-second", "--api-request-burst",
                                  "--api-waits-per-caller", "--api-streams-per-caller", "--api-auth-cache-ttl"])
def test_the_flags_of_limits_are_those_of_the_program(flag):
    assert flag in section("Limits")
    assert f'"{flag}"' in (ROOT / "operators" / "interface" / "options.cpp").read_text("utf-8")
