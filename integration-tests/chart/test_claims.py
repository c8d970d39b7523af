"""What claims.enabled makes, on a real API server: classes that name the priority of a claim, and a quota of a
namespace that does not count the ghosts of claims, as docs/user-guide.md shows it."""
import re

import pytest
import yaml

from api import ApiException
from chart import ROOT, kubectl, render
from patience import wait

pytestmark = pytest.mark.more

VALUES = {"claims": {"enabled": True, "priorities": [0, 1000000, -5]}}
CLASSES = {"esi-claim-0": 0, "esi-claim-1000000": 1000000, "esi-claim-minus-5": -5}
GUIDE = ROOT / "docs" / "user-guide.md"


def claim_classes(rendering):
    return {name: each for name, each in rendering.of("PriorityClass").items() if name.startswith("esi-claim-")}


@pytest.fixture(scope="module")
def classes(plane):
    """The classes that the chart renders, in the cluster."""
    made = claim_classes(render(VALUES))
    kubectl(plane, "apply", list(made.values()))
    yield made
    kubectl(plane, "delete", list(made.values()))


def pod(name, priority_class=None):
    spec = {"containers": [{"name": "main", "image": "none", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
    if priority_class:
        spec["priorityClassName"] = priority_class
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def create(plane, body, namespace="team-c"):
    """The pod as the API server would have it; the account of a namespace comes a moment after it."""
    def made():
        try:
            return plane.api.call("POST", f"/api/v1/namespaces/{namespace}/pods", body)
        except ApiException as error:
            if error.status != 403 or "serviceaccount" not in str(error.body):
                raise
            return None
    return wait("the account of the namespace", made)


def test_a_class_has_the_value_that_its_name_says():
    for release, namespace in (("esi", "esi-system"), ("blue", "blue-system")):
        made = claim_classes(render(VALUES, release=release, namespace=namespace))
        assert {name: each["value"] for name, each in made.items()} == CLASSES, "the same names in each release"
        assert all(each["preemptionPolicy"] == "Never" and each["globalDefault"] is False for each in made.values())
    assert claim_classes(render()) == {}
    assert claim_classes(render({"claims": VALUES["claims"] | {"createPriorityClasses": False}})) == {}


def test_the_flag_and_the_rights_come_and_go_with_the_value():
    for values, enabled in ((VALUES, True), ({"claims": {"priorities": [7]}}, False)):
        shown = render(values)
        assert ("--claims" in shown.container("esi-testbed")["args"]) is enabled
        for other in ("esi-batchjob", "esi-scheduling"):
            assert "--claims" not in shown.container(other)["args"]
        roles = shown.of("ClusterRole")
        assert ("esi-testbed-claims" in roles) is ("esi-scheduling-claims" in roles) is enabled


def test_pods_of_a_class_have_its_priority_and_evict_nobody(plane, classes):
    for name in classes:
        made = plane.api.call("POST", "/api/v1/namespaces/team-c/pods", pod("new", name), query={"dryRun": "All"})
        assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (CLASSES[name], "Never")


def quota_of_the_guide():
    """The first ResourceQuota among the YAML blocks of the user guide."""
    for block in re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        for each in yaml.safe_load_all(block):
            if isinstance(each, dict) and each.get("kind") == "ResourceQuota":
                return each
    raise AssertionError(f"{GUIDE} shows no ResourceQuota")


def test_a_quota_as_the_guide_shows_it_counts_jobs_and_no_ghosts_of_claims(plane, classes):
    """A pod without a class is counted as well: NotIn holds for it."""
    quota = quota_of_the_guide()
    quota["metadata"]["namespace"] = "team-c"
    quota["spec"]["hard"] = {"requests.cpu": "1", "pods": "10"}
    kubectl(plane, "apply", [quota])
    try:
        wait_for_quota(plane, quota)
        for name in ("ghost-1", "ghost-2"):
            create(plane, pod(name, "esi-claim-0"))
        create(plane, pod("job"))
        with pytest.raises(ApiException) as refused:
            create(plane, pod("second-job"))
        assert refused.value.status == 403 and "exceeded quota" in str(refused.value.body)
        create(plane, pod("ghost-3", "esi-claim-0"))
    finally:
        plane.kubectl("delete", "pods", "--namespace=team-c", "--all", "--grace-period=0", "--force")
        kubectl(plane, "delete", [quota])


def test_a_quota_for_all_pods_keeps_ghosts_out(plane, classes):
    """What the guide warns of."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "all", "namespace": "team-c"},
             "spec": {"hard": {"requests.cpu": "1"}}}
    kubectl(plane, "apply", [quota])
    try:
        wait_for_quota(plane, quota)
        create(plane, pod("ghost-1", "esi-claim-0"))
        with pytest.raises(ApiException, match="exceeded quota"):
            create(plane, pod("job"))
    finally:
        plane.kubectl("delete", "pods", "--namespace=team-c", "--all", "--grace-period=0", "--force")
        kubectl(plane, "delete", [quota])


def wait_for_quota(plane, quota):
    """A quota is enforced from the moment that its use has been counted."""
    name = quota["metadata"]["name"]

    def counted():
        found = plane.api.call("GET", f"/api/v1/namespaces/team-c/resourcequotas/{name}")
        return found.get("status", {}).get("hard") == found["spec"]["hard"]
    wait(f"quota {name} to be counted", counted)
