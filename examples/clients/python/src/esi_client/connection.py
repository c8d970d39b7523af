"""How to reach the interface, and who one is there."""
from __future__ import annotations

import os
import pathlib
import ssl
from collections.abc import Generator

import httpx

from .generated import Client
from .problems import raised

CONNECT_TIMEOUT = 5.0  # seconds
#: A wait of the interface ends by itself; this is longer than the longest (--api-max-wait, 5 minutes).
ANSWER_TIMEOUT = 330.0


class TokenFile(httpx.Auth):
    """A bearer token in a file, read for each request: the kubelet writes a new one in time."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = pathlib.Path(path)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.path.read_text().strip()}"
        yield request


class Token(httpx.Auth):
    """A bearer token that stays."""

    def __init__(self, token: str):
        self.token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.token}"
        yield request


def connect(url: str, *, token: str | None = None, token_file: str | None = None,
            certificate: tuple[str, str] | None = None, ca_file: str | None = None,
            transport: httpx.BaseTransport | None = None) -> Client:
    """A client of the interface at `url` ("http://127.0.0.1:8082"), for all operations of `generated.api`,
    of which each raises ApiProblem where the interface refuses.

    Without a token and a certificate (file, file with its key) it takes the file that ESI_TOKEN_FILE
    names, or the token in ESI_TOKEN; where there is none either it asks as nobody, which a server with
    --api-auth=none answers. The server's certificate is checked against `ca_file`, or against what
    SSL_CERT_FILE names."""
    auth: httpx.Auth | None = None
    if token is None and token_file is None and certificate is None:
        token_file = os.environ.get("ESI_TOKEN_FILE") or None
        token = None if token_file else os.environ.get("ESI_TOKEN") or None
    if token_file is not None:
        auth = TokenFile(token_file)
    elif token is not None:
        auth = Token(token.strip())
    # Plain HTTP has nothing to check: no certificates are read.
    verify: ssl.SSLContext | bool = url.startswith("https:")
    if verify and (ca_file or certificate):
        verify = ssl.create_default_context(cafile=ca_file or os.environ.get("SSL_CERT_FILE"))
        if certificate:
            verify.load_cert_chain(*certificate)
    made = Client(base_url=url.rstrip("/"), timeout=httpx.Timeout(ANSWER_TIMEOUT, connect=CONNECT_TIMEOUT),
                  verify_ssl=verify, httpx_args={"auth": auth, "transport": transport,
                                                         "event_hooks": {"response": [raised]}})
    made.get_httpx_client()  # a file of certificates that cannot be read is a fault now, not at the first request
    return made
