// The release of a job in each of its states.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using namespace std::string_view_literals;

using ::testing::ElementsAre;
using testing::make_app;
using testing::order;
using testing::release;
using testing::stamp;
using testing::world;

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
        // The generation is spoken about in the same write that names the application.
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
    // A finalizer of others keeps it: the Scheduling that releases it must not wait for that.
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

}  // namespace
}  // namespace esi::batchjob
