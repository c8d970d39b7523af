"""Reads the API server's audit log: who asked for what, when, and what came of it."""
import collections
import datetime
import json

from product import OPERATORS

ESI_USERS = {f"system:serviceaccount:esi-system:esi-{name}": name for name in OPERATORS}
WRITES = ("create", "update", "patch", "delete", "deletecollection")

#: at, done: seconds since 1970 when the request came and when it was answered; decision: RBAC's word,
#: "allow" or "forbid" (an admission plugin may refuse with 403 what RBAC allowed); policies: names of the
#: ValidatingAdmissionPolicies that were not met.
Request = collections.namedtuple(
    "Request", "operator user agent verb group resource sub namespace name code at done uri dry_run decision policies")
NOT_MET = "validation.policy.admission.k8s.io/validation_failure"


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def parse(line):
    """A finished request, or None for another stage, and for lines that are not complete yet."""
    try:
        event = json.loads(line)
    except json.JSONDecodeError:
        return None
    if event.get("stage") not in ("ResponseComplete", "Panic"):
        return None
    ref = event.get("objectRef") or {}
    user = event["user"].get("username", "")
    annotations = event.get("annotations") or {}
    return Request(
        operator=ESI_USERS.get(user), user=user, agent=event.get("userAgent", ""), verb=event["verb"],
        group=ref.get("apiGroup", ""), resource=ref.get("resource", ""), sub=ref.get("subresource", ""),
        namespace=ref.get("namespace", ""), name=ref.get("name", ""),
        code=(event.get("responseStatus") or {}).get("code", 0),
        at=seconds(event["requestReceivedTimestamp"]), done=seconds(event["stageTimestamp"]),
        uri=event.get("requestURI", ""), dry_run="dryRun=" in event.get("requestURI", ""),
        decision=annotations.get("authorization.k8s.io/decision", ""),
        policies=tuple(each["policy"] for each in json.loads(annotations.get(NOT_MET, "[]"))))


class AuditLog:
    """The log as it grows. `read()` returns what came since the last call."""

    def __init__(self, file, from_end=False):
        self.file = open(file, "rb")
        if from_end:
            self.file.seek(0, 2)

    def read(self):
        found = []
        while True:
            begin = self.file.tell()
            line = self.file.readline()
            if not line.endswith(b"\n"):
                self.file.seek(begin)
                return found
            request = parse(line)
            if request is not None:
                found.append(request)

    def close(self):
        self.file.close()


def writes(requests_):
    """Writes of the operators, leases aside."""
    return [each for each in requests_ if each.operator and each.verb in WRITES
            and each.resource != "leases"]
