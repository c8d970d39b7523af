"""What a person sees of plans and jobs with kubectl, waits for, and wants of a plan that is under way."""
import re

import objects
from patience import PATIENCE


def change(scene, plan="plan", **spec):
    return scene.api.patch("Scheduling", scene.namespace, plan, {"spec": spec})


def table(scene, kind, name, *more):
    """The columns that `kubectl get` shows of one object."""
    text = scene.plane.kubectl("-n", scene.namespace, "get", kind, name, *more)
    head, line = text.rstrip().splitlines()
    starts = [found.start() for found in re.finditer(r"\S+", head)]
    ends = starts[1:] + [None]
    return {head[a:b].strip(): line[a:b].strip() for a, b in zip(starts, ends)}


def wait_for(scene, condition, what, timeout=f"{PATIENCE}s"):
    return scene.plane.kubectl("-n", scene.namespace, "wait", f"--for=condition={condition}", what,
                               f"--timeout={timeout}")


def outcomes(scene, plan="plan"):
    return {each["job"]["name"]: each.get("outcome") for each in scene.status("Scheduling", plan)["assignments"]}


def one_node(scene, *jobs, seconds=600):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs(*jobs, seconds=seconds)


# --- pause ---

def test_a_suspended_plan_starts_nothing_and_goes_on_when_it_is_resumed(scene):
    one_node(scene, "a", "b", "c")
    scene.queue("plan", ["a", "b", "c"])
    scene.job_state("a", "RunningState")
    change(scene, suspend=True)
    scene.finish("a")
    scene.job_state("a", "CompletedState")
    scene.wait("the pause to be told", lambda: scene.status("Scheduling", "plan").get("reason") == "Suspended")
    scene.wait("the slot of a to be free", lambda: scene.slots()[0]["state"] == "FREE")
    later = change(scene, priority=1)["metadata"]["generation"]
    scene.wait("the plan to be judged with a free slot",
               lambda: scene.status("Scheduling", "plan").get("observedGeneration") == later)
    assert scene.status("BatchJob", "c")["state"] == "InQueueState"
    scene.job_state("b", "RunningState")
    change(scene, suspend=None)
    scene.job_state("c", "RunningState")


def test_a_plan_suspended_with_release_gives_its_slots_back_and_runs_its_jobs_anew(scene):
    one_node(scene, "a", "b")
    scene.queue("plan", ["a", "b"])
    scene.job_state("a", "RunningState")
    scene.job_state("b", "RunningState")
    scene.finish("a")
    scene.job_state("a", "CompletedState")
    change(scene, suspend=True, suspendPolicy="Release")
    scene.job_state("b", "ReadyState")
    scene.wait("both slots to be free", lambda: {row["state"] for row in scene.slots().values()} == {"FREE"})
    assert scene.holder() == "plan"
    scene.wait("the plan to give up its assignment of b", lambda: outcomes(scene) == {"a": "Succeeded"})
    assert scene.status("BatchJob", "b")["runs"][-1]["outcome"] == "Released"
    change(scene, suspend=None)
    scene.job_state("b", "RunningState")
    scene.finish("b")
    wait_for(scene, "Succeeded", "scheduling/plan")
    assert scene.progress("plan") == {"done": 2, "failed": 0, "total": 2}


# --- who goes first ---

def test_the_plan_of_higher_priority_goes_first_and_the_other_says_so(scene):
    one_node(scene, "a", "b", "c")
    scene.queue("now", ["a"])
    scene.job_state("a", "RunningState")
    scene.queue("early", ["b"])
    scene.queue("urgent", ["c"], priority=10)
    scene.wait("both to wait", lambda: [
        scene.status("Scheduling", name).get("reason") for name in ("early", "urgent")] == ["TestbedHeld"] * 2)
    scene.delete("Scheduling", "now")
    scene.job_state("c", "RunningState")
    assert scene.status("BatchJob", "b")["state"] == "ReadyState"
    scene.delete("Scheduling", "urgent")
    scene.job_state("b", "RunningState")


# --- cancel ---

def test_one_job_of_a_running_plan_is_cancelled_and_its_slots_go_to_the_next(scene):
    one_node(scene, "a", "b", "c")
    scene.queue("plan", ["a", "a", "b", "c"])
    scene.job_state("a", "RunningState")
    change(scene, cancelledJobs=[{"name": "a"}, {"name": "c"}])
    scene.job_state("b", "RunningState")
    scene.job_state("a", "ReadyState")
    scene.job_state("c", "ReadyState")
    assert not [each for each in scene.applications() if each["metadata"]["name"] == "a"]
    scene.finish("b")
    wait_for(scene, "Failed", "scheduling/plan")
    assert outcomes(scene) == {"a": "Cancelled", "b": "Succeeded"}
    assert scene.progress("plan") == {"done": 1, "failed": 2, "total": 3}


# --- retries ---

def test_a_job_that_fails_is_started_again_as_often_as_its_policy_says(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.apply(objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    scene.job_state("bad", "ReadyState")
    scene.queue("plan", ["bad"], jobPolicies=[{"name": {"name": "bad"}, "backoffLimit": 2, "retryDelaySeconds": 1}])
    wait_for(scene, "Failed", "scheduling/plan", "120s")
    assert len(scene.status("BatchJob", "bad")["runs"]) == 3
    attempt, = scene.status("Scheduling", "plan")["assignments"]
    assert attempt["attempt"] == 2 and attempt["outcome"] == "Failed"


# --- limits of time ---

def test_a_plan_whose_time_is_over_ends_what_runs(scene):
    one_node(scene, "a", "b")
    scene.queue("plan", ["a", "a", "b"], activeDeadlineSeconds=20)
    scene.job_state("a", "RunningState")
    wait_for(scene, "Failed", "scheduling/plan")
    assert outcomes(scene) == {"a": "DeadlineExceeded"}
    assert scene.status("Scheduling", "plan")["reason"] == "DeadlineExceeded"
    scene.job_state("a", "ReadyState")
    scene.job_state("b", "ReadyState")


def test_a_run_that_takes_longer_than_its_job_allows_fails(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    job = objects.job("long", seconds=600)
    job["spec"]["activeDeadlineSeconds"] = 5
    scene.apply(job)
    scene.job_state("long", "ReadyState")
    scene.queue("plan", ["long"])
    wait_for(scene, "Failed", "batchjob/long")
    run, = scene.status("BatchJob", "long")["runs"]
    assert (run["outcome"], run["reason"]) == ("Failed", "DeadlineExceeded")


def test_a_plan_is_deleted_when_its_time_to_live_is_over_and_lets_everything_go(scene):
    one_node(scene, "a", seconds=1)
    scene.queue("plan", ["a"], ttlSecondsAfterFinished=2)
    scene.gone("Scheduling", "plan")
    scene.released(jobs=["a"])
    assert scene.status("BatchJob", "a")["runs"][-1]["outcome"] == "Succeeded"


# --- what is seen ---

def test_kubectl_waits_for_the_end_of_a_plan_whatever_it_is(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("good", seconds=0)
    scene.apply(objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    scene.job_state("bad", "ReadyState")
    scene.queue("well", ["good"])
    wait_for(scene, "Succeeded", "scheduling/well")
    assert scene.condition("Scheduling", "well", "Failed")["status"] == "False"
    wait_for(scene, "Succeeded", "batchjob/good")
    scene.delete("Scheduling", "well")
    scene.queue("badly", ["bad"])
    wait_for(scene, "Failed", "scheduling/badly")
    wait_for(scene, "Failed", "batchjob/bad")
    assert scene.condition("Scheduling", "badly", "Stalled")["status"] == "True"
    scene.delete("Scheduling", "badly")
    scene.slot_plan("wrong", "strict", [("good", [7])])
    wait_for(scene, "Failed", "scheduling/wrong")
    shown = table(scene, "scheduling", "wrong")
    assert (shown["STATE"], shown["REASON"]) == ("Error", "SlotOutsideLayout")
    assert "wants slot 7" in table(scene, "scheduling", "wrong", "-o", "wide")["PROBLEM"]


def test_a_job_that_cannot_be_started_shows_it_in_its_line(scene):
    bad = objects.job("bad")
    bad["spec"]["sparkSpec"]["sparkVersoin"] = "4"
    scene.apply(bad)
    scene.wait_condition("BatchJob", "bad", "Startable", "False")
    scene.wait("its line", lambda: (table(scene, "batchjob", "bad")["READY"] == "False"
                                    and table(scene, "batchjob", "bad")["REASON"]))
    assert "sparkVersoin" in table(scene, "batchjob", "bad", "-o", "wide")["PROBLEM"]
    scene.jobs("good")
    scene.wait_condition("BatchJob", "good", "Startable", "True")
    assert table(scene, "batchjob", "good")["READY"] == "True"


def test_a_testbed_with_too_little_room_shows_it_in_its_line(scene):
    node, = scene.nodes(1, cpu="1")
    scene.testbed(slots=2, cpu="600m", ready=False)
    scene.wait("its line", lambda: table(scene, "testbed", "slots")["ERROR"] == "1")
    assert table(scene, "testbed", "slots")["REASON"]
    assert node in table(scene, "testbed", "slots", "-o", "wide")["MESSAGE"]


def test_a_plan_without_jobs_holds_nothing_and_says_so(scene):
    one_node(scene, "a", seconds=0)
    scene.queue("empty", [])
    scene.wait("its reason", lambda: scene.status("Scheduling", "empty").get("reason") == "PlanEmpty")
    assert not scene.holder()
    scene.queue("plan", ["a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")


def test_each_step_of_each_job_is_an_event_that_names_the_job(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    names = [f"bad-{i}" for i in range(3)]
    for name in names:
        scene.apply(objects.job(name, seconds=0, driver={"esi-test/fail": "true"}))
        scene.job_state(name, "ReadyState")
    scene.queue("plan", names)
    scene.scheduling_state("plan", "CompletedState")

    def of_plan(reason):
        return {event["related"]["name"]: event for event in scene.api.list("Event", scene.namespace)
                if event["regarding"]["name"] == "plan" and event["reason"] == reason
                and (event.get("related") or {}).get("kind") == "BatchJob"}
    ended = scene.wait("an event for the end of each", lambda: (
        lambda found: found if len(found) == 3 else None)(of_plan("JobEnded")))
    assert set(ended) == set(names)
    assert {event["type"] for event in ended.values()} == {"Warning"}
    assert all("series" not in event or event["series"] is None for event in ended.values())
    for reason in ("Acquired", "Assigned", "Requested"):
        assert set(of_plan(reason)) == set(names), reason


def test_one_job_is_followed_through_the_logs_of_all_operators_by_its_name(scene):
    one_node(scene, "a", seconds=0)
    scene.queue("plan", ["a"], releaseOnCompletion=True)
    scene.scheduling_state("plan", "FinishedState")
    run = scene.status("BatchJob", "a")["runs"][-1]["run"]
    for operator in scene.operators:
        lines = [line for line in operator.log.read_text(errors="replace").splitlines()
                 if f"job={scene.namespace}/a" in line]
        assert lines, operator.label
        assert any(f"run={run}" in line for line in lines), (operator.label, lines)
        assert any(f"scheduling={scene.namespace}/plan" in line for line in lines), (operator.label, lines)
        assert len(lines) < 25, lines
