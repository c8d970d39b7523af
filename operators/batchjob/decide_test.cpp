// The life of a job, state by state.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/registry.h"
#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::acquire;
using ::testing::ElementsAre;
using testing::executor;
using ::testing::HasSubstr;
using testing::make_app;
using testing::order;
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
        // Left-over pods are gone by now; the application that ended stands.
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
    // It may have ended since.
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
        // It ends and goes between two looks.
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
    // Its pods take over the places as the old ones are proven gone.
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

}  // namespace
}  // namespace esi::batchjob
