"""What the interface refuses, as exceptions: problem+json (RFC 9457) with its code and all its faults."""
from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from .generated.types import Response

T = TypeVar("T")

LONGEST_SHOWN = 200  # characters of an answer that is none of the interface's


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a request. `pointer`: a JSON pointer into the body, "?NAME" for a
    parameter, "NAME:" for a header."""
    pointer: str
    code: str
    detail: str


class ApiProblem(Exception):
    """An answer that is no success. Programs go by `code`; new codes may come, so treat one that you do
    not know by its `status`."""

    def __init__(self, status: int, code: str, detail: str, *, retryable: bool = False,
                 faults: tuple[Fault, ...] = (), state: str | None = None,
                 retry_after: float | None = None):
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.retryable, self.faults, self.state = retryable, faults, state
        #: Seconds that the server wants to be left alone.
        self.retry_after = retry_after

    def __str__(self) -> str:
        lines = [f"{self.status} {self.code}: {self.detail}"]
        if len(self.faults) > 1:
            lines += [f"  {each.pointer or 'body'}: {each.code}: {each.detail}" for each in self.faults]
        return "\n".join(lines)


class Unauthorized(ApiProblem):
    """401: no token, or none that the cluster knows, or for another audience."""


class Forbidden(ApiProblem):
    """403: RBAC does not allow it; `detail` names the verb and the resource."""


class NotFound(ApiProblem):
    """404"""


class Conflict(ApiProblem):
    """409: it exists already, or others are changing or deleting it."""


class PreconditionFailed(ApiProblem):
    """412: the object has another version than the write was made from."""


class Invalid(ApiProblem):
    """422: `faults` has every reason."""


class Throttled(ApiProblem):
    """429"""


class Unavailable(ApiProblem):
    """503"""


class TimeUp(ApiProblem):
    """504: a wait was in vain; `state` has the state that the object has."""


KINDS: dict[int, type[ApiProblem]] = {
    401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 412: PreconditionFailed,
    422: Invalid, 429: Throttled, 503: Unavailable, 504: TimeUp}


class NotUnderstood(Exception):
    """An answer that is not ESI's: another port, or a proxy in between."""


def problem(status: int, headers: Mapping[str, str], content: bytes) -> ApiProblem:
    """The exception for an answer of 400 and more."""
    read = members(content)
    faults = tuple(Fault(str(each.get("pointer", "")), str(each.get("code", "")), str(each.get("detail", "")))
                   for each in read.get("errors") or () if isinstance(each, dict))
    # A proxy's 502, 503 or 504 is no word of ESI's; it may go away.
    detail = read.get("detail") or shown(content) or "the answer has no words"
    return KINDS.get(status, ApiProblem)(
        status, str(read.get("code") or "Unexpected"), str(detail),
        retryable=bool(read.get("retryable", status in (429, 502, 503))), faults=faults,
        state=read.get("state"), retry_after=seconds(headers.get("retry-after")))


def members(content: bytes) -> dict[str, Any]:
    try:
        read = json.loads(content)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def shown(content: bytes) -> str:
    return " ".join(content[:LONGEST_SHOWN].decode("utf-8", "replace").split())


def seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text or ""))
    except ValueError:
        return None


def raised(response: httpx.Response) -> Coroutine[Any, Any, None] | None:
    """A hook of httpx clients, of both kinds: an answer of 400 and more is raised before anybody reads it."""
    if isinstance(response.stream, httpx.AsyncByteStream):
        return raised_later(response)
    if response.status_code >= 400:
        raise problem(response.status_code, response.headers, response.read())
    return None


async def raised_later(response: httpx.Response) -> None:
    if response.status_code >= 400:
        raise problem(response.status_code, response.headers, await response.aread())


def checked(response: Response[Any], kind: type[T]) -> T:
    """What an operation answered, which is of that kind.

        plan = checked(get_scheduling.sync_detailed("default", "queue", client=esi), Scheduling)
    """
    if isinstance(response.parsed, kind):
        return response.parsed
    raise NotUnderstood(f"expected a {kind.__name__}, and got {int(response.status_code)} with "
                        f"{shown(response.content) or 'nothing'}: is this ESI's port?")


def asked(kind: type[T], call: Callable[..., Response[Any]], *arguments: Any, **options: Any) -> T:
    """checked() of a call; also an answer that the models cannot be made of is NotUnderstood."""
    try:
        answer = call(*arguments, **options)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotUnderstood(f"expected a {kind.__name__}, and cannot read the answer ({error!r}): is this "
                            "ESI's port?") from error
    return checked(answer, kind)
