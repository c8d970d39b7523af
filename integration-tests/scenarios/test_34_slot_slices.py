"""Testbeds with more slots than their status lists: the rows are in TestbedSlotSlices."""
import pathlib

import pytest
import requests

import objects
from api import Api, ApiException
from control_plane import CRDS, ControlPlane
from operators import Operator
from patience import PATIENCE, wait


@pytest.fixture
def few_listed(operators):
    """esi-testbed with a bound that a Testbed of these tests goes beyond."""
    testbed = operators["testbed"]
    testbed.stop()
    testbed.start(more=("--most-listed-slots=2",)).ready()
    yield
    testbed.stop()
    testbed.start().ready()


@pytest.fixture
def beyond(few_listed, scene):
    """A Testbed of four slots on two nodes."""
    scene.nodes(2)
    scene.testbed(slots=2)
    return scene


def slices(scene, testbed="slots"):
    found = scene.api.list("TestbedSlotSlice", scene.namespace, labels=f"{objects.PREFIX}testbed={testbed}")
    return sorted(found, key=lambda each: each["spec"]["first"])


def rows(scene, testbed="slots"):
    """{position: [state, pod, uid, reserved for]} of the slices of the present layout."""
    revision = (scene.status("Testbed", testbed).get("layout") or {}).get("revision")
    return {each["spec"]["first"] + place: row.split(" ")
            for each in slices(scene, testbed) if each["spec"]["layoutRevision"] == revision
            for place, row in enumerate(each["spec"]["rows"])}


def states(scene, testbed="slots"):
    return {position: row[0] for position, row in rows(scene, testbed).items()}


def all_free(scene):
    """The rows, once all four slots are free by them."""
    return states(scene) == {position: "FREE" for position in range(4)} and rows(scene)


def test_the_rows_of_a_large_testbed_are_in_slices(beyond):
    scene = beyond
    scene.wait("the rows", lambda: all_free(scene))
    assert "slots" not in scene.status("Testbed", "slots")
    listed = scene.condition("Testbed", "slots", "SlotsListed")
    assert (listed["status"], listed["reason"]) == ("False", "InSlices"), listed
    one, = slices(scene)
    testbed = scene.get("Testbed", "slots")
    assert [(owner["kind"], owner["uid"], owner["controller"]) for owner in one["metadata"]["ownerReferences"]] == [
        ("Testbed", testbed["metadata"]["uid"], True)]
    ghosts = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in scene.ghosts().values()}
    assert {row[1]: row[2] for row in rows(scene).values()} == ghosts
    shown = scene.plane.kubectl("get", "testbedslotslices", "-n", scene.namespace, "--no-headers").split()
    assert shown[:4] == [one["metadata"]["name"], "slots", "0", "4"]


def test_a_job_is_seen_in_its_slot_and_stays_there_until_its_pod_has_gone(beyond):
    scene = beyond
    scene.jobs("a", seconds=600)
    scene.slot_plan("plan", "strict", [("a", [1])])
    scene.job_state("a", "RunningState")
    pod, = scene.wait("a job pod", lambda: scene.job_pods("a"))
    uid = pod["metadata"]["uid"]
    scene.wait("the row of the pod", lambda: rows(scene).get(1, [])[:3] == ["OCCUPIED", pod["metadata"]["name"], uid])
    # It runs on for a while when its job is deleted.
    scene.api.patch("Pod", scene.namespace, pod["metadata"]["name"],
                    {"metadata": {"annotations": {"esi-test/termination-seconds": "10"}}})
    scene.api.delete("Scheduling", scene.namespace, "plan")
    scene.delete("BatchJob", "a")

    def seen():
        found = scene.get("Pod", pod["metadata"]["name"])
        return found.get("metadata", {}).get("deletionTimestamp") and found["status"]["phase"] == "Running"
    scene.wait("the pod to be on its way out", seen)
    looks = 0

    def gone():
        nonlocal looks
        row, holder = rows(scene)[1], scene.holder()
        if not seen():
            return True
        assert row[:3] == ["OCCUPIED", pod["metadata"]["name"], uid], "its row keeps the pod in its slot"
        assert holder == "plan", "the release waits for the pod"
        looks += 1
        return False
    scene.wait("the pod to be gone", gone)
    assert looks > 3, "the pod was gone at once"
    scene.gone("Scheduling", "plan")
    scene.wait("the slot to be free", lambda: states(scene).get(1) == "FREE")


def test_the_original_interface_shows_every_slot(beyond, operators):
    scene = beyond
    scene.wait("the rows", lambda: all_free(scene))
    scheduling = operators["scheduling"]
    scene.may_restart = True
    scheduling.stop()
    scheduling.start(more=(f"--legacy-namespace={scene.namespace}",)).ready()
    try:
        shown = requests.get(f"{scheduling.url}/external/testbeds/slots", timeout=PATIENCE).json()
    finally:
        scheduling.stop()
        scheduling.start().ready()
    found = {row["position"]: (row["state"], row["podUId"])
             for node in shown["slotsByNode"].values() for row in node}
    assert found == {position: (row[0], row[2]) for position, row in rows(scene).items()}


def test_what_somebody_does_to_a_slice_is_mended(beyond):
    scene = beyond
    before = scene.wait("the rows", lambda: all_free(scene))
    one, = slices(scene)
    scene.delete("TestbedSlotSlice", one["metadata"]["name"], wait=False)
    scene.wait("the slice to be there again", lambda: [
        each for each in slices(scene) if each["metadata"]["uid"] != one["metadata"]["uid"]])
    assert rows(scene) == before
    observer = Api(scene.plane.account("esi-system", "esi-testbed"))
    observer.patch("TestbedSlotSlice", scene.namespace, one["metadata"]["name"],
                   {"spec": {"rows": ["ERROR - - -"] * 4}})
    scene.wait("the rows as they were", lambda: rows(scene) == before)


def test_a_testbed_that_becomes_small_has_its_rows_in_its_status(beyond):
    scene = beyond
    scene.wait("the rows", lambda: all_free(scene))
    scene.api.patch("Testbed", scene.namespace, "slots", {"spec": {"slotsPerNode": 1}})
    scene.wait("the rows in the status", lambda: len(scene.slots()) == 2)
    scene.wait("the slices to be gone", lambda: not slices(scene))
    assert scene.condition("Testbed", "slots", "SlotsListed")["status"] == "True"


def test_slices_go_with_their_testbed(beyond):
    scene = beyond
    scene.wait("the rows", lambda: all_free(scene))
    scene.delete("Testbed", "slots")
    scene.wait("the slices to be collected", lambda: not slices(scene))


def test_a_slice_of_somebody_else_stays_and_is_named(beyond):
    scene = beyond
    name = scene.wait("the slice", lambda: slices(scene))[0]["metadata"]["name"]
    uid = scene.get("Testbed", "slots")["metadata"]["uid"]
    foreign = {**objects.esi("TestbedSlotSlice", name, {
        "testbed": {"name": "slots", "uid": uid}, "layoutRevision": 1, "first": 0, "count": 4,
        "rows": ["ERROR - - -"] * 4})}
    guard_slices(scene, "Audit")
    try:
        scene.wait("it to be there before esi-testbed's", lambda: put_in_place(scene, foreign))
        scene.wait("the condition to name it", lambda: name in scene.condition(
            "Testbed", "slots", "SlotsListed").get("message", ""))
        assert scene.get("TestbedSlotSlice", name)["spec"] == foreign["spec"], "it is not written over"
        scene.jobs("a", seconds=0)
        scene.queue("plan", ["a"] * 4)
        scene.job_state("a", "CompletedState")  # nobody believes that its slots are in ERROR
    finally:
        guard_slices(scene, "Deny", "Audit")
    scene.delete("TestbedSlotSlice", name, wait=False)
    scene.delete("Scheduling", "plan")
    scene.wait("the rows", lambda: all_free(scene))


def guard_slices(scene, *actions):
    """What the API server does where the policy that keeps slices from people is not met."""
    scene.api.call("PATCH", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/esi-slices",
                   {"spec": {"validationActions": actions}}, content_type="application/merge-patch+json")


def put_in_place(scene, foreign):
    """Takes the slice away and puts another in its place; esi-testbed may be faster, the policy still in force."""
    scene.api.delete("TestbedSlotSlice", scene.namespace, foreign["metadata"]["name"])
    try:
        return scene.apply(foreign)
    except ApiException as error:
        assert error.status in (403, 409), error
        return None


@pytest.fixture
def older(folder):
    """A control plane with the kinds of a release without slices."""
    plane = ControlPlane(folder / "older")
    try:
        plane.up(nodes=1, spark=False, audit=False)
        plane.kubectl("delete", "crd", f"testbedslotslices.{objects.PREFIX.rstrip('/')}")
        yield plane
    finally:
        plane.down()


def test_the_operators_work_where_the_kind_is_not_served(older, folder):
    api = older.api
    older.add_nodes("worker", 1, labels="lab.esi/older={i}")
    running = [Operator(name, older.kubeconfig, pathlib.Path(folder), replica=60, flags=["--leader-elect=false", *more])
               for name, more in (("testbed", ["--most-listed-slots=0"]), ("scheduling", []))]
    try:
        for operator in running:
            operator.start().ready()
        api.create("Testbed", "default", objects.testbed("slots", "lab.esi/older"))

        def listed():
            status = (api.get("Testbed", "default", "slots") or {}).get("status") or {}
            return {each["type"]: each["reason"] for each in status.get("conditions") or []}.get("SlotsListed")
        wait("it to say that there are no rows", lambda: listed() == "TooManySlots")
        for file in CRDS:
            older.kubectl("apply", "-f", str(file))
        wait("it to say where the rows are", lambda: listed() == "InSlices")

        def rows_are_there():
            try:
                return any(each["spec"]["rows"] for each in api.list("TestbedSlotSlice", "default"))
            except ApiException as error:  # its kind is served a moment after it was made
                if error.status != 404:
                    raise
        wait("the rows", rows_are_there)
    finally:
        for operator in running:
            operator.stop()
