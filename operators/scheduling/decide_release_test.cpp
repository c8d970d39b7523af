// The release of what a Scheduling has.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

TEST_P(driving, releases_by_itself_when_asked_to) {
    w.add_queue("s", "t", {"a"});
    w.edit(w.schedulings, {"ns", "s"},
           [](model::scheduling& s) { s.spec.release_on_completion = true; });
    w.settle();
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "FinishedState");
    EXPECT_EQ(w.s("s").status.job_states.at(0).state, "Completed");
    EXPECT_EQ(model::find_condition(w.s("s").status.conditions, "Completed")->status, "True");
    w.expect_nothing_left();
    w.add_queue("s2", "t", {"a"});
    w.settle();
    EXPECT_EQ(w.running("s2"), "a:0");
}

/// Deleted after each single write of its life: nothing is ever left over.
TEST(deletion, in_any_state_leaves_nothing) {
    for (int at = 0; at < 40; ++at) {
        world w;
        w.crash = at % 2 == 1;
        w.add_testbed("t", 3, 2);
        for (const char* name : {"a", "b", "c"}) w.add_job(name);
        w.add_queue("s", "t", {"a", "a", "a", "b", "a", "c", "c"});
        object_key key{"ns", "s"};
        for (int i = 0; i < at; ++i) {
            if (!w.step_of(key)) w.sweep_jobs();
            if (i == 25) w.end_job("a");
        }
        SCOPED_TRACE(fmt::format("deleted after step {}", at));
        w.erase_scheduling("s");
        w.settle();
        EXPECT_TRUE(w.schedulings.empty());
        w.expect_nothing_left();
    }
}

TEST(deletion, of_one_that_was_never_looked_at) {
    world w;
    w.add_queue("s", "missing", {"missing"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "TestbedMissing");
    EXPECT_TRUE(w.s("s").metadata.finalizers.empty()) << "who holds nothing needs no finalizer";
    w.erase_scheduling("s");
    EXPECT_TRUE(w.schedulings.empty());
}

/// A Scheduling that is over, as a cache shows it; it may hold its Testbed yet.
struct over_and_done : testing::Test {
    over_and_done() {
        w.add_testbed("t", 1, 1);
        w.add_job("a");
        w.add_queue("s", "t", {"a"});
    }
    void take_the_hold() {
        for (int i = 0; i < 2; ++i) w.step_of({"ns", "s"});
        ASSERT_TRUE(held_by(w.t("t"), w.s("s").metadata.uid));
    }
    decision look(std::int64_t generation = 1) {
        auto over = w.s("s");
        over.status.state = "FinishedState";
        over.status.observed_generation = 1;
        over.metadata.generation = generation;
        seen.self = std::make_shared<const model::scheduling>(over);
        seen.schedulings = &w.schedulings;
        seen.testbeds = &w.testbeds;
        seen.jobs = &w.jobs;
        seen.slots = w.slots_of({"ns", "t"});
        seen.live = &live;
        return decide(seen, w.now);
    }

    world w;
    view seen;
    live_facts live;
};

TEST_F(over_and_done, a_cache_far_behind_does_not_begin_a_release_again) {
    take_the_hold();
    EXPECT_TRUE(std::holds_alternative<read_release>(look().next));

    auto let_go = w.t("t");
    let_go.metadata.annotations.clear();
    let_go.metadata.labels.clear();
    live.newer.testbeds[let_go.metadata.key()] = std::make_shared<const model::testbed>(let_go);
    auto free = w.job("a");
    free.spec.active_scheduling.reset();
    live.newer.jobs[free.metadata.key()] = std::make_shared<const model::batchjob>(free);
    live.proven.release = true;
    EXPECT_TRUE(std::holds_alternative<wait>(look().next));
    // A hold and a job that it really has are let go.
    live.newer.testbeds.clear();
    EXPECT_TRUE(std::holds_alternative<commit>(look().next));
}

TEST_F(over_and_done, a_change_is_not_taken_for_seen_when_something_is_left) {
    take_the_hold();
    live.proven.release = true;
    const auto got = look(2);
    EXPECT_FALSE(got.status.releasing.empty());
    EXPECT_EQ(got.status.observed_generation, 1);
}

TEST_F(over_and_done, who_edits_it_is_told_that_it_has_no_effect) {
    const auto got = look(2);
    EXPECT_TRUE(std::holds_alternative<wait>(got.next));
    EXPECT_EQ(got.status.observed_generation, 2);
    const auto* told = model::find_condition(got.status.conditions, "SpecCurrent");
    ASSERT_NE(told, nullptr);
    EXPECT_EQ(told->status, "False");
    EXPECT_EQ(told->reason, "ChangeIgnored");
    for (const auto& each : got.status.conditions) {
        EXPECT_EQ(each.observed_generation, 2) << each.type << ": `kubectl wait` asks for that";
    }
}

}  // namespace
}  // namespace esi::scheduling
