"""Where there is too little room: what is missing is named, what stands is left alone."""
import json

import objects
from patience import later_than


def test_too_little_room_on_one_node_names_the_missing_amount_and_the_consumers(scene):
    n0, n1, n2 = scene.nodes(3, cpu="2")
    scene.pods("consumer", cpu="1", memory="1Gi", node_selector={"kubernetes.io/hostname": n1})
    scene.wait("the consumer to be bound", lambda: scene.get("Pod", "consumer")["spec"].get("nodeName") == n1)
    scene.testbed(slots=2, cpu="600m", ready=False)
    scene.wait("five ghosts", lambda: len(scene.bound_ghosts()) == 5)
    status = scene.wait("the problem of the node", lambda: (
        lambda status: (status.get("nodeProblems") or {}).get(n1) and status)(scene.status("Testbed", "slots")))
    assert set(scene.bound_ghosts()) == {(n0, 0), (n0, 1), (n1, 0), (n2, 0), (n2, 1)}
    assert set(status["nodeProblems"]) == {n1}
    text = " ".join(status["nodeProblems"][n1])
    assert "200m" in text and "cpu" in text, text                   # 2 - 1 - 2 * 0.6
    assert f"{scene.namespace}/consumer" in text, text
    condition = scene.wait_condition("Testbed", "slots", "CapacitySufficient", "False")
    assert "1 of 6 slots" in condition["message"]
    scene.wait("five free slots and one ERROR", lambda: {
        position: row["state"] for position, row in scene.slots().items()} == {
            0: "FREE", 1: "FREE", 2: "FREE", 3: "FREE", 4: "ERROR", 5: "FREE"})
    assert scene.status("Testbed", "slots")["state"] != "ERROR"     # one node's problem is not the testbed's


def test_the_missing_ghost_comes_when_the_consumer_leaves_and_the_others_keep_their_uids(scene):
    n0, n1 = scene.nodes(2, cpu="2")
    scene.pods("consumer", cpu="1", memory="1Gi", node_selector={"kubernetes.io/hostname": n1})
    scene.wait("the consumer to be bound", lambda: scene.get("Pod", "consumer")["spec"].get("nodeName"))
    scene.testbed(slots=2, ready=False)
    scene.wait("three ghosts", lambda: len(scene.bound_ghosts()) == 3)
    scene.wait("the problem", lambda: scene.status("Testbed", "slots").get("nodeProblems"))
    before = scene.bound_ghosts()
    scene.delete("Pod", "consumer", grace=0)
    scene.testbed_ready()
    after = scene.bound_ghosts()
    assert len(after) == 4
    assert {place: after[place] for place in before} == before
    assert not scene.status("Testbed", "slots").get("nodeProblems")


def test_memory_and_number_of_pods_count_as_well_as_cpu(scene):
    thin, = scene.nodes(1, cpu="8", memory="3Gi", pods="110")
    scene.testbed("memory", slots=2, cpu="100m", memory="1.75Gi", ready=False)
    scene.wait("one ghost", lambda: len(scene.bound_ghosts("memory")) == 1)
    problem = scene.wait("the problem", lambda: (scene.status("Testbed", "memory").get("nodeProblems") or {}).get(thin))
    assert "memory" in " ".join(problem)
    scene.delete("Testbed", "memory")
    scene.wait("its ghosts to go", lambda: not scene.ghosts("memory"))
    scene.api.patch("Node", None, thin, {"status": {"allocatable": {"pods": "1"}}}, sub="status")
    scene.testbed("pods", slots=2, cpu="100m", memory="900Mi", ready=False)
    scene.wait("one ghost", lambda: len(scene.bound_ghosts("pods")) == 1)
    problem = scene.wait("the problem", lambda: (scene.status("Testbed", "pods").get("nodeProblems") or {}).get(thin))
    assert "pods" in " ".join(problem)


def test_ghosts_that_stand_are_never_deleted_for_want_of_room(scene):
    n0, = scene.nodes(1, cpu="2")
    scene.testbed(slots=2, cpu="600m")
    before = scene.bound_ghosts()
    scene.pods("neighbour", cpu="800m", memory="1Gi", node_selector={"kubernetes.io/hostname": n0})
    scene.wait("the neighbour to be bound", lambda: scene.get("Pod", "neighbour")["spec"].get("nodeName"))
    scene.api.patch("Node", None, n0, {"status": {"allocatable": {"cpu": "1500m"}}}, sub="status")
    # What is missing for a third slot tells that the operator has judged the node as it is now.
    scene.api.patch("Testbed", scene.namespace, "slots", {"spec": {"slotsPerNode": 3}})
    scene.wait("the room to be judged", lambda: "1100m" in str(scene.status("Testbed", "slots").get("nodeProblems")))
    assert scene.bound_ghosts() == before


def test_of_two_testbeds_on_the_same_nodes_the_older_is_whole_and_nothing_flaps(scene):
    n0, n1 = scene.nodes(2, cpu="2")
    made = scene.testbed("older", slots=2, cpu="600m")
    older = scene.bound_ghosts("older")
    later_than(made)
    scene.testbed("younger", slots=2, cpu="600m", ready=False)      # room for one and a half
    scene.wait("a part of the younger", lambda: len(scene.bound_ghosts("younger")) == 2)
    scene.wait("its problems", lambda: len(scene.status("Testbed", "younger").get("nodeProblems") or {}) == 2)
    younger = scene.bound_ghosts("younger")
    assert set(younger) == {(n0, 0), (n1, 0)}
    scene.recording.catch_up()
    bound_before = len(scene.recording.judge.bindings)
    # Two that push each other out would do so again and again: only time shows that none does.
    scene.stays("the ghosts of both", lambda: scene.bound_ghosts("older") == older
                and scene.bound_ghosts("younger") == younger, 5)
    scene.recording.catch_up()
    assert len(scene.recording.judge.bindings) == bound_before, "ghosts come and go"


def test_a_younger_testbed_gives_way_to_an_older_one_that_grows(scene):
    """Free slots only, as many as are needed: what is given to a job stays."""
    n0, n1 = scene.nodes(2, cpu="2")
    later_than(scene.testbed("older", slots=1, cpu="600m"))
    scene.testbed("younger", slots=2, cpu="600m")
    scene.jobs("pi", seconds=600)
    scene.slot_plan("run", "strict", [("pi", [3])], "younger", releaseOnCompletion=True)
    scene.job_state("pi", "RunningState")
    scene.api.patch("Testbed", scene.namespace, "older", {"spec": {"slotsPerNode": 2}})
    scene.testbed_ready("older")
    assert len(scene.bound_ghosts("older")) == 4
    expected = ["FREE", "ERROR", "ERROR", "OCCUPIED"]
    scene.wait("the younger one's word", lambda: [row["state"] for row in scene.slots("younger").values()] == expected)
    assert set(scene.bound_ghosts("younger")) == {(n0, 0)}
    assert f"testbed {scene.namespace}/older" in scene.status("Testbed", "younger")["nodeProblems"][n0][0]
    scene.finish("pi")
    scene.scheduling_state("run", "FinishedState")
    scene.delete("Testbed", "older")
    scene.testbed_ready("younger")


def ghosts_ever(scene, testbed):
    """Uids of all ghosts that the Testbed ever had, by the recording."""
    scene.recording.catch_up()
    found = set()
    with open(scene.recording.file, encoding="utf-8") as lines:
        for line in lines:
            change = json.loads(line)
            meta = (change.get("object") or {}).get("metadata") or {}
            labels = meta.get("labels") or {}
            if change["kind"] == "Pod" and meta.get("namespace") == scene.namespace and \
                    labels.get("esi.tu-berlin.de/ghost") == "true" and labels.get("esi.tu-berlin.de/testbed") == testbed:
                found.add(meta["uid"])
    return found


def test_a_younger_testbed_gets_a_slot_back_while_pods_wait_for_its_room(scene):
    """The node has room for the slots and nothing else: each pod that ends makes room for the next one, or for the ghost."""
    scene.nodes(1, cpu="2400m")
    later_than(scene.testbed("older", slots=2, cpu="600m"))
    scene.pods("first", cpu="600m")
    scene.wait("the first pod to be bound", lambda: scene.get("Pod", "first")["spec"].get("nodeName"))
    scene.testbed("younger", slots=2, cpu="600m", ready=False)
    scene.wait("one of its ghosts", lambda: len(scene.bound_ghosts("younger")) == 1)
    made = 0

    def keep_three_waiting():
        nonlocal made
        waiting = [pod for pod in scene.api.list("Pod", scene.namespace)
                   if pod["metadata"]["name"].startswith("waits-") and not pod["spec"].get("nodeName")]
        for _ in range(3 - len(waiting)):
            body = objects.pod(f"waits-{made}", cpu="600m", node_selector={"lab": scene.name})
            body["metadata"]["annotations"] = {"esi-test/run-seconds": "1"}
            scene.apply(body)
            made += 1

    keep_three_waiting()
    scene.delete("Pod", "first", grace=0)
    older = scene.bound_ghosts("older")

    def both():
        keep_three_waiting()
        return len(scene.bound_ghosts("younger")) == 2
    scene.wait("the other ghost of the younger", both)
    assert scene.bound_ghosts("older") == older
    assert len(ghosts_ever(scene, "younger")) <= 3, "a ghost waits at the node, and is not made anew for each pod"
    # kube-scheduler has tried a pod that came later.
    scene.pods("late", cpu="600m")
    scene.wait("the late pod to be refused", lambda: any(
        each["type"] == "PodScheduled" and each["status"] == "False"
        for each in scene.get("Pod", "late")["status"].get("conditions") or []))
    assert len(scene.bound_ghosts("younger")) == 2


def test_an_older_testbed_that_grows_is_made_whole_where_there_is_room(scene):
    n0, = scene.nodes(1, cpu="2")
    scene.apply(objects.testbed("older", scene.label, slots=1, cpu="600m"))
    scene.testbed_ready("older")
    scene.api.patch("Testbed", scene.namespace, "older", {"spec": {"slotsPerNode": 3}})
    scene.testbed_ready("older")
    assert set(scene.bound_ghosts("older")) == {(n0, 0), (n0, 1), (n0, 2)}
