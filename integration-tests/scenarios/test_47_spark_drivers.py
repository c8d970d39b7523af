"""Spark without an operator: driver pods with the labels of cosmin-ionita/kubernetes-gang-scheduler start only together
with places for their executors. The tests create executors as a driver does: owned by it, for its scheduler."""
import pytest
import yaml

import objects
from api import ApiException
from control_plane import MANIFESTS, ROOT

GATE = objects.PREFIX + "slot"
EXAMPLE = ROOT / "examples" / "gangs" / "spark-driver.yaml"


def policies_of_drivers(plane, wanted):
    if wanted:
        plane.kubectl("apply", "--filename", str(MANIFESTS / "claims"), "--filename", str(MANIFESTS / "sparkdrivers"))
        return
    plane.kubectl("delete", "--filename", str(MANIFESTS / "claims"), "--filename", str(MANIFESTS / "sparkdrivers"))
    plane.install()  # what the other folder has in another form


@pytest.fixture(scope="module", autouse=True)
def with_drivers(plane, operators):
    """esi-testbed forms claims and esi-batchjob takes drivers over, with the rights and policies of the chart."""
    policies_of_drivers(plane, True)
    flags = {"testbed": "--claims", "batchjob": "--spark-drivers"}
    for name, flag in flags.items():
        operators[name].stop()
        operators[name].flags = (*operators[name].flags, flag)
        operators[name].start().ready()
    yield
    for name, flag in flags.items():
        operators[name].stop()
        operators[name].flags = tuple(each for each in operators[name].flags if each != flag)
        operators[name].start().ready()
    policies_of_drivers(plane, False)


def driver(name, executors=2, cpu="1", memory="1Gi", labels=None, **spec):
    """The driver pod as spark-submit makes it, with the labels of that scheduler."""
    body = objects.pod(name, cpu, memory, schedulerName="gang-scheduler", restartPolicy="Never", **spec)
    body["metadata"]["labels"] = {"spark-role": "driver", "executors": str(executors), "exec-cpu": "1", "exec-mem": "1",
                                  "driver-cpu": "1", "driver-mem": "1"} | (labels or {})
    return body


def executor(of, number, cpu="1", memory="1Gi", **spec):
    """As the driver `of` makes it."""
    meta = of["metadata"]
    body = objects.pod(f"{meta['name']}-exec-{number}", cpu, memory, schedulerName="gang-scheduler",
                       restartPolicy="Never", node_selector=of["spec"].get("nodeSelector"), **spec)
    body["metadata"] |= {"labels": {"spark-role": "executor"}, "ownerReferences": [{
        "apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}]}
    return body


@pytest.fixture
def lab(scene):
    """A scene whose namespace is enabled, and whose drivers come to its own nodes."""
    scene.api.patch("Namespace", None, scene.namespace, {"metadata": {"labels": {objects.PREFIX + "gangs": "enabled"}}})

    def gated():
        made = scene.api.call("POST", f"/api/v1/namespaces/{scene.namespace}/pods", driver("probe"), query={"dryRun": "All"})
        return gates(made)
    scene.wait("the API server to know the label", gated)

    def drive(name, *args, **more):
        more.setdefault("node_selector", {"lab": scene.name})
        return scene.apply(driver(name, *args, **more))

    def spawn(name, count=2, **more):
        """Waits until the driver runs, and makes its executors."""
        found = running(scene, name)
        return [scene.apply(executor(found, number, **more)) for number in range(1, count + 1)]
    scene.drive, scene.spawn = drive, spawn
    yield scene
    # First of all: for a driver that waits, what is deleted is made again.
    scene.api.delete_all("Pod", scene.namespace)
    scene.wait("all pods to be gone", lambda: not scene.left("Pod"))


def gates(pod):
    return [each["name"] for each in pod["spec"].get("schedulingGates") or []]


def running(scene, *names):
    def all_run():
        found = [scene.get("Pod", name) for name in names]
        return all(each and each["status"].get("phase") == "Running" for each in found) and found
    return scene.wait(f"{', '.join(names)} to run", all_run)[-1]


def end(scene, name, phase="Succeeded"):
    """What a kubelet reports."""
    scene.api.patch("Pod", scene.namespace, name, {"status": {"phase": phase}}, sub="status")


def node_of(scene, name):
    return scene.get("Pod", name)["spec"].get("nodeName")


def told(scene, name, reason, words=""):
    def probe():
        return next((each["note"] for each in scene.api.list("Event", scene.namespace)
                     if each["regarding"]["name"] == name and each["regarding"]["kind"] == "Pod"
                     and each["reason"] == reason and words in each.get("note", "")), None)
    return scene.wait(f"an Event {reason} ({words}) about pod {name}", probe)


def nothing_left(scene, name):
    for kind in ("BatchJob", "Scheduling", "Testbed"):
        scene.gone(kind, name)
    scene.wait("no pod of it to be left", lambda: not scene.left("Pod"))


def test_a_driver_starts_with_places_for_its_executors_and_they_take_them(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    made = lab.drive("pi")
    assert gates(made) == [GATE] and made["spec"]["schedulerName"] == "default-scheduler"
    assert made["spec"]["priorityClassName"] == "esi-job"
    running(lab, "pi")
    job, plan = lab.get("BatchJob", "pi"), lab.get("Scheduling", "pi")
    for each in (job, plan):
        owner, = each["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("Pod", "pi", made["metadata"]["uid"])
    assert job["status"]["type"] == "SparkDriver" and job["status"]["application"]["kind"] == "Pod"
    assert len(lab.bound_ghosts("pi")) == 2, "the places of the executors are held"
    first, second = lab.spawn("pi")
    assert gates(first) == [GATE] and first["metadata"]["labels"][objects.PREFIX + "job"] == "pi"
    running(lab, "pi", "pi-exec-1", "pi-exec-2")
    lab.job_state("pi", "RunningState")
    seats = {each.pod: each.slot for each in lab.bindings() if each.job == "pi"}
    assert seats == {"pi": 0, "pi-exec-1": 1, "pi-exec-2": 2}, seats
    assert node_of(lab, "pi-exec-1") and node_of(lab, "pi-exec-2")
    assert lab.scheduling_state("pi", "AwaitingCompletionState", "CompletedState")


def test_of_two_drivers_whose_executors_fit_once_one_waits_says_why_and_goes_on(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    for name in ("left", "right"):
        lab.drive(name)
    first = lab.wait("one of them to run", lambda: next(
        (name for name in ("left", "right") if node_of(lab, name)), None))
    second = "right" if first == "left" else "left"
    lab.spawn(first)
    running(lab, f"{first}-exec-1", f"{first}-exec-2")
    told(lab, second, "Waiting", "ClaimWaiting")
    lab.wait_condition("Scheduling", second, "Acquired", "False", "ClaimWaiting")
    lab.wait("what is missing", lambda: "places fit" in lab.condition("Scheduling", second, "Acquired").get("message", ""))
    assert gates(lab.get("Pod", second)) == [GATE] and not lab.ghosts(second)
    end(lab, first)
    # It is Completed for a moment, then released, as its claim goes back.
    lab.wait("the run to have ended well",
             lambda: lab.status("BatchJob", first).get("lastResult", "").startswith("Succeeded"))
    lab.gone("Testbed", first)
    lab.wait("executors of the first to be gone", lambda: not lab.get("Pod", f"{first}-exec-1"))
    assert lab.get("Pod", first)["status"]["phase"] == "Succeeded", "an ended driver stays, with its log"
    lab.spawn(second)
    running(lab, f"{second}-exec-1", f"{second}-exec-2")
    end(lab, second, "Failed")
    lab.job_state(second, "FailedState")
    lab.delete("Scheduling", first)
    lab.job_state(first, "ReadyState")
    assert lab.get("Pod", first), "nor does its release delete it"
    for name in ("left", "right"):
        lab.delete("Pod", name, grace=0)
        for kind in ("BatchJob", "Scheduling", "Testbed"):
            lab.gone(kind, name)


@pytest.mark.parametrize("label, value, words", [
    ("executors", "0", "1 to 999"), ("executors", "1000", "1 to 999"), ("executors", "two", "1 to 999"),
    ("exec-cpu", "much", "cores above 0"), ("exec-mem", "2g", "a whole number of GiB")])
def test_labels_that_cannot_be_read_are_told_on_the_driver(lab, label, value, words):
    lab.nodes(1, labelled=False, cpu="4", memory="8Gi")
    lab.drive("pi", labels={label: value})
    note = told(lab, "pi", "BadLabels", words)
    assert f'label {label} is "{value}"' in note and "Delete the driver" in note, note
    assert not lab.get("BatchJob", "pi") and not lab.get("Scheduling", "pi")
    assert gates(lab.get("Pod", "pi")) == [GATE]


def test_a_driver_that_is_deleted_while_it_waits_leaves_nothing(lab):
    lab.nodes(1, labelled=False, cpu="2", memory="8Gi")
    lab.drive("pi", executors=5)
    told(lab, "pi", "Waiting")
    lab.delete("Pod", "pi", grace=0)
    nothing_left(lab, "pi")


def test_a_driver_that_is_deleted_while_it_runs_leaves_nothing(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    lab.drive("pi")
    lab.spawn("pi")
    running(lab, "pi-exec-1", "pi-exec-2")
    lab.delete("Pod", "pi", grace=0)
    nothing_left(lab, "pi")


def test_who_deletes_the_plan_or_the_job_of_a_driver_that_runs_ends_it(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    for kind in ("Scheduling", "BatchJob"):
        lab.drive("pi")
        lab.spawn("pi")
        running(lab, "pi-exec-1", "pi-exec-2")
        lab.delete(kind, "pi", wait=False)
        nothing_left(lab, "pi")


def test_who_replaces_the_job_of_a_driver_that_runs_ends_it(lab, operators):
    lab.may_restart = True
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    driven = lab.drive("pi")
    lab.spawn("pi")
    running(lab, "pi-exec-1", "pi-exec-2")
    operators["batchjob"].pause()
    lab.delete("BatchJob", "pi")
    other = lab.apply(objects.job("pi"))
    operators["batchjob"].go_on()
    lab.wait("the driver of the earlier BatchJob to be deleted", lambda: (lab.get("Pod", "pi") or driven)[
        "metadata"].get("deletionTimestamp") or not lab.get("Pod", "pi"))
    assert lab.get("BatchJob", "pi")["metadata"]["uid"] == other["metadata"]["uid"]


def test_a_plan_that_is_deleted_while_the_driver_waits_comes_again(lab):
    lab.nodes(1, labelled=False, cpu="2", memory="8Gi")
    lab.drive("pi", executors=5)
    told(lab, "pi", "Waiting")
    for kind in ("Scheduling", "BatchJob"):
        before = lab.get(kind, "pi")["metadata"]["uid"]
        lab.delete(kind, "pi", wait=False)
        lab.wait(f"another {kind}", lambda: lab.get(kind, "pi").get("metadata", {}).get("uid", before) != before)
    assert gates(lab.get("Pod", "pi")) == [GATE]


def test_an_object_of_that_name_is_not_touched(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    lab.apply(objects.job("pi"))
    uid = lab.get("BatchJob", "pi")["metadata"]["uid"]
    lab.drive("pi")
    assert "BatchJob" in told(lab, "pi", "NameTaken", "delete it, or make the driver again")
    assert lab.get("BatchJob", "pi")["metadata"]["uid"] == uid and not lab.get("Scheduling", "pi")
    lab.delete("BatchJob", "pi")
    running(lab, "pi")


def test_a_driver_tells_that_the_job_of_an_earlier_one_is_not_gone_and_goes_on_by_itself(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pi", "uid": "uid-1"}
    lab.apply({"apiVersion": "esi.tu-berlin.de/v1alpha1", "kind": "BatchJob",
               "metadata": {"name": "pi", "ownerReferences": [owner], "finalizers": ["example.com/stays"]},
               "spec": {"sparkDriver": {"uid": "uid-1"}}})
    lab.drive("pi")
    told(lab, "pi", "Waiting", "the BatchJob of the earlier driver is not gone yet")
    lab.delete("BatchJob", "pi", wait=False)
    lab.api.take_finalizers("BatchJob", lab.namespace, "pi")
    running(lab, "pi")


def test_what_a_quota_refuses_is_made_once_there_is_room_in_it(lab):
    lab.nodes(2, labelled=False, cpu="2", memory="8Gi")
    count = "count/schedulings.esi.tu-berlin.de"
    lab.api.create("ResourceQuota", lab.namespace, {"metadata": {"name": "none"}, "spec": {"hard": {count: "0"}}})
    lab.wait("the quota", lambda: count in lab.get("ResourceQuota", "none").get("status", {}).get("hard", {}))
    lab.drive("pi")
    assert "exceeded quota" in told(lab, "pi", "Refused")
    lab.delete("ResourceQuota", "none")
    running(lab, "pi")


def test_a_label_alone_makes_no_executor(lab):
    lab.nodes(2, labelled=False, cpu="4", memory="8Gi")
    lab.drive("pi")
    running(lab, "pi")
    stranger = lab.apply(objects.pod("stranger", cpu="100m", node_selector={"lab": lab.name}))
    forged = executor(lab.get("Pod", "pi"), 1)
    forged["metadata"]["ownerReferences"][0] |= {"name": "stranger", "uid": stranger["metadata"]["uid"]}
    forged["metadata"]["labels"][objects.PREFIX + "job"] = "pi"
    made = lab.apply(forged)
    assert gates(made) == [GATE]
    lab.apply(executor(lab.get("Pod", "pi"), 2))
    running(lab, "pi-exec-2")
    assert gates(lab.get("Pod", "pi-exec-1")) == [GATE]
    assert [each["podName"] for each in lab.status("BatchJob", "pi")["placements"]] == ["pi", "pi-exec-2"]


def test_other_pods_stay_as_they_are(lab):
    plain = driver("plain")
    plain["spec"]["schedulerName"] = "default-scheduler"
    of_operator = driver("of-operator", labels={"sparkoperator.k8s.io/app-name": "pi"})
    for body in (plain, of_operator):
        made = lab.api.call("POST", f"/api/v1/namespaces/{lab.namespace}/pods", body, query={"dryRun": "All"})
        assert gates(made) == [] and objects.PREFIX + "job" not in made["metadata"]["labels"]
        assert made["spec"]["schedulerName"] == body["spec"]["schedulerName"]
    with_other_class = driver("classy")
    with_other_class["spec"]["priorityClassName"] = "system-cluster-critical"
    try:
        made = lab.api.call("POST", f"/api/v1/namespaces/{lab.namespace}/pods", with_other_class, query={"dryRun": "All"})
        assert made["spec"]["priorityClassName"] == "esi-job"
    except ApiException as error:
        assert error.status == 403


def test_a_namespace_that_is_not_enabled_gets_nothing(lab, scene):
    lab.nodes(1, labelled=False, cpu="4", memory="8Gi")
    scene.api.patch("Namespace", None, scene.namespace, {"metadata": {"labels": {objects.PREFIX + "gangs": None}}})
    body = driver("pi", node_selector={"lab": scene.name})
    body["spec"] |= {"schedulingGates": [{"name": GATE}], "schedulerName": "default-scheduler"}
    body["metadata"]["labels"][objects.PREFIX + "job"] = "pi"

    def ungated():
        made = scene.api.call("POST", f"/api/v1/namespaces/{scene.namespace}/pods", driver("probe"), query={"dryRun": "All"})
        return not gates(made)
    scene.wait("the API server to know that", ungated)
    scene.apply(body)
    scene.jobs("later")  # by then esi-batchjob has seen the pod
    assert not scene.get("BatchJob", "pi") and not scene.get("Scheduling", "pi")
    scene.api.patch("Namespace", None, scene.namespace, {"metadata": {"labels": {objects.PREFIX + "gangs": "enabled"}}})
    running(scene, "pi")


@pytest.mark.parametrize("how", ["KILL", "STOP"])
def test_an_operator_that_dies_or_sleeps_makes_nothing_twice(lab, operators, how):
    lab.may_restart = True
    lab.nodes(4, labelled=False, cpu="4", memory="16Gi")
    names = [f"pi-{number}" for number in range(4)]
    for number, name in enumerate(names):
        lab.drive(name, executors=1)
        if number == 1:
            operators["batchjob"].kill() if how == "KILL" else operators["batchjob"].pause()
            if how == "KILL":
                operators["batchjob"].start()
            else:
                operators["batchjob"].go_on()
    for name in names:
        lab.spawn(name, 1)
    running(lab, *(f"{name}-exec-1" for name in names))
    assert sorted(lab.left("BatchJob")) == sorted(lab.left("Scheduling")) == names


def test_the_example_runs_as_it_is(lab):
    lab.nodes(2, labelled=False, cpu="4", memory="16Gi")
    body = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    name = body["metadata"]["name"]
    body["spec"]["nodeSelector"] = {"lab": lab.name}
    lab.apply(body)
    running(lab, name)
    labels = body["metadata"]["labels"]
    count = int(labels["executors"])
    assert len(lab.bound_ghosts(name)) == count
    lab.spawn(name, count, cpu=labels["exec-cpu"], memory=labels["exec-mem"] + "Gi")
    running(lab, *(f"{name}-exec-{number}" for number in range(1, count + 1)))


def test_nobody_else_says_which_job_has_taken_a_pod_over(lab):
    lab.drive("waits", labels={"executors": "0"})
    forged = {"metadata": {"annotations": {objects.PREFIX + "job-uid": "u"}}}
    created = driver("forged")
    created["metadata"] |= forged["metadata"]
    pods = f"/api/v1/namespaces/{lab.namespace}/pods"
    for method, url, body, kind in (("POST", pods, created, "application/json"),
                                    ("PATCH", f"{pods}/waits", forged, "application/merge-patch+json")):
        with pytest.raises(ApiException) as refused:
            lab.api.call(method, url, body, query={"dryRun": "All"}, content_type=kind)
        assert refused.value.status == 403, refused.value
        assert "job-uid is written only by" in str(refused.value.body), refused.value.body
