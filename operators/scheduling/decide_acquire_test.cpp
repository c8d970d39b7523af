// How a Scheduling acquires the hold and its jobs, waits for other Schedulings, and gives all back.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include "scheduling/acquire.h"
#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

TEST(acquisition, lost_race_rolls_back) {
    world w;
    w.add_testbed("t", 1, 2);
    w.add_job("a");
    w.add_job("b");
    w.add_queue("s", "t", {"a", "b"});
    object_key key{"ns", "s"};
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(w.step_of(key));
    EXPECT_EQ(w.writes.back(), "acquire a by s");
    w.add_testbed("u", 1, 1);
    w.add_queue("rival", "u", {"b"});
    w.edit(w.jobs, {"ns", "b"}, [&](model::batchjob& j) {
        j.spec.active_scheduling = {"ns", "rival", w.s("rival").metadata.uid};
    });
    w.settle();
    EXPECT_EQ(w.reason("s"), "JobHeld");
    EXPECT_EQ(w.s("s").status.epoch, 1);
    EXPECT_TRUE(w.t("t").hold().empty());
    EXPECT_FALSE(w.job("a").spec.active_scheduling);
    EXPECT_EQ(w.running("rival"), "b:0");
}

TEST(acquisition, who_let_one_go_first_is_known_when_that_one_cannot_go) {
    world w;
    w.add_testbed("t", 1, 2);
    w.add_testbed("u", 1, 2);
    for (const char* name : {"x", "z"}) w.add_job(name);
    w.add_queue("oldest", "u", {"x"});
    w.add_queue("older", "t", {"x"});
    w.add_queue("young", "t", {"z"});
    for (const char* name : {"young", "older"}) w.step_of({"ns", name});
    EXPECT_EQ(w.reason("older"), "OlderFirst");
    EXPECT_EQ(w.reason("young"), "OlderFirst");
    EXPECT_TRUE(waits_for_rival(w.s("young"), {"ns", "older"}));
    EXPECT_FALSE(waits_for_rival(w.s("young"), {"ns", "oldest"}));
    EXPECT_FALSE(is_blocked(w.s("older").status));

    for (int i = 0; i < 100 && w.step_of({"ns", "oldest"}); ++i) w.sweep_jobs();
    w.step_of({"ns", "older"});
    EXPECT_EQ(w.reason("older"), "JobHeld");
    EXPECT_TRUE(is_blocked(w.s("older").status)) << "nothing that young wants has changed";
    EXPECT_FALSE(is_blocked(w.s("oldest").status));
    for (int i = 0; i < 100 && w.step_of({"ns", "young"}); ++i) w.sweep_jobs();
    EXPECT_EQ(w.running("young"), "z:0");
}

TEST(acquisition, a_cycle_that_one_tells_of_is_news_for_the_others) {
    auto told = [](std::string reason, std::vector<object_key> others, std::string message = "") {
        model::scheduling_status out;
        model::set_condition(out.conditions, "Acquired", "False", reason, message, 1,
                             start_of_time);
        out.waiting_for_schedulings = std::move(others);
        return out;
    };
    const object_key a{"ns", "a"};
    const object_key b{"ns", "b"};
    EXPECT_TRUE(cycle_changed(told("JobHeld", {b}), told("WaitCycle", {a, b})));
    EXPECT_TRUE(cycle_changed(told("WaitCycle", {a, b}), told("WaitCycle", {a, b, {"ns", "c"}})));
    EXPECT_TRUE(cycle_changed(told("WaitCycle", {a, b}), told("JobHeld", {b})));
    EXPECT_FALSE(cycle_changed(told("WaitCycle", {a, b}), told("WaitCycle", {a, b})));
    EXPECT_FALSE(cycle_changed(told("WaitCycle", {a, b}, "x"), told("WaitCycle", {a, b}, "y")))
        << "the sentence is for people";
    EXPECT_FALSE(cycle_changed(told("JobHeld", {a}), told("JobHeld", {b})));
}

TEST(acquisition, who_is_let_go_first_is_known_whatever_the_sentence_says) {
    model::scheduling young;
    auto told = [&](std::string reason, std::vector<object_key> others) -> const auto& {
        model::set_condition(young.status.conditions, "Acquired", "False", reason, "in other words",
                             1, start_of_time);
        young.status.waiting_for_schedulings = std::move(others);
        return young;
    };
    const object_key older{"ns", "older"};
    EXPECT_TRUE(waits_for_rival(told("OlderFirst", {older}), older));
    EXPECT_FALSE(waits_for_rival(told("OlderFirst", {{"ns", "oldest"}}), older));
    EXPECT_FALSE(waits_for_rival(told("JobHeld", {older}), older));
}

TEST(acquisition, who_was_rolled_back_looks_live_before_it_takes_anything_again) {
    world w;
    w.add_testbed("t", 1, 2);
    w.add_job("a");
    w.add_queue("s", "t", {"a"});
    w.edit(w.schedulings, {"ns", "s"}, [](model::scheduling& s) {
        s.metadata.finalizers.emplace_back(names_of::scheduling_finalizer);
        s.status.state = "AcquireState";
        s.status.epoch = 1;
    });
    live_facts live;
    view seen;
    seen.self = w.schedulings.at({"ns", "s"});
    seen.schedulings = &w.schedulings;
    seen.testbeds = &w.testbeds;
    seen.jobs = &w.jobs;
    seen.slots = w.slots_of({"ns", "t"});
    seen.live = &live;
    auto first = decide(seen, w.now);
    auto* read = std::get_if<read_release>(&first.next);
    ASSERT_NE(read, nullptr) << name_of(first.next);
    EXPECT_EQ(read->jobs, (std::vector<object_key>{{"ns", "a"}}));

    live.proven.release = true;
    EXPECT_TRUE(std::holds_alternative<hold_testbed>(decide(seen, w.now).next));
    auto held = w.job("a");
    held.spec.active_scheduling = {"ns", "rival", "another uid"};
    live.newer.jobs[{"ns", "a"}] = std::make_shared<const model::batchjob>(held);
    auto then = decide(seen, w.now);
    EXPECT_TRUE(std::holds_alternative<wait>(then.next));
    EXPECT_EQ(then.status.waiting_for, "BatchJob ns/a is held by Scheduling ns/rival");
}

/// A Scheduling that may hold the Testbed and acquire the jobs a and b.
struct way_in : testing::Test {
    way_in() {
        w.add_testbed("t", 1, 2);
        w.add_job("a");
        w.add_job("b");
        w.add_queue("s", "t", {"b", "a"});
        w.edit(w.schedulings, key, [](model::scheduling& s) {
            s.metadata.finalizers.emplace_back(names_of::scheduling_finalizer);
        });
    }
    decision look() {
        view seen = w.look(key, live);
        return decide(seen, w.now);
    }

    world w;
    const object_key key{"ns", "s"};
    live_facts live;
};

TEST_F(way_in, the_first_job_is_acquired_side_by_side_with_the_hold) {
    const auto first = look();
    const auto* hold = std::get_if<hold_testbed>(&first.next);
    ASSERT_NE(hold, nullptr) << name_of(first.next);
    ASSERT_TRUE(hold->beside);
    EXPECT_EQ(hold->beside->key.name, "a");
    EXPECT_EQ(hold->beside->resource_version, w.job("a").metadata.resource_version);
    // Only one of the two writes was accepted: the one that acquires job a.
    w.acquire(*hold->beside, w.s("s"), live);
    const auto then = look();
    const auto* alone = std::get_if<hold_testbed>(&then.next);
    ASSERT_NE(alone, nullptr) << name_of(then.next);
    EXPECT_EQ(alone->beside ? alone->beside->key.name : "", "b");
}

TEST_F(way_in, after_a_rollback_no_job_is_acquired_before_the_hold) {
    w.edit(w.schedulings, key, [](model::scheduling& s) { s.status.epoch = 1; });
    live.proven.release = true;
    const auto next = look();
    const auto* hold = std::get_if<hold_testbed>(&next.next);
    ASSERT_NE(hold, nullptr) << name_of(next.next);
    EXPECT_FALSE(hold->beside);
}

TEST_F(way_in, a_hold_that_is_refused_keeps_no_job) {
    w.acquire(*std::get<hold_testbed>(look().next).beside, w.s("s"), live);
    live.refused.hold = true;
    EXPECT_TRUE(std::holds_alternative<read_release>(look().next));
    live.proven.release = true;
    const auto next = look();
    ASSERT_TRUE(std::holds_alternative<commit>(next.next)) << name_of(next.next);
    EXPECT_EQ(next.status.releasing, model::release_reason::rolled_back);
}

TEST(acquisition, at_rest_nothing_is_written) {
    world w;
    w.add_testbed("t", 2, 2);
    w.add_job("a");
    w.add_queue("s", "t", {"a"});
    w.settle();
    w.writes.clear();
    w.settle();
    EXPECT_TRUE(w.writes.empty());
}

}  // namespace
}  // namespace esi::scheduling
