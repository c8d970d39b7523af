// Schedulings with a claim of their own: the Testbed that they make, hold and give back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/names.h"
#include "scheduling/decide.h"
#include "scheduling/outlook.h"
#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class claims : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        w.crash = GetParam();
        for (const char* name : {"a", "b", "c"}) w.add_job(name);
    }
    bool has_testbed(const std::string& name) { return w.testbeds.contains({"ns", name}); }
    const model::testbed_claim& claim_of(const std::string& name) { return *w.t(name).spec.claim; }
    std::string message(const std::string& name) { return w.condition(name, "Acquired").message; }
    bool is_free(const std::string& job) {
        return !w.job(job).spec.active_scheduling && w.job(job).status.state == "ReadyState";
    }
    void set_state(const std::string& job, const std::string& state) {
        w.edit(w.jobs, {"ns", job}, [&](model::batchjob& of) { of.status.state = state; });
    }
    void pass(seconds time) {
        w.now += time;
        w.settle();
    }
    world w;
};

INSTANTIATE_TEST_SUITE_P(with_and_without_memory, claims, testing::Bool(), [](const auto& p) {
    return p.param ? "crash_after_each_write" : "steady";
});

TEST_P(claims, the_testbed_is_made_then_held_and_given_back_when_all_jobs_have_ended) {
    w.add_claim("s", 3, {"a", "b", "a"});
    w.change("s", [](auto& spec) {
        spec.priority = 7;
        spec.claim->packing = "Spread";
        spec.claim->timeout_seconds = 45;
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,2 b:1");
    const auto& claim = claim_of("s");
    EXPECT_EQ(claim.shapes, w.s("s").spec.claim->shapes);
    EXPECT_EQ(claim.packing, "Spread");
    EXPECT_EQ(claim.timeout_seconds, 45);
    EXPECT_EQ(claim.priority, 7);
    EXPECT_FALSE(claim.suspend);
    EXPECT_TRUE(w.t("s").spec.allowed_namespaces.empty());
    EXPECT_EQ(w.job("a").spec.creation_request->testbed_name, (object_key{"ns", "s"}));
    EXPECT_EQ(w.s("s").status.plan->testbed, (object_key{"ns", "s"}));
    w.end_job("a");
    w.settle();
    EXPECT_TRUE(has_testbed("s")) << "b still runs";
    w.end_job("b");
    w.settle();
    EXPECT_FALSE(has_testbed("s"));
    EXPECT_EQ(w.room, 100);
    EXPECT_EQ(w.s("s").status.state, "FinishedState");
    EXPECT_EQ(w.s("s").status.progress->summary, "2/2");
    EXPECT_TRUE(is_free("a") && is_free("b"));
    EXPECT_EQ(w.verdict("s", "SpecCurrent"), "True AsSpecified");
}

TEST_P(claims, writes_come_in_the_order_of_the_chain_of_rights) {
    w.add_claim("s", 1, {"a"});
    w.settle();
    std::erase(w.writes, "status s");
    EXPECT_THAT(w.writes, ElementsAre("make s", "finalizer s", "hold s by s", "acquire a by s",
                                      "Assigned s", "request a by s"));
    w.writes.clear();
    w.end_job("a");
    w.settle();
    std::erase(w.writes, "status s");
    EXPECT_THAT(w.writes,
                ElementsAre("JobEnded s", "Releasing s", "release a by s", "AssignmentsCleared s",
                            "unhold s by s", "Released s", "return s"));
}

TEST_P(claims, nothing_of_a_job_exists_before_all_places_are_held) {
    w.room = 2;
    w.add_claim("s", 3, {"a", "b", "c"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "ClaimWaiting");
    EXPECT_EQ(message("s"), "Testbed ns/s is not formed (NoRoom): 2 of 3 places fit");
    EXPECT_THAT(w.writes, Not(Contains(HasSubstr("acquire"))));
    EXPECT_TRUE(is_free("a"));
    w.ghosts_bind = false;
    w.room = 3;
    w.settle();
    EXPECT_EQ(w.reason("s"), "ClaimWaiting");
    EXPECT_EQ(message("s"),
              "Testbed ns/s is formed, and not all its places are held yet (GhostsUnderWay): "
              "ghosts are under way");
    EXPECT_TRUE(w.t("s").hold().empty());
    EXPECT_THAT(w.writes, Not(Contains(HasSubstr("acquire"))));
    w.ghosts_bind = true;
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1 c:2");
}

TEST_P(claims, a_place_that_cannot_be_used_is_not_held) {
    w.ghosts_bind = false;
    w.add_claim("s", 2, {"a", "b"});
    w.settle();
    const auto ready = [&](std::string_view reason) {
        w.edit(w.testbeds, {"ns", "s"}, [&](model::testbed& of) {
            model::set_condition(of.status.conditions, "Ready", "True", reason, "", 1, w.now);
        });
        // The testbed operator would report it again.
        auto& live = w.memory[{"ns", "s"}];
        live = {};
        while (w.step_of({"ns", "s"})) {
        }
    };
    ready("SomeSlotsUsable");
    EXPECT_EQ(w.reason("s"), "ClaimWaiting");
    EXPECT_TRUE(w.t("s").hold().empty());
    ready("AllSlotsUsable");
    EXPECT_FALSE(w.t("s").hold().empty());
}

TEST_P(claims, what_somebody_has_to_mend_first_is_told_apart) {
    w.room = 0;
    w.add_claim("s", 1, {"a"});
    w.settle();
    for (const char* reason : {"NeverFits", "PriorityClassMissing", "Disabled"}) {
        w.edit(w.testbeds, {"ns", "s"}, [&](model::testbed& of) {
            model::set_condition(of.status.conditions, "Formed", "False", reason, "so", 1, w.now);
        });
        w.memory.clear();
        w.step_of({"ns", "s"});
        EXPECT_EQ(w.reason("s"), "ClaimRefused");
        EXPECT_EQ(message("s"), fmt::format("Testbed ns/s is not formed ({}): so", reason));
    }
}

TEST_P(claims, it_is_made_only_while_all_jobs_could_be_acquired) {
    w.add_claim("s", 2, {"a", "late"});
    w.settle();
    EXPECT_FALSE(has_testbed("s"));
    EXPECT_EQ(w.reason("s"), "JobMissing");
    EXPECT_THAT(message("s"), Not(HasSubstr("Testbed")));
    w.add_job("late");
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 late:1");
}

TEST_P(claims, a_plan_that_wants_more_than_the_claim_has_is_wrong_before_anything_is_made) {
    w.add_claim("s", 2, {"a", "a", "a"});
    w.settle();
    EXPECT_FALSE(has_testbed("s"));
    EXPECT_EQ(w.reason("s"), "TooManySlots");
    EXPECT_EQ(w.s("s").status.problems.at(0), "BatchJob ns/a needs 3 slots, the Testbed has 2");
    w.set_queue("s", {"a", "a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,1");
}

TEST_P(claims, more_places_than_a_claim_may_have_are_told_before_anything_is_made) {
    w.add_claim("s", 600, {"a"});
    w.change("s",
             [](auto& spec) { spec.claim->shapes.push_back({"more", "worker", 401, {}, {}}); });
    w.settle();
    EXPECT_EQ(w.reason("s"), "TooManyPlaces");
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_FALSE(has_testbed("s"));
}

TEST_P(claims, priority_and_suspend_are_kept_up) {
    w.room = 0;
    w.add_claim("s", 1, {"a"});
    w.settle();
    w.change("s", [](auto& spec) { spec.priority = 12; });
    w.settle();
    EXPECT_EQ(claim_of("s").priority, 12);
    w.change("s", [](auto& spec) { spec.suspend = true; });
    w.settle();
    EXPECT_TRUE(claim_of("s").suspend);
    EXPECT_EQ(w.reason("s"), "Suspended");
    w.room = 5;
    w.settle();
    EXPECT_FALSE(w.t("s").status.layout);
    w.change("s", [](auto& spec) { spec.suspend = false; });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
    EXPECT_FALSE(claim_of("s").suspend);
    EXPECT_TRUE(w.t("s").metadata.annotation(names_of::unused_since).empty());
    w.change("s", [](auto& spec) {
        spec.priority = -4;
        spec.suspend = true;
    });
    w.settle();
    EXPECT_EQ(claim_of("s").priority, 12) << "that of the ghosts that its places have";
    EXPECT_TRUE(claim_of("s").suspend);
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(claims, a_suspended_scheduling_makes_none) {
    w.add_claim("s", 1, {"a"});
    w.change("s", [](auto& spec) { spec.suspend = true; });
    w.settle();
    EXPECT_FALSE(has_testbed("s"));
}

// --- names ---

TEST_P(claims, a_testbed_of_that_name_that_is_not_its_own_is_never_touched) {
    w.add_testbed("s", 1, 1);
    w.add_claim("s", 1, {"a"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "NameTaken");
    EXPECT_EQ(message("s"),
              "Testbed ns/s exists and is not the one of this claim: delete it, or create the "
              "Scheduling under another name");
    pass(seconds(100));
    w.erase_scheduling("s");
    w.settle();
    EXPECT_TRUE(has_testbed("s"));
    EXPECT_THAT(w.writes, ElementsAre("status s"));
    w.add_claim("s", 1, {"a"});
    w.settle();
    EXPECT_EQ(w.reason("s"), "NameTaken");
    w.erase_testbed({"ns", "s"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(claims, the_testbed_of_an_earlier_scheduling_of_the_name_is_left_to_the_garbage_collector) {
    w.room = 0;
    w.add_claim("s", 1, {"a"});
    w.settle();
    w.schedulings.erase({"ns", "s"});
    w.add_claim("s", 1, {"a"});
    w.memory.clear();
    w.step_of({"ns", "s"});
    EXPECT_EQ(w.reason("s"), "NameTaken");
    EXPECT_THAT(message("s"), HasSubstr("is left from an earlier Scheduling of this name"));
    w.room = 1;
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
}

TEST_P(claims, no_other_scheduling_is_granted_the_testbed) {
    w.room = 0;
    w.add_claim("s", 1, {"a"});
    w.settle();
    w.add_queue("other", "s", {"b"});
    w.settle();
    EXPECT_EQ(w.reason("other"), "TestbedOwned");
    EXPECT_EQ(
        message("other"),
        "Testbed ns/s belongs to Scheduling ns/s; no other Scheduling can hold it: delete this "
        "Scheduling, and create it with another Testbed or with a claim of its own (spec.claim)");
    w.room = 1;
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0");
    EXPECT_TRUE(is_free("b"));
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.reason("other"), "TestbedMissing") << "its places went back";
}

TEST_P(claims, not_even_one_of_higher_priority) {
    w.add_queue("other", "s", {"a"});
    w.change("other", [](auto& spec) { spec.priority = 100; });
    w.add_claim("s", 1, {"a"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0") << "what is not granted holds up nobody";
    EXPECT_THAT(w.reason("other"), testing::AnyOf("TestbedOwned", "TestbedMissing"));
}

// --- places that are not used ---

TEST_P(claims, places_that_wait_for_something_else_go_back_after_a_minute) {
    w.ghosts_bind = false;
    w.add_claim("s", 2, {"a", "b"});
    w.settle();
    ASSERT_TRUE(w.t("s").status.layout);
    set_state("b", "FailedState");
    w.settle();
    EXPECT_EQ(w.reason("s"), "JobFailed");
    EXPECT_TRUE(claim_of("s").suspend) << "it stands in no order meanwhile";
    EXPECT_TRUE(w.again_in);
    pass(seconds(50));
    EXPECT_TRUE(has_testbed("s"));
    pass(seconds(11));
    EXPECT_FALSE(has_testbed("s"));
    EXPECT_EQ(w.room, 100);
    EXPECT_EQ(w.reason("s"), "JobFailed");
    pass(seconds(600));
    EXPECT_FALSE(has_testbed("s"));
    w.ghosts_bind = true;
    set_state("b", "ReadyState");
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0 b:1") << "it is made anew";
}

TEST_P(claims, places_stay_when_the_way_is_free_again_in_time) {
    w.ghosts_bind = false;
    w.add_claim("s", 2, {"a", "b"});
    w.settle();
    set_state("b", "FailedState");
    w.settle();
    pass(seconds(50));
    set_state("b", "ReadyState");
    w.settle();
    EXPECT_FALSE(claim_of("s").suspend);
    pass(seconds(300));
    set_state("b", "FailedState");
    w.settle();
    pass(seconds(50));
    EXPECT_TRUE(has_testbed("s")) << "the minute begins anew";
    EXPECT_THAT(w.writes, Not(Contains("return s")));
}

TEST_P(claims, a_claim_without_places_keeps_its_age_while_something_else_is_in_the_way) {
    w.room = 0;
    w.add_claim("s", 2, {"a", "b"});
    w.settle();
    const auto uid = w.t("s").metadata.uid;
    set_state("b", "FailedState");
    w.settle();
    EXPECT_TRUE(claim_of("s").suspend);
    w.room = 10;
    pass(seconds(600));
    EXPECT_FALSE(w.t("s").status.layout) << "it stands in no order";
    set_state("b", "ReadyState");
    w.settle();
    EXPECT_EQ(w.t("s").metadata.uid, uid);
    EXPECT_EQ(w.running("s"), "a:0 b:1");
}

TEST_P(claims, an_annotation_that_nobody_of_esi_wrote_is_written_anew) {
    w.ghosts_bind = false;
    w.add_claim("s", 1, {"a"});
    w.settle();
    for (const char* text : {"long ago", "2999-01-01T00:00:00Z", ""}) {
        set_state("a", "FailedState");
        w.edit(w.testbeds, {"ns", "s"}, [&](model::testbed& of) {
            of.metadata.annotations[std::string(names_of::unused_since)] = text;
        });
        w.settle();
        EXPECT_EQ(w.t("s").metadata.annotation(names_of::unused_since),
                  model::timestamp{w.now}.whole_seconds());
        EXPECT_TRUE(has_testbed("s"));
    }
}

// --- the order among those that wait ---

TEST_P(claims, of_two_that_want_one_job_the_older_one_makes_its_claim_first) {
    w.room = 0;
    w.add_claim("old", 1, {"a"});
    w.add_claim("young", 1, {"a"});
    w.memory.clear();
    while (w.step_of({"ns", "young"})) {
    }
    EXPECT_FALSE(has_testbed("young"));
    EXPECT_EQ(w.reason("young"), "OlderFirst");
    w.step_of({"ns", "old"});
    ASSERT_TRUE(has_testbed("old"));
    w.memory.clear();
    while (w.step_of({"ns", "young"})) {
    }
    EXPECT_FALSE(has_testbed("young")) << "nobody has said yet that the older one has to wait";
    w.settle();
    EXPECT_EQ(w.reason("old"), "ClaimWaiting");
    EXPECT_TRUE(has_testbed("young")) << "who waits for room holds up nobody";
    w.room = 1;
    w.settle();
    EXPECT_EQ(w.running("old") + w.running("young"), "a:0");
}

TEST_P(claims, a_higher_priority_goes_first) {
    w.add_claim("low", 1, {"a"});
    w.add_claim("high", 1, {"a"});
    w.change("high", [](auto& spec) { spec.priority = 1; });
    w.settle();
    EXPECT_EQ(w.running("high"), "a:0");
    EXPECT_EQ(w.reason("low"), "JobHeld");
    EXPECT_FALSE(has_testbed("low"));
}

TEST_P(claims, one_whose_testbed_the_api_server_refuses_holds_up_nobody) {
    w.add_claim("old", 1, {"a"});
    auto& live = w.memory[{"ns", "old"}];
    live.refused.claim = "forbidden";
    w.step_of({"ns", "old"});
    EXPECT_EQ(w.reason("old"), "ClaimRefused");
    EXPECT_EQ(message("old"),
              "Testbed ns/old cannot be made for the claim: the API server refuses it (forbidden; "
              "see the operator's log)");
    w.add_testbed("t", 1, 1);
    w.add_queue("young", "t", {"a"});
    w.memory.clear();
    while (w.step_of({"ns", "young"})) {
    }
    EXPECT_FALSE(w.t("t").hold().empty());
}

TEST_P(claims, an_older_claim_without_room_does_not_keep_a_job_from_a_testbed_with_labels) {
    w.room = 0;
    w.add_claim("old", 1, {"a"});
    w.settle();
    w.add_testbed("t", 1, 1);
    w.add_queue("young", "t", {"a"});
    w.settle();
    EXPECT_EQ(w.running("young"), "a:0");
    EXPECT_EQ(w.reason("old"), "JobHeld");
    EXPECT_TRUE(claim_of("old").suspend);
}

// --- the end ---

TEST_P(claims, a_deletion_releases_first_and_leaves_the_testbed_to_the_garbage_collector) {
    w.add_claim("s", 2, {"a", "b"});
    w.settle();
    w.writes.clear();
    w.erase_scheduling("s");
    w.settle();
    EXPECT_TRUE(w.schedulings.empty());
    EXPECT_TRUE(w.testbeds.empty());
    EXPECT_THAT(w.writes, Contains("unhold s by s"));
    EXPECT_THAT(w.writes, Not(Contains("return s")));
    w.expect_nothing_left();
}

TEST_P(claims, one_that_waits_goes_at_once) {
    w.room = 0;
    w.add_claim("s", 2, {"a", "b"});
    w.settle();
    w.erase_scheduling("s");
    w.settle();
    EXPECT_TRUE(w.schedulings.empty());
    EXPECT_TRUE(w.testbeds.empty());
}

TEST_P(claims, a_lost_hold_gives_the_places_back) {
    w.add_claim("s", 1, {"a"});
    w.settle();
    w.drop_hold({"ns", "s"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.reason("s"), "HoldLost");
    EXPECT_FALSE(has_testbed("s"));
}

TEST_P(claims, what_a_late_leader_makes_after_the_end_is_given_back) {
    w.add_claim("s", 1, {"a"});
    w.settle();
    const auto made = w.testbeds.at({"ns", "s"});
    w.end_job("a");
    w.settle();
    ASSERT_FALSE(has_testbed("s"));
    auto late = *made;
    late.metadata.uid = "uid-late";
    late.metadata.labels.clear();
    late.metadata.annotations.clear();
    late.status = {};
    w.testbeds[{"ns", "s"}] = std::make_shared<const model::testbed>(std::move(late));
    w.settle();
    EXPECT_FALSE(has_testbed("s"));
    EXPECT_EQ(w.s("s").status.state, "FinishedState");
}

TEST_P(claims, a_testbed_that_is_not_its_own_any_more_is_not_touched_at_the_end) {
    w.add_claim("s", 1, {"a"});
    w.settle();
    w.edit(w.testbeds, {"ns", "s"},
           [](model::testbed& of) { of.metadata.owner_references.clear(); });
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "FinishedState");
    EXPECT_TRUE(has_testbed("s"));
    EXPECT_TRUE(w.t("s").hold().empty());
}

TEST_P(claims, places_stay_while_a_job_waits_for_its_next_attempt_or_its_turn) {
    w.add_claim("s", 2, {"a", "a", "b", "b"});
    w.change("s", [](auto& spec) { spec.job_policies = {{{"", "a"}, 1, 30}}; });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:0,1");
    w.end_job("a", "FailedState");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:0,1");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.running("s"), "");
    EXPECT_TRUE(has_testbed("s")) << "a is tried again";
    pass(seconds(31));
    EXPECT_EQ(w.running("s"), "a:0,1");
    EXPECT_THAT(w.writes, Not(Contains("return s")));
    w.end_job("a");
    w.settle();
    EXPECT_THAT(w.writes, Contains("return s"));
    EXPECT_EQ(w.s("s").status.progress->summary, "2/2");
}

TEST_P(claims, a_scheduling_that_cannot_be_read_makes_nothing_and_gives_back_what_it_does_not_use) {
    w.ghosts_bind = false;
    w.add_claim("s", 1, {"a"});
    w.settle();
    w.edit(w.schedulings, {"ns", "s"},
           [](model::scheduling& of) { of.metadata.undecodable = ".spec.x nests too deep"; });
    w.settle();
    EXPECT_EQ(w.reason("s"), "Undecodable");
    pass(seconds(61));
    EXPECT_FALSE(has_testbed("s"));
}

TEST_P(claims, an_outlook_says_that_the_claim_comes_first) {
    w.add_claim("s", 1, {"a"});
    live_facts live;
    const auto ahead = outlook_of(w.look({"ns", "s"}, live), w.now);
    ASSERT_EQ(ahead.blockers.size(), 1u);
    EXPECT_EQ(ahead.blockers[0].reason, "ClaimWaiting");
    EXPECT_EQ(ahead.blockers[0].text, "Testbed ns/s has to be made for the claim first");
    EXPECT_EQ(ahead.blockers[0].about.key, (object_key{"ns", "s"}));
}

}  // namespace
}  // namespace esi::scheduling
