"""Who may do what over /api/v1: five accounts and every operation, allowed or refused exactly as the cluster's
RBAC says (`kubectl auth can-i`). A replica of esi-scheduling answers, with the rights of its account and a cache
of two seconds.
"""
import concurrent.futures
import re

import pytest
import requests

import objects
from control_plane import MANIFESTS
from operators import Operator
from patience import PATIENCE, wait

HOME, AWAY = "api-home", "api-away"
AUDIENCE = "esi"
CACHE_SECONDS = 2
GROUP = "esi.tu-berlin.de"
REQUESTED_BY = objects.PREFIX + "requested-by"

#: Accounts of the namespace HOME, with what each is bound to: (ClusterRole, namespace; none: everywhere).
ACCOUNTS = {
    "nobody": [],
    "reader": [("esi-view", HOME)],
    "brain": [("esi-view", HOME), ("esi-edit", HOME)],
    "auditor": [("esi-view", None)],
    "owner": [("esi-view", None), ("esi-edit", None), ("esi-testbed-admin", None), ("node-labeller", None)],
}

NODE_LABELLER = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: node-labeller}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [patch]}
"""


def right(verb, resource, name="", group=GROUP):
    return verb, resource, name, group


NODES = right("patch", "nodes", group="")


def operations():
    """(method, path below the namespace, body, rights). Nothing of the name exists, and no body is complete: who may
    gets an answer other than 401 and 403, and nothing changes."""
    found = []
    for resource, plural in (("testbeds", "testbeds"), ("batchjobs", "jobs"), ("schedulings", "schedulings")):
        found += [("GET", f"/{plural}", None, [right("list", resource)]),
                  ("GET", f"/{plural}/absent", None, [right("get", resource, "absent")])]
    return found + [
        ("GET", "/testbeds/absent/slots", None, [right("get", "testbeds", "absent")]),
        ("PUT", "/testbeds/absent/nodes", {}, [right("get", "testbeds", "absent"), NODES]),
        ("GET", "/jobs/absent/runs", None, [right("get", "batchjobs", "absent")]),
        ("GET", "/jobs/absent/explain", None, [right("get", "batchjobs", "absent")]),
        ("GET", "/matrix?testbed=absent", None, [right("list", "batchjobs")]),
        ("PATCH", "/jobs/absent/external-scheduler", {}, [right("patch", "batchjobs", "absent")]),
        ("POST", "/jobs/absent:reset", None, [right("patch", "batchjobs", "absent")]),
        ("POST", "/jobs/absent:release", None, [right("patch", "batchjobs", "absent")]),
        ("POST", "/schedulings", {}, [right("create", "schedulings")]),
        ("POST", "/schedulings:preview", {}, [right("create", "schedulings")]),
        ("PUT", "/schedulings/absent", {}, [right("update", "schedulings", "absent")]),
        ("PATCH", "/schedulings/absent", {}, [right("patch", "schedulings", "absent")]),
        ("DELETE", "/schedulings/absent", None, [right("delete", "schedulings", "absent")]),
        ("GET", "/schedulings/absent/explain", None, [right("get", "schedulings", "absent")]),
        ("POST", "/schedulings/absent:cancel", {}, [right("patch", "schedulings", "absent")]),
        ("POST", "/schedulings/absent:suspend", None, [right("patch", "schedulings", "absent")]),
        ("POST", "/schedulings/absent:resume", None, [right("patch", "schedulings", "absent")]),
    ]


OPERATIONS = {f"{method} {path}": (method, path, body, rights) for method, path, body, rights in operations()}
#: Lists of all namespaces.
EVERYWHERE = {f"/{plural}": right("list", resource) for resource, plural in (
    ("testbeds", "testbeds"), ("batchjobs", "jobs"), ("schedulings", "schedulings"))}


def bind(plane, account, role, namespace):
    name = f"{account}-{role}"
    kind = ("rolebinding", "-n", namespace) if namespace else ("clusterrolebinding",)
    plane.kubectl("create", kind[0], name, f"--clusterrole={role}", f"--serviceaccount={HOME}:{account}", *kind[1:])


def token_of(plane, account, audience=AUDIENCE):
    more = [f"--audience={audience}"] if audience else []
    return plane.kubectl("create", "token", account, "-n", HOME, "--duration=1h", *more).strip()


class Api:
    """The interface as one account sees it."""

    def __init__(self, url, token=None):
        self.url, self.token = url, token

    def __call__(self, method, path, body=None, **headers):
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            headers.setdefault("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json")
        return requests.request(method, f"{self.url}/api/v1{path}", json=body, headers=headers, timeout=PATIENCE)


@pytest.fixture(scope="module")
def accounts(plane):
    """{account: token}"""
    for each in (HOME, AWAY):
        plane.kubectl("create", "namespace", each)
    plane.kubectl("apply", "-f", "-", stdin=NODE_LABELLER)
    plane.kubectl("apply", "-f", "-", stdin=roles())
    for account, bindings in ACCOUNTS.items():
        plane.kubectl("create", "serviceaccount", account, "-n", HOME)
        for role, namespace in bindings:
            bind(plane, account, role, namespace)
    yield {account: token_of(plane, account) for account in ACCOUNTS}
    plane.kubectl("delete", "clusterrolebinding", "--ignore-not-found", *(
        f"{account}-{role}" for account, bindings in ACCOUNTS.items()
        for role, namespace in bindings if namespace is None))
    plane.kubectl("delete", "namespace", HOME, AWAY)


def roles():
    """The roles for people, as the chart has them."""
    text = (MANIFESTS / "install" / "install.yaml").read_text("utf-8")
    found = [each for each in text.split("\n---\n") if re.search(r"^  name: esi-(view|edit|testbed-admin)$", each, re.M)]
    assert len(found) == 3
    return "\n---\n".join(found)


@pytest.fixture(scope="module")
def replica(plane, operators, folder):
    one = Operator("scheduling", operators.kubeconfigs["scheduling"], folder / "operators", replica=36, flags=(
        f"--api-auth-cache-ttl={CACHE_SECONDS}s", "--api-nodes", "--log-level=debug",
        "--api-requests-per-second=10000", "--api-request-burst=10000")).start().ready()
    yield one
    assert one.stop() == 0, one.tail()


@pytest.fixture
def asked_by(replica, accounts):
    return {account: Api(replica.url, token) for account, token in accounts.items()}


# --- rights

@pytest.fixture(scope="module")
def can_i(plane, accounts):
    """What kubectl says: can_i[account, right, namespace]."""
    rights = {(each, namespace) for *_, needs in OPERATIONS.values() for each in needs for namespace in (HOME, AWAY)}
    rights |= {(each, None) for each in EVERYWHERE.values()}
    wanted = [(account, each, namespace) for account in accounts for each, namespace in sorted(rights, key=str)]

    def ask(question):
        account, (verb, resource, name, group), namespace = question
        subject = resource + (f".{group}" if group else "") + (f"/{name}" if name else "")
        where = ["-A"] if namespace is None else ["-n", namespace]
        done = plane.kubectl("auth", "can-i", verb, subject, *(where if group else []),
                             f"--as=system:serviceaccount:{HOME}:{account}", check=False)
        assert done.stdout.strip() in ("yes", "no"), done.stderr
        return done.stdout.strip() == "yes"
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return dict(zip(wanted, pool.map(ask, wanted)))


@pytest.mark.parametrize("namespace", (HOME, AWAY))
@pytest.mark.parametrize("name", OPERATIONS)
def test_each_account_may_what_rbac_allows_it(asked_by, can_i, name, namespace):
    method, path, body, rights = OPERATIONS[name]
    for account, ask in asked_by.items():
        answer = ask(method, f"/namespaces/{namespace}{path}", body)
        expected = all(can_i[account, each, namespace] for each in rights)
        assert answer.status_code < 500, f"{account}: {answer.status_code} {answer.text}"
        assert answer.status_code != 401, f"{account}: {answer.text}"
        assert (answer.status_code != 403) == expected, f"{account}: {answer.status_code} {answer.text}"
        if not expected:
            problem = answer.json()
            verb, resource, *_ = next(each for each in rights if not can_i[account, each, namespace])
            assert problem["code"] == "Forbidden" and problem["retryable"] is False
            assert f'"system:serviceaccount:{HOME}:{account}" may not {verb} {resource}' in problem["detail"]
            assert f"kubectl auth can-i {verb} {resource}" in problem["detail"]


@pytest.mark.parametrize("path", EVERYWHERE)
def test_a_list_of_all_namespaces_needs_the_right_in_all(asked_by, can_i, path):
    for account, ask in asked_by.items():
        answer = ask("GET", path)
        assert answer.status_code == (200 if can_i[account, EVERYWHERE[path], None] else 403), f"{account}: {answer.text}"
    assert {can_i[account, EVERYWHERE[path], None] for account in ACCOUNTS} == {True, False}


def test_the_table_has_every_operation(replica):
    """Events apart, whose rights are asked kind by kind."""
    described = {(method.upper(), path) for path, methods in requests.get(
        replica.url + "/openapi.json", timeout=PATIENCE).json()["paths"].items()
        for method in methods if method in ("get", "put", "post", "patch", "delete") and "/events" not in path}
    known = {("GET", f"/api/v1{path}") for path in EVERYWHERE}
    known |= {(method, "/api/v1/namespaces/{namespace}" + path.split("?")[0].replace("/absent", "/{name}"))
              for method, path, *_ in OPERATIONS.values()}
    assert {each for each in described if each[1].startswith("/api/v1/")} == known


def test_the_accounts_differ_and_each_operation_is_allowed_and_refused(can_i):
    """The table above would prove nothing if all were allowed, or none."""
    for name, (*_, rights) in OPERATIONS.items():
        seen = {all(can_i[account, each, HOME] for each in rights) for account in ACCOUNTS}
        assert seen == {True, False}, name
    allowed = {account: sum(answer for (who, *_), answer in can_i.items() if who == account) for account in ACCOUNTS}
    assert len(set(allowed.values())) == len(ACCOUNTS), allowed
    assert allowed["nobody"] == 0


def test_the_command_that_a_refusal_names_says_no(plane, asked_by):
    detail = asked_by["reader"]("DELETE", f"/namespaces/{HOME}/schedulings/absent").json()["detail"]
    command = re.search(r"kubectl (auth can-i .*)$", detail)[1].split()
    assert plane.kubectl(*command, check=False).stdout.strip() == "no"


# --- who asks

def test_who_is_not_known_is_refused(plane, replica, asked_by):
    path = f"/namespaces/{HOME}/testbeds"
    bare = Api(replica.url)
    answer = bare("GET", path)
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Bearer realm="esi"')
    assert answer.json()["code"] == "Unauthorized"
    for audience in (None, "other"):
        other = Api(replica.url, token_of(plane, "owner", audience))("GET", path)
        assert other.status_code == 401, "a token of another audience"
        assert 'error="invalid_token"' in other.headers["WWW-Authenticate"]
    for header in ("Basic b3duZXI6b3duZXI=", "Bearer", "Bearer nobodys", "Bearer a b"):
        assert bare("GET", path, Authorization=header).status_code == 401, header
    for header in ("X-Remote-User", "Impersonate-User", "X-Forwarded-User"):
        answer = bare("GET", path, **{header: f"system:serviceaccount:{HOME}:owner", "X-Remote-Group": "system:masters"})
        assert answer.status_code == 401, header
    # A header that a token cannot be replaced by changes nothing of who asks either.
    refused = asked_by["nobody"]("GET", path, **{"Impersonate-User": f"system:serviceaccount:{HOME}:owner"})
    assert refused.status_code == 403
    assert asked_by["owner"]("GET", path).status_code == 200


def test_a_body_is_not_read_before_it_is_known_who_sends_it(replica):
    answer = Api(replica.url)("POST", f"/namespaces/{HOME}/schedulings", {"a": "x" * 3_000_000})
    assert answer.status_code == 401


def test_pages_of_other_origins_change_nothing(asked_by):
    path = f"/namespaces/{HOME}/schedulings/absent"
    assert asked_by["owner"]("DELETE", path, Origin="https://evil.example").status_code == 403
    assert asked_by["owner"]("DELETE", path).status_code == 404


def test_a_right_that_is_taken_away_ends_within_the_cache_time(plane, asked_by, accounts):
    path = f"/namespaces/{AWAY}/testbeds"
    ask = asked_by["reader"]
    bind(plane, "reader", "esi-view", AWAY)
    try:
        wait("the right", lambda: ask("GET", path).status_code == 200)
    finally:
        plane.kubectl("delete", "rolebinding", "reader-esi-view", "-n", AWAY)
    # The API server itself needs a moment until it refuses.
    wait("kubectl to say no", lambda: plane.kubectl(
        "auth", "can-i", "list", f"testbeds.{GROUP}", "-n", AWAY, f"--as=system:serviceaccount:{HOME}:reader",
        check=False).stdout.strip() == "no")
    wait("the refusal", lambda: ask("GET", path).status_code == 403, CACHE_SECONDS + 0.2)


def test_the_token_of_a_deleted_account_ends_within_the_cache_time(plane, replica):
    plane.kubectl("create", "serviceaccount", "leaver", "-n", HOME)
    bind(plane, "leaver", "esi-view", HOME)
    ask = Api(replica.url, token_of(plane, "leaver"))
    path = f"/namespaces/{HOME}/testbeds"
    wait("the token to be known", lambda: ask("GET", path).status_code == 200)
    plane.kubectl("delete", "serviceaccount", "leaver", "-n", HOME)
    wait("the token to be refused", lambda: ask("GET", path).status_code == 401, 10 * CACHE_SECONDS + 10)


# --- what a write leaves behind

def test_a_write_says_who_asked_for_it(scene, replica, plane, accounts):
    """In the object and in one line of the log."""
    bind(plane, "brain", "esi-edit", scene.namespace)
    ask = Api(replica.url, accounts["brain"])
    since = replica.size()
    body = {"metadata": {"name": "mine"}, "spec": objects.queue("mine", "absent", ["absent"])["spec"]}
    # The account got the right a moment ago, and a refusal is believed for two seconds.
    answers = []
    wait("the right", lambda: answers.append(ask("POST", f"/namespaces/{scene.namespace}/schedulings", body)) or
         answers[-1].status_code != 403)
    assert answers[-1].status_code == 201, answers[-1].text
    caller = f"system:serviceaccount:{HOME}:brain"
    assert scene.get("Scheduling", "mine")["metadata"]["annotations"][REQUESTED_BY] == caller
    [line] = [each for each in replica.tail(10_000, since).splitlines() if "api write" in each and "status=201" in each]
    for word in (f"caller={caller}", "verb=create", "kind=Scheduling", f"object={scene.namespace}/mine"):
        assert word in line
    scene.api.delete("Scheduling", scene.namespace, "mine")


def test_no_token_is_in_any_log(accounts, replica, operators):
    """The last of this file: all tokens of the file were sent, and the log level is debug."""
    texts = {each.log: each.log.read_text("utf-8", errors="replace") for each in (replica, *operators)}
    assert "api refused" in texts[replica.log], "the log has what a caller was refused for"
    for account, token in accounts.items():
        for part in (token, token.split(".")[2], token.split(".")[1]):
            for log, text in texts.items():
                assert part not in text, f"the token of {account} is in {log}"
    assert requests.get(replica.url + "/metrics", timeout=PATIENCE).text.count("esi_api_reviews_total") >= 2
