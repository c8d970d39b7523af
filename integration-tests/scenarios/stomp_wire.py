"""WebSocket and STOMP by hand: every byte that goes out, every byte that came. Knows nothing of ESI, and
no library stands between a test and the wire.
"""
import ast
import base64
import json
import os
import re
import socket
import struct
import time

from patience import PATIENCE

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
KINDS = {"TEXT": TEXT, "BINARY": BINARY, "CLOSE": CLOSE, "PING": PING, "PONG": PONG}


def masked(opcode, payload, fin=True):
    """One frame of a client."""
    size = len(payload)
    head = bytes([(0x80 if fin else 0) | opcode])
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 1 << 16:
        head += bytes([0x80 | 126]) + struct.pack("!H", size)
    else:
        head += bytes([0x80 | 127]) + struct.pack("!Q", size)
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def frames(buffer):
    """Takes whole server frames off a bytearray: [(opcode, payload)]."""
    out, at = [], 0
    while len(buffer) - at >= 2:
        size, start = buffer[at + 1], at + 2
        assert buffer[at] & 0x80 and size < 128, f"a frame in parts, or masked: {bytes(buffer[at:at + 16])!r}"
        if size >= 126:
            width = 2 if size == 126 else 8
            if len(buffer) < start + width:
                break
            size = int.from_bytes(buffer[start:start + width], "big")
            start += width
        if len(buffer) < start + size:
            break
        out.append((buffer[at] & 0x0F, bytes(buffer[start:start + size])))
        at = start + size
    del buffer[:at]
    return out


def request(port, path="/scheduler", protocols="v12.stomp, v11.stomp, v10.stomp", key=None, more=""):
    key = key or base64.b64encode(os.urandom(16)).decode()
    offered = f"Sec-WebSocket-Protocol: {protocols}\r\n" if protocols else ""
    return (f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{offered}{more}\r\n").encode()


class Wire:
    """One WebSocket. `hello` are the bytes of the handshake."""

    def __init__(self, port, hello=None, timeout=PATIENCE, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", port))
        self.buffer = bytearray()
        self.waiting = []
        self.socket.sendall(hello or request(port))
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, _, rest = bytes(self.buffer).partition(b"\r\n\r\n")
        self.buffer = bytearray(rest)
        lines = head.decode().split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = [tuple(line.split(": ", 1)) for line in lines[1:]]

    def header(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def _more(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise EOFError(f"the server closed; unread: {bytes(self.buffer)!r}")
        self.buffer += piece

    def send(self, payload, opcode=TEXT):
        self.socket.sendall(masked(opcode, payload.encode() if isinstance(payload, str) else payload))

    def next(self):
        """(opcode, payload) of the next frame, whatever it is."""
        while not self.waiting:
            self.waiting = frames(self.buffer)
            if not self.waiting:
                self._more()
        return self.waiting.pop(0)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Message:
    """One STOMP frame of the server, as it came."""

    def __init__(self, text):
        assert text.endswith(b"\0"), text
        head, _, body = text[:-1].partition(b"\n\n")
        lines = head.decode().split("\n")
        self.raw, self.command, self.body = text, lines[0], body.decode()
        self.headers = dict(line.split(":", 1) for line in lines[1:])

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return repr(self.raw)


class Stomp(Wire):
    """A connected session that subscribes and listens."""

    def __init__(self, port, *destinations, connect="accept-version:1.2\nhost:h\n", **more):
        super().__init__(port, **more)
        assert self.status == 101, self.headers
        self.send(f"CONNECT\n{connect}\n\0")
        self.connected = self.message()
        for number, destination in enumerate(destinations):
            self.send(f"SUBSCRIBE\nid:{number}\ndestination:{destination}\nreceipt:s{number}\n\n\0")
            self.present = []
            while (came := self.message()).command != "RECEIPT":
                self.present.append(came)

    def message(self):
        """The next STOMP frame; heart-beats are passed over, pings answered."""
        while True:
            opcode, payload = self.next()
            if opcode == PING:
                self.send(payload, PONG)
                continue
            assert opcode == TEXT, (opcode, payload)
            if payload != b"\n":
                return Message(payload)

    def until(self, holds, timeout=PATIENCE):
        """All messages up to the one that `holds` is true for."""
        out, deadline = [], time.monotonic() + timeout
        while True:
            try:
                out.append(self.message())
            except TimeoutError:
                raise AssertionError(f"not told; heard: {out}") from None
            if holds(out[-1]):
                return out
            assert time.monotonic() < deadline, f"not told; heard: {out}"


# --- recordings

class Step:
    def __init__(self, line, data):
        found = re.fullmatch(r"---\s+([\d.]+)s (>>|<<) (HTTP|WS (\w+)).*", line)
        self.sent = found[2] == ">>"
        self.kind = "HTTP" if found[3] == "HTTP" else KINDS[found[4]]
        self.data = ast.literal_eval(data)

    def __repr__(self):
        return f"{'>>' if self.sent else '<<'} {self.kind} {self.data!r}"


def recording(path):
    """The steps of one recorded exchange."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Step(line, lines[i + 1]) for i, line in enumerate(lines) if line.startswith("---")]
