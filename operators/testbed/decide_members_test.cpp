// Pods that have a slot, and pods that only claim to have one.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

TEST(decide, strangers_that_pretend_are_told_why_and_get_nothing) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "forged", 0);
    at.jobs[0].status.placements.clear();
    pod.metadata.annotations[std::string(names::slot)] = "0";
    EXPECT_EQ(at.actions(), lines{});
    ASSERT_EQ(at.decide().notes.size(), 1u);
    EXPECT_THAT(at.decide().notes[0].text, HasSubstr("was not given to it"));
    pod.metadata.annotations[std::string(names::run)] = "sched.99.1";
    EXPECT_THAT(at.decide().notes[0].text, HasSubstr("not of the present hold"));
    pod.metadata.annotations.erase(std::string(names::run));
    EXPECT_THAT(at.decide().notes[0].text, HasSubstr("carries no run"));
    pod.metadata.annotations = {{std::string(names::run), "sched.100.0"}};
    EXPECT_THAT(at.decide().notes[0].text, HasSubstr("not the present one of a BatchJob"));
    pod.metadata.annotations = {{std::string(names::run), "sched.100.1"}};
    EXPECT_TRUE(at.decide().notes.empty()) << "waits for its placement";
    pod.metadata.annotations.clear();
    // Told once.
    at.known.told[at.decide().notes[0].subject] = at.decide().notes[0].text;
    EXPECT_TRUE(at.decide().notes.empty());
}

TEST(decide, a_pod_that_says_it_was_let_in_is_not_believed) {
    // It copies run, slot and node of the real pod, and has no gate.
    auto at = held_with_job({0});
    auto& real = at.placed(at.jobs[0], "exec-1", 0);
    auto forged = real;
    forged.metadata.name = "forged";
    forged.metadata.uid = "uid-forged";
    world::let_in(forged, 0, "node-a", false);
    at.pods.push_back(forged);
    at.jobs[0].status.placements.clear();
    EXPECT_EQ(at.actions(), lines{}) << "the ghost stays";
    ASSERT_EQ(at.decide().notes.size(), 1u);
    EXPECT_THAT(at.decide().notes[0].text, HasSubstr("forged gets no slot"));
    at.jobs[0].spec.creation_request->slot_ids = {1};
    EXPECT_EQ(at.states(), "FREE RESERVED") << "nor does it keep a slot closed";
    at.jobs[0].spec.creation_request->slot_ids = {0};
    at.known.let_in_since["uid-forged"] = at.now - seconds(20);
    at.nodes["node-a"].unschedulable = true;
    EXPECT_EQ(at.actions(), lines{}) << "it is nobody's to delete";
}

TEST(decide, nobody_keeps_a_slot_closed_by_naming_it) {
    auto at = held_with_job({0});
    auto forged = at.placed(at.jobs[0], "exec-1", 0);
    forged.metadata.name = "forged";
    forged.metadata.uid = "uid-forged";
    forged.metadata.annotations[std::string(names::run)] = "any.thing.1";
    world::let_in(forged, 0, "node-a", false);
    at.pods.push_back(forged);
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"});
}

TEST(decide, a_bound_pod_that_names_a_slot_elsewhere_takes_room_like_any_other) {
    world at{{"node-a"}};
    auto& pod = at.stranger("liar", "node-a", "900m");
    pod.metadata.labels = {{std::string(names::testbed), "tb"},
                           {std::string(names::testbed_namespace), "default"}};
    pod.metadata.annotations = {{std::string(names::run), "x.y.1"},
                                {std::string(names::slot), "77"},
                                {std::string(names::slot_node), "node-a"}};
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << "1100m are left: one slot";
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0],
                HasSubstr("default/liar (900m cpu)"));
}

/// A job pod bound in slot 0 of node-a, in place of its ghost.
world with_bound_pod() {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(at.pods.back(), 0, "node-a");
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    return at;
}

TEST(members, a_pod_of_a_released_job_keeps_its_slot_until_it_has_gone) {
    auto at = with_bound_pod();
    at.jobs[0].spec.creation_request.reset();
    at.jobs[0].status.state = "PendingDeletion";
    EXPECT_EQ(at.states(), "OCCUPIED FREE");
    at.pods.back().metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.states(), "OCCUPIED FREE");
    at.pods.pop_back();
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"});
}

TEST(members, the_row_of_its_slot_keeps_a_pod_whose_job_is_gone) {
    auto at = with_bound_pod();
    at.testbed.status.slots = at.decide().status.slots;
    at.jobs.clear();
    EXPECT_EQ(at.states(), "OCCUPIED FREE");
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << "the next ghost stands at the door";
    at.testbed.status.slots.clear();
    EXPECT_EQ(at.states(), "RESERVED FREE") << "nobody has recorded it there";
}

TEST(members, a_bound_pod_that_claims_a_slot_closes_none) {
    for (const char* run : {"sched.100.1", "sched.99.1", "sched.100.7"}) {
        for (const char* ns : {"default", "other"}) {
            world at{{"node-a"}};
            at.all_ghosts();
            at.hold();
            auto& forged = at.stranger("forged", "node-a", "1m");
            forged.metadata.namespace_ = ns;
            forged.metadata.labels = {{std::string(names::testbed), "tb"},
                                      {std::string(names::testbed_namespace), "default"},
                                      {std::string(names::job), "j"}};
            forged.metadata.annotations = {{std::string(names::run), run}};
            world::let_in(forged, 0, "node-a");
            EXPECT_EQ(at.states(), "FREE FREE") << run << " in " << ns;
            at.job("j", {0});
            at.placed(at.jobs[0], "exec-1", 0);
            EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"}) << run << " in " << ns;
        }
    }
}

TEST(members, one_that_takes_the_room_of_a_slot_is_a_stranger_in_it) {
    world at{{"node-a"}};
    auto& forged = at.stranger("forged", "node-a", "900m");
    forged.metadata.labels = {{std::string(names::testbed), "tb"},
                              {std::string(names::testbed_namespace), "default"}};
    forged.metadata.annotations = {{std::string(names::run), "sched.100.1"}};
    world::let_in(forged, 0, "node-a");
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << "1100m are left: one slot";
    EXPECT_EQ(at.states(), "RESERVED ERROR");
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0],
                HasSubstr("default/forged (900m cpu)"));
}

TEST(members, what_runs_keeps_its_slot_when_its_scheduling_has_gone) {
    for (const bool bound : {true, false}) {
        world at{{"node-a"}};
        at.hold();
        at.job("j", {0});
        world::let_in(at.placed(at.jobs[0], "exec-1", 0), 0, "node-a", bound);
        at.ghost("node-a", 1);
        EXPECT_EQ(at.actions(), lines{}) << bound;
        at.unassigned = {"j"};
        EXPECT_EQ(at.actions(), lines{}) << bound << ": nobody has ended the run";
        at.jobs[0].spec.creation_request.reset();
        EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << bound;
    }
}

TEST(members, an_order_that_no_scheduling_gave_holds_no_slot) {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0);
    at.unassigned = {"a-forger"};
    auto& forged = at.job("a-forger", {0, 1}, "sched.100.999");
    at.placed(forged, "exec-2", 1);
    std::swap(at.jobs[0], at.jobs[1]);
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"}) << "though its name comes first";
    EXPECT_EQ(at.states(), "RESERVED FREE");
    at.unassigned = {"j", "a-forger"};
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "FREE FREE");
}

TEST(members, an_order_with_other_slots_than_were_assigned_holds_none) {
    auto at = held_with_job({0});
    auto given = at.see();
    auto job = at.jobs[0];
    EXPECT_TRUE(has_right(job, given));
    job.spec.creation_request->slot_ids = {1};
    EXPECT_FALSE(has_right(job, given));
    job = at.jobs[0];
    job.spec.creation_request->run = "sched.100.2";
    EXPECT_FALSE(has_right(job, given));
    job = at.jobs[0];
    job.metadata.uid = "another-of-the-name";
    EXPECT_FALSE(has_right(job, given));
    EXPECT_FALSE(has_right(at.jobs[0], at.testbed, nullptr));
}

}  // namespace
}  // namespace esi::testbed::tests
