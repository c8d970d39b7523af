"""Recorded exchanges of the Java original: sending them to ESI's binaries, and comparing the answers.

Nothing here knows an operator's code; what is masked is in fixtures/original/rest/README.md.
"""
import collections
import difflib
import email.utils
import json
import pathlib
import re
import socket

from patience import PATIENCE

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "original" / "rest"
NAMES = sorted(file.stem for file in FOLDER.glob("*.req"))

#: What stands in a masked place, and the forms that may stand there.
MASKS = {
    "timestamp": (("ms", r"\d{13}"), ("iso", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00")),
    "start": (("time", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"),),
    "stop": (("time", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"),),
    "podUId": (("uid", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),),
    "podName": (("ghost", r"ghostpod-[a-z]+-slots-on-esij-\d-\d|[a-z]+-slots-ghost-[0-9a-f]{10}"),),
}

#: status; [(name in lower case, value), ...] in order of names; body as text, masked.
Answer = collections.namedtuple("Answer", "status headers body")


class Malformed(AssertionError):
    pass


def request(name):
    return (FOLDER / f"{name}.req").read_bytes()


def method(name):
    return request(name).split(b" ", 1)[0].decode()


def port(name):
    """The port that the original was asked at: 8080, 8081 or 8082."""
    return int(re.search(rb"\r\nHost: 127\.0\.0\.1:(\d+)\r\n", request(name)).group(1))


def recorded(name):
    return answer_of((FOLDER / f"{name}.resp").read_bytes(), method(name) == "HEAD", ours=False)


def exchange(name, to_port):
    """Sends the recorded bytes, unchanged, on a connection of their own."""
    with socket.create_connection(("127.0.0.1", to_port), timeout=PATIENCE) as connection:
        connection.sendall(request(name))
        heard = b""
        while more := connection.recv(65536):
            heard += more
    return answer_of(heard, method(name) == "HEAD", ours=True)


def answer_of(raw, head_only, ours):
    head, found, body = raw.partition(b"\r\n\r\n")
    if not found:
        raise Malformed(f"no end of the headers: {raw!r}")
    first, *lines = head.decode("latin-1").split("\r\n")
    version, status, *_ = first.split(" ")
    if version != "HTTP/1.1":
        raise Malformed(first)
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
    by_name = dict(headers)
    if email.utils.parsedate_to_datetime(by_name["date"]).tzinfo is None or not by_name["date"].endswith("GMT"):
        raise Malformed(f"Date: {by_name['date']}")
    if by_name.get("transfer-encoding") == "chunked":
        body = unchunked(body)
    elif not head_only and int(by_name.get("content-length", 0)) != len(body):
        raise Malformed(f"{by_name.get('content-length')} bytes announced, {len(body)} came")
    if head_only and body:
        raise Malformed(f"a body in the answer to HEAD: {body!r}")
    hidden = {"date", "transfer-encoding"} | (set() if head_only else {"content-length"})
    if ours:
        if by_name.get("x-content-type-options") != "nosniff":
            raise Malformed(f"X-Content-Type-Options: {by_name.get('x-content-type-options')}")
        hidden.add("x-content-type-options")
    shown = sorted((each for each in headers if each[0] not in hidden), key=lambda each: each[0])
    return Answer(int(status), shown, masked_body(body.decode("utf-8"), by_name.get("content-type", ""), ours))


def unchunked(rest):
    body = b""
    while True:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return body
        body, rest = body + rest[:length], rest[length + 2:]


def masked_body(text, content_type, ours):
    if "json" in content_type and text:
        value = json.loads(text)
        if compact(value) != text:
            raise Malformed(f"not compact JSON: {text}")
        if ours and isinstance(value, dict) and "timestamp" in value and "status" in value:
            value.pop("messages", None)
        return compact(masked(value))
    return re.sub(r"<div id='created'>[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}</div>",
                  "<div id='created'>time</div>", text)


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def masked(value, key=None):
    if isinstance(value, dict):
        members = sorted(value.items()) if key == "slotsByNode" else value.items()
        return {name: masked(each, name) for name, each in members}
    if isinstance(value, list):
        each_is_a_slot = all(isinstance(each, dict) and "slotPositionOnNode" in each for each in value)
        items = sorted(value, key=lambda each: each["position"]) if each_is_a_slot else value
        return [masked(each) for each in items]
    for mask, form in MASKS.get(key, ()):
        if value is not None and re.fullmatch(form, str(value)) and isinstance(value, int) == (mask == "ms"):
            return f"<{mask}>"
    return value


def differences(expected, got):
    """Lines of a diff; empty where the answers are equal."""
    def lines(answer):
        return [f"status {answer.status}", *(f"{name}: {value}" for name, value in answer.headers),
                *re.sub(r"([,{\[])", r"\1\n", answer.body).splitlines()]
    if expected == got:
        return ""
    return "\n".join(difflib.unified_diff(lines(expected), lines(got), "recorded", "ours", n=2, lineterm=""))
