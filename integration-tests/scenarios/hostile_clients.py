"""Clients that mean harm: many connections that send or take without end, from peers that have no right.

A crowd opens its connections and keeps them busy, each as its part says, until it is left alone. A probe
asks for /livez meanwhile, as a kubelet does, and keeps what it saw.
"""
import contextlib
import resource
import selectors
import socket
import ssl
import threading
import time


#: Another address of this machine: no loopback peer to the operators.
STRANGER = "127.0.0.2"


def allow_many_files():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def head(method, path, *lines):
    return "\r\n".join((f"{method} {path} HTTP/1.1", "Host: localhost", *lines, "", "")).encode()


CHUNKED = "Transfer-Encoding: chunked"


def begin_and_repeat(begin, again):
    """What one connection sends: `begin`, then `again` for ever."""
    yield begin
    while True:
        yield again


#: What each connection of a crowd sends, by name.
PARTS = {
    "heads without end": lambda: begin_and_repeat(b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 64),
    "one long line": lambda: begin_and_repeat(b"GET /", b"x" * 4096),
    "bodies for nobody": lambda: begin_and_repeat(head("POST", "/nothing", f"Content-Length: {4 << 20}"), b"x" * 65536),
    "bodies for the extender": lambda: begin_and_repeat(
        head("POST", "/extender/filter", f"Content-Length: {4 << 20}"), b"x" * 16384),
    "bodies for the interface": lambda: begin_and_repeat(
        head("POST", "/external/schedulings", "Content-Type: application/json", f"Content-Length: {1 << 20}"),
        b"x" * 16384),
    "extensions without end": lambda: begin_and_repeat(head("POST", "/extender/filter", CHUNKED) + b"1;", b"x" * 65536),
    "trailers without end": lambda: begin_and_repeat(
        head("POST", "/extender/filter", CHUNKED) + b"1\r\na\r\n0\r\n", b"a: b\r\n" * 4096),
    "small chunks": lambda: begin_and_repeat(head("POST", "/extender/filter", CHUNKED), b"1\r\na\r\n" * 4096),
    "answers that nobody reads": lambda: begin_and_repeat(b"", head("GET", "/metrics")),
    "silence": lambda: iter(()),
}


class Background:
    """Does `run` in a thread of its own while it is entered; `run` ends when `stop` is set."""

    def __init__(self):
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join(30)


class Crowd(Background):
    """`count` connections at a time from `source`; one that is closed is opened again."""

    def __init__(self, port, part, count=1024, source=STRANGER, tls=False):
        self.port, self.part, self.count, self.source, self.tls = port, PARTS[part], count, source, tls
        self.opened = 0
        super().__init__()

    def run(self):
        with selectors.DefaultSelector() as poll:
            alive = 0
            while not self.stop.is_set():
                for _ in range(min(64, self.count - alive)):
                    alive += self.open(poll)
                for key, _ in poll.select(0.01):
                    alive -= not self.say(poll, key)
            for key in list(poll.get_map().values()):
                key.fileobj.close()

    def open(self, poll):
        one = socket.socket()
        one.setblocking(False)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.bind((self.source, 0))
        with contextlib.suppress(BlockingIOError):
            one.connect(("127.0.0.1", self.port))
        self.opened += 1
        # With TLS: the start of a ClientHello, and then nothing.
        says = iter((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",)) if self.tls else self.part()
        poll.register(one, selectors.EVENT_WRITE, [says, b""])
        return 1

    def say(self, poll, key):
        """False when the connection has ended."""
        state = key.data
        try:
            rest = state[1] or next(state[0], None)
            if rest is None:
                # It has said all: from now on it only waits.
                poll.modify(key.fileobj, selectors.EVENT_READ, [iter(()), b""])
                if not key.fileobj.recv(1):
                    raise ConnectionError
                return True
            state[1] = rest[key.fileobj.send(rest):]
            return True
        except BlockingIOError:
            return True
        except OSError:
            poll.unregister(key.fileobj)
            key.fileobj.close()
            return False


class Probe(Background):
    """Asks for /livez on a new connection every 50 ms; `failures` and `seconds` of each answer. `watched`:
    an Operator, whose largest resident memory is kept in `most_kib`."""

    def __init__(self, port, watched, tls=False):
        self.port, self.watched, self.tls = port, watched, tls
        self.seconds, self.failures, self.most_kib = [], [], 0
        super().__init__()

    def run(self):
        while not self.stop.is_set():
            started = time.monotonic()
            try:
                heard = self.ask()
                if not heard.startswith(b"HTTP/1.1 200 "):
                    self.failures.append(heard[:100] or b"closed")
            except OSError as fault:
                self.failures.append(repr(fault))
            self.seconds.append(time.monotonic() - started)
            self.most_kib = max(self.most_kib, self.watched.resident_kib())
            self.stop.wait(0.05)

    def ask(self, path="/livez"):
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as plain:
            one = plain
            if self.tls:
                trusting = ssl.create_default_context()
                trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
                one = trusting.wrap_socket(plain)
            one.sendall(head("GET", path, "Connection: close"))
            heard = b""
            with contextlib.suppress(ConnectionResetError):
                while more := one.recv(4096):
                    heard += more
            return heard

    def p99_ms(self):
        ordered = sorted(self.seconds)
        return round(ordered[int(len(ordered) * 0.99)] * 1000, 1)
