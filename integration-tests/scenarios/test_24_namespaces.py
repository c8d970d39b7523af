"""Two installations divide the namespaces of one cluster: each works on its own, with Roles there and no
more than a reader's rights elsewhere, and neither touches what is the other's.

A control plane of its own: the suite's operators work on all namespaces.
"""
import json
import subprocess

import pytest
import yaml

import audit
import objects
from control_plane import ROOT, ControlPlane
from operators import Operator
from patience import PATIENCE, rests, wait
from product import OPERATORS
from scene import finish

#: Release -> the namespaces that it watches. Nobody watches "nobodys".
WATCHED = {"left": ("left-a", "left-b"), "right": ("right-a",)}
NOBODYS = "nobodys"
LABEL = "lab.esi/divided"


def rights(plane, release):
    """What the chart grants an installation of these namespaces: accounts, Roles, bindings, classes."""
    values = ",".join(WATCHED[release])
    first = release == next(iter(WATCHED))
    done = subprocess.run(
        [plane.binary, "helm", "template", release, str(ROOT / "helm" / "esi"), "--namespace", f"{release}-system",
         "--set", f"watchNamespaces={{{values}}}", "--set", f"priorityClasses.create={json.dumps(first)}",
         "--set", "crds.install=false,aggregatedRoles.create=false"],
        capture_output=True, text=True, timeout=PATIENCE, check=True)
    kinds = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "PriorityClass")
    return [each for each in yaml.safe_load_all(done.stdout) if each and each["kind"] in kinds]


class Installation:
    def __init__(self, plane, folder, release):
        self.plane, self.release = plane, release
        self.namespace = f"{release}-system"
        plane.api.create("Namespace", None, {"metadata": {"name": self.namespace}})
        made = rights(plane, release)
        plane.kubectl("apply", "-f", "-", stdin=yaml.safe_dump_all(made))
        classes = {part: f"--{part}-priority-class=left-esi-{part}" for part in ("ghost", "job")}
        interface = f"--legacy-namespace={WATCHED[release][0]}"
        flags = {"testbed": (classes["ghost"], interface), "batchjob": (classes["job"],), "scheduling": (interface,)}
        self.operators = []
        for name in OPERATORS:
            account = plane.account(self.namespace, f"{release}-esi-{name}")
            own = [f"--namespace={each}" for each in WATCHED[release]]
            self.operators.append(Operator(name, account, folder / release, flags=(*own, *flags[name]),
                                           lease_namespace=self.namespace))

    def start(self):
        for operator in self.operators:
            operator.start()
        for operator in self.operators:
            operator.ready()

    def stop(self):
        return [operator.stop() for operator in self.operators]


@pytest.fixture(scope="module")
def plane(folder):
    plane = ControlPlane(folder / "divided").up(nodes=4, labels=LABEL + "={i}")
    try:
        plane.add_nodes("drivers", 1)
        for name in (*WATCHED["left"], *WATCHED["right"], NOBODYS):
            plane.api.create("Namespace", None, {"metadata": {"name": name}})
            wait("the default account", lambda name=name: plane.api.get("ServiceAccount", name, "default"))
        yield plane
    finally:
        plane.down()


@pytest.fixture(scope="module")
def installations(plane, folder):
    made = {}
    try:
        for release in WATCHED:
            (folder / release).mkdir()
            made[release] = Installation(plane, folder, release)
            made[release].start()
        yield made
    finally:
        codes = {release: each.stop() for release, each in made.items()}
    assert all(code == 0 for each in codes.values() for code in each), codes


def state(plane, kind, namespace, name):
    return ((plane.api.get(kind, namespace, name) or {}).get("status") or {}).get("state")


def start_all(plane, namespace):
    """A Testbed over all nodes, a job and a plan for it."""
    for body in (objects.testbed("slots", label=LABEL, slots=1, cpu="1", memory="1Gi"), objects.job("pi"),
                 objects.queue("plan", "slots", ["pi", "pi"], releaseOnCompletion=True)):
        plane.api.create(body["kind"], namespace, body)


def test_each_works_on_all_of_its_namespaces_and_leaves_the_others_alone(plane, installations):
    for namespace in (*WATCHED["left"], *WATCHED["right"], NOBODYS):
        start_all(plane, namespace)
    for namespace in (*WATCHED["left"], *WATCHED["right"]):
        wait(f"the plan in {namespace}", lambda n=namespace: state(plane, "Scheduling", n, "plan") == "FinishedState")
        job = plane.api.get("BatchJob", namespace, "pi")
        assert job["status"]["runs"][0]["outcome"] == "Succeeded", job["status"]
    for kind, name in (("Testbed", "slots"), ("BatchJob", "pi"), ("Scheduling", "plan")):
        found = plane.api.get(kind, NOBODYS, name)
        assert not found.get("status"), f"somebody works on {kind} {NOBODYS}/{name}"
        assert not found["metadata"].get("finalizers")
    writers = {}
    for each in audit.AuditLog(plane.audit_log).read():
        if each.user.startswith("system:serviceaccount:") and each.agent.startswith("esi-") and \
                each.verb in audit.WRITES and each.resource not in ("leases",) and each.namespace:
            writers.setdefault(each.namespace, set()).add(each.user.split(":")[2])
    expected = {name: {f"{release}-system"} for release, names in WATCHED.items() for name in names}
    assert writers == expected


def test_a_plan_that_names_what_is_not_watched_waits_and_says_why(plane, installations):
    plane.api.create("Scheduling", "left-a", objects.queue("abroad", "right-a/slots", [f"{NOBODYS}/pi"]))

    def told():
        status = (plane.api.get("Scheduling", "left-a", "abroad") or {}).get("status") or {}
        found = [each for each in status.get("conditions", []) if each["type"] == "Acquired"]
        return found and found[0]["message"]
    message = wait("the condition", told)
    assert "Testbed right-a/slots is in a namespace that this installation does not watch (--namespace)" in message
    plane.api.delete("Scheduling", "left-a", "abroad")
    wait("its end", lambda: plane.api.get("Scheduling", "left-a", "abroad") is None)


def condition(plane, namespace, name, type_, kind="Scheduling"):
    """The condition of an object; empty without one."""
    status = (plane.api.get(kind, namespace, name) or {}).get("status") or {}
    return next((each for each in status.get("conditions", []) if each["type"] == type_), {})


def refused(plane, namespace, name, generation=1):
    """The message of a Scheduling that may not use what it names."""
    def told():
        found = condition(plane, namespace, name, "Acquired")
        return found.get("reason") == "NotAllowed" and found.get("observedGeneration") == generation and found
    return wait(f"{namespace}/{name} is told NotAllowed", told)["message"]


def remove(plane, namespace, name):
    plane.api.delete("Scheduling", namespace, name)
    wait(f"the end of {namespace}/{name}", lambda: plane.api.get("Scheduling", namespace, name) is None)


def version_of(plane, kind, namespace, name):
    return plane.api.get(kind, namespace, name)["metadata"]["resourceVersion"]


def version_at_rest(plane, kind, namespace, name):
    """The version of an object that nobody has written to for two seconds."""
    return rests(f"{kind} {namespace}/{name}", lambda: version_of(plane, kind, namespace, name), 2)


def test_a_job_of_another_namespace_is_not_touched(plane, installations):
    plane.api.create("BatchJob", "left-b", objects.job("payroll"))
    # The state comes first; a second write tells what the API server says of the spec.
    wait("the job", lambda: condition(plane, "left-b", "payroll", "Accepted", "BatchJob").get("status") == "True")
    before = version_at_rest(plane, "BatchJob", "left-b", "payroll")
    plane.api.create("Scheduling", "left-a", objects.queue("thief", "slots", ["left-b/payroll"]))
    message = refused(plane, "left-a", "thief")
    assert message.startswith("BatchJob left-b/payroll is of another namespace: a Scheduling of left-a starts "
                              "BatchJobs of left-a only"), message
    assert version_of(plane, "BatchJob", "left-b", "payroll") == before, "something was written to it"
    assert not plane.api.get("Testbed", "left-a", "slots")["metadata"].get("labels"), "the Testbed is held"
    remove(plane, "left-a", "thief")
    assert version_of(plane, "BatchJob", "left-b", "payroll") == before


def test_a_testbed_is_held_from_another_namespace_when_and_as_long_as_it_offers_itself(plane, installations):
    api = plane.api
    for name in ("first", "second"):
        api.create("BatchJob", "left-a", objects.job(name, seconds=600 if name == "first" else 0))
    before = version_at_rest(plane, "Testbed", "left-b", "slots")
    # All slots of the four nodes for the first, so that the second has to wait.
    api.create("Scheduling", "left-a", objects.queue("guest", "left-b/slots", ["first"] * 4 + ["second"]))
    assert "Testbed left-b/slots does not exist, or is not offered to namespace left-a" in \
        refused(plane, "left-a", "guest")
    assert version_of(plane, "Testbed", "left-b", "slots") == before, "something was written to it"

    api.patch("Testbed", "left-b", "slots", {"spec": {"allowedNamespaces": ["left-a"]}})
    wait("the first job", lambda: state(plane, "BatchJob", "left-a", "first") == "RunningState")
    assert condition(plane, "left-a", "guest", "Allowed")["status"] == "True"
    assert "left-a/guest" in plane.kubectl("get", "tb", "slots", "--namespace=left-b")
    names = {row["podName"] for row in api.get("Testbed", "left-b", "slots")["status"]["slots"]}
    assert names == {"a pod of another namespace"}

    api.patch("Testbed", "left-b", "slots", {"spec": {"allowedNamespaces": None}})
    wait("the withdrawal", lambda: condition(plane, "left-a", "guest", "Allowed")["status"] == "False")
    finish(api, "left-a", "first")
    wait("the end of the first job", lambda: state(plane, "BatchJob", "left-a", "first") == "CompletedState")
    told = "Testbed left-b/slots is no longer offered to namespace left-a: what runs goes on, nothing else starts"

    def told_at_the_end():
        status = api.get("Scheduling", "left-a", "guest")["status"]
        return all(each.get("ended") for each in status["assignments"]) and \
            status.get("waitingFor", "").startswith(told) and status
    found = wait("what is told", told_at_the_end)
    assert [each["outcome"] for each in found["assignments"]] == ["Succeeded"]
    assert state(plane, "BatchJob", "left-a", "second") == "InQueueState"

    api.patch("Testbed", "left-b", "slots", {"spec": {"allowedNamespaces": ["*"]}})
    wait("the second job", lambda: state(plane, "BatchJob", "left-a", "second") == "CompletedState")
    remove(plane, "left-a", "guest")
    api.patch("Testbed", "left-b", "slots", {"spec": {"allowedNamespaces": None}})
    assert not api.get("Testbed", "left-b", "slots")["metadata"].get("labels")


def test_an_offer_does_not_reach_into_the_other_installation(plane, installations):
    plane.api.patch("Testbed", "right-a", "slots", {"spec": {"allowedNamespaces": ["*"]}})
    plane.api.create("Scheduling", "left-a", objects.queue("far", "right-a/slots", ["pi"]))
    message = wait("the condition", lambda: condition(plane, "left-a", "far", "Acquired").get("message"))
    assert message == "Testbed right-a/slots is in a namespace that this installation does not watch (--namespace)"
    assert not plane.api.get("Testbed", "right-a", "slots")["metadata"].get("labels")
    remove(plane, "left-a", "far")


def test_a_plan_from_before_offers_goes_on_to_its_end_and_is_told(plane, installations):
    """What a version without offers left: a plan that runs on a Testbed of another namespace, with a job of
    another namespace, and no condition that says whether it may."""
    api = plane.api
    scheduling = next(each for each in installations["left"].operators if each.name == "scheduling")
    scheduling.stop()
    scheduling.start(more=("--cross-namespace-jobs",)).ready()
    api.patch("Testbed", "left-b", "slots", {"spec": {"allowedNamespaces": ["left-a"]}})
    for namespace, name in (("left-a", "old-first"), ("left-b", "old-second")):
        api.create("BatchJob", namespace, objects.job(name, seconds=600 if name == "old-first" else 0))
    api.create("Scheduling", "left-a",
               objects.queue("old", "left-b/slots", ["old-first"] * 4 + ["left-b/old-second"],
                             releaseOnCompletion=True))
    wait("the first job", lambda: state(plane, "BatchJob", "left-a", "old-first") == "RunningState")
    scheduling.stop()
    conditions = [each for each in api.get("Scheduling", "left-a", "old")["status"]["conditions"]
                  if each["type"] != "Allowed"]
    api.patch("Scheduling", "left-a", "old", {"status": {"conditions": conditions}}, sub="status")
    api.patch("Testbed", "left-b", "slots", {"spec": {"allowedNamespaces": None}})
    scheduling.start().ready()
    allowed = wait("the condition", lambda: condition(plane, "left-a", "old", "Allowed"))
    assert (allowed["status"], allowed["reason"]) == ("True", "HeldBefore"), allowed
    assert "BatchJob left-b/old-second" in allowed["message"]
    assert "Testbed left-b/slots is not offered to namespace left-a" in allowed["message"]
    finish(api, "left-a", "old-first")
    wait("its end", lambda: state(plane, "Scheduling", "left-a", "old") == "FinishedState")
    found = api.get("Scheduling", "left-a", "old")["status"]
    assert found["progress"]["summary"] == "2/2", found
    # The next one is judged like any other.
    api.create("Scheduling", "left-a", objects.queue("new", "left-b/slots", ["old-first"]))
    refused(plane, "left-a", "new")
    remove(plane, "left-a", "new")


def test_no_right_was_missing(plane, installations):
    log = [each for each in audit.AuditLog(plane.audit_log).read()
           if each.agent.startswith("esi-") and each.user.startswith("system:serviceaccount:")]
    users = {each.user for each in log}
    assert users == {f"system:serviceaccount:{release}-system:{release}-esi-{name}"
                     for release in WATCHED for name in OPERATORS}
    forbidden = [f"{each.user}: {each.verb} {each.uri}" for each in log if each.decision == "forbid"]
    assert not forbidden, "\n".join(forbidden[:20])


def test_a_namespace_whose_rights_are_gone_holds_up_none_of_the_others(plane, installations):
    plane.kubectl("delete", "rolebinding", "--all", "--namespace", "left-b")
    for operator in installations["left"].operators:
        operator.stop()
        operator.start().ready()
        assert "namespace left out until the right is there namespace=left-b" in operator.tail(lines=1000)
    for body in (objects.job("later"), objects.queue("later", "slots", ["later"], releaseOnCompletion=True)):
        plane.api.create(body["kind"], "left-a", body)
    wait("the plan in left-a", lambda: state(plane, "Scheduling", "left-a", "later") == "FinishedState")
