"""What fails is said where a person looks (state, problems, condition, event); the rest goes on."""
import objects


def the_rest_goes_on(scene, plan="plan", done=1, failed=1):
    scene.scheduling_state(plan, "CompletedState")
    assert scene.progress(plan) == {
        "done": done, "failed": failed, "total": done + failed}
    assert scene.status("BatchJob", "good")["state"] == "CompletedState"


def told(scene, job, *words):
    """The job's problems name these words, and there is a Warning event about it."""
    problems = " ".join(scene.status("BatchJob", job).get("problems") or [])
    for word in words:
        assert word in problems, problems
    return scene.wait("an event that warns", lambda: [
        event for event in scene.api.list("Event", scene.namespace)
        if event["regarding"]["name"] == job and event["type"] == "Warning"])


def bad_and_good(scene, bad, slots=2):
    scene.nodes(1)
    scene.testbed(slots=slots)
    scene.apply(bad)
    scene.jobs("good", seconds=0)
    scene.job_state("bad", "ReadyState")
    scene.queue("plan", ["bad", "good"])


def test_a_job_that_fails(scene):
    bad_and_good(scene, objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    scene.job_state("bad", "FailedState")
    the_rest_goes_on(scene)
    told(scene, "bad")
    assert scene.condition("BatchJob", "bad", "Succeeded")["status"] == "False"
    run, = scene.status("BatchJob", "bad")["runs"]
    assert run["outcome"] == "Failed" and run["reason"]
    event, = scene.status("BatchJob", "bad")["scheduledEvents"]
    assert event["successful"] is False


def test_executors_that_a_dead_driver_left_behind_are_taken_away(scene):
    bad_and_good(scene, objects.job("bad", seconds=600, driver={"esi-test/crash-after": "0"}))
    scene.job_state("bad", "FailedState")
    the_rest_goes_on(scene)
    scene.wait("its executors to be gone", lambda: not scene.job_pods("bad"))
    scene.testbed_ready()


def test_a_submission_that_fails(scene):
    bad_and_good(scene, objects.job("bad", driver={"esi-test/submit-fail": "no such jar: pi.jar"}))
    scene.job_state("bad", "FailedSubmissionState")
    the_rest_goes_on(scene)
    told(scene, "bad", "no such jar: pi.jar")


def test_a_spec_that_the_api_refuses_is_told_at_once_and_not_launched(scene):
    bad = objects.job("bad")
    bad["spec"]["sparkSpec"]["sparkVersoin"] = "4"
    bad_and_good(scene, bad)
    condition = scene.wait_condition("BatchJob", "bad", "Accepted", "False")
    assert "sparkVersoin" in condition["message"]
    scene.job_state("bad", "FailedSubmissionState")
    the_rest_goes_on(scene)
    told(scene, "bad", "sparkVersoin")
    assert not scene.status("BatchJob", "bad").get("application")


def test_a_spec_of_the_wrong_type_is_told_in_the_api_servers_words(scene):
    bad = objects.job("bad")
    bad["spec"]["sparkSpec"]["driver"]["cores"] = "one"
    scene.apply(bad)
    condition = scene.wait_condition("BatchJob", "bad", "Accepted", "False")
    assert "cores" in condition["message"]


def test_what_esi_cannot_give_is_refused_with_the_reason(scene):
    bad_and_good(scene, objects.job("bad", batchScheduler="volcano"))
    condition = scene.wait_condition("BatchJob", "bad", "Accepted", "False")
    assert "batchScheduler" in condition["message"]
    scene.job_state("bad", "FailedSubmissionState")
    the_rest_goes_on(scene)


def test_a_slot_too_small_for_an_executor_is_refused_with_the_numbers(scene):
    scene.nodes(1)
    scene.testbed(slots=2, memory="800Mi")
    scene.jobs("bad")
    scene.queue("plan", ["bad"])
    scene.job_state("bad", "FailedSubmissionState")
    told(scene, "bad", "834", "800")
    scene.scheduling_state("plan", "CompletedState")


def test_an_application_deleted_by_hand(scene):
    bad_and_good(scene, objects.job("bad", seconds=600))
    scene.job_state("bad", "RunningState")
    scene.delete("SparkApplication", "bad", wait=False)
    scene.job_state("bad", "FailedState")
    the_rest_goes_on(scene)
    run, = scene.status("BatchJob", "bad")["runs"]
    assert (run["outcome"], run["reason"]) == ("Failed", "ApplicationDeleted")
    told(scene, "bad")
    scene.testbed_ready()


def test_a_backend_that_is_not_installed(scene):
    bad_and_good(scene, objects.esi("BatchJob", "bad", {"flinkSpec": {"jarFile": "./x.jar", "className": "X"}}))
    scene.wait_condition("BatchJob", "bad", "BackendAvailable", "False")
    scene.job_state("bad", "FailedSubmissionState")
    the_rest_goes_on(scene)
    told(scene, "bad", "Flink")


def test_a_driver_that_no_node_can_take(scene):
    bad = objects.job("bad")
    bad["spec"]["sparkSpec"]["driver"]["coreRequest"] = "1000"
    bad_and_good(scene, bad)
    condition = scene.wait_condition("BatchJob", "bad", "Running", "False", "DriverUnschedulable")
    assert "Insufficient cpu" in condition["message"]
    scene.job_state("good", "CompletedState")
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["bad", "good"])


def test_a_name_that_somebody_elses_application_has(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    spec = objects.spark_spec(seconds=600)
    spec["driver"]["coreRequest"] = "1000"      # it need not run
    spec["executor"] = {"instances": 1, "cores": 1, "memory": "512m"}
    theirs = scene.apply({"apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
                          "metadata": {"name": "bad"}, "spec": spec})
    scene.jobs("bad", "good", seconds=0)
    scene.queue("plan", ["bad", "good"])
    scene.job_state("bad", "FailedSubmissionState")
    the_rest_goes_on(scene)
    reasons = [condition.get("reason") for condition in scene.status("BatchJob", "bad")["conditions"]]
    assert "NameTaken" in reasons
    assert scene.get("SparkApplication", "bad")["metadata"]["uid"] == theirs["metadata"]["uid"]
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["good"], failed=["bad"], applications=1)
    scene.delete("SparkApplication", "bad")


def test_pods_that_do_not_come_in_time(scene):
    scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("bad", driver={"esi-test/executor-delay-seconds": 600})
    scene.jobs("good", seconds=0)
    scene.queue("plan", ["bad", "good"], submitTimeoutSeconds=30)     # good has to keep it, too
    scene.job_state("bad", "FailedState")
    the_rest_goes_on(scene)
    told(scene, "bad")
    scene.testbed_ready()


def test_pods_that_are_not_bound_in_time(scene):
    n0, = scene.nodes(1)
    scene.testbed(slots=2)
    scene.jobs("bad", seconds=0, driver={"esi-test/executor-delay-seconds": 600})
    scene.queue("plan", ["bad", "bad"], scheduleTimeoutSeconds=3)
    scene.job_state("bad", "SubmittedState")
    scene.api.patch("Node", None, n0, {"spec": {"unschedulable": True}})
    scene.wait("the driver", lambda: scene.get("Pod", "bad-driver"))
    scene.drive("bad", executor_delay_seconds=0)
    scene.job_state("bad", "FailedState")
    scene.scheduling_state("plan", "CompletedState")
    told(scene, "bad")
    scene.api.patch("Node", None, n0, {"spec": {"unschedulable": None}})
    scene.testbed_ready()


def test_a_failed_job_is_not_acquired_until_it_is_reset(scene):
    bad_and_good(scene, objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    the_rest_goes_on(scene)
    scene.delete("Scheduling", "plan")
    scene.released(jobs=["good"], failed=["bad"])
    scene.queue("again", ["bad"])
    scene.wait("the plan to wait for the failed job", lambda: "bad" in (
        scene.status("Scheduling", "again").get("waitingFor") or ""))
    assert scene.holder() is None
    scene.plane.kubectl("-n", scene.namespace, "annotate", "bj", "bad", "esi.tu-berlin.de/reset=1")
    scene.wait("a second run", lambda: len(scene.status("BatchJob", "bad").get("runs") or []) == 2)
    scene.scheduling_state("again", "CompletedState")


def test_a_changed_spec_resets_a_failed_job(scene):
    bad_and_good(scene, objects.job("bad", seconds=0, driver={"esi-test/fail": "true"}))
    the_rest_goes_on(scene)
    scene.delete("Scheduling", "plan")
    scene.job_state("bad", "FailedState")
    scene.api.patch("BatchJob", scene.namespace, "bad", {"spec": {"sparkSpec": {"driver": {"annotations": {
        "esi-test/fail": None}}}}})
    scene.job_state("bad", "ReadyState")


def test_a_second_attempt_within_an_application_is_a_line_of_its_own_under_the_same_run(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("retry", seconds=1, driver={"esi-test/fail": "true"}, restartPolicy={
        "type": "OnFailure", "onFailureRetries": 1, "onFailureRetryInterval": 1,
        "onSubmissionFailureRetries": 1, "onSubmissionFailureRetryInterval": 1})
    scene.queue("plan", ["retry"])
    scene.job_state("retry", "FailedState")
    runs = scene.status("BatchJob", "retry")["runs"]
    assert len(runs) == 2 and len({run["run"] for run in runs}) == 1
    scene.scheduling_state("plan", "CompletedState")


def test_a_job_so_short_that_nobody_saw_it_run_is_completed(scene):
    scene.nodes(1)
    scene.testbed(slots=1)
    scene.jobs("blink", seconds=0)
    scene.queue("plan", ["blink"])
    scene.scheduling_state("plan", "CompletedState")
    run, = scene.status("BatchJob", "blink")["runs"]
    assert run["outcome"] == "Succeeded" and run["started"] <= run["stopped"]
