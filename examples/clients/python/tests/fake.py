"""A small server on loopback that answers as a test says, and keeps what was asked."""
from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    #: Pieces of a stream in the place of a body; then the connection ends.
    pieces: Iterable[str] | None = None


def problem(status: int, code: str, detail: str, **more: Any) -> Answer:
    headers = {name: str(more.pop(name)) for name in ("Retry-After",) if name in more}
    return Answer(status, {"type": f"urn:esi:problem:{code}", "title": code, "status": status, "detail": detail,
                           "code": code, "retryable": False} | more,
                  {"Content-Type": "application/problem+json"} | headers)


def stream(*pieces: str) -> Answer:
    return Answer(headers={"Content-Type": "text/event-stream"}, pieces=pieces)


class Fake:
    """`answer(request)` is called for each request, by several threads."""

    def __init__(self) -> None:
        self.answer: Callable[[Request], Answer] = lambda request: problem(404, "NotFound", "nothing is here")
        self.asked: list[Request] = []
        self.lock = threading.Lock()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                split = urlsplit(self.path)
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                request = Request(self.command, split.path,
                                  {name: values[0] for name, values in parse_qs(split.query).items()},
                                  {name.lower(): value for name, value in self.headers.items()},
                                  json.loads(text) if text else None)
                with fake.lock:
                    fake.asked.append(request)
                    answer = fake.answer(request)
                self.reply(answer)

            def reply(self, answer: Answer) -> None:
                self.send_response(answer.status)
                text = b"" if answer.body is None else json.dumps(answer.body).encode()
                headers = {"Content-Type": "application/json"} | answer.headers
                if answer.pieces is None:
                    headers["Content-Length"] = str(len(text))
                else:
                    headers["Connection"] = "close"
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)
                for piece in answer.pieces or ():
                    self.wfile.write(piece.encode())
                    self.wfile.flush()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[Fake]:
        thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.server.shutdown()
            self.server.server_close()
            thread.join(10)


def meta(name: str, version: int) -> dict[str, Any]:
    return {"name": name, "namespace": "default", "resourceVersion": str(version), "generation": 1, "labels": {}}


def scheduling(name: str = "queue", version: int = 1, state: str = "", queue: Iterable[str] = ("a",)) -> dict[str, Any]:
    status = {"jobStates": [], "problems": [], "observedGeneration": 1, "assignments": [], "epoch": 0, "lastRun": 0,
              "conditions": [], "waitingForSchedulings": []}
    return {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "Scheduling", "metadata": meta(name, version),
            "spec": {"testbed": {"name": "slots"}, "queueBased": [{"name": each} for each in queue]},
            "status": status | ({"state": state} if state else {})}


def batchjob(name: str, version: int = 1, **notes: Any) -> dict[str, Any]:
    return {"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob", "metadata": meta(name, version),
            "spec": {"externalScheduler": notes},
            "status": {"scheduledEvents": [], "slotIds": [], "problems": [], "placements": [], "observedGeneration": 1,
                       "conditions": [], "runs": [], "runCount": 0}}


def sent(type_: str, kind: str | None = None, object_: Any = None, id_: str | None = None, **more: Any) -> str:
    """A server-sent event."""
    data = {"type": type_} | ({"kind": kind, "object": object_} if kind else {}) | more
    head = "" if id_ is None else f"id: {id_}\n"
    return f"{head}event: {type_}\ndata: {json.dumps(data)}\n\n"
