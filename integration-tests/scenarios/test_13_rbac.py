"""The operators have the rights that they need and no others, by the audit logs of the whole session."""
import re

import pytest
import yaml

import audit
from control_plane import MANIFESTS
from product import OPERATORS

pytestmark = pytest.mark.last

#: Granted, and not to be seen in the log, with the reason.
NOT_SEEN = {
    ("batchjob", "esi.tu-berlin.de", "batchjobs/finalizers", "update"):
        "asked for by the admission plugin OwnerReferencesPermissionEnforcement only",
    ("testbed", "esi.tu-berlin.de", "testbeds/finalizers", "update"):
        "asked for by the admission plugin OwnerReferencesPermissionEnforcement only",
    ("scheduling", "esi.tu-berlin.de", "schedulings/finalizers", "update"):
        "asked for by the admission plugin OwnerReferencesPermissionEnforcement only",
    ("testbed", "batch.scheduler.tencent.com", "podgroups/status", "patch"): "its definition has no such subresource",
    ("testbed", "scheduling.incubator.k8s.io", "podgroups/status", "patch"): "its definition has no such subresource",
    ("testbed", "scheduling.sigs.dev", "podgroups", "patch"): "for definitions without the subresource",
    ("batchjob", "", "namespaces", "list"): "the API server that test_47 has streams its lists",
    **{("testbed", group, resource, "list"): "the API servers that test_40 has stream their lists" for group, resource in (
        ("", "namespaces"), ("coordination.k8s.io", "leases"), ("scheduling.k8s.io", "priorityclasses"),
        ("batch.scheduler.tencent.com", "podgroups"), ("scheduling.incubator.k8s.io", "podgroups"),
        ("scheduling.sigs.dev", "podgroups"), ("scheduling.x-k8s.io", "podgroups"))},
}


#: Who acts for a person in these tests.
PEOPLE = {"kubernetes-admin"}


def granted():
    """{(operator, group, resource, verb)} of all rules in the manifests."""
    rights = set()
    for operator in OPERATORS:
        for file in MANIFESTS.glob(f"**/rbac-{operator}*.yaml"):  # with debug/: the flag is set here
            for thing in yaml.safe_load_all(file.read_text("utf-8")):
                for rule in (thing or {}).get("rules") or []:
                    rights |= {(operator, group, resource, verb) for group in rule["apiGroups"]
                               for resource in rule["resources"] for verb in rule["verbs"]}
    return rights


def used(requests_):
    return {(each.operator, each.group, f"{each.resource}/{each.sub}" if each.sub else each.resource, each.verb)
            for each in requests_ if each.operator and each.decision == "allow"}


@pytest.fixture(scope="module")
def log(audit_logs):
    found = []
    for each in audit_logs:
        reader = audit.AuditLog(each)
        found += reader.read()
        reader.close()
    return found


def test_nothing_was_forbidden_to_the_operators(log):
    mine = [each for each in log if each.operator]
    assert mine, "the audit log knows nothing of the operators"
    # test_46 has a claim with a priority whose class the chart has not made: that class may not be read either.
    # test_35_kubectl_esi_doctor has a claim where claims are switched off: the right to make its Testbed is missing.
    forbidden = [each for each in mine if each.decision == "forbid"
                 and not each.uri.endswith("/priorityclasses/esi-claim-7")
                 and not re.search(r"/namespaces/doctor-\d+/testbeds$", each.uri)]
    assert not forbidden, "\n".join(f"{each.operator}: {each.verb} {each.uri}" for each in forbidden[:20])
    # RBAC allowed these, an admission plugin did not: nothing can be made in a namespace that ends.
    refused = [each for each in mine if each.code == 403 and each.decision != "forbid"]
    assert all(each.verb == "create" for each in refused), refused[:5]


def came_before_the_label(refused, log):
    """The policies know the namespaces' labels by a watch of the API server's own. An operator that saw a new label
    before that watch did is refused, and tries again: a person has labelled the namespace within the second before,
    and the same request was then let through."""
    labelled = any(each.resource == "namespaces" and each.verb == "patch" and each.name == refused.namespace
                   and 0 <= refused.at - each.done < 1 for each in log)
    return labelled and any(each.user == refused.user and each.verb == refused.verb and each.uri == refused.uri
                            and each.at >= refused.done and each.code < 300 for each in log)


def test_no_policy_refused_anything_to_a_program(log):
    """Neither to the operators nor to schedulers, controllers, drivers and kubelets; people are the tests."""
    # What test_28's attackers put into templates of pods is refused to those who make the pods.
    # test_41 has a second leader, whose lease no policy would let it have.
    programs = [each for each in log if each.user not in PEOPLE and "/namespaces/attacks" not in each.uri
                and each.namespace != "second-leader"]
    assert len({each.user for each in programs}) > 5, "the audit log knows few programs"
    refused = [each for each in programs if each.policies and each.policies != ("lost-bind",)  # test_41's own
               and not came_before_the_label(each, log)]
    assert not refused, "\n".join(f"{each.user}: {each.verb} {each.uri}: {each.policies}" for each in refused[:20])


def test_every_granted_right_was_used(log):
    rights = granted()
    seen = used(log)
    for right in sorted(rights):
        print(f"{'used    ' if right in seen else 'not seen'} {right[0]}: {right[3]} {right[2]}.{right[1] or 'core'}")
    unused = {right for right in rights - seen if right not in NOT_SEEN}
    if len({each.namespace for each in log if each.operator and each.namespace}) < 30:
        pytest.skip("only a part of the suite ran: it need not use every right")
    assert not unused, "granted and never used: " + ", ".join(map(str, sorted(unused)))
