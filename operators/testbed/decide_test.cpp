// A Testbed from its creation to its deletion.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

TEST(decide, a_new_testbed_gets_its_finalizer_then_its_layout_then_ghosts) {
    world at;
    at.testbed.metadata.finalizers.clear();
    at.testbed.status = {};
    EXPECT_EQ(at.actions(), lines{"set finalizer"});
    at.testbed.metadata.finalizers = {std::string(names::testbed_finalizer)};
    EXPECT_EQ(at.actions(), lines{"layout 1: node-a=0 node-b=1 node-c=2"});
    at.testbed.status = at.decide().status;
    EXPECT_EQ(at.actions(), (lines{"create 0 node-a/0", "create 1 node-b/0", "create 2 node-c/0",
                                   "create 3 node-a/1", "create 4 node-b/1", "create 5 node-c/1"}));
    EXPECT_EQ(at.states(), "RESERVED RESERVED RESERVED RESERVED RESERVED RESERVED");
    EXPECT_EQ(at.decide().status.state, "IN_PROGRESS");
    EXPECT_EQ(at.condition("Ready").reason, "GhostsUnderWay");
    EXPECT_EQ(at.condition("LayoutCurrent").status, "True");
}

TEST(decide, six_bound_ghosts_are_success_and_nothing_is_left_to_do) {
    world at;
    at.all_ghosts();
    auto decided = at.decide();
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "FREE FREE FREE FREE FREE FREE");
    EXPECT_EQ(decided.status.state, "SUCCESS");
    EXPECT_EQ(decided.status.counts, (model::slot_counts{3, 6, 6, 0, 0, 0}));
    EXPECT_EQ(at.condition("Ready").status, "True");
    EXPECT_EQ(at.condition("CapacitySufficient").status, "True");
    EXPECT_FALSE(decided.again);
    std::vector<std::string> places;
    for (const auto& slot : decided.status.slots) {
        places.push_back(fmt::format("{} {} {} {}", slot.position, slot.node_name, slot.node_id,
                                     slot.slot_position_on_node));
    }
    EXPECT_EQ(places, (lines{"0 node-a 0 0", "1 node-b 1 0", "2 node-c 2 0", "3 node-a 0 1",
                             "4 node-b 1 1", "5 node-c 2 1"}));
    // The same look again gives the same status: nothing is written at rest.
    at.testbed.status = decided.status;
    at.wall = at_second(200);
    EXPECT_EQ(at.decide().status.conditions, decided.status.conditions);
}

TEST(decide, no_nodes_are_success_but_not_ready) {
    world at{std::vector<std::string>{}};
    EXPECT_EQ(at.decide().status.state, "SUCCESS");
    EXPECT_EQ(at.condition("Ready").reason, "NoNodes");
}

TEST(decide, labels_of_a_holder_without_a_hold_hold_nothing) {
    world at{{"node-a"}};
    at.testbed.metadata.labels[std::string(names::active_scheduling_name)] = "s";
    at.testbed.metadata.labels[std::string(names::active_scheduling_namespace)] = "default";
    EXPECT_FALSE(is_held(at.testbed));
    at.testbed.metadata.annotations[std::string(names::hold)] = "uid.1";
    EXPECT_TRUE(is_held(at.testbed));
}

TEST(decide, deletion_waits_for_the_release_and_then_cleans_up) {
    world at{{"node-a"}};
    at.all_ghosts();
    at.hold();
    at.testbed.metadata.deletion_timestamp.emplace();
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    at.testbed.spec.isolation = "Taint";
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_THAT(at.decide().status.problems.back(), HasSubstr("Scheduling default/s"));
    at.testbed.metadata.annotations.clear();
    at.testbed.metadata.labels.clear();
    EXPECT_EQ(at.actions(), lines{"node-a untaint"});
    at.nodes["node-a"].taints.clear();
    EXPECT_EQ(at.actions(), lines{"remove finalizer"});
    at.testbed.metadata.finalizers.clear();
    EXPECT_EQ(at.actions(), lines{});
}

TEST(decide, deletion_takes_the_ghosts_along_that_nobody_else_would) {
    world at{{"node-a"}};
    at.all_ghosts();
    at.testbed.metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"remove finalizer"});
    at.pods[0].metadata.owner_references.clear();
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-0"});
    at.pods[0].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"remove finalizer"}) << "whatever keeps it is not ours";
}

TEST(decide, a_wrong_spec_is_an_error_of_the_testbed) {
    world at;
    at.all_ghosts();
    at.testbed.spec.slots_per_node = 0;
    EXPECT_EQ(at.decide().status.state, "ERROR");
    EXPECT_EQ(at.condition("Ready").reason, "SpecInvalid");
    EXPECT_EQ(at.actions(), lines{}) << "the old layout stands";
}

TEST(decide, slots_are_left_out_above_four_thousand) {
    world at{std::vector<std::string>{}};
    for (int i = 0; i < 2001; ++i) at.add_node(fmt::format("n{:05}", i), std::to_string(i));
    at.testbed.status.layout = want_layout(at.see()).layout;
    at.testbed.status.layout->revision = 1;
    auto status = at.decide().status;
    EXPECT_TRUE(status.slots.empty());
    EXPECT_EQ(status.counts->total, 4002);
    EXPECT_EQ(at.condition("SlotsListed").reason, "TooManySlots");

    auto seen = at.see();
    seen.slices_served = true;
    at.known.slice_problem = "TestbedSlotSlice x is in the way";
    status = testbed::decide(seen, at.known, at.now, at.wall).status;
    EXPECT_TRUE(status.slots.empty());
    const auto* listed = model::find_condition(status.conditions, "SlotsListed");
    ASSERT_TRUE(listed);
    EXPECT_EQ(listed->status, "False");
    EXPECT_EQ(listed->reason, "InSlices");
    EXPECT_TRUE(listed->message.ends_with("; TestbedSlotSlice x is in the way"));
}

TEST(members, a_testbed_that_cannot_be_read_is_left_as_it_is_and_told_so) {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0);
    at.testbed.metadata.undecodable = ".spec.slotsPerNode: is not a whole number";
    at.testbed.spec.slots_per_node = 0;
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.condition("Ready").reason, "Undecodable");
    EXPECT_THAT(at.condition("LayoutCurrent").message, HasSubstr("is not a whole number"));
    EXPECT_EQ(at.decide().status.layout, at.testbed.status.layout);
    at.testbed.metadata.annotations.clear();
    at.testbed.metadata.labels.clear();
    at.testbed.metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"remove finalizer"}) << "it goes like any other";
}

TEST(report_pause, big_testbeds_are_reported_twice_in_a_second_at_most) {
    model::testbed_status status;
    status.counts = model::slot_counts{100, 200, 0, 0, 0, 0};
    EXPECT_EQ(report_pause(*status.counts, false), milliseconds(0));
    status.counts->total = 201;
    EXPECT_EQ(report_pause(*status.counts, false), milliseconds(500));
    EXPECT_EQ(report_pause(*status.counts, true), milliseconds(1000));
}

}  // namespace
}  // namespace esi::testbed::tests
