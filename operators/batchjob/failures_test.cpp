// The failures of a run: state, reason, condition and text of each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/decide.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::executor;
using ::testing::HasSubstr;
using testing::make_app;
using testing::order;
using testing::stamp;
using testing::world;

TEST(failure, of_the_application_has_its_operators_words) {
    world w;
    w.failed();
    const auto& status = w.job->status;
    EXPECT_EQ(status.state, "FailedState");
    EXPECT_EQ(status.reason, "ApplicationFailed");
    EXPECT_THAT(status.problems, ElementsAre("ApplicationFailed: driver failed with exit code 1"));
    EXPECT_EQ(w.condition("Succeeded"), "False ApplicationFailed");
    ASSERT_EQ(status.scheduled_events.size(), 1u);
    EXPECT_EQ(status.scheduled_events[0].stop, stamp(30));
    EXPECT_FALSE(status.scheduled_events[0].successful);
    EXPECT_EQ(status.last_result, "Failed 14.0s");
    EXPECT_THAT(w.take_log(), Contains("delete pod a-exec-1"));
}

TEST(failure, of_the_submission_for_good) {
    world w;
    w.submitted();
    w.app = make_app("FAILED");
    w.app->attempt = 0;
    w.app->message = "failed to run spark-submit: no such class";
    w.step(20);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "SubmissionFailed");
    EXPECT_EQ(w.condition("Submitted"), "False SubmissionFailed");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("no such class")));
}

TEST(failure, words_of_an_author_reach_no_terminal_as_commands) {
    world w;
    w.submitted();
    w.app = make_app("FAILED");
    w.app->attempt = 0;
    w.app->message =
        "no such file\n\x1b]0;owned\x07\xc2\x9b"
        "2J\xe2\x80\xae";
    w.step(20);
    const auto& status = w.job->status;
    ASSERT_EQ(status.runs.size(), 1u);
    EXPECT_EQ(status.runs[0].message, "no such file\n ]0;owned  2J ");
    EXPECT_THAT(status.problems, ElementsAre("SubmissionFailed: no such file\n ]0;owned  2J "));
}

TEST(failure, words_too_long_for_a_status_are_cut_between_two_letters) {
    std::string words;
    for (int i = 0; i < 20000; ++i) words += "\u20ac";
    world w;
    w.submitted();
    w.app = make_app("SUBMISSION_FAILED");
    w.app->attempt = 0;
    w.app->message = words;
    w.step(20);
    ASSERT_EQ(w.job->status.problems.size(), 1u);
    EXPECT_LE(w.job->status.problems[0].size(), 4096u);
    EXPECT_TRUE(w.job->status.problems[0].ends_with("\u20ac"));
    w.app = make_app("FAILED");
    w.app->message = words;
    w.step(21);
    EXPECT_EQ(w.job->status.runs.back().message, words.substr(0, 4095));
    EXPECT_LE(w.job->status.problems[0].size(), 4096u);
}

TEST(failure, submission_failed_once_is_not_the_end) {
    world w;
    w.submitted();
    w.app = make_app("SUBMISSION_FAILED");
    w.step(20);
    EXPECT_EQ(w.job->status.state, "SubmittedState");
}

TEST(failure, of_the_create_has_the_api_servers_words) {
    for (const auto code : {errc::invalid, errc::bad_request, errc::forbidden}) {
        world w;
        w.queued();
        w.create_error = error{code, "create SparkApplication jobs/a: quota exceeded"};
        order(*w.job, {0});
        w.step(10);
        EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
        EXPECT_EQ(w.job->status.reason, "Refused");
        EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("quota exceeded")));
        EXPECT_EQ(w.job->status.runs[0].outcome, "Failed");
        EXPECT_FALSE(w.job->status.scheduled_events[0].successful);
        EXPECT_FALSE(w.job->status.scheduled_events[0].start);
        w.take_log();
        w.step(11);
        EXPECT_THAT(w.take_log(), ElementsAre());
    }
}

TEST(failure, of_the_api_server_is_tried_again_until_the_submit_timeout) {
    world w;
    w.queued();
    w.create_error = error{errc::server, "webhook timed out"};
    order(*w.job, {0});
    w.step(10);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_EQ(w.condition("Submitted"), "Unknown CreateFailing");
    w.step(69);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    w.step(70);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "SubmitTimeout");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("webhook timed out")));
}

TEST(failure, a_refused_spec_is_told_early_and_never_created) {
    world w;
    w.check = check_answer{false, false, "spec.type: Unsupported value: \"Cobol\""};
    w.queued();
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_EQ(w.condition("Accepted"), "False Refused");
    EXPECT_EQ(w.job->status.reason, "SpecRefused");
    order(*w.job, {0});
    w.take_log();
    w.step(10);
    EXPECT_THAT(w.take_log(), ElementsAre("status FailedSubmissionState"));
    EXPECT_THAT(w.job->status.problems, Contains(HasSubstr("Unsupported value")));
}

TEST(failure, a_check_that_fails_for_now_is_unknown) {
    world w;
    w.check = check_answer{false, true, "the webhook is silent"};
    w.step(0);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.condition("Accepted"), "Unknown CheckFailed");
    EXPECT_THAT(w.job->status.problems, ElementsAre("the webhook is silent"));
}

TEST(failure, overridden_keys_are_accepted_and_named) {
    world w;
    w.job->spec.spark_spec->text = R"({"executor":{"instances":3}})";
    w.step(0);
    EXPECT_EQ(w.condition("Accepted"), "True KeysOverridden");
    EXPECT_THAT(w.message("Accepted"), HasSubstr("executor.instances"));
}

TEST(failure, a_missing_backend_is_told_early_and_ends_the_run_without_a_create) {
    world w;
    w.served = false;
    w.queued();
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_EQ(w.condition("BackendAvailable"), "False DefinitionMissing");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre(HasSubstr("sparkapplications.sparkoperator.k8s.io")));
    order(*w.job, {0});
    w.take_log();
    w.step(10);
    EXPECT_THAT(w.take_log(), ElementsAre("status FailedSubmissionState"));
    EXPECT_EQ(w.job->status.reason, "BackendMissing");
}

TEST(failure, a_backend_that_comes_later_is_used) {
    world w;
    w.served = false;
    w.check.reset();
    w.ready();
    EXPECT_EQ(w.condition("Accepted"), "Unknown BackendMissing");
    w.served = true;
    w.take_log();
    w.step(5);
    EXPECT_THAT(w.take_log(), Contains("check spec"));
    EXPECT_EQ(w.condition("Accepted"), "True Accepted");
    EXPECT_EQ(w.condition("BackendAvailable"), "True Established");
    EXPECT_EQ(w.job->status.reason, "");
}

TEST(failure, a_run_that_began_as_a_kind_without_backend_is_left_alone) {
    world w;
    w.running();
    w.supported = false;
    // The caches have no application of such a kind, and pods are recognized by their kind.
    w.app.reset();
    w.pods.clear();
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_TRUE(w.job->status.application);
    EXPECT_EQ(w.condition("BackendAvailable"), "False NotSupported");
}

TEST(failure, a_job_of_a_kind_without_backend_says_so) {
    world w;
    w.supported = false;
    w.job->spec.flink_spec = std::exchange(w.job->spec.spark_spec, std::nullopt);
    w.queued();
    EXPECT_EQ(w.job->status.type, "Flink");
    EXPECT_EQ(w.condition("BackendAvailable"), "False NotSupported");
    EXPECT_EQ(w.message("BackendAvailable"), "this operator has no backend for Flink jobs");
    order(*w.job, {0});
    w.step(10);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    testing::release(*w.job);
    w.step(11);
    EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
}

TEST(failure, a_job_of_no_known_kind_says_so) {
    world w;
    w.supported = false;
    w.job->spec.spark_spec.reset();
    w.ready();
    EXPECT_EQ(w.job->status.type, "");
    EXPECT_EQ(w.condition("BackendAvailable"), "False NotSupported");
    EXPECT_THAT(w.message("BackendAvailable"),
                HasSubstr("no application of a kind that this operator knows"));
}

TEST(failure, an_application_of_somebody_else_has_the_name) {
    world w;
    w.queued();
    w.app = make_app("RUNNING", "", "other-uid");
    order(*w.job, {0});
    w.take_log();
    w.step(10);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "NameTaken");
    EXPECT_FALSE(w.job->status.application);
    EXPECT_THAT(w.take_log(), ElementsAre("read application", "status FailedSubmissionState"));
}

TEST(failure, an_application_of_an_older_run_is_deleted_with_its_uid_and_waited_for) {
    world w;
    w.queued();
    w.app = make_app("RUNNING", testing::run_2);
    order(*w.job, {0});
    w.take_log();
    w.step(10);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_EQ(w.condition("Submitted"), "False OldApplication");
    EXPECT_EQ(w.job->status.application->run, "sched-uid.99.1");
    EXPECT_THAT(w.take_log(),
                ElementsAre("status InQueueState", "delete application app-sched-uid.99.1"));
}

TEST(failure, an_application_that_vanishes_is_proven_by_a_live_read) {
    world w;
    w.running();
    w.cache_blind = true;
    w.take_log();
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_THAT(w.take_log(), ElementsAre("read application"));
    w.app.reset();
    w.step(21);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "ApplicationDeleted");
    EXPECT_EQ(w.job->status.scheduled_events[0].stop, stamp(21));
    EXPECT_FALSE(w.job->status.application);
    EXPECT_THAT(w.take_log(), Contains("delete pod a-exec-1"));
}

TEST(failure, an_application_that_is_being_deleted_counts_as_deleted) {
    world w;
    w.running();
    w.app->metadata.deletion_timestamp = stamp(20);
    w.step(20);
    EXPECT_EQ(w.job->status.reason, "ApplicationDeleted");
    EXPECT_EQ(w.job->status.application->run, "sched-uid.77.1");
}

TEST(failure, a_driver_that_cannot_be_scheduled_is_told_at_once) {
    world w;
    w.submitted();
    w.app = make_app("SUBMITTED");
    auto driver = testing::make_pod("a-driver", "driver");
    driver->scheduled_status = "False";
    driver->scheduled_reason = "Unschedulable";
    driver->scheduled_message = "0/3 nodes are available: 3 Insufficient cpu.";
    w.pods = {driver};
    w.step(13);
    EXPECT_EQ(w.condition("Running"), "False DriverUnschedulable");
    EXPECT_EQ(w.job->status.reason, "DriverUnschedulable");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("3 Insufficient cpu")));
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    w.step(70);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("3 Insufficient cpu")));
}

TEST(failure, pods_that_no_scheduler_looks_at_are_told_after_five_seconds) {
    world w;
    w.placed();
    w.replace(1, [](model::pod& pod) { pod.scheduling_gates.clear(); });
    w.ungated_since["uid-a-exec-1"] = testing::at(14);
    w.step(14);
    EXPECT_NE(w.condition("Placed"), "False SchedulerAbsent");
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, std::chrono::microseconds(5100000));
    w.step(19);
    EXPECT_EQ(w.condition("Placed"), "False SchedulerAbsent");
    EXPECT_EQ(w.job->status.reason, "SchedulerAbsent");
}

TEST(failure, a_pod_that_was_let_in_and_is_not_bound_is_what_the_job_waits_for) {
    world w;
    w.placed();
    w.replace(2, [](model::pod& pod) {
        pod.scheduling_gates.clear();
        pod.scheduler_name = "external-scheduler";
        pod.scheduled_reason = "Unschedulable";
        pod.scheduled_message = "0/3 nodes are available: 1 Insufficient cpu.";
        pod.scheduled_time = testing::stamp(14);
    });
    w.step(20);
    EXPECT_EQ(w.condition("Placed"), "False Unschedulable") << "not let in yet: ESI's turn";
    EXPECT_EQ(w.job->status.reason, "");
    w.replace(2, [](model::pod& pod) {
        pod.metadata.annotations["esi.tu-berlin.de/slot-node"] = "node-b";
        pod.scheduled_time = testing::stamp(20);
    });
    w.step(20);
    EXPECT_EQ(w.job->status.reason, "") << "two seconds are nothing";
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, std::chrono::microseconds(2100000));
    w.step(22);
    EXPECT_EQ(w.condition("Placed"), "False WaitsForBinding");
    EXPECT_EQ(w.job->status.reason, "WaitsForBinding");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("pod a-exec-2 (slot 3) waits since 2026-11-21T09:00:20Z for "
                            "external-scheduler to bind it to node-b: 0/3 nodes are available: 1 "
                            "Insufficient cpu."));
    w.take_log();
    w.step(25);
    EXPECT_THAT(w.take_log(), ElementsAre()) << "the same is not written again";
    w.replace(2, [](model::pod& pod) { testing::bind(pod, "node-b", 26); });
    w.step(26);
    EXPECT_EQ(w.job->status.reason, "");
}

TEST(timeouts, pods_that_never_exist_fail_the_job_and_its_application_goes) {
    world w;
    w.submitted();
    w.job->spec.creation_request->submit_timeout_seconds = 100;
    w.app = make_app("RUNNING");
    w.pods = {testing::driver(), executor(1)};
    w.step(20);
    ASSERT_TRUE(w.again_in);
    EXPECT_EQ(std::chrono::floor<seconds>(*w.again_in), seconds(53)) << "then it is told";
    w.step(73);
    EXPECT_EQ(std::chrono::floor<seconds>(*w.again_in), seconds(37));
    w.take_log();
    w.step(110);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "SubmitTimeout");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("1 of 2 pods exist 100 s after")));
    EXPECT_THAT(w.take_log(), ElementsAre("read application", "status FailedState",
                                          "delete application app-sched-uid.77.1",
                                          "delete pod a-driver", "delete pod a-exec-1"));
}

TEST(timeouts, pods_that_are_not_bound_fail_the_job_with_pod_slot_and_words) {
    world w;
    w.placed();
    w.replace(2, [](model::pod& pod) {
        pod.scheduling_gates.clear();
        pod.scheduled_reason = "Unschedulable";
        pod.scheduled_message = "0/3 nodes are available";
    });
    w.step(41);
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    w.step(42);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "ScheduleTimeout");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("ScheduleTimeout: 0 of 2 pods are bound 30 s after all existed: pod "
                            "a-exec-1 for slot 0: waits at its gate; pod a-exec-2 for slot 3: 0/3 "
                            "nodes are available"));
}

TEST(failure, a_slot_out_of_the_layout_or_too_small_is_refused_with_the_numbers) {
    world w;
    w.queued();
    order(*w.job, {6});
    w.step(10);
    EXPECT_EQ(w.job->status.reason, "SlotOutOfLayout");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("SlotOutOfLayout: slot 6 is not in the layout of Testbed jobs/bed, "
                            "which has 6 slots"));
    w = world();
    w.bed->status.layout->resources_per_slot["memory"] = *model::quantity::parse("512Mi");
    w.queued();
    order(*w.job, {0});
    w.step(10);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "SlotTooSmall");
}

TEST(failure, a_spec_that_is_larger_than_its_slots_is_not_submitted) {
    world w;
    w.job->spec.spark_spec->text = R"({"driver":{},"executor":{"memory":"64g"}})";
    w.queued();
    order(*w.job, {0});
    w.step(10);
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    EXPECT_EQ(w.job->status.reason, "LargerThanSlot");
    EXPECT_THAT(w.job->status.problems.at(0), HasSubstr("it requests"));
}

TEST(failure, a_pod_that_is_larger_than_its_slot_ends_the_run_at_once_with_both_numbers) {
    world w;
    w.submitted();
    const auto slot = w.bed->status.layout->resources_per_slot.find("cpu")->second.milli;
    auto pod = executor(1);
    pod->requests["cpu"] = slot + 250;
    w.pods = {testing::driver(), pod};
    w.step(20);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "LargerThanSlot");
    EXPECT_THAT(w.job->status.runs.back().message,
                HasSubstr("is larger than the slot: it requests 850m cpu, the slot has 600m"));
}

TEST(failure, a_testbed_that_is_not_seen_yet_is_waited_for) {
    world w;
    w.queued();
    order(*w.job, {0});
    auto bed = std::exchange(w.bed, nullptr);
    w.step(10);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_EQ(w.condition("Submitted"), "False TestbedNotReady");
    w.bed = bed;
    w.step(11);
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    EXPECT_EQ(w.job->status.reason, "");
}

TEST(failure, a_layout_from_before_the_hold_is_not_judged_by) {
    // The Testbed's watch is behind the job's: its two slots may be six by now, of another size.
    world w;
    w.shows_hold = false;
    w.queued();
    order(*w.job, {5});
    w.bed->status.layout->slots_per_node = 1;
    w.take_log();
    w.step(10);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_THAT(w.message("Submitted"), HasSubstr("does not show the hold of this run"));
    w.shows_hold = true;
    w.bed->status.layout->slots_per_node = 2;
    w.step(11);
    EXPECT_EQ(w.job->status.state, "SubmittedState");
}

TEST(failure, surplus_pods_stay_at_the_gate_with_a_reason) {
    world w;
    w.submitted({4});
    w.app = make_app("RUNNING");
    w.pods = {testing::driver(), executor(1), executor(2)};
    w.step(13);
    EXPECT_EQ(w.job->status.placements.size(), 1u);
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("pod a-exec-2 waits")));
}

TEST(failure, pods_of_another_run_are_deleted_and_never_placed) {
    world w;
    w.submitted();
    w.app = make_app("RUNNING");
    w.pods = {executor(1, testing::run_2)};
    w.take_log();
    w.step(13);
    EXPECT_TRUE(w.job->status.placements.empty());
    EXPECT_THAT(w.take_log(), Contains("delete pod a-exec-1"));
}

TEST(failure, an_unknown_state_keeps_the_jobs_state) {
    world w;
    w.running();
    for (const char* word : {"UNKNOWN", "BRAND_NEW", "SUSPENDED"}) {
        w.app = make_app(word);
        w.step(20);
        EXPECT_EQ(w.job->status.state, "RunningState") << word;
        EXPECT_THAT(w.condition("Running"), HasSubstr("Unknown")) << word;
    }
}

TEST(failure, lines_taken_away_by_somebody_do_no_harm) {
    world w;
    w.running();
    w.last_final = make_app("COMPLETED");
    w.app.reset();
    w.job->status.runs.clear();
    w.step(42);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.job->status.reason, "ApplicationDeleted");
}

TEST(failure, states_and_records_written_by_others_do_no_harm) {
    for (const char* state : {"UnknownState", "Nonsense", "RunningState", "CompletedState"}) {
        world w;
        w.job->status.state = state;
        w.job->status.observed_generation = 1;
        w.step(1);
        EXPECT_EQ(w.job->status.state, "ReadyState") << state;
    }
}

}  // namespace
}  // namespace esi::batchjob
