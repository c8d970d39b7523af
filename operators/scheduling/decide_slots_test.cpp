// Slots and coordinator places: which are given, and which cannot be.
#include "scheduling/decide.h"

#include <gtest/gtest.h>

#include "scheduling/testing.h"

namespace esi::scheduling {
namespace {

TEST_P(driving, slots_in_error_are_given_to_nobody_though_their_ghosts_stand) {
    // Node t-1 has the slots 1 and 4 of 6.
    auto cordon = [&](bool listed) {
        w.edit(w.testbeds, {"ns", "t"}, [&](model::testbed& t) {
            // The sentences decide nothing.
            t.status.node_problems = {{"t-0", {"the node has 0.2 cpu too little"}},
                                      {"t-1", {"cordoned"}}};
            t.status.nodes_out_of_use = {1, {"t-1"}};
            t.status.slots.clear();
            for (int i = 0; listed && i < 6; ++i) {
                t.status.slots.emplace_back().position = i;
                t.status.slots.back().state = i % 3 == 1 ? "ERROR" : "FREE";
            }
        });
    };
    auto uncordon = [&] {
        w.edit(w.testbeds, {"ns", "t"}, [](model::testbed& t) {
            t.status.node_problems.clear();
            t.status.nodes_out_of_use = {0, {}};
            for (auto& slot : t.status.slots) slot.state = "FREE";
        });
    };
    for (bool listed : {true, false}) {
        cordon(listed);
        w.add_queue("s", "t", {"a", "a", "a", "b", "b"});
        w.settle();
        EXPECT_EQ(w.running("s"), "a:0,2,3");
        EXPECT_EQ(
            w.s("s").status.waiting_for,
            "BatchJob ns/b waits for more free slots: 1 of 6 are free, BatchJob ns/a has slots "
            "0, 2, 3, in ERROR are slots 1, 4 (nodeProblems of Testbed ns/t)");
        uncordon();
        w.settle();
        EXPECT_EQ(w.running("s"), "a:0,2,3 b:1,4");
        w.erase_scheduling("s");
        w.settle();

        cordon(listed);
        w.add_queue("s", "t", {});
        w.edit(w.schedulings, {"ns", "s"}, [&](model::scheduling& s) {
            s.spec.queue_based.reset();
            s.spec.slot_based = {"strict", {{{"", "a"}, {4}}}};
        });
        w.settle();
        EXPECT_EQ(w.running("s"), "");
        EXPECT_EQ(w.s("s").status.waiting_for,
                  "BatchJob ns/a waits for slot 4 (4: on node t-1, in ERROR: cordoned)");
        uncordon();
        w.settle();
        EXPECT_EQ(w.running("s"), "a:4");
        w.erase_scheduling("s");
        w.settle();
    }
}

TEST_P(driving, a_slot_outside_the_layout_is_an_error_at_acquisition) {
    w.add_queue("s", "t", {});
    w.edit(w.schedulings, {"ns", "s"}, [&](model::scheduling& s) {
        s.spec.queue_based.reset();
        s.spec.slot_based = {"strict", {{{"", "a"}, {6}}}};
    });
    w.settle();
    EXPECT_EQ(w.reason("s"), "SlotOutsideLayout");
    w.expect_nothing_left();
}

TEST_P(driving, a_job_takes_its_coordinator_place_with_its_workers_in_one_assignment) {
    w.add_claimed_testbed("c", 1, 8);
    w.add_queue("s", "c", {"a", "b", "a", "b"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:1,3,0");
    EXPECT_EQ(w.job("a").spec.creation_request->slot_ids, (std::vector{1, 3, 0}));
    EXPECT_EQ(w.job("a").spec.creation_request->replication, 2) << "executors";
    EXPECT_EQ(w.s("s").status.waiting_for,
              "BatchJob ns/b could have slots for its workers and waits for a coordinator place: "
              "slot 0 (0: BatchJob ns/a)");
    EXPECT_EQ(w.verdict("s", "SpecCurrent"), "True AsSpecified");
    w.end_job("a");
    w.settle();
    EXPECT_EQ(w.running("s"), "b:1,2,0");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.s("s").status.progress->summary, "2/2");
    w.erase_scheduling("s");
    w.settle();
    w.expect_nothing_left();
}

TEST_P(driving, jobs_start_side_by_side_where_each_has_a_coordinator_place) {
    w.add_claimed_testbed("c", 2, 4);
    w.add_queue("s", "c", {"a", "b", "b", "c", "c"});
    w.settle();
    EXPECT_EQ(w.running("s"), "a:2,0 b:3,4,1");
    EXPECT_EQ(w.s("s").status.waiting_for,
              "BatchJob ns/c waits for more free slots: 1 of 4 for workers are free, BatchJob ns/a "
              "has slots 2, 0, BatchJob ns/b has slots 3, 4, 1");
    w.end_job("b");
    w.settle();
    EXPECT_EQ(w.running("s"), "a:2,0 c:3,4,1");
}

TEST_P(driving, a_plan_that_names_a_coordinator_place_is_refused) {
    w.add_claimed_testbed("c", 1, 2);
    w.add_queue("s", "c", {});
    w.change("s", [](model::scheduling_spec& spec) {
        spec.queue_based.reset();
        spec.slot_based = {"relaxed", {{{"", "a"}, {0, 1}}}};
    });
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "Error");
    EXPECT_EQ(w.reason("s"), "SlotOfCoordinator");
    EXPECT_TRUE(w.condition("s", "Acquired").message.contains("names slot 0")) << "it says which";
    w.change("s", [](model::scheduling_spec& spec) {
        spec.slot_based->jobs = {{{"", "a"}, {2}}, {{"", "b"}, {1}}};
    });
    w.settle();
    EXPECT_EQ(w.running("s"), "a:2,0");
}

TEST_P(driving, a_testbed_without_nodes_is_waited_for) {
    w.add_testbed("empty", 0, 2);
    w.add_queue("s", "empty", {"a"});
    w.settle();
    EXPECT_EQ(w.s("s").status.state, "AcquireState");
    EXPECT_EQ(w.reason("s"), "TestbedEmpty");
}

TEST(slots, of_a_large_testbed_are_in_error_by_node) {
    model::testbed of;
    auto& layout = of.status.layout.emplace();
    layout.slots_per_node = 2;
    for (int i = 0; i < 3; ++i) layout.nodes.push_back({fmt::format("n{}", i), "u", i});
    EXPECT_EQ(grid::slots_in_error(of), std::set<int>());

    of.status.nodes_out_of_use = {2, {"gone", "n1"}};
    of.status.node_problems = {{"n0", {"the node has too little room for one slot"}}};
    EXPECT_EQ(grid::slots_in_error(of), (std::set<int>{1, 4}));
    of.status.nodes_out_of_use = {0, {}};
    EXPECT_EQ(grid::slots_in_error(of), std::set<int>()) << "no sentence takes a slot away";

    // An older testbed operator does not say which nodes are out of use: none with a problem is
    // used then.
    of.status.nodes_out_of_use.reset();
    EXPECT_EQ(grid::slots_in_error(of), (std::set<int>{0, 3}));

    // Rows say it more exactly.
    of.status.slots.emplace_back().position = 5;
    of.status.slots.back().state = "ERROR";
    EXPECT_EQ(grid::slots_in_error(of), (std::set<int>{5}));
}

}  // namespace
}  // namespace esi::scheduling
