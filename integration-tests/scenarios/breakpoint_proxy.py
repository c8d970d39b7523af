"""A TLS proxy between one operator and the API server that can stop the world at a named write.

HTTP/1.1, one connection to the API server for each of the client's. A break-point is a predicate of a
request; when one matches, its action (kill the operator, pause it) runs either before the request is
passed on, so that the API server never sees it, or after the API server has answered, so that the write
is done and the operator does not know. Each break-point fires once.

It can also refuse requests in the API server's place, as an older one would.
"""
import asyncio
import base64
import collections
import json
import pathlib
import re
import ssl
import subprocess
import threading
import urllib.parse

import yaml

from patience import PATIENCE

Request = collections.namedtuple("Request", "method target body")


class Breakpoint:
    def __init__(self, matches, action, before):
        self.matches, self.action, self.before = matches, action, before
        self.hit = threading.Event()
        self.request = None


def certificate(folder):
    """A self-signed certificate for 127.0.0.1; its own authority."""
    folder = pathlib.Path(folder)
    key, cert = folder / "proxy.key", folder / "proxy.crt"
    if not cert.exists():
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-subj", "/CN=breakpoint-proxy", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
             "-days", "2", "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    return key, cert


class Proxy:
    def __init__(self, kubeconfig, folder, name):
        self.config = yaml.safe_load(pathlib.Path(kubeconfig).read_text(encoding="utf-8"))
        cluster = self.config["clusters"][0]["cluster"]
        self.upstream = urllib.parse.urlsplit(cluster["server"])
        self.to_server = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        key, cert = certificate(folder)
        self.from_client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.from_client.load_cert_chain(cert, key)
        self.breakpoints = []
        self.refusals = []  # [(predicate, status code, body)]
        self.lock = threading.Lock()
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(started,), daemon=True)
        self.thread.start()
        started.wait(PATIENCE)
        cluster["server"] = f"https://127.0.0.1:{self.port}"
        cluster["certificate-authority-data"] = base64.b64encode(cert.read_bytes()).decode()
        #: what an operator is started with to come through here
        self.kubeconfig = pathlib.Path(folder) / f"{name}.proxied.kubeconfig"
        self.kubeconfig.write_text(yaml.safe_dump(self.config), encoding="utf-8")

    def run(self, started):
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(
            asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.from_client, limit=1 << 20))
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        self.loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.run_until_complete(asyncio.sleep(0))

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

    def break_at(self, matches, action, before=False):
        point = Breakpoint(matches, action, before)
        with self.lock:
            self.breakpoints.append(point)
        return point

    def refuse(self, matches, code, message):
        """From now on such requests are answered with this code and a Status, and not passed on."""
        body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
                           "reason": "Invalid", "message": message}).encode()
        with self.lock:
            self.refusals.append((matches, code, body))

    def clear(self):
        with self.lock:
            self.breakpoints.clear()

    def take(self, request):
        """The break-point that the request meets; it is armed no longer."""
        with self.lock:
            for point in self.breakpoints:
                if point.matches(request):
                    self.breakpoints.remove(point)
                    point.request = request
                    return point
        return None

    async def serve(self, reader, writer):
        try:
            upstream_reader, upstream_writer = await asyncio.open_connection(
                self.upstream.hostname, self.upstream.port, ssl=self.to_server, limit=1 << 20)
        except OSError:
            writer.close()
            return
        pending = collections.deque()  # break-points whose answer is still to come
        answers = asyncio.ensure_future(self.pass_back(upstream_reader, writer, pending))
        try:
            await self.pass_on(reader, writer, upstream_writer, pending)
        except (OSError, ssl.SSLError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            answers.cancel()
            for stream in (upstream_writer, writer):
                stream.close()

    async def pass_on(self, reader, writer, upstream, pending):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            body = await self.body_of(head, reader)
            line = head.split(b"\r\n", 1)[0].decode()
            method, target, _ = line.split(" ", 2)
            request = Request(method, target, body.decode(errors="replace"))
            refusal = next((each for each in self.refusals if each[0](request)), None)
            if refusal is not None:
                writer.write(b"HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                             % (refusal[1], len(refusal[2])) + refusal[2])
                await writer.drain()
                continue
            point = self.take(request)
            if point is not None and point.before:
                point.action()
                point.hit.set()
                return
            if point is not None:
                pending.append(point)
            upstream.write(head + body)
            await upstream.drain()

    @staticmethod
    async def body_of(head, reader):
        """The body as it was sent; chunked ones keep their framing."""
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if length:
            return await reader.readexactly(int(length.group(1)))
        if not re.search(rb"(?i)\r\ntransfer-encoding: *chunked", head):
            return b""
        body = b""
        while not body.endswith(b"0\r\n\r\n"):
            body += await reader.readuntil(b"\r\n")
        return body

    async def pass_back(self, upstream, writer, pending):
        try:
            while True:
                data = await upstream.read(1 << 16)
                if not data:
                    break
                if pending:  # the answer to the write has begun: it is done
                    point = pending.popleft()
                    point.action()
                    point.hit.set()
                writer.write(data)
                await writer.drain()
        except (OSError, ssl.SSLError):
            pass
        finally:
            writer.close()
