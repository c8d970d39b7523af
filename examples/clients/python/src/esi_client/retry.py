"""Asking again, while the server is away or has no time."""
from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

import httpx

from .problems import ApiProblem

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds


class Away(Exception):
    """No usable answer for as long as the caller was ready to wait."""


class Pauses:
    """0.5, 1, 2, ... 30 s, each a fifth longer or shorter, so that clients that were cut off together do
    not come together."""

    def __init__(self, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE):
        self.first, self.longest = first, longest
        self.pause = first

    def next(self, wished: float | None = None) -> float:
        """`wished`: what the server asked for."""
        pause, self.pause = self.pause, min(self.pause * 2, self.longest)
        return min(max(wished, 0.1), self.longest) if wished else pause * random.uniform(0.8, 1.2)

    def start_anew(self) -> None:
        self.pause = self.first


class Retry:
    """Calls something until it has an answer. Only for what may be sent twice: reads, and writes with
    If-Match or an Idempotency-Key. `patience`: seconds. `told`: gets a line for people."""

    def __init__(self, patience: float = 600.0, *, told: Callable[[str], object] = lambda line: None,
                 now: Callable[[], float] = time.monotonic, sleep: Callable[[float], object] = time.sleep):
        self.patience, self.told, self.now, self.sleep = patience, told, now, sleep

    def __call__(self, call: Callable[[], T], *, where: str = "the server") -> T:
        deadline, pauses, complained = self.now() + self.patience, Pauses(), False
        while True:
            try:
                found = call()
            except (httpx.TransportError, ApiProblem) as error:
                trouble, wished = trouble_of(error, where)
                if trouble is None:
                    raise
            else:
                if complained:
                    self.told(f"{where} answers again")
                return found
            pause = pauses.next(wished)
            if self.now() + pause > deadline:
                raise Away(f"{trouble}; gave up after {self.patience:.0f} s")
            self.told(f"{trouble}; trying again in {pause:.1f} s")
            complained = True
            self.sleep(pause)


def trouble_of(error: Exception, where: str) -> tuple[str | None, float | None]:
    """In words, and the pause that the server wishes; None: asking again does not help."""
    if isinstance(error, httpx.TransportError):
        return f"no answer from {where} ({reason(error)})", None
    if isinstance(error, ApiProblem) and error.retryable and error.status in (429, 502, 503):
        return f"{where} says {error.status} {error.code}: {error.detail}", error.retry_after
    return None, None


def reason(error: Exception) -> str:
    text = str(error)
    for known in ("Connection refused", "timed out", "Name or service not known",
                  "No route to host", "Connection reset", "disconnected without sending a response"):
        if known in text:
            return known.lower()
    return type(error).__name__
