// Orders: which start a run.
#include "batchjob/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "batchjob/caches.h"
#include "batchjob/testing.h"
#include "grid/rights.h"

namespace esi::batchjob {
namespace {

using testing::assigner;
using ::testing::ElementsAre;
using testing::executor;
using ::testing::HasSubstr;
using testing::make_app;
using testing::order;
using testing::stamp;
using testing::world;

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
    // Pods of an application that was made by hand get no slots either.
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
    // It was made a moment ago by a clock that is a little ahead.
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
