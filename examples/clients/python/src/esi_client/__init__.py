"""A typed client of ESI's external interface, version 1.

    generated     all operations (generated.api) and objects (generated.models), made from openapi.json
    connection    where the interface is, and who one is there
    problems      refusals as exceptions
    objects       reading, waiting (blocking queries, waitFor), changes guarded by versions
    events        the stream of events, resumed where it was cut off
    retry         asking again while the server is away
"""
from .connection import Token, TokenFile, connect
from .events import Event, Mirror, events
from .generated import Client
from .generated.models import BatchJob, Scheduling, SchedulingInput, Testbed
from .objects import (changes, etag_of, get, next_version, objects, update, update_notes, version_of,
                      wait_for)
from .problems import (ApiProblem, Conflict, Fault, Forbidden, Invalid, NotFound, NotUnderstood,
                       PreconditionFailed, Throttled, TimeUp, Unauthorized, Unavailable, asked, checked)
from .retry import Away, Pauses, Retry

__all__ = [
    "ApiProblem", "Away", "BatchJob", "Client", "Conflict", "Event", "Fault", "Forbidden", "Invalid", "Mirror",
    "NotFound", "NotUnderstood", "Pauses", "PreconditionFailed", "Retry", "Scheduling", "SchedulingInput", "Testbed",
    "Throttled", "TimeUp", "Token", "TokenFile", "Unauthorized", "Unavailable", "asked", "changes", "checked", "connect",
    "etag_of", "events", "get", "next_version", "objects", "update", "update_notes", "version_of", "wait_for"]
