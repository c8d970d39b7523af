#include "scheduling/answers/preview.h"

#include <gtest/gtest.h>

#include "scheduling/answers/explanation.h"
#include "scheduling/answers/lists.h"
#include "scheduling/answers/testing.h"

namespace esi::scheduling::answers {
namespace {

class previews : public testing::Test {
protected:
    void SetUp() override {
        w.add_testbed("t", 3, 2);
        for (const char* name : {"a", "b", "c", "d"}) w.add_job(name);
    }
    static model::scheduling_spec queue(const std::vector<std::string>& entries) {
        model::scheduling_spec out;
        out.testbed = {"", "t"};
        out.queue_based.emplace();
        for (const auto& each : entries) out.queue_based->push_back({"", each});
        return out;
    }
    static model::scheduling_spec slots(
        std::string mode, const std::vector<std::pair<std::string, std::vector<int>>>& jobs) {
        model::scheduling_spec out;
        out.testbed = {"", "t"};
        out.slot_based.emplace();
        out.slot_based->mode = std::move(mode);
        for (const auto& [name, ids] : jobs) out.slot_based->jobs.push_back({{"", name}, ids});
        return out;
    }
    preview ask(model::scheduling_spec spec) {
        const question asked(w, draft_of({"ns", "new"}, std::move(spec), nullptr, w.now));
        return preview_of(asked.v, w.now);
    }
    preview ask_of(const std::string& name) {
        const question asked(w, name);
        return preview_of(asked.v, w.now);
    }
    world w;
};

TEST_F(previews, which_job_gets_which_slots_at_once) {
    const auto seen = ask(queue({"a", "b", "a", "b"}));
    EXPECT_EQ(seen.verdict, "Starts");
    EXPECT_EQ(seen.mode, "queue");
    EXPECT_EQ(show_starts(seen), "a:0,2 b:1,3");
    EXPECT_TRUE(seen.waits.empty());
    EXPECT_TRUE(w.writes.empty()) << "nothing is written";
}

TEST_F(previews, what_waits_for_what) {
    const auto seen = ask(slots("relaxed", {{"a", {0, 1}}, {"b", {1, 2}}, {"c", {5}}}));
    EXPECT_EQ(show_starts(seen), "a:0,1 c:5");
    ASSERT_EQ(seen.waits.size(), 1u);
    const auto& b = seen.waits[0];
    EXPECT_EQ(b.name, "b");
    EXPECT_EQ(b.slots_wanted, 2);
    ASSERT_EQ(show(b.blockers), "SlotsNotFree, SlotOfJob");
    EXPECT_EQ(b.blockers[0].text, "BatchJob ns/b waits for slot 1 (1: BatchJob ns/a)")
        << "a has not got it yet, and will have it first";
    EXPECT_EQ(b.blockers[1].holder, (reference{"BatchJob", "ns", "a"}));
    EXPECT_EQ(b.blockers[1].slots, std::vector{1});
    EXPECT_EQ(b.start, std::nullopt) << "a never ran";
}

TEST_F(previews, the_coordinator_place_is_shown_last_among_the_slots) {
    w.add_claimed_testbed("c", 1, 8);
    record(w, "a", {90});
    record(w, "b", {50});
    auto spec = queue({"a", "b", "a"});
    spec.testbed.name = "c";
    const auto seen = ask(spec);
    EXPECT_EQ(show_starts(seen), "a:1,3,0");
    ASSERT_EQ(seen.waits.size(), 1u);
    const auto& b = seen.waits[0];
    EXPECT_EQ(b.slots_wanted, 1) << "of workers";
    ASSERT_EQ(show(b.blockers), "CoordinatorBusy, SlotOfJob");
    EXPECT_EQ(b.blockers[0].text,
              "BatchJob ns/b could have slots for its workers and waits for a coordinator place: "
              "slot 0 (0: BatchJob ns/a)");
    EXPECT_EQ(b.blockers[0].slots, std::vector{0});
    EXPECT_EQ(b.blockers[0].freed_by, "a coordinator place becomes free: slot 0");
    EXPECT_EQ(b.blockers[1].holder, (reference{"BatchJob", "ns", "a"}));
    EXPECT_EQ(b.blockers[1].slots, std::vector{0});
    EXPECT_EQ(b.start->in_seconds, 90);
    EXPECT_EQ(seen.end->in_seconds, 140) << "one after the other";
}

TEST_F(previews, a_plan_that_names_a_coordinator_place_is_refused) {
    w.add_claimed_testbed("c", 1, 8);
    auto spec = slots("relaxed", {{"a", {0, 1}}, {"b", {2}}});
    spec.testbed.name = "c";
    const auto seen = ask(spec);
    EXPECT_EQ(seen.verdict, "Refused");
    ASSERT_EQ(seen.refused.size(), 2u);
    EXPECT_EQ(seen.refused[1].name, "a");
    EXPECT_EQ(seen.refused[1].reason, "SlotOfCoordinator");
}

TEST_F(previews, when_it_is_likely_to_start_and_to_end) {
    record(w, "a", {90, 110, 100});
    record(w, "b", {50});
    const auto seen = ask(slots("strict", {{"a", {0}}, {"b", {0}}, {"c", {1}}}));
    EXPECT_EQ(seen.starts[0].end->in_seconds, 100);
    EXPECT_EQ(seen.waits[0].start->in_seconds, 100);
    EXPECT_EQ(seen.waits[0].start->runs, 3);
    EXPECT_EQ(show(seen.waits[1].blockers), "JobBefore");
    EXPECT_EQ(seen.waits[1].blockers[0].what, (reference{"BatchJob", "ns", "b"}));
    EXPECT_EQ(seen.waits[1].start->in_seconds, 100) << "slot 1 is free all the time";
    EXPECT_EQ(seen.end, std::nullopt) << "c never ran";
    record(w, "c", {7});
    EXPECT_EQ(ask(slots("strict", {{"a", {0}}, {"b", {0}}, {"c", {1}}})).end->in_seconds, 150);
}

TEST_F(previews, a_job_that_cannot_start_refuses_the_whole_plan) {
    const auto seen = ask(slots("relaxed", {{"a", {0}}, {"b", {6}}, {"c", {7}}}));
    EXPECT_EQ(seen.verdict, "Refused");
    EXPECT_TRUE(seen.starts.empty());
    ASSERT_EQ(seen.refused.size(), 3u);
    EXPECT_EQ(seen.refused[0].name, "") << "the plan";
    EXPECT_EQ(seen.refused[0].reason, "SlotOutsideLayout");
    EXPECT_EQ(seen.refused[1].name, "b");
    EXPECT_EQ(seen.refused[2].text, "BatchJob ns/c wants slot 7, the Testbed has slots 0 to 5");
}

TEST_F(previews, a_cancelled_job_is_refused_and_the_others_start) {
    auto spec = queue({"a", "b"});
    spec.cancelled_jobs = {{"", "a"}};
    const auto seen = ask(spec);
    EXPECT_EQ(show_starts(seen), "b:0");
    ASSERT_EQ(seen.refused.size(), 1u);
    EXPECT_EQ(seen.refused[0].reason, "Cancelled");
    spec.cancelled_jobs.push_back({"", "b"});
    const auto none = ask(spec);
    EXPECT_EQ(none.verdict, "Waits");
    EXPECT_EQ(show(none.blockers), "PlanEmpty");
    EXPECT_EQ(none.refused.size(), 2u);
}

TEST_F(previews, what_blocks_the_plan_and_what_blocks_a_job) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    auto spec = queue({"a", "b", "missing"});
    spec.suspend = true;
    const auto seen = ask(spec);
    EXPECT_EQ(seen.verdict, "Waits");
    EXPECT_EQ(show(seen.blockers), "Suspended, TestbedHeld, JobHeld, JobMissing");
    ASSERT_EQ(seen.waits.size(), 3u);
    EXPECT_EQ(show(seen.waits[0].blockers), "JobHeld");
    EXPECT_EQ(seen.waits[0].blockers[0].holder, (reference{"Scheduling", "ns", "s"}));
    EXPECT_EQ(show(seen.waits[1].blockers), "OtherJob") << "nothing is in the way of b itself";
    EXPECT_EQ(show(seen.waits[2].blockers), "JobMissing");
}

TEST_F(previews, a_job_waits_with_another_of_its_plan_that_is_missing) {
    const auto seen = ask(queue({"a", "missing", "b"}));
    EXPECT_EQ(seen.verdict, "Waits");
    ASSERT_EQ(show(seen.blockers), "JobMissing");
    EXPECT_EQ(seen.blockers[0].what, (reference{"BatchJob", "ns", "missing"}));
    ASSERT_EQ(seen.waits.size(), 3u);
    for (const int number : {0, 2}) {
        const auto& waits = seen.waits[static_cast<std::size_t>(number)];
        ASSERT_EQ(show(waits.blockers), "OtherJob") << waits.name;
        EXPECT_EQ(waits.blockers[0].what, (reference{"BatchJob", "ns", "missing"}));
        EXPECT_EQ(waits.blockers[0].text,
                  "the plan acquires all of its jobs or none; BatchJob ns/missing does not exist");
        EXPECT_EQ(waits.blockers[0].freed_by, "the BatchJob is created");
    }
    EXPECT_EQ(show(seen.waits[1].blockers), "JobMissing");

    const auto two = ask(queue({"a", "missing", "lost"}));
    EXPECT_EQ(show(two.blockers), "JobMissing, JobMissing");
    EXPECT_EQ(two.waits[0].blockers[0].text,
              "the plan acquires all of its jobs or none; BatchJob ns/missing does not exist (1 "
              "more job is blocked)");
}

TEST_F(previews, a_plan_that_runs_starts_its_jobs_one_by_one) {
    w.add_queue("s", "t", {"a"});
    w.settle();
    auto spec = w.s("s").spec;
    for (const char* name : {"missing", "b"}) spec.queue_based->push_back({"", name});
    const question asked(w, draft_of({"ns", "s"}, spec, &w.s("s"), w.now));
    const auto seen = preview_of(asked.v, w.now);
    EXPECT_EQ(show(seen.blockers), "") << "nothing keeps all of its jobs from starting";
    for (const auto& each : seen.waits) {
        EXPECT_EQ(show(each.blockers).find("OtherJob"), std::string::npos) << each.name;
    }
}

TEST_F(previews, an_older_one_goes_first_and_a_higher_priority_before_it) {
    w.add_queue("s", "t", {"a"});
    EXPECT_EQ(show(ask(queue({"b"})).blockers), "OlderFirst");
    auto spec = queue({"b"});
    spec.priority = 5;
    EXPECT_EQ(show_starts(ask(spec)), "b:0");
    w.change("s", [](auto& of) { of.priority = 9; });
    const auto seen = ask(spec);
    EXPECT_EQ(show(seen.blockers), "PriorityFirst");
    EXPECT_EQ(seen.blockers[0].what, (reference{"Scheduling", "ns", "s"}));
    EXPECT_EQ(seen.blockers[0].holder, std::nullopt);
}

TEST_F(previews, a_change_of_a_plan_under_way) {
    w.add_queue("s", "t", {"a", "a"});
    w.settle();
    auto spec = w.s("s").spec;
    spec.queue_based->push_back({"", "b"});
    spec.release_on_completion = true;
    const question asked(w, draft_of({"ns", "s"}, spec, &w.s("s"), w.now));
    const auto seen = preview_of(asked.v, w.now);
    EXPECT_EQ(show_starts(seen), "b:2");
    ASSERT_EQ(seen.ignored.size(), 1u);
    EXPECT_EQ(seen.ignored[0],
              "releaseOnCompletion was changed after the first start; it stays false");
    EXPECT_EQ(ask_of("s").verdict, "Started");
}

TEST_F(previews, a_plan_that_is_over_starts_nothing) {
    w.add_queue("s", "t", {"a"});
    w.change("s", [](auto& of) { of.release_on_completion = true; });
    w.settle();
    w.end_job("a");
    w.settle();
    EXPECT_EQ(ask_of("s").verdict, "Over");
}

TEST_F(previews, of_another_namespace_shows_nothing_that_is_not_offered) {
    w.add_testbed("other/o", 1, 2);
    auto spec = queue({"a"});
    spec.testbed = {"other", "o"};
    const auto hidden = ask(spec);
    EXPECT_EQ(show(hidden.blockers), "NotAllowed");
    spec.testbed = {"other", "missing"};
    auto missing = ask(spec);
    EXPECT_EQ(show(missing.blockers), "NotAllowed");
    EXPECT_EQ(hidden.waits.size(), missing.waits.size());
    EXPECT_EQ(hidden.refused.size(), missing.refused.size());
    w.offer("other/o", {"ns"});
    spec.testbed = {"other", "o"};
    EXPECT_EQ(show_starts(ask(spec)), "a:0");
}

TEST_F(previews, are_bounded) {
    model::scheduling_spec spec = queue({});
    for (int i = 0; i < 1020; ++i) {
        const auto name = "job-" + std::to_string(i);
        spec.queue_based->push_back({"", name});
    }
    const auto seen = ask(spec);
    EXPECT_EQ(seen.waits.size(), 1000u);
    EXPECT_EQ(seen.waits_left_out, 20);
}

TEST_F(previews, and_explanations_are_bounded_by_what_they_take) {
    constexpr int half = 250;
    w.add_testbed("wide", half, 1);
    std::vector<std::pair<std::string, std::vector<int>>> jobs;
    std::vector<int> all;
    for (int i = 0; i < half; ++i) {
        const auto name = "first-" + std::to_string(i);
        w.add_job(name);
        jobs.push_back({name, {i}});
        all.push_back(i);
    }
    for (int i = 0; i < half; ++i) {
        const auto name = "then-" + std::to_string(i);
        w.add_job(name);
        jobs.push_back({name, all});
    }
    auto spec = slots("relaxed", jobs);
    spec.testbed = {"", "wide"};
    const question asked(w, draft_of({"ns", "new"}, std::move(spec), nullptr, w.now));
    const auto seen = preview_of(asked.v, w.now);
    EXPECT_EQ(seen.starts.size(), static_cast<std::size_t>(half));
    EXPECT_EQ(std::ssize(seen.waits) + seen.waits_left_out, half);
    EXPECT_GT(seen.waits.size(), 5u);
    EXPECT_GT(seen.waits_left_out, 100);
    EXPECT_LE(model::held_by(seen), most_bytes + (512u << 10));
    const auto why = explain(asked.v, w.now);
    EXPECT_EQ(std::ssize(why.jobs) + why.jobs_left_out, 2 * half);
    EXPECT_GT(why.jobs_left_out, 100);
    EXPECT_LE(model::held_by(why), most_bytes + (1u << 20));
}

TEST_F(previews, have_stable_names_in_json) {
    const auto seen = ask(slots("relaxed", {{"a", {0}}, {"b", {0}}}));
    EXPECT_EQ(model::encode(seen).dump(),
              R"x({"blockersLeftOut":0,"ignoredLeftOut":0,)x"
              R"x("mode":"relaxed","refusedLeftOut":0,)x"
              R"x("starts":[{"name":"a","namespace":"ns","slots":[0],"slotsLeftOut":0}],)x"
              R"x("startsLeftOut":0,"testbed":{"name":"t","namespace":"ns"},"verdict":"Starts",)x"
              R"x("waits":[{"blockers":[{"freedBy":"these slots become free: slot 0",)x"
              R"x("reason":"SlotsNotFree","slots":[0],"slotsLeftOut":0,)x"
              R"x("text":"BatchJob ns/b waits for slot 0 (0: BatchJob ns/a)",)x"
              R"x("what":{"kind":"Testbed","name":"t","namespace":"ns"}},)x"
              R"x({"freedBy":"the end of the run of BatchJob ns/a",)x"
              R"x("holder":{"kind":"BatchJob","name":"a","namespace":"ns"},)x"
              R"x("reason":"SlotOfJob","since":"2023-11-14T22:13:25Z","slots":[0],)x"
              R"x("slotsLeftOut":0,"text":"BatchJob ns/a has slot 0",)x"
              R"x("what":{"kind":"Testbed","name":"t","namespace":"ns"}}],"blockersLeftOut":0,)x"
              R"x("name":"b","namespace":"ns","slotsWanted":1}],"waitsLeftOut":0})x");
}

}  // namespace
}  // namespace esi::scheduling::answers
