"""For schemathesis: most requests are about objects that exist, and each is written down.

ESI_NAMES    {"namespace": NAME, "testbeds": [NAME], "jobs": [NAME], "schedulings": [NAME]}
ESI_REQUESTS a file that gets a line for each request: method, path as the document has it, status
"""
import json
import os
import re
import zlib

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

NAMES = json.loads(os.environ["ESI_NAMES"])
LARGE = 16 << 10  # bytes of a job
WRITTEN = open(os.environ["ESI_REQUESTS"], "a", encoding="utf-8")


def one_of(known, generated):
    """One that exists in three of four cases, the same one for the same generated text."""
    number = zlib.crc32(str(generated).encode("utf-8", "surrogatepass"))
    return known[number // 4 % len(known)] if number % 4 else generated


@schemathesis.hook
def before_call(context, case, kwargs):
    given = case.path_parameters
    if not given or case.meta is None or case.meta.is_negative_at(ParameterLocation.PATH):
        return
    kind = next((each for each in ("testbeds", "jobs", "schedulings") if f"/{each}" in case.path), None)
    if "namespace" in given:
        given["namespace"] = one_of([NAMES["namespace"]], given["namespace"])
    if "name" in given and kind:
        given["name"] = one_of(NAMES[kind], given["name"])


@schemathesis.hook
def after_call(context, case, response):
    WRITTEN.write(f"{case.method} {case.path} {response.status_code}\n")
    WRITTEN.flush()
    if case.method == "PATCH" and case.path.endswith("/external-scheduler") and response.status_code == 200:
        forget_notes(response)


def forget_notes(response):
    """Notes are merged: without this a job would grow with each request, to the limit of an object."""
    notes = response.json()["spec"].get("externalScheduler") or {}
    if len(response.content) > LARGE and notes:
        sent = response.request
        headers = {"Authorization": sent.headers["Authorization"], "Content-Type": "application/merge-patch+json"}
        requests.patch(sent.url, json=dict.fromkeys(notes), headers=headers, timeout=60).raise_for_status()


# --- right requests that are refused

#: Answers that a right request may get: of who asks, and of what is there at this moment.
OF_THE_MOMENT = {401, 403, 404, 409, 412, 428, 429, 503, 504}
#: Faults (pointer, code) of what no schema can say: a text has a grammar, members or parameters contradict each
#: other, or the plan does not fit what is there.
OF_MEANING = [(re.compile(pointer), re.compile(code)) for pointer, code in (
    (r"\?(continue|labelSelector|waitFor)", "ParameterValue"), (r"\?wait", "ParameterValue"),
    (r"/metadata/(name|namespace)", "FieldImmutable"), (r"/spec/testbed", "FieldImmutable"),
    # What a claim may ask for is said by rules of the kind, for which a schema has no words: quantities above 0, cpu and
    # memory among them, labels, so many places in all.
    (r"/spec/claim/shapes.*", "FieldValue|FieldMissing|TooManyPlaces"),
    (r"/.*", "QueueAndSlots|SlotTwice|SlotOutsideLayout|SlotOfCoordinator|TooManySlots|TooManyJobs|JobUnknown|RefusedByApiServer"),
    (r"Idempotency-Key:", "IdempotencyKeyReused"))]
#: In no text of Kubernetes, and in no address that this server reads: parameters that are any text, such as
#: labelSelector, may have it for the document.
NUL = "NUL in the address"


def is_of_meaning(fault):
    return any(pointer.fullmatch(fault["pointer"]) and code.fullmatch(fault["code"]) for pointer, code in OF_MEANING)


@schemathesis.check
def right_requests_are_refused_only_for_what_no_schema_says(context, response, case):
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code < 400:
        return
    if case.method.lower() not in case.operation.schema[case.path]:
        return
    if response.status_code in OF_THE_MOMENT:
        return
    problem = response.json()
    if problem["detail"] == NUL:
        return
    faults = problem.get("errors") or []
    wrong = [fault for fault in faults if not is_of_meaning(fault)]
    assert faults and not wrong, f"refused with {response.status_code} for {wrong or response.text[:500]}"
