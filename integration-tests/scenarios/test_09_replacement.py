"""An executor dies; its replacement takes the slot of the one that died, when that is free."""


def running(scene, slots, executors=None):
    scene.nodes(1, cpu="4", memory="16Gi")
    scene.testbed(slots=3)
    driver = {"esi-test/executors": executors} if executors else None
    scene.jobs("pi", seconds=600, driver=driver)
    scene.slot_plan("plan", "strict", [("pi", slots)], releaseOnCompletion=True)
    wanted = executors or len(slots)
    return scene.wait("its executors to run", lambda: (
        lambda found: len(found) == wanted and found)(seated(scene)))


def seated(scene):
    """{slot: pod} of the job pods that are bound and live."""
    return {int(pod["metadata"]["annotations"]["esi.tu-berlin.de/slot"]): pod for pod in scene.job_pods("pi")
            if pod["spec"].get("nodeName") and pod["status"].get("phase") == "Running"
            and "deletionTimestamp" not in pod["metadata"]}


def end(scene):
    scene.finish("pi")
    scene.scheduling_state("plan", "FinishedState")
    scene.released(jobs=["pi"])


def test_a_replacement_takes_the_slot_of_the_one_that_died_though_another_is_empty(scene):
    pods = running(scene, [0, 1, 2], executors=2)   # slot 2 stays empty
    assert set(pods) == {0, 1}
    for dead, stays in ((0, 1), (1, 0)):
        before = seated(scene)
        scene.delete("Pod", before[dead]["metadata"]["name"], wait=False, grace=0)
        after = scene.wait("the replacement", lambda dead=dead, before=before: (
            lambda found: len(found) == 2 and before[dead]["metadata"]["uid"] not in {
                pod["metadata"]["uid"] for pod in found.values()} and found)(seated(scene)))
        assert set(after) == {0, 1}
        assert after[stays]["metadata"]["uid"] == before[stays]["metadata"]["uid"]
    end(scene)


def test_a_replacement_that_comes_before_the_old_pod_is_gone_waits_for_it(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("pi", seconds=600)
    scene.api.patch("BatchJob", scene.namespace, "pi", {"spec": {"sparkSpec": {"executor": {
        "annotations": {"esi-test/termination-seconds": "8"}}}}})
    scene.queue("plan", ["pi", "pi"], releaseOnCompletion=True)
    pods = scene.wait("both executors", lambda: (lambda found: len(found) == 2 and found)(seated(scene)))
    old = pods[1]["metadata"]
    scene.delete("Pod", old["name"], wait=False)    # gone in 8 to 9 s
    scene.drive("pi", executors=3)                # and another pod is made at once
    waiting = scene.wait("a replacement", lambda: [
        pod for pod in scene.job_pods("pi") if pod["metadata"]["uid"] not in (
            pods[0]["metadata"]["uid"], old["uid"])])
    assert waiting[0]["spec"].get("schedulingGates") and not waiting[0]["spec"].get("nodeName")
    scene.wait("the replacement in slot 1", lambda: 1 in seated(scene)
               and seated(scene)[1]["metadata"]["uid"] == waiting[0]["metadata"]["uid"])
    assert not [pod for pod in scene.job_pods("pi") if pod["metadata"]["uid"] == old["uid"]]
    end(scene)


def test_executors_that_die_again_and_again_stay_in_their_slots(scene):
    pods = running(scene, [0, 1, 2])
    for slot in (2, 0, 1):
        uid = seated(scene)[slot]["metadata"]["uid"]
        scene.delete("Pod", seated(scene)[slot]["metadata"]["name"], wait=False, grace=0)
        scene.wait(f"another pod in slot {slot}", lambda slot=slot, uid=uid: len(seated(scene)) == 3
                   and seated(scene)[slot]["metadata"]["uid"] != uid)
    assert pods
    end(scene)


def test_surplus_pods_stay_outside_with_a_reason(scene):
    running(scene, [0, 1])
    scene.drive("pi", executors=3)                # one more than there are slots
    scene.wait("a third pod", lambda: len(scene.job_pods("pi")) == 3)
    scene.wait("the reason", lambda: "each slot of the run has a pod already" in " ".join(
        scene.status("BatchJob", "pi").get("problems") or []))
    scene.wait("the other two to stand where they stood", lambda: set(seated(scene)) == {0, 1})
    gated = [pod for pod in scene.job_pods("pi") if pod["spec"].get("schedulingGates")]
    assert len(gated) == 1 and not gated[0]["spec"].get("nodeName")
    end(scene)
