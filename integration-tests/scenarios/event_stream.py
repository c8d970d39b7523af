"""A client of /api/v1/events by hand: JSON lines out of a chunked answer, which a test may cut off at any byte,
and what a client makes of them. Knows nothing of ESI but the words of the stream."""
import json
import socket
import time

from patience import PATIENCE

CHANGES = ("ADDED", "MODIFIED", "DELETED")


class Cut(Exception):
    """The connection ended before the answer did."""


class EventStream:
    """One connection. `last_id`: what it resumes from."""

    def __init__(self, port, token, path="/api/v1/events", last_id=None, accept="application/x-ndjson",
                 receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        more = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: {accept}\r\n"
                             f"Authorization: Bearer {token}\r\n{more}\r\n").encode())
        self.raw, self.text, self.ended = b"", b"", False
        while b"\r\n\r\n" not in self.raw:
            self.receive()
        self.head, _, self.raw = self.raw.partition(b"\r\n\r\n")
        self.status = int(self.head.split()[1])
        self.unchunk()

    def receive(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise Cut
        self.raw += piece

    def unchunk(self):
        """Moves whole chunks out of what came."""
        while not self.ended:
            size, found, rest = self.raw.partition(b"\r\n")
            if not found:
                return
            length = int(size, 16)
            if len(rest) < length + 2:
                return
            assert rest[length:length + 2] == b"\r\n"
            self.text += rest[:length]
            self.raw = rest[length + 2:]
            self.ended = length == 0

    def more(self):
        """More text; False at the clean end."""
        if self.ended:
            return False
        self.receive()
        self.unchunk()
        return True

    def line(self):
        """The next line that says something as a dict; None at the clean end."""
        deadline = time.monotonic() + PATIENCE
        while True:
            first, found, rest = self.text.partition(b"\n")
            if found:
                self.text = rest
                read = json.loads(first)
                if read["type"] != "HEARTBEAT":
                    return read
                assert time.monotonic() < deadline, "nothing but heartbeats came"
            elif not self.more():
                return None

    def until(self, wanted, timeout=PATIENCE):
        """All lines up to the first that `wanted` takes, which is the last of them."""
        deadline, found = time.monotonic() + timeout, []
        while True:
            assert time.monotonic() < deadline, found[-10:]
            found.append(self.line())
            assert found[-1] is not None, f"the stream has ended: {found[-10:]}"
            if wanted(found[-1]):
                return found

    def until_sync(self):
        return self.until(lambda each: each["type"] == "sync")

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def change(line):
    """(kind, (type, name, version)) of a line about an object."""
    of = line["object"]["metadata"]
    return line["kind"], (line["type"], of["name"], of["resourceVersion"])


class Listener:
    """What a client has made of all lines of its streams, one after the other."""

    def __init__(self):
        self.last_id = None
        #: Between two resets: ({kind: {name: version}} of the snapshot, {kind: [change]}).
        self.parts = [({}, {})]
        self.resets = []

    def begin(self):
        """A stream begins. Without an id it has a snapshot again, whatever came of the one before."""
        if self.last_id is None:
            self.parts[-1] = ({}, {})
        return self.last_id

    def take(self, line):
        if line["type"] == "reset":
            self.resets.append(line["reason"])
            self.parts.append(({}, {}))
        if "id" in line:
            self.last_id = line["id"] or None
        if "object" not in line:
            return
        kind, of = change(line)
        snapshot, changes = self.parts[-1]
        if line["type"] == "snapshot":
            snapshot.setdefault(kind, {})[of[1]] = of[2]
        else:
            changes.setdefault(kind, []).append(of)

    def judge(self, truth):
        """`truth`: {kind: ({name: version}, [change])}: what there was before the first snapshot, and all that happened
        then. What was heard is that, each change once and in order; but for what lies before a snapshot, which shows it."""
        for snapshot, changes in self.parts:
            for kind, heard in changes.items():
                before, happened = truth[kind]
                first = happened.index(heard[0])
                assert heard == happened[first:first + len(heard)], f"{kind}: lost or doubled"
                state = dict(before)
                for word, name, version in happened[:first]:
                    state[name] = version
                    if word == "DELETED":
                        del state[name]
                assert snapshot.get(kind, {}) == state, f"{kind}: the snapshot does not go with what follows"
        for kind, (_, happened) in truth.items():
            told = self.parts[-1][1].get(kind)
            assert not happened or told and told[-1] == happened[-1], f"{kind}: the last change is missing"
