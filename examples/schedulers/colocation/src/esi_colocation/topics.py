"""Being told of changes by the original's interface (--legacy): STOMP over WebSocket at /scheduler.

A subscription makes waiting quick; it is never what a decision rests on. A message may be lost (the
connection breaks, the server restarts), so whoever waits also looks by GET from time to time.

The part of STOMP that is needed is small. A frame is a command, headers, an empty line, a body and a
zero byte; frames may come in pieces, and several at once.
"""
from __future__ import annotations

import json

import websocket

from esi_colocation.records import Job, NotUnderstood, Scheduling, Testbed

READERS = {"testbeds": Testbed.read, "jobs": Job.read, "schedulings": Scheduling.read}
ACTIONS = {"ADDED", "MODIFIED", "DELETED"}
CONNECT_TIMEOUT = 5.0  # seconds
RECONNECT_PAUSE = 15.0
LOOK = 10.0  # a message may be lost: so often somebody who waits looks all the same
LARGEST_FRAME = 64 * 1024 * 1024  # bytes; more than any object of ESI's


class BadFrame(Exception):
    pass


ESCAPES = {"\\n": "\n", "\\r": "\r", "\\c": ":", "\\\\": "\\"}


def frame(command: str, headers: dict[str, str], body: str = "") -> str:
    return "\n".join([command, *(f"{key}:{value}" for key, value in headers.items())]) + f"\n\n{body}\0"


class Frames:
    """Cuts what comes in into frames: feed bytes, get [(command, headers, body)]."""

    def __init__(self):
        self.rest = b""

    def feed(self, data: bytes) -> list[tuple[str, dict[str, str], bytes]]:
        self.rest += data
        if len(self.rest) > LARGEST_FRAME:
            raise BadFrame("a frame without an end")
        found = []
        while one := self.cut():
            found.append(one)
        return found

    def cut(self):
        self.rest = self.rest.lstrip(b"\r\n")  # heart-beats
        ends = [(at, len(mark)) for mark in (b"\n\n", b"\r\n\r\n", b"\n\r\n")
                if (at := self.rest.find(mark)) >= 0]
        if not ends:
            return None
        at, size = min(ends)
        command, *lines = self.rest[:at].decode("utf-8").replace("\r\n", "\n").split("\n")
        headers: dict[str, str] = {}
        for line in lines:
            key, colon, value = line.partition(":")
            if not colon:
                raise BadFrame(f"not a header: {line!r}")
            headers.setdefault(unescaped(key), unescaped(value))  # the first one counts
        begin = at + size
        if "content-length" in headers:
            if not headers["content-length"].isdigit():
                raise BadFrame("content-length is not a number")
            end = begin + int(headers["content-length"])
            if len(self.rest) <= end:
                return None
            if self.rest[end] != 0:
                raise BadFrame("no zero byte at the end")
        elif (end := self.rest.find(b"\0", begin)) < 0:
            return None
        body, self.rest = self.rest[begin:end], self.rest[end + 1:]
        return command.strip("\r"), headers, body


def unescaped(text: str) -> str:
    out, at = "", 0
    while at < len(text):
        pair = text[at:at + 2]
        out += ESCAPES.get(pair, text[at])
        at += 2 if pair in ESCAPES else 1
    return out


def message(kind: str, name: str, headers: dict[str, str], body: bytes):
    """(action, record) of a MESSAGE about that object; None for anything else, and, as the original's
    clients do, for what a strict reader does not know."""
    if headers.get("destination") != f"/topic/{kind}/{name}":
        return None
    try:
        told = json.loads(body)
        if set(told) != {"action", "resource"} or told["action"] not in ACTIONS:
            return None
        return told["action"], READERS[kind](told["resource"])
    except (ValueError, TypeError, KeyError, NotUnderstood):
        return None


class Topics:
    """Makes subscriptions. `say` prints a line for people: once when the topics are away, once when
    they are back."""

    def __init__(self, url: str, clock, say):
        scheme, _, rest = url.rstrip("/").partition("://")
        self.url = f"{'wss' if scheme == 'https' else 'ws'}://{rest}/scheduler"
        self.host = rest.partition("/")[0].rpartition("@")[2]
        self.clock, self.say = clock, say
        self.away = False

    def subscribe(self, kind: str, name: str) -> Subscription:
        return Subscription(self, kind, name)

    def lost(self, why: Exception) -> None:
        if not self.away:
            text = str(why).partition(" -+-+- ")[0] or type(why).__name__  # then come the headers
            self.say(f"no topics at {self.url} ({text}): looking from time to time instead")
        self.away = True

    def found(self) -> None:
        if self.away:
            self.say(f"topics at {self.url} are back")
        self.away = False


class Subscription:
    """One object's topic, on a connection of its own. Never raises: where the server has no topics,
    or goes away, `next` just waits, and tries to connect again from time to time."""
    look = LOOK

    def __init__(self, topics: Topics, kind: str, name: str):
        self.topics, self.kind, self.name = topics, kind, name
        self.socket = None
        self.frames = Frames()
        self.try_again_at = float("-inf")
        self.connect()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def live(self) -> bool:
        return self.socket is not None

    def connect(self) -> None:
        clock = self.topics.clock
        self.try_again_at = clock.now() + RECONNECT_PAUSE
        self.frames = Frames()
        try:
            self.socket = websocket.create_connection(self.topics.url, timeout=CONNECT_TIMEOUT)
            self.send("CONNECT", {"accept-version": "1.1,1.2", "host": self.topics.host,
                                  "heart-beat": "0,0"})
            deadline = clock.now() + CONNECT_TIMEOUT
            while not (came := self.receive(deadline - clock.now())):
                if clock.now() >= deadline:
                    raise BadFrame("no answer to CONNECT")
            if came[0][0] != "CONNECTED":
                raise BadFrame(f"{came[0][0]} {came[0][1].get('message', '')}")
            self.send("SUBSCRIBE", {"id": "0", "destination": f"/topic/{self.kind}/{self.name}"})
        except (OSError, websocket.WebSocketException, BadFrame, UnicodeDecodeError) as error:
            self.drop(error)
        else:
            self.topics.found()

    def next(self, seconds: float):
        """(action, record) as soon as the topic says something, None after so many seconds."""
        clock = self.topics.clock
        deadline = clock.now() + seconds
        if not self.live and clock.now() >= self.try_again_at:
            self.connect()
            return None  # look once more: something may have happened before
        while (left := deadline - clock.now()) > 0:
            if not self.live:
                clock.sleep(left)
                return None
            newest = None
            try:
                for command, headers, body in self.receive(left):
                    if command == "ERROR":
                        raise BadFrame(headers.get("message", "ERROR"))
                    told = message(self.kind, self.name, headers, body) if command == "MESSAGE" else None
                    newest = told or newest
            except (OSError, websocket.WebSocketException, BadFrame, UnicodeDecodeError) as error:
                self.drop(error)
                return None
            if newest:
                return newest
        return None

    def send(self, command: str, headers: dict[str, str]) -> None:
        self.socket.send(frame(command, headers))

    def receive(self, seconds: float):
        self.socket.settimeout(max(seconds, 0.01))
        try:
            opcode, data = self.socket.recv_data()
        except websocket.WebSocketTimeoutException:
            return []
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            raise BadFrame("closed by the server")
        return self.frames.feed(data)

    def drop(self, error: Exception) -> None:
        self.close()
        self.topics.lost(error)

    def close(self) -> None:
        if self.socket is not None:
            try:
                self.socket.close(timeout=1)
            except (OSError, websocket.WebSocketException):
                pass  # it is gone either way
        self.socket = None


class NoTopics:
    """In the place of Topics where only GET is wanted (--poll)."""

    def __init__(self, clock):
        self.clock = clock

    def subscribe(self, kind: str, name: str):
        return Silence(self.clock)


class Silence:
    live = False
    look = LOOK

    def __init__(self, clock):
        self.clock = clock

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def next(self, seconds: float):
        self.clock.sleep(seconds)
