// The life of a job, state by state, and its release in each of them.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "batchjob/caches.h"
#include "batchjob/runs.h"
#include "batchjob/testing.h"
#include "grid/rights.h"

namespace esi::batchjob {
namespace {

using namespace std::string_view_literals;

using testing::acquire;
using testing::assigner;
using testing::at;
using ::testing::ElementsAre;
using testing::executor;
using ::testing::HasSubstr;
using testing::make_app;
using testing::order;
using testing::release;
using testing::stamp;
using testing::world;

TEST(life, a_new_job_is_ready_and_its_spec_is_checked) {
    world w;
    w.check.reset();
    w.step(0);
    EXPECT_THAT(w.take_log(), ElementsAre("status ReadyState", "check spec", "status ReadyState"));
    EXPECT_EQ(w.job->status.type, "Spark");
    EXPECT_EQ(w.job->status.observed_generation, 1);
    EXPECT_EQ(w.condition("Accepted"), "True Accepted");
    EXPECT_EQ(w.condition("BackendAvailable"), "True Established");
    EXPECT_EQ(w.condition("Submitted"), "False NotAssigned");
    EXPECT_TRUE(w.job->status.problems.empty());
    EXPECT_EQ(w.job->status.reason, "");
}

TEST(life, nothing_is_written_at_rest) {
    const std::pair<const char*, void (world::*)()> rows[] = {
        {"ready", &world::ready},     {"queued", &world::queued},
        {"placed", &world::placed},   {"scheduled", &world::scheduled},
        {"running", &world::running}, {"completed", &world::completed},
        {"failed", &world::failed},   {"failed submission", &world::failed_submission}};
    for (const auto& [name, reach] : rows) {
        world w;
        (w.*reach)();
        w.take_log();
        // Left-over pods are gone by now; the application that ended is still there.
        if (model::is_final(w.job->status.state)) w.pods.clear();
        const int now = model::is_final(w.job->status.state) ? 42 : 18;
        w.step(now);
        const int writes = w.writes;
        w.take_log();
        w.step(now + 1);
        EXPECT_EQ(w.writes, writes) << name;
        EXPECT_THAT(w.take_log(), ElementsAre()) << name;
    }
}

TEST(life, acquired_means_in_queue_without_any_read) {
    world w;
    w.ready();
    w.take_log();
    acquire(*w.job);
    w.step(5);
    EXPECT_THAT(w.take_log(), ElementsAre("status InQueueState"));
    EXPECT_EQ(w.job->status.observed_generation, 2);
    EXPECT_EQ(w.job->status.active_scheduling->name, "s");
}

TEST(life, an_order_creates_the_application_at_once_and_records_it) {
    world w;
    w.queued();
    w.take_log();
    order(*w.job, {3, 0});
    w.step(10);
    EXPECT_THAT(w.take_log(), ElementsAre("create application", "status SubmittedState"));
    const auto& status = w.job->status;
    EXPECT_EQ(status.application->uid, "app-sched-uid.77.1");
    EXPECT_EQ(status.application->run, "sched-uid.77.1");
    EXPECT_EQ(status.application->kind, "SparkApplication");
    EXPECT_THAT(status.slot_ids, ElementsAre(3, 0));
    EXPECT_EQ(status.replication, 2);
    EXPECT_EQ(status.slots->text(), "jobs/bed");
    EXPECT_EQ(status.run_count, 1);
    ASSERT_EQ(status.runs.size(), 1u);
    EXPECT_EQ(status.runs[0].outcome, "Running");
    EXPECT_EQ(status.runs[0].submitted, stamp(10));
    EXPECT_THAT(status.runs[0].nodes, ElementsAre("node-a"));
    EXPECT_EQ(w.condition("Succeeded"), "False RunUnderWay");
    EXPECT_EQ(w.created["metadata"]["annotations"]["esi.tu-berlin.de/run"], "sched-uid.77.1");
    EXPECT_EQ(w.created["metadata"]["annotations"]["esi.tu-berlin.de/spec-hash"],
              hash_of(kind_of(w.kinds, w.job->spec), w.job->spec));
    EXPECT_EQ(w.created["spec"]["executor"]["annotations"]["esi.tu-berlin.de/slots"], "0,3");
}

TEST(life, all_waiting_pods_are_placed_in_one_write) {
    world w;
    w.submitted();
    w.take_log();
    w.pods = {testing::driver(), executor(2), executor(1)};
    w.step(13);
    EXPECT_THAT(w.take_log(), ElementsAre("status SubmittedState"));
    EXPECT_EQ(w.job->status.placements,
              (std::vector<model::placement>{{0, "uid-a-exec-1", "a-exec-1"},
                                             {3, "uid-a-exec-2", "a-exec-2"}}));
    EXPECT_EQ(w.condition("Placed"), "False WaitingForSlots");
}

TEST(life, in_queue_is_told_only_when_no_order_follows_at_once) {
    world w;
    w.ready();
    w.take_log();
    acquire(*w.job);
    w.just_acquired = true;
    w.step(5);
    EXPECT_THAT(w.take_log(), ElementsAre());
    EXPECT_EQ(w.again_in, milliseconds(100));
    w.just_acquired = false;
    w.step(5);
    EXPECT_THAT(w.take_log(), ElementsAre("status InQueueState"));
}

TEST(life, pods_that_follow_each_other_at_once_are_placed_together) {
    world w;
    w.submitted();
    w.take_log();
    w.pods = {testing::driver(), executor(1)};
    w.pods_coming = true;
    w.step(13);
    EXPECT_THAT(w.take_log(), ElementsAre());
    EXPECT_EQ(w.again_in, milliseconds(5));
    w.pods.push_back(executor(2));
    w.step(13);
    EXPECT_THAT(w.take_log(), ElementsAre("status SubmittedState"));
    EXPECT_EQ(w.job->status.placements.size(), 2u);
}

TEST(life, a_pod_without_siblings_is_placed_after_a_moment) {
    world w;
    w.submitted();
    w.take_log();
    w.pods = {testing::driver(), executor(1)};
    w.step(13);
    EXPECT_THAT(w.take_log(), ElementsAre("status SubmittedState"));
    EXPECT_EQ(w.job->status.placements,
              (std::vector<model::placement>{{0, "uid-a-exec-1", "a-exec-1"}}));
}

TEST(life, all_bound_is_scheduled_then_running_with_the_pods_own_times) {
    world w;
    w.scheduled();
    EXPECT_EQ(w.job->status.state, "ScheduledState");
    EXPECT_EQ(w.condition("Placed"), "True AllBound");
    EXPECT_EQ(w.job->status.runs[0].scheduled, stamp(15));
    w = world();
    w.running();
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.condition("Running"), "True Running");
    ASSERT_EQ(w.job->status.scheduled_events.size(), 1u);
    EXPECT_EQ(w.job->status.scheduled_events[0].start, stamp(16));
    EXPECT_FALSE(w.job->status.scheduled_events[0].stop);
}

TEST(life, fewer_executors_later_are_not_a_failure) {
    world w;
    w.running();
    w.pods.pop_back();
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.condition("Placed"), "False WaitingForPods");
}

TEST(life, completed_with_the_drivers_end_and_executors_removed_after_the_result) {
    world w;
    w.running();
    w.take_log();
    w.app = make_app("COMPLETED");
    w.app->ended = stamp(41);
    w.replace(0, [](model::pod& pod) {
        pod.phase = "Succeeded";
        pod.finished_at = stamp(40);
    });
    w.step(45);
    EXPECT_THAT(w.take_log(),
                ElementsAre("status CompletedState", "delete pod a-exec-1", "delete pod a-exec-2"));
    const auto& status = w.job->status;
    EXPECT_EQ(status.scheduled_events[0].stop, stamp(40));
    EXPECT_TRUE(status.scheduled_events[0].successful);
    EXPECT_EQ(status.runs[0].outcome, "Succeeded");
    EXPECT_EQ(status.last_result, "Succeeded 24.0s");
    EXPECT_EQ(w.condition("Succeeded"), "True Completed");
    EXPECT_EQ(status.placements.size(), 2u) << "until its executors have gone";
    EXPECT_EQ(status.application->run, "sched-uid.77.1");
}

TEST(life, a_driver_that_runs_on_though_its_application_failed_is_removed) {
    world w;
    w.running();
    w.take_log();
    w.app = make_app("FAILED");
    w.step(45);
    EXPECT_THAT(w.take_log(),
                ElementsAre("status FailedState", "delete pod a-exec-1", "delete pod a-exec-2"));
    w.pods.resize(1);
    w.step(50);
    EXPECT_THAT(w.take_log(), ElementsAre("status FailedState")) << "the placements are over";
    ASSERT_TRUE(w.again_in);
    w.step(110);
    // The driver may have ended since.
    EXPECT_THAT(w.take_log(), ElementsAre("delete pod a-driver as seen"));
}

TEST(life, a_result_waits_a_moment_for_the_driver_pod_that_tells_the_end) {
    world w;
    w.running();
    w.app = make_app("COMPLETED");
    w.app->ended = stamp(41);
    w.step(41);
    EXPECT_EQ(w.job->status.state, "RunningState");
    ASSERT_TRUE(w.again_in);
    EXPECT_LE(*w.again_in, std::chrono::microseconds(2100000));
    w.step(44);
    EXPECT_EQ(w.job->status.state, "CompletedState");
    EXPECT_EQ(w.job->status.scheduled_events[0].stop, stamp(41));
}

TEST(life, an_end_that_another_clock_dates_far_ahead_holds_up_nothing) {
    world w;
    w.running();
    w.app = make_app("COMPLETED");
    w.app->ended = stamp(41 + 86400);
    w.step(41);
    EXPECT_EQ(w.job->status.state, "CompletedState") << "its slots would be kept for a day";

    world failed;
    failed.running();
    failed.app = make_app("FAILED");
    failed.app->ended = stamp(41 + 86400);
    failed.step(45);
    failed.pods.resize(1);
    failed.take_log();
    failed.step(50);
    EXPECT_THAT(failed.take_log(), ElementsAre("status FailedState", "delete pod a-driver as seen"))
        << "the entries of the pods that are gone go first";
}

TEST(life, a_result_that_was_told_is_not_lost_with_its_application) {
    const auto completed = [](application& app) { app = make_app("COMPLETED"); };
    const auto failed = [](application& app) {
        app = make_app("FAILED");
        app.message = "driver failed with exit code 1";
    };
    const std::tuple<void (*)(application&), const char*, const char*, const char*> rows[] = {
        {completed, "CompletedState", "Completed", ""},
        {failed, "FailedState", "ApplicationFailed", "driver failed with exit code 1"},
    };
    for (const auto& [end, state, reason, message] : rows) {
        // Its time to live ends while the result waits for the driver pod.
        world gone;
        gone.running();
        end(*gone.app);
        gone.app->ended = stamp(41);
        gone.step(41);
        EXPECT_EQ(gone.job->status.state, "RunningState") << reason;
        gone.app.reset();
        gone.step(42);
        // It ends and is deleted between two looks.
        world between;
        between.running();
        end(*between.app);
        between.app->ended = stamp(41);
        between.last_final = std::exchange(between.app, std::nullopt);
        between.step(42);
        // A person deletes it, and its operator keeps it for a while.
        world going;
        going.running();
        end(*going.app);
        going.app->ended = stamp(41);
        going.app->metadata.deletion_timestamp = stamp(50);
        going.step(60);
        for (const auto* w : {&gone, &between, &going}) {
            EXPECT_EQ(w->job->status.state, state) << reason;
            EXPECT_EQ(w->job->status.runs.back().reason, reason);
            EXPECT_EQ(w->job->status.runs.back().message, message);
            EXPECT_EQ(w->job->status.runs.back().stopped, stamp(41)) << reason;
        }
    }
}

TEST(life, a_run_too_short_to_be_seen_running_has_a_complete_event) {
    world w;
    w.submitted();
    w.app = make_app("COMPLETED");
    auto driver = testing::driver();
    driver->phase = "Succeeded";
    driver->finished_at = stamp(14);
    auto gone = executor(1);
    testing::bind(*gone, "node-a", 12);
    gone->phase = "Succeeded";
    gone->started_at = stamp(13);
    w.pods = {driver, gone};
    w.step(16);
    const auto& status = w.job->status;
    EXPECT_EQ(status.state, "CompletedState");
    ASSERT_EQ(status.scheduled_events.size(), 1u);
    EXPECT_EQ(status.scheduled_events[0].start, stamp(13));
    EXPECT_EQ(status.scheduled_events[0].stop, stamp(14));
    EXPECT_TRUE(status.scheduled_events[0].successful);
}

TEST(life, an_application_removed_by_its_time_to_live_stays_completed) {
    world w;
    w.completed();
    w.pods.clear();
    w.app.reset();
    w.take_log();
    w.step(60);
    EXPECT_EQ(w.job->status.state, "CompletedState");
    EXPECT_FALSE(w.job->status.application);
    EXPECT_THAT(w.take_log(), ElementsAre("read application", "status CompletedState"));
    w.step(61);
    EXPECT_THAT(w.take_log(), ElementsAre());
}

TEST(life, neighbours_are_gathered_while_the_run_lasts) {
    world w;
    w.running();
    w.neighbours["node-a"].insert(model::object_key{"jobs", "b"});
    w.step(18);
    w.neighbours.clear();
    w.step(19);
    EXPECT_EQ(w.job->status.runs[0].neighbours,
              (std::vector<model::neighbour>{{"node-a", {"jobs/b"}}}));
}

TEST(life, each_attempt_of_an_application_is_a_line_under_one_run) {
    world w;
    w.running();
    w.app = make_app("PENDING_RERUN");
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    w.app = make_app("SUBMITTED");
    w.app->attempt = 2;
    w.app->attempt_since = stamp(25);
    w.pods = {testing::driver()};
    w.step(25);
    const auto& status = w.job->status;
    EXPECT_EQ(status.state, "SubmittedState");
    ASSERT_EQ(status.runs.size(), 2u);
    EXPECT_EQ(status.runs[0].reason, "AttemptFailed");
    EXPECT_EQ(status.runs[1].outcome, "Running");
    EXPECT_EQ(status.runs[1].submitted, stamp(25));
    EXPECT_EQ(status.run_count, 2);
    ASSERT_EQ(status.scheduled_events.size(), 1u);
    EXPECT_EQ(status.scheduled_events[0].stop, stamp(25));
    // Its pods take the places once the old pods are proven gone.
    auto next = executor(3);
    next->metadata.creation_timestamp = stamp(26);
    w.pods.push_back(next);
    w.take_log();
    w.step(26);
    EXPECT_THAT(w.take_log(),
                ElementsAre("read pod a-exec-1", "read pod a-exec-2", "status SubmittedState"));
    EXPECT_EQ(status.placements[0], (model::placement{0, "uid-a-exec-3", "a-exec-3"}));
    EXPECT_EQ(status.placements[1], (model::placement{3, "uid-a-exec-2", "a-exec-2"}));
    w.step(27);
    EXPECT_EQ(status.runs.size(), 2u);
}

TEST(life, pods_of_the_attempt_before_stand_for_none_of_the_next) {
    world w;
    w.running();
    w.app = make_app("SUBMITTED");
    w.app->attempt = 2;
    w.app->attempt_since = stamp(25);
    w.step(25);
    const auto& status = w.job->status;
    EXPECT_EQ(status.state, "SubmittedState") << "both of its executors are bound";
    ASSERT_TRUE(w.again_in);
    w.step(84);
    EXPECT_EQ(status.state, "SubmittedState");
    w.step(85);
    EXPECT_EQ(status.state, "FailedState");
    EXPECT_EQ(status.reason, "SubmitTimeout");
    EXPECT_THAT(status.problems, ElementsAre(HasSubstr("0 of 2 pods exist 60 s after")));
}

// Members of a run.

std::vector<std::string> names_of(const std::vector<model::placement>& list) {
    std::vector<std::string> out;
    for (const auto& entry : list) out.push_back(entry.pod_name);
    return out;
}

TEST(members, a_pod_that_only_carries_the_marks_of_the_run_gets_no_slot) {
    world w;
    w.submitted();
    w.app = make_app("RUNNING");
    struct row {
        const char* what;
        std::vector<model::owner_reference> owners;
        const char* submission;
        const char* told;
    };
    const std::vector<row> rows{
        {"no owner", {}, "submission-1", "its owner is nobody, not the driver a-driver"},
        {"another pod",
         {{"v1", "Pod", "a-driver", "uid-other", true}},
         "submission-1",
         "its owner is Pod a-driver (uid uid-other), not the driver a-driver"},
        {"no controller", {{"v1", "Pod", "a-driver", "uid-a-driver", false}}, "submission-1", ""},
        {"another submission",
         {{"v1", "Pod", "a-driver", "uid-a-driver", true}},
         "submission-0",
         "it is of submission submission-0, not of submission-1"},
    };
    for (const auto& row : rows) {
        auto forged = executor(0);
        forged->metadata.owner_references = row.owners;
        forged->metadata.labels["sparkoperator.k8s.io/submission-id"] = row.submission;
        w.pods = {testing::driver(), forged, executor(1), executor(2)};
        w.step(13);
        EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-1", "a-exec-2"))
            << row.what;
        EXPECT_THAT(
            w.job->status.problems,
            ::testing::Contains(HasSubstr(fmt::format("pod a-exec-0 gets no slot: {}", row.told))))
            << row.what;
    }
}

TEST(members, a_driver_is_the_one_that_the_application_names) {
    world w;
    w.submitted();
    w.app = make_app("RUNNING");
    auto other = testing::make_pod("mallory", "driver");
    auto forged = executor(0);
    forged->metadata.owner_references = {{"v1", "Pod", "mallory", "uid-mallory", true}};
    w.pods = {other, forged};
    w.step(13);
    EXPECT_TRUE(w.job->status.placements.empty());
    EXPECT_THAT(w.job->status.problems,
                ::testing::Contains("pod a-exec-0 gets no slot: its driver a-driver is not there"));
    auto driver = testing::driver();
    driver->metadata.owner_references = {{"v", "SparkApplication", "a", "another-app", true}};
    w.pods = {driver, executor(1)};
    w.step(14);
    EXPECT_TRUE(w.job->status.placements.empty()) << "it belongs to another application";
}

TEST(members, the_place_of_an_executor_that_died_goes_to_no_forged_pod) {
    world w;
    w.running();
    auto forged = executor(3);
    forged->metadata.owner_references.clear();
    w.replace(1, [](model::pod& pod) { pod.phase = "Failed"; });
    w.pods.push_back(forged);
    w.step(18);
    EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-1", "a-exec-2"));
    w.pods.push_back(executor(4));
    w.step(19);
    EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-4", "a-exec-2"));
}

TEST(members, a_forged_pod_delays_no_release) {
    world w;
    w.running();
    auto forged = executor(7);
    forged->metadata.owner_references.clear();
    forged->metadata.finalizers = {"example.com/keep"};
    release(*w.job);
    w.app.reset();
    w.pods = {forged};
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
}

/// An executor that was deleted at second 30 and is kept by a finalizer of its author.
std::shared_ptr<model::pod> kept_executor(const model::pod& was) {
    auto kept = std::make_shared<model::pod>(was);
    kept->metadata.deletion_timestamp = stamp(30);
    kept->metadata.finalizers = {"guest.example/stay"};
    return kept;
}

TEST(members, a_finalizer_on_an_ended_pod_holds_up_no_release) {
    world w;
    w.running();
    auto kept = kept_executor(*w.pods[1]);
    kept->phase = "Failed";
    release(*w.job);
    w.app.reset();
    w.pods = {kept};
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
    EXPECT_EQ(w.job->status.reason, "");
    ASSERT_TRUE(w.again_in);
    w.step(91);
    EXPECT_EQ(w.job->status.reason, "PodStays");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre("pod a-exec-1 was deleted at 2026-11-21T09:00:30Z and is kept by the "
                            "finalizer guest.example/stay: nothing waits for it, and its slot is "
                            "free; its author takes the finalizer away"));
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.condition("Startable"), "True Ready");
}

TEST(members, a_forged_pod_that_is_kept_is_not_told_of) {
    world w;
    w.running();
    auto kept = kept_executor(*w.pods[1]);
    kept->phase = "Failed";
    kept->metadata.owner_references.clear();
    release(*w.job);
    w.app.reset();
    w.pods = {kept};
    w.step(91);
    EXPECT_EQ(w.job->status.reason, "");
}

TEST(members, a_pod_whose_node_does_not_report_its_end_keeps_its_slot_and_is_named) {
    world w;
    w.running();
    const auto silent = kept_executor(*w.pods[1]);
    release(*w.job);
    w.app.reset();
    w.pods = {silent};
    w.step(91);
    EXPECT_THAT(names_of(w.job->status.placements), ElementsAre("a-exec-1", "a-exec-2"));
    EXPECT_EQ(w.job->status.reason, "PodStays");
    EXPECT_THAT(w.job->status.problems,
                ElementsAre(HasSubstr("the kubelet of node node-a has not reported its end")));
    w.replace(0, [](model::pod& pod) { pod.phase = "Failed"; });
    w.step(92);
    EXPECT_TRUE(w.job->status.placements.empty());
}

TEST(members, a_deleted_pod_without_a_node_never_runs_whatever_finalizer_it_has) {
    world w;
    w.placed();
    w.replace(1, [](model::pod& pod) { pod = *kept_executor(pod); });
    release(*w.job);
    w.app.reset();
    w.pods = {w.pods[1]};
    w.step(50);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
}

TEST(members, a_finalizer_on_a_deleted_application_holds_up_no_release_once_its_pods_have_ended) {
    world w;
    w.running();
    release(*w.job);
    w.app->metadata.deletion_timestamp = stamp(30);
    w.app->metadata.finalizers = {"guest.example/stay"};
    w.step(91);
    EXPECT_TRUE(w.job->status.application) << "its executors run";
    w.pods.clear();
    w.step(92);
    EXPECT_FALSE(w.job->status.application);
    EXPECT_EQ(w.job->status.state, "PendingDeletion") << "the next run would need its name";
    EXPECT_EQ(w.job->status.reason, "ApplicationStays");

    world early;
    early.running();
    release(*early.job);
    early.app->metadata.deletion_timestamp = stamp(30);
    early.app->metadata.finalizers = {"guest.example/stay"};
    early.pods.clear();
    early.step(60);
    EXPECT_TRUE(early.job->status.application) << "its operator has a minute";
}

TEST(members, placements_stand_until_the_last_pod_of_the_run_has_gone) {
    world w;
    w.completed();
    const auto& status = w.job->status;
    EXPECT_EQ(status.state, "CompletedState");
    EXPECT_EQ(status.placements.size(), 2u);
    w.replace(1, [](model::pod& pod) { pod.phase = "Succeeded"; });
    w.step(42);
    EXPECT_EQ(status.placements.size(), 2u);
    w.replace(2, [](model::pod& pod) { pod.metadata.deletion_timestamp = stamp(42); });
    w.step(43);
    EXPECT_EQ(status.placements.size(), 2u) << "it may take its time to end";
    w.pods.pop_back();
    w.step(44);
    EXPECT_TRUE(status.placements.empty());
}

TEST(members, an_order_that_no_scheduling_gave_starts_nothing) {
    world w;
    w.queued();
    w.assigned = false;
    w.take_log();
    order(*w.job, {0, 3});
    w.step(10);
    EXPECT_THAT(w.take_log(), ::testing::Not(::testing::Contains("create application")));
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_TRUE(w.job->status.slot_ids.empty());
    EXPECT_THAT(w.job->status.problems,
                ElementsAre(HasSubstr("starts nothing: Scheduling jobs/s")));
    EXPECT_TRUE(w.again_in);
    // An application that a person has made for it by hand does not count either.
    w.app = make_app("RUNNING");
    w.pods = {testing::driver(), executor(1), executor(2)};
    w.step(20);
    EXPECT_TRUE(w.job->status.placements.empty());
    w.app.reset();
    w.pods.clear();
    w.step(25);
    w.assigned = true;
    w.take_log();
    w.step(30);
    EXPECT_THAT(w.take_log(), ::testing::Contains("create application"));
}

TEST(members, an_assignment_that_the_cache_shows_counts_without_a_read_for_a_moment) {
    world w;
    w.queued();
    order(*w.job, {0, 3});
    w.scheduling = assigner(*w.job, 9);
    w.step(10);
    EXPECT_THAT(w.take_log(), ::testing::Contains("create application"));
    EXPECT_EQ(w.assignment_reads, 0);
    EXPECT_EQ(w.job->status.state, "SubmittedState");
    // The assignment was made a moment ago, by a clock that is a little ahead.
    world early;
    early.queued();
    order(*early.job, {0, 3});
    early.scheduling = assigner(*early.job, 12);
    early.step(10);
    EXPECT_EQ(early.assignment_reads, 0);
}

TEST(members, what_the_cache_shows_is_read_live_where_it_proves_nothing) {
    const auto starts = [](auto change) {
        world w;
        w.queued();
        order(*w.job, {0, 3});
        auto by = assigner(*w.job, 9);
        change(*by);
        w.scheduling = by;
        w.assigned = false;
        w.step(10);
        EXPECT_EQ(w.assignment_reads, 1);
        const auto log = w.take_log();
        return std::ranges::find(log, "create application") != log.end();
    };
    const auto first = [](model::scheduling& by) -> auto& { return by.status.assignments.front(); };
    EXPECT_FALSE(starts([&](auto& by) { first(by).since = stamp(0); }))
        << "it may have ended since, and somebody wrote its order again";
    EXPECT_FALSE(starts([&](auto& by) { first(by).since = stamp(20); }));
    EXPECT_FALSE(starts([&](auto& by) { first(by).since.reset(); }));
    EXPECT_FALSE(starts([&](auto& by) { first(by).ended = stamp(10); }));
    EXPECT_FALSE(starts([&](auto& by) { first(by).run = testing::run_2; }));
    EXPECT_FALSE(starts([&](auto& by) { first(by).slot_ids = {0}; }));
    EXPECT_FALSE(starts([&](auto& by) { first(by).job.uid = "job-made-anew"; }));
    EXPECT_FALSE(starts([&](auto& by) { by.metadata.uid = "scheduling-made-anew"; }));
}

TEST(members, of_a_scheduling_that_is_cached_only_what_is_compared_is_kept) {
    world w;
    w.queued();
    order(*w.job, {0, 3});
    auto by = *assigner(*w.job, 9);
    by.metadata.labels = {{"a", "b"}};
    by.metadata.resource_version = "7";
    by.spec.testbed = {"jobs", "bed"};
    by.status.problems = {"a problem"};
    auto ended = by.status.assignments.front();
    ended.ended = stamp(9);
    by.status.assignments.push_back(ended);
    keep_assignments(by);
    EXPECT_EQ(by.metadata.key(), (model::object_key{"jobs", "s"}));
    EXPECT_EQ(by.metadata.uid, "sched-uid");
    EXPECT_EQ(by.metadata.resource_version, "7");
    EXPECT_TRUE(by.metadata.labels.empty());
    EXPECT_TRUE(by.spec.testbed.name.empty());
    EXPECT_TRUE(by.status.problems.empty());
    ASSERT_EQ(by.status.assignments.size(), 1u);
    EXPECT_TRUE(grid::is_assigned(*w.job, by));
}

TEST(undecodable, a_job_is_refused_in_words_and_starts_nothing) {
    world w;
    w.job->spec.spark_spec->text.clear();
    w.job->metadata.undecodable = ".spec.sparkSpec: nests deeper than 256 levels";
    w.step(0);
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
    EXPECT_THAT(w.message("Accepted"), HasSubstr("nests deeper than 256 levels"));
    EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
    acquire(*w.job);
    order(*w.job, {0, 3});
    w.take_log();
    w.step(10);
    EXPECT_THAT(w.take_log(), ::testing::Not(::testing::Contains("create application")));
    EXPECT_EQ(w.job->status.state, "FailedSubmissionState");
    release(*w.job);
    w.step(20);
    EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
    EXPECT_FALSE(w.job->status.active_scheduling);
}

TEST(undecodable, a_run_goes_on_and_is_released_like_any_other) {
    world w;
    w.running();
    w.job->spec.spark_spec->text.clear();
    w.job->metadata.undecodable = ".spec.sparkSpec: nests deeper than 256 levels";
    ++w.job->metadata.generation;
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    release(*w.job);
    w.step(30);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    w.app.reset();
    w.pods.clear();
    w.step(31);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
}

TEST(undecodable, a_failed_job_is_not_reset_by_it_and_is_judged_again_after_it) {
    world w;
    w.failed_and_released();
    const auto text = w.job->spec.spark_spec->text;
    w.job->spec.spark_spec->text.clear();
    w.job->metadata.undecodable = ".spec.sparkSpec: it takes 40.0 MiB of memory";
    w.step(51);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
    w.job->spec.spark_spec->text = text;
    w.job->metadata.undecodable.clear();
    w.step(52);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_NE(w.condition("Accepted"), "False Undecodable");
}

TEST(undecodable, metadata_that_is_mended_makes_the_job_startable_again) {
    world w;
    w.step(0);
    w.job->metadata.undecodable = ".metadata.labels: has 2001 entries";
    w.step(1);
    EXPECT_EQ(w.condition("Accepted"), "False Undecodable");
    w.job->metadata.undecodable.clear();
    w.step(2);
    EXPECT_THAT(w.condition("Accepted"), HasSubstr("True"));
    acquire(*w.job);
    order(*w.job, {0, 3});
    w.step(10);
    EXPECT_NE(w.job->status.state, "FailedSubmissionState");
}

// Release.

TEST(release_in_each_state, leads_to_ready_when_application_and_pods_are_gone) {
    const std::tuple<const char*, void (world::*)(), const char*> rows[] = {
        {"submitted", &world::placed, "Released"},
        {"scheduled", &world::scheduled, "Released"},
        {"running", &world::running, "Released"},
        {"completed", &world::completed, "Succeeded"},
    };
    for (const auto& [name, reach, outcome] : rows) {
        world w;
        (w.*reach)();
        w.take_log();
        release(*w.job);
        w.step(50);
        const auto& status = w.job->status;
        EXPECT_EQ(status.state, "PendingDeletion") << name;
        EXPECT_EQ(status.runs.back().outcome, outcome) << name;
        EXPECT_EQ(status.placements.size(), 2u) << name << ": its pods are still there";
        EXPECT_TRUE(status.slot_ids.empty()) << name;
        EXPECT_FALSE(status.slots) << name;
        // The write that names the application also moves the observed generation.
        EXPECT_EQ(status.observed_generation, w.job->metadata.generation) << name;
        EXPECT_EQ(status.application->run, "sched-uid.77.1") << name;
        auto log = w.take_log();
        if (outcome == "Released"sv) {
            // The cache may not show yet that the application has ended.
            EXPECT_EQ(log[0], "read application") << name;
            log.erase(log.begin());
        }
        ASSERT_GE(log.size(), 2u) << name;
        EXPECT_EQ(log[0], "status PendingDeletion") << name;
        EXPECT_EQ(log[1], "delete application app-sched-uid.77.1") << name;

        w.app.reset();
        w.step(51);
        EXPECT_EQ(status.state, "PendingDeletion") << name;
        EXPECT_FALSE(status.application) << name;
        EXPECT_EQ(w.take_log()[0], "read application") << name;
        w.pods.clear();
        w.step(52);
        EXPECT_EQ(status.state, "ReadyState") << name;
        EXPECT_TRUE(status.placements.empty()) << name;
        EXPECT_FALSE(status.active_scheduling) << name;
        w.take_log();
        w.step(53);
        EXPECT_THAT(w.take_log(), ElementsAre()) << name;
    }
}

TEST(release_in_each_state, a_pod_whose_run_was_taken_off_it_is_not_waited_for) {
    world w;
    w.running();
    for (std::size_t n = 0; n < w.pods.size(); ++n) {
        if (w.pods[n]->metadata.name != w.job->status.placements[0].pod_name) continue;
        w.replace(n, [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.owner_references.clear();
        });
    }
    w.step(40);
    EXPECT_EQ(w.job->status.placements.size(), 2u) << "on record while the run goes on";
    release(*w.job);
    w.step(50);
    EXPECT_EQ(w.job->status.placements.size(), 1u);
    w.app.reset();
    std::erase_if(w.pods, [](const auto& pod) { return !pod->metadata.annotations.empty(); });
    ASSERT_EQ(w.pods.size(), 1u);
    w.step(51);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_TRUE(w.job->status.placements.empty());
}

TEST(release_in_each_state, in_queue_is_ready_at_once) {
    world w;
    w.queued();
    w.take_log();
    release(*w.job);
    w.step(8);
    EXPECT_THAT(w.take_log(), ElementsAre("status ReadyState"));
}

TEST(release_in_each_state, failed_jobs_stay_failed_without_application_and_pods) {
    for (const auto& [reach, state] :
         {std::pair{&world::failed, "FailedState"},
          std::pair{&world::failed_submission, "FailedSubmissionState"}}) {
        world w;
        (w.*reach)();
        const bool made = w.app.has_value();
        EXPECT_EQ(w.job->status.state, state);
        w.take_log();
        release(*w.job);
        w.step(50);
        if (made)
            EXPECT_THAT(w.take_log(), ::testing::Contains("delete application app-sched-uid.77.1"));
        w.app.reset();
        w.pods.clear();
        w.step(51);
        EXPECT_EQ(w.job->status.state, state);
        EXPECT_FALSE(w.job->status.application);
        EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
        EXPECT_FALSE(w.job->status.problems.empty());

        w.job->metadata.annotations["esi.tu-berlin.de/reset"] = "1";
        w.step(52);
        EXPECT_EQ(w.job->status.state, "ReadyState");
        EXPECT_EQ(w.job->status.observed_reset, "1");
        EXPECT_TRUE(w.job->status.problems.empty());
    }
}

TEST(release_in_each_state, a_changed_spec_makes_a_failed_job_ready) {
    world w;
    w.failed_and_released();
    EXPECT_EQ(w.job->status.state, "FailedState");
    w.job->spec.spark_spec->text = R"({"type":"Python"})";
    ++w.job->metadata.generation;
    w.step(51);
    EXPECT_EQ(w.job->status.state, "ReadyState");
}

TEST(release_in_each_state, a_reset_while_still_assigned_counts_at_the_release) {
    world w;
    w.failed();
    w.pods.clear();
    w.job->metadata.annotations["esi.tu-berlin.de/reset"] = "1";
    w.take_log();
    w.step(50);
    EXPECT_EQ(w.job->status.state, "FailedState");
    EXPECT_THAT(w.take_log(), ElementsAre("status FailedState")) << "the placements are over";
    release(*w.job);
    w.app.reset();
    w.step(51);
    EXPECT_EQ(w.job->status.state, "ReadyState");
}

TEST(release_in_each_state, a_reset_from_before_the_failure_does_not_count) {
    world w;
    w.running();
    w.job->metadata.annotations["esi.tu-berlin.de/reset"] = "1";
    w.step(20);
    EXPECT_EQ(w.job->status.state, "RunningState");
    EXPECT_EQ(w.job->status.observed_reset, "1");
    w.app = make_app("FAILED");
    w.step(31);
    release(*w.job);
    w.app.reset();
    w.pods.clear();
    w.step(51);
    EXPECT_EQ(w.job->status.state, "FailedState");
}

TEST(release_in_each_state, a_result_stays_true_of_the_newest_generation) {
    world w;
    w.running();
    w.app = make_app("COMPLETED");
    w.app->ended = stamp(41);
    w.step(44);
    w.app.reset();
    w.pods.clear();
    release(*w.job);
    w.step(50);
    ASSERT_EQ(w.job->status.state, "ReadyState");
    EXPECT_EQ(w.condition("Succeeded"), "True Completed");
    // kubectl wait --for=condition=Succeeded compares these two.
    for (const auto& each : w.job->status.conditions) {
        EXPECT_EQ(each.observed_generation, w.job->metadata.generation) << each.type;
    }
}

TEST(release_in_each_state, the_result_of_a_run_that_had_ended_is_told) {
    const std::tuple<const char*, const char*, const char*, const char*> rows[] = {
        {"COMPLETED", "PendingDeletion", "Succeeded", "True Completed"},
        {"FAILED", "FailedState", "Failed", "False ApplicationFailed"},
        {"RUNNING", "PendingDeletion", "Released", "False Released"},
    };
    for (const auto& [word, state, outcome, succeeded] : rows) {
        // No reconcile came between the end and the release.
        world w;
        w.running();
        w.app = make_app(word);
        w.app->ended = stamp(27);
        release(*w.job);
        w.take_log();
        w.step(75);
        EXPECT_EQ(w.job->status.state, state);
        EXPECT_EQ(w.job->status.runs.back().outcome, outcome);
        EXPECT_EQ(w.condition("Succeeded"), succeeded);
        EXPECT_EQ(w.job->status.scheduled_events.back().successful, outcome == "Succeeded"sv);
        EXPECT_THAT(w.take_log(), ::testing::Contains("delete application app-sched-uid.77.1"));
    }
}

TEST(release_in_each_state, by_hand_is_told_apart_and_ends_the_run) {
    world w;
    w.running();
    w.job->spec.active_scheduling.reset();
    ++w.job->metadata.generation;
    w.step(30);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_EQ(w.job->status.runs[0].reason, "ReleasedByHand");
    EXPECT_FALSE(w.job->status.scheduled_events[0].successful);
    EXPECT_EQ(w.job->status.scheduled_events[0].stop, stamp(30));
}

TEST(release_in_each_state, an_order_taken_away_by_hand_ends_the_run_too) {
    world w;
    w.running();
    w.job->spec.creation_request.reset();
    ++w.job->metadata.generation;
    w.step(30);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_EQ(w.job->status.runs[0].reason, "ReleasedByHand");
    EXPECT_EQ(w.job->status.runs[0].message,
              "spec.creationRequest was taken away while the job ran");
}

TEST(release_in_each_state, a_job_that_is_being_deleted_lets_go_and_starts_nothing) {
    // A foreign finalizer keeps it: the Scheduling that releases it must not wait for that.
    world w;
    w.running();
    w.job->metadata.deletion_timestamp = stamp(20);
    release(*w.job);
    w.step(21);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_EQ(w.job->status.observed_generation, w.job->metadata.generation);
    w.app.reset();
    w.pods.clear();
    w.step(22);
    EXPECT_EQ(w.job->status.state, "ReadyState");
    EXPECT_FALSE(w.job->status.application);

    world early;
    early.queued();
    early.job->metadata.deletion_timestamp = stamp(6);
    order(*early.job, {0});
    early.take_log();
    early.step(10);
    EXPECT_THAT(early.take_log(), ::testing::Not(::testing::Contains("create application")));
}

// A cache that is behind (decide.h): no run is ended against the result of its application.

TEST(end_of_a_run, that_esi_decides_is_written_after_a_live_read_of_the_application) {
    const auto by_release = [](world& w) { release(*w.job); };
    const auto by_hand = [](world& w) {
        w.job->spec.creation_request.reset();
        ++w.job->metadata.generation;
    };
    const auto by_deadline = [](world& w) { w.job->spec.active_deadline_seconds = 20; };
    const auto by_deletion = [](world& w) { w.shown_app->metadata.deletion_timestamp = stamp(40); };
    const auto after_another = [](world& w) {
        w.shown_app = make_app("RUNNING", testing::run_2);
        release(*w.job);
    };
    const std::tuple<const char*, void (*)(world&), const char*> rows[] = {
        {"release", by_release, "Released"},
        {"order taken away by hand", by_hand, "ReleasedByHand"},
        {"deadline", by_deadline, "DeadlineExceeded"},
        {"deletion", by_deletion, "ApplicationDeleted"},
        {"release, the cache shows the run before", after_another, "Released"},
    };
    for (const auto& [name, end, reason] : rows) {
        for (const auto& [word, told] :
             {std::pair{"COMPLETED", "Completed"}, std::pair{"FAILED", "ApplicationFailed"},
              std::pair{"RUNNING", reason}}) {
            world w;
            w.running();
            w.shown_app = w.app;
            w.app = make_app(word);
            end(w);
            w.app->metadata.deletion_timestamp = w.shown_app->metadata.deletion_timestamp;
            w.take_log();
            w.step(50);
            EXPECT_EQ(w.job->status.runs.back().reason, told) << name << ", " << word;
            EXPECT_EQ(std::ranges::count(w.take_log(), "read application"), 1)
                << name << ", " << word;
        }
    }
}

TEST(end_of_a_run, by_a_time_out_is_written_after_a_live_read_of_the_application) {
    world w;
    w.placed();
    w.shown_app = w.app;
    w.app = make_app("COMPLETED");
    w.take_log();
    w.step(60);
    EXPECT_EQ(w.job->status.state, "CompletedState");
    EXPECT_EQ(std::ranges::count(w.take_log(), "read application"), 1);
}

TEST(end_of_a_run, by_the_result_that_the_cache_shows_needs_no_request) {
    for (const char* word : {"COMPLETED", "FAILED"}) {
        for (const bool released : {false, true}) {
            world w;
            w.running();
            w.app = make_app(word);
            if (released) release(*w.job);
            w.take_log();
            w.step(50);
            EXPECT_NE(w.job->status.runs.back().outcome, "Running");
            EXPECT_EQ(std::ranges::count(w.take_log(), "read application"), 0) << word;
        }
    }
}

// The race at the release (decide.h, observedGeneration): no status says "no application" by the
// cache alone.

TEST(release_race, an_application_made_but_never_recorded_is_read_before_the_generation_moves) {
    world w;
    w.queued();
    order(*w.job, {0});
    // The create succeeded, its status write did not, and the release came; the cache is behind.
    w.app = make_app("");
    w.cache_blind = true;
    release(*w.job);
    w.take_log();
    w.step(20);
    EXPECT_EQ(w.job->status.state, "PendingDeletion");
    EXPECT_EQ(w.job->status.application->run, "sched-uid.77.1");
    EXPECT_EQ(w.job->status.observed_generation, 4);
    EXPECT_THAT(w.take_log(), ElementsAre("read application", "status PendingDeletion",
                                          "delete application app-sched-uid.77.1"));
}

TEST(release_race, an_application_of_another_kind_is_looked_for_where_the_kind_may_have_changed) {
    const auto spark_to_flink = [](world& w) {
        w.job->spec.flink_spec = std::exchange(w.job->spec.spark_spec, std::nullopt);
        ++w.job->metadata.generation;
    };
    const auto there_and_back = [](world& w) { w.job->metadata.generation += 2; };
    const auto nothing = [](world&) {};
    const std::tuple<const char*, std::function<void(world&)>, bool> rows[] = {
        {"changed", spark_to_flink, true},
        {"changed and changed back", there_and_back, true},
        {"acquired and ordered only", nothing, false},
    };
    for (const auto& [name, edit, asked] : rows) {
        world w;
        w.ready();
        acquire(*w.job);
        order(*w.job, {0});
        edit(w);
        // The create succeeded, its status write did not; the cache is behind.
        w.app = make_app("");
        w.cache_blind = true;
        w.take_log();
        w.step(10);
        EXPECT_THAT(w.take_log(), ElementsAre(asked ? "read application" : "create application",
                                              "status SubmittedState"))
            << name;
    }
}

TEST(release_race, an_application_of_somebody_else_in_the_cache_is_no_proof) {
    world w;
    w.queued();
    order(*w.job, {0});
    w.app = make_app("", "x", "other-uid");
    auto seen = w.look();
    release(*w.job);
    seen.job = w.job;
    // The foreign one has gone since, and ours was made; the cache is behind.
    const auto wanted = decide(seen, at(20));
    EXPECT_TRUE(wanted.act_first);
    EXPECT_TRUE(std::holds_alternative<read_application>(wanted.next.value()));
}

TEST(release_race, a_late_application_of_a_paused_leader_is_deleted_in_ready_state) {
    world w;
    w.ready();
    w.app = make_app("");
    w.pods = {executor(1)};
    w.take_log();
    w.step(20);
    EXPECT_THAT(w.take_log(),
                ElementsAre("status PendingDeletion", "delete application app-sched-uid.77.1",
                            "delete pod a-exec-1"));
    w.app.reset();
    w.pods.clear();
    w.step(21);
    EXPECT_EQ(w.job->status.state, "ReadyState");
}

TEST(release_race, an_application_of_somebody_else_is_left_alone_in_ready_state) {
    world w;
    w.ready();
    w.app = make_app("RUNNING", "x", "other-uid");
    w.take_log();
    w.step(20);
    EXPECT_THAT(w.take_log(), ElementsAre());
}

TEST(release_race, a_deleted_job_is_left_to_the_garbage_collector) {
    world w;
    w.running();
    w.job->metadata.deletion_timestamp = stamp(20);
    w.take_log();
    w.step(21);
    EXPECT_THAT(w.take_log(), ElementsAre());
}

// Restarts: decide() remembers nothing, so a new process is the same call on the same objects.

TEST(restart, after_the_create_and_before_its_status) {
    world w;
    w.queued();
    order(*w.job, {0, 3});
    w.app = make_app("");
    w.take_log();
    w.step(12);
    EXPECT_THAT(w.take_log(), ElementsAre("status SubmittedState"));
    EXPECT_EQ(w.job->status.runs[0].submitted, stamp(10));
}

TEST(restart, an_application_vouches_for_the_spec_that_it_was_made_from_only) {
    for (const bool edited : {false, true}) {
        world w;
        w.ready();
        acquire(*w.job);
        order(*w.job, {0});
        const auto made_from = hash_of(kind_of(w.kinds, w.job->spec), w.job->spec);
        w.app = make_app("");
        w.app->metadata.annotations["esi.tu-berlin.de/spec-hash"] = made_from;
        if (edited) w.job->spec.spark_spec->text = R"({"type":"Cobol"})";
        w.step(12);
        EXPECT_EQ(w.job->status.state, "SubmittedState");
        EXPECT_EQ(w.job->status.spec_hash, made_from);
        release(*w.job);
        w.app.reset();
        w.check.reset();
        w.take_log();
        w.step(20);
        EXPECT_EQ(w.take_log(),
                  edited ? (std::vector<std::string>{"read application", "status ReadyState",
                                                     "check spec", "status ReadyState"})
                         : (std::vector<std::string>{"read application", "status ReadyState"}));
    }
}

TEST(restart, after_the_result_and_before_the_left_overs_are_removed) {
    world w;
    w.completed();
    w.take_log();
    w.step(60);
    EXPECT_THAT(w.take_log(), ElementsAre("delete pod a-exec-1", "delete pod a-exec-2"));
}

TEST(restart, a_run_that_has_ended_is_never_started_again) {
    world w;
    w.completed();
    w.pods.clear();
    w.app.reset();
    w.job->status.application.reset();
    w.take_log();
    w.step(60);
    EXPECT_THAT(w.take_log(), ElementsAre("status CompletedState")) << "the placements are over";
    w.step(61);
    EXPECT_THAT(w.take_log(), ElementsAre());
}

TEST(orders, without_token_or_of_another_scheduling_do_not_count) {
    world w;
    w.queued();
    order(*w.job, {0}, "");
    w.step(6);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("no run token")));
    order(*w.job, {0}, "somebody.1.1");
    w.step(7);
    EXPECT_EQ(w.job->status.state, "InQueueState");
    EXPECT_THAT(w.job->status.problems, ElementsAre(HasSubstr("of another Scheduling")));
    EXPECT_FALSE(w.app);
}

TEST(orders, a_new_run_starts_after_the_old_application_is_gone) {
    world w;
    w.completed();
    order(*w.job, {1}, testing::run_2);
    w.take_log();
    w.step(50);
    EXPECT_THAT(w.take_log(),
                ElementsAre("status InQueueState", "delete application app-sched-uid.77.1",
                            "delete pod a-driver", "delete pod a-exec-1", "delete pod a-exec-2"));
    w.app.reset();
    w.pods.clear();
    w.step(51);
    EXPECT_THAT(w.take_log(), ElementsAre("create application", "status SubmittedState"));
    EXPECT_EQ(w.job->status.runs.back().run, "sched-uid.99.1");
}

}  // namespace
}  // namespace esi::batchjob
