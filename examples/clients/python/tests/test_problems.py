import asyncio

import pytest

from esi_client import (ApiProblem, Conflict, Fault, Forbidden, Invalid, NotFound, NotUnderstood,
                        PreconditionFailed, Scheduling, SchedulingInput, Throttled, TimeUp, Unauthorized,
                        Unavailable, connect, get)
from esi_client.generated.api.schedulings import create_scheduling, delete_scheduling, get_scheduling
from fake import Answer, Fake, problem, scheduling


def plan() -> SchedulingInput:
    return SchedulingInput.from_dict(scheduling())


@pytest.mark.parametrize("status, kind", [
    (400, ApiProblem), (401, Unauthorized), (403, Forbidden), (404, NotFound), (409, Conflict),
    (412, PreconditionFailed), (422, Invalid), (429, Throttled), (503, Unavailable), (504, TimeUp)])
def test_each_status_has_its_exception(server: Fake, status: int, kind: type[ApiProblem]) -> None:
    server.answer = lambda request: problem(status, "Word", "a sentence", **{"Retry-After": 7}, state="InQueueState")
    with pytest.raises(ApiProblem) as raised:
        get(connect(server.url), Scheduling, "default", "queue")
    assert type(raised.value) is kind
    assert (raised.value.status, raised.value.code, raised.value.detail) == (status, "Word", "a sentence")
    assert (raised.value.retry_after, raised.value.state) == (7.0, "InQueueState")


def test_all_faults_are_told(server: Fake) -> None:
    server.answer = lambda request: problem(422, "Invalid", "/spec: wrong (and 1 more)", errors=[
        {"pointer": "/spec", "code": "QueueAndSlots", "detail": "exactly one must be given"},
        {"pointer": "/spec/extra", "code": "FieldUnknown", "detail": "there is no such member"}])
    with pytest.raises(Invalid) as raised:
        create_scheduling.sync_detailed("default", client=connect(server.url), body=plan())
    assert raised.value.faults == (Fault("/spec", "QueueAndSlots", "exactly one must be given"),
                                   Fault("/spec/extra", "FieldUnknown", "there is no such member"))
    assert str(raised.value).splitlines() == [
        "422 Invalid: /spec: wrong (and 1 more)", "  /spec: QueueAndSlots: exactly one must be given",
        "  /spec/extra: FieldUnknown: there is no such member"]


def test_an_answer_of_a_proxy_is_a_problem_too(server: Fake) -> None:
    for status in (502, 503):
        server.answer = lambda request: Answer(status, None, {"Content-Type": "text/html"}, ["<h1>Bad gateway</h1>"])
        with pytest.raises(ApiProblem) as raised:
            get(connect(server.url), Scheduling, "default", "queue")
        assert (raised.value.status, raised.value.code, raised.value.retryable) == (status, "Unexpected", True)
        assert "Bad gateway" in raised.value.detail


def test_what_is_no_object_of_esi_is_not_understood(server: Fake) -> None:
    server.answer = lambda request: Answer(204)
    with pytest.raises(NotUnderstood, match="expected a Scheduling, and got 204"):
        get(connect(server.url), Scheduling, "default", "queue")


def test_a_success_without_words_is_done(server: Fake) -> None:
    server.answer = lambda request: Answer(204)
    answer = delete_scheduling.sync_detailed("default", "queue", client=connect(server.url))
    assert int(answer.status_code) == 204 and server.asked[-1].method == "DELETE"


def test_the_asynchronous_operations_raise_too(server: Fake) -> None:
    server.answer = lambda request: problem(404, "NotFound", "no")

    async def ask() -> None:
        await get_scheduling.asyncio("default", "queue", client=connect(server.url))
    with pytest.raises(NotFound):
        asyncio.run(ask())
    server.answer = lambda request: Answer(body=scheduling())
    asyncio.run(ask())
