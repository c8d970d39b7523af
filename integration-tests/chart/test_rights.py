"""Each right is needed: for every verb of every rule a request that the API server refuses (403) to a user
with all rights of the account but this one, and takes from a user with all of them. The API server runs
with OwnerReferencesPermissionEnforcement, which is what the rights on finalizers are for."""
import concurrent.futures
import json

import pytest

from api import ApiException
from chart import CRDS, OPERATORS, enabled, kubectl, render, rules_of
from patience import wait

EVERYTHING = enabled("debugEndpoints", "flinkCluster", "gangs", "claims", "sparkDrivers") | {"interface": {"nodes": {"enabled": True}}}
ESI = "esi.tu-berlin.de"
VERSIONS = {"": "api/v1", ESI: f"apis/{ESI}/v1alpha1", "events.k8s.io": "apis/events.k8s.io/v1",
            "coordination.k8s.io": "apis/coordination.k8s.io/v1",
            "authentication.k8s.io": "apis/authentication.k8s.io/v1",
            "authorization.k8s.io": "apis/authorization.k8s.io/v1",
            "apiextensions.k8s.io": "apis/apiextensions.k8s.io/v1",
            "sparkoperator.k8s.io": "apis/sparkoperator.k8s.io/v1beta2",
            "flink.apache.org": "apis/flink.apache.org/v1beta1",
            "flinkoperator.k8s.io": "apis/flinkoperator.k8s.io/v1beta1",
            "scheduling.k8s.io": "apis/scheduling.k8s.io/v1",
            "storage.k8s.io": "apis/storage.k8s.io/v1",
            "batch.scheduler.tencent.com": "apis/batch.scheduler.tencent.com/v1",
            "scheduling.incubator.k8s.io": "apis/scheduling.incubator.k8s.io/v1alpha1",
            "scheduling.sigs.dev": "apis/scheduling.sigs.dev/v1alpha2",
            "scheduling.x-k8s.io": "apis/scheduling.x-k8s.io/v1alpha1"}
KINDS = {"testbeds": "Testbed", "batchjobs": "BatchJob", "schedulings": "Scheduling", "pods": "Pod",
         "testbedslotslices": "TestbedSlotSlice",
         "events": "Event", "leases": "Lease", "sparkapplications": "SparkApplication",
         "tokenreviews": "TokenReview", "subjectaccessreviews": "SubjectAccessReview",
         "flinkdeployments": "FlinkDeployment", "flinkclusters": "FlinkCluster"}
CLUSTER_WIDE = {"nodes", "customresourcedefinitions", "tokenreviews", "subjectaccessreviews", "namespaces",
                "persistentvolumes", "priorityclasses", "csinodes"}
#: Reviews are questions, which say what is asked.
SPECS = {"tokenreviews": {"token": "nobodys"},
         "subjectaccessreviews": {"user": "nobody", "nonResourceAttributes": {"verb": "get", "path": "/livez"}}}
#: Answers that mean: allowed, but there is no such object, or it is not valid.
ALLOWED = {200, 201, 404, 409, 415, 422}
RENDERED = render(EVERYTHING)
RIGHTS = sorted((component, *right) for component in OPERATORS for right in rules_of(RENDERED, component))


def name_of(right):
    component, group, resource, verb, names = right
    return "-".join([component, verb, resource.replace("/", "."), group or "core", *names])


def url_of(group, resource, namespace):
    inside = "" if resource in CLUSTER_WIDE else f"namespaces/{namespace}/"
    return f"/{VERSIONS[group]}/{inside}{resource}"


def request_for(group, resource, verb, names=(), namespace="team-a"):
    """(method, URL, query, body) of a request that needs just this right."""
    plural, _, sub = resource.partition("/")
    collection = url_of(group, plural, namespace)
    one = f"{collection}/{names[0] if names else 'absent'}" + (f"/{sub}" if sub else "")
    dry = {"dryRun": "All"}
    if sub == "finalizers":
        return "POST", url_of("", "pods", namespace), dry, pod_owned_by(KINDS[plural])
    if verb == "create":
        version = VERSIONS[group].removeprefix("apis/").removeprefix("api/")
        thing = {"apiVersion": version, "kind": KINDS[plural], "metadata": {"name": "absent"}}
        if plural in SPECS:
            thing = thing | {"metadata": {}, "spec": SPECS[plural]}
        return "POST", collection, dry, thing
    named = {"fieldSelector": f"metadata.name={names[0]}"} if names else {}
    return {"list": ("GET", collection, {"limit": "1"} | named, None),
            "watch": ("GET", collection, {"watch": "1", "timeoutSeconds": "1"} | named, None),
            "get": ("GET", one, {}, None), "delete": ("DELETE", one, dry, None),
            "patch": ("PATCH", one, dry, {"metadata": {}}),
            "update": ("PUT", one, dry, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                         "metadata": {"name": names[0]} if names else {}})}[verb]


def pod_owned_by(kind):
    owner = {"apiVersion": f"{ESI}/v1alpha1", "kind": kind, "name": "owner", "uid": "0-0-0-0",
             "controller": True, "blockOwnerDeletion": True}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "absent", "ownerReferences": [owner]},
            "spec": {"containers": [{"name": "pause", "image": "pause"}]}}


class As:
    """Requests of an impersonated user; the answers' status codes."""

    def __init__(self, plane):
        self.client = plane.api.client

    def __call__(self, user, method, url, query, body):
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        try:
            answer = self.client.call_api(
                url, method, query_params=list(query.items()), body=body, auth_settings=["BearerToken"],
                header_params={"Impersonate-User": user, "Content-Type": kind, "Accept": "application/json"},
                response_type=None, _return_http_data_only=True, _preload_content=False, _request_timeout=300)
        except ApiException as error:
            return error.status, (error.body or b"").decode()
        if "watch" in query:
            answer.close()
        else:
            answer.read()
            answer.release_conn()
        return answer.status, ""


def rules(rights):
    return [{"apiGroups": [group], "resources": [resource], "verbs": [verb],
             **({"resourceNames": list(names)} if names else {})} for group, resource, verb, names in rights]


@pytest.fixture(scope="module")
def ask(plane):
    """The kinds, and a user for each right who has all rights of the account but this one."""
    crds = list(RENDERED.of("CustomResourceDefinition").values())
    kubectl(plane, "apply", crds)
    plane.kubectl("wait", "--for=condition=Established", "crd", *CRDS)
    for component in OPERATORS:
        plane.api.create("Lease", "team-a", {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                             "metadata": {"name": f"esi-{component}"}})
    users = {}
    for component in OPERATORS:
        all_of_it = [right[1:] for right in RIGHTS if right[0] == component]
        users[f"all-{component}"] = all_of_it
        for right in (each for each in RIGHTS if each[0] == component):
            kept = [each for each in all_of_it if each != right[1:]]
            if right[2].endswith("/finalizers"):
                # The request that shows it is a creation, also where the account makes other objects.
                kept.append(("", "pods", "create", ()))
            users[f"without-{name_of(right)}"] = kept
        users[f"all-{component}"] = [*all_of_it, ("", "pods", "create", ())]

    def bind(user):
        name = f"test:{user}"
        group = "rbac.authorization.k8s.io"
        plane.api.create("ClusterRole", None, {"metadata": {"name": name}, "rules": rules(users[user])})
        plane.api.call("POST", f"/apis/{group}/v1/clusterrolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": user}]})

    ask = As(plane)

    def known(user):
        """The API server knows the user's rights a moment after they are made."""
        some = next(right for right in users[user] if right[2] in ("list", "get"))
        wait(f"the API server to know the rights of {user}", lambda: ask(user, *request_for(*some))[0] != 403)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(bind, users))
        list(pool.map(known, users))
    yield ask
    plane.kubectl("delete", "crd", *CRDS)
    plane.kubectl("delete", "leases", "--all", "--namespace", "team-a")


def test_there_are_rights():
    assert len(RIGHTS) > 60


@pytest.mark.parametrize("right", RIGHTS, ids=map(name_of, RIGHTS))
def test_right_is_needed_and_enough(ask, right):
    component, *what = right
    request = request_for(*what)
    status, message = ask(f"without-{name_of(right)}", *request)
    assert status == 403, f"{request[0]} {request[1]} is allowed without it: {status}"
    assert "forbidden" in message
    status, message = ask(f"all-{component}", *request)
    assert status in ALLOWED, f"{request[0]} {request[1]}: {status} {message}"


@pytest.mark.parametrize("component", OPERATORS)
def test_rights_in_some_namespaces_are_those_of_the_whole_cluster(component):
    """With watchNamespaces nothing is lost and nothing added, but most of it is in Roles."""
    narrow = render(EVERYTHING | {"watchNamespaces": ["team-a"]})
    assert rules_of(narrow, component) == rules_of(RENDERED, component)
    rules_of_cluster = [rule for each in narrow.of("ClusterRole").values()
                        if each["metadata"]["labels"].get("app.kubernetes.io/component") == component
                        for rule in each["rules"]]
    assert [(rule["resources"], rule["verbs"]) for rule in rules_of_cluster] == {
        "testbed": [(["priorityclasses"], ["get"]),
                    (["namespaces"], ["list", "watch"]), (["persistentvolumes"], ["get"]), (["csinodes"], ["list"]),
                    (["priorityclasses"], ["list", "watch"]),
                    (["nodes"], ["patch"]), (["nodes"], ["get", "list", "watch"]),
                    (["pods"], ["get", "list", "watch"])],
        "batchjob": [(["namespaces"], ["list", "watch"]), (["customresourcedefinitions"], ["list", "watch"])],
        "scheduling": [(["nodes"], ["list", "patch"]), (["pods"], ["list"]),
                       (["tokenreviews"], ["create"]), (["subjectaccessreviews"], ["create"])]}[component]


def test_schedulings_are_read_where_the_operators_work():
    """Orders are checked against them. With watchNamespaces the right is in Roles of these namespaces only."""
    verbs = ["get", "list", "watch"]
    narrow = render({"watchNamespaces": ["team-a", "team-b"]})
    for component in ("testbed", "batchjob"):
        account = f"esi-{component}"
        assert readers(RENDERED, account) == {("ClusterRole", None, account): verbs}
        assert readers(narrow, account) == {("Role", "team-a", account): verbs, ("Role", "team-b", account): verbs}


def readers(rendering, account):
    """{(kind, namespace, name) of each role with the right to read Schedulings that the account is bound to: verbs}."""
    bound = {(each["roleRef"]["kind"], each["metadata"].get("namespace"), each["roleRef"]["name"])
             for each in rendering.objects if each["kind"] in ("RoleBinding", "ClusterRoleBinding")
             and account in [who["name"] for who in each["subjects"]]}
    keys = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]): rule["verbs"]
            for each in rendering.objects if each["kind"] in ("Role", "ClusterRole")
            for rule in each.get("rules") or () if "schedulings" in rule["resources"] and "list" in rule["verbs"]}
    return {key: verbs for key, verbs in keys.items() if key in bound}


def test_people_get_esi_through_kubernetes_own_roles(plane, ask):
    """All but Testbeds, which take nodes of the whole cluster: those are written by who is bound to a role of their own,
    or, where aggregatedRoles.testbeds says so, by every admin of a namespace."""
    own = ("esi-view", "esi-edit", "esi-testbed-admin")
    for name in own:
        plane.api.create("ClusterRole", None, RENDERED.of("ClusterRole")[name])
    roles = ("view", "edit", "admin", "esi-testbed-admin")
    try:
        for role in roles:
            plane.kubectl("create", "rolebinding", f"a-{role}", f"--clusterrole={role}", f"--user=a-{role}",
                          "--namespace=team-b")
        for role, verbs in (("view", {"get"}), ("edit", {"get", "create"}), ("admin", {"get", "create"})):
            assert allowed(plane, f"a-{role}", "schedulings") == verbs
            assert allowed(plane, f"a-{role}", "testbeds") == {"get"}
            assert allowed(plane, f"a-{role}", "testbedslotslices") == {"get"}, "nobody but esi-testbed writes them"
        assert allowed(plane, "a-esi-testbed-admin", "testbeds", wanted="create") == {"create"}
        for_admins = render({"aggregatedRoles": {"testbeds": True}}).of("ClusterRole")["esi-testbed-admin"]
        plane.kubectl("apply", "-f", "-", stdin=json.dumps(for_admins))
        assert allowed(plane, "a-admin", "testbeds", wanted="create") == {"get", "create"}
    finally:
        plane.kubectl("delete", "clusterrole", *own)
        plane.kubectl("delete", "rolebinding", "--namespace=team-b", *(f"a-{role}" for role in roles))


def allowed(plane, user, resource, wanted="get"):
    """Which of get and create, once `wanted` is one of them; Kubernetes' controller needs a moment to aggregate."""
    def verbs():
        found = {verb for verb in ("get", "create") if plane.kubectl(
            "auth", "can-i", verb, f"{resource}.{ESI}", "--as", user, "--namespace=team-b",
            check=False).stdout.strip() == "yes"}
        return found if wanted in found else None
    return wait(f"{user} to have the right to {wanted} {resource}", verbs)


def test_the_chart_is_what_the_tests_of_rights_read():
    """The rules come from the rendering; an account without any would make all of this pass."""
    for component in OPERATORS:
        assert [right for right in RIGHTS if right[0] == component and right[2] == "leases"]
