// A cache that is behind (decide.h): no run is ended over the result that its application has.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "batchjob/testing.h"

namespace esi::batchjob {
namespace {

using testing::acquire;
using testing::at;
using ::testing::ElementsAre;
using testing::executor;
using testing::make_app;
using testing::order;
using testing::release;
using testing::stamp;
using testing::world;

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

// The race at the release (decide.h, observedGeneration): no status without application that is
// only the cache's word.

TEST(release_race, an_application_made_but_never_recorded_is_read_before_the_generation_moves) {
    world w;
    w.queued();
    order(*w.job, {0});
    // The create went through, its status did not, and the release came; the cache is behind.
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
        // The create went through, its status did not; the cache is behind.
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
    // It has gone since, and ours was made; the cache is behind.
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

}  // namespace
}  // namespace esi::batchjob
