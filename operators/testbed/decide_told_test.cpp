// What kubectl get, kstatus and Events say.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

TEST(told, one_word_says_what_somebody_should_look_at_and_none_when_all_is_well) {
    struct row {
        const char* reason;
        void (*change)(world&);
        const char* message;
    };
    const std::vector<row> rows{
        {"", [](world&) {}, ""},
        {"", [](world& at) { at.pods.pop_back(); }, ""},
        {"NodesOutOfUse", [](world& at) { at.nodes["node-b"].unschedulable = true; },
         "node-b: the node is cordoned: kubectl uncordon node-b"},
        {"NodesOutOfUse",
         [](world& at) {
             for (auto& [name, node] : at.nodes) node.ready = false;
         },
         "node-a: the node is not ready: kubectl describe node node-a; 2 more nodes have no usable "
         "slot, see nodeProblems"},
        {"NotEnoughRoom",
         [](world& at) {
             at.pods.pop_back();
             at.nodes["node-a"].unschedulable = true;
             at.stranger("fat", "node-c", "1");
         },
         "1 of 6 slots has no room: node-c: room for 1 of 2 slots: 200m cpu missing (2 slots need "
         "1200m, others take 1 of 2); largest consumers: default/fat (1 cpu)"},
        {"NotEnoughRoom",
         [](world& at) {
             at.pods.clear();
             at.stranger("fat-b", "node-b", "1");
             at.stranger("fat-c", "node-c", "2");
         },
         "3 of 6 slots have no room: node-b: room for 1 of 2 slots: 200m cpu missing (2 slots need "
         "1200m, others take 1 of 2); largest consumers: default/fat-b (1 cpu); 1 more node has "
         "too little room, see nodeProblems"},
        {"NodeProblems",
         [](world& at) {
             at.hold();
             at.add_node("node-d", "x");
         },
         "node-d: label tuberlin.de/slots=x is not an integer from 0: the node has no slots; "
         "kubectl label --overwrite node node-d tuberlin.de/slots=NUMBER"},
        {"GhostsFail", [](world& at) { at.pods[0].reason = "CrashLoopBackOff"; },
         "1 of 6 slots has a ghost that does not run: container does not keep running "
         "(node-a); the room is held all the same; set --ghost-image (ghost.image of the chart) to "
         "one that the nodes can have"},
        {"SpecInvalid", [](world& at) { at.testbed.spec.slots_per_node = 111; },
         "spec.slotsPerNode is 111; it must be 1 to 110: kubectl -n default edit testbed tb"},
        {"Undecodable",
         [](world& at) { at.testbed.metadata.undecodable = ".spec: is not an object"; },
         "ESI cannot read the object, and leaves it as it is: .spec: is not an object: kubectl -n "
         "default edit testbed tb"},
        {"WaitsForRelease",
         [](world& at) {
             at.hold();
             at.testbed.spec.slots_per_node = 3;
         },
         "waits for the release by Scheduling default/s: slotsPerNode 2 would become 3"},
        {"WaitsForRelease",
         [](world& at) {
             at.hold();
             at.testbed.metadata.deletion_timestamp.emplace();
         },
         "deletion waits for the release by Scheduling default/s: it ends, or kubectl -n default "
         "delete scheduling s"},
        {"OrdersDisputed",
         [](world& at) {
             at.hold();
             at.job("j", {0});
             at.job("k", {0}, "sched.100.2");
         },
         "slot 0 is given to default/j and to default/k: the second waits"},
        {"NotTainted",
         [](world& at) {
             at.testbed.spec.isolation = "Taint";
             at.known.meets("node-b", "taint not changed", errc::forbidden, "no");
         },
         "without the taint: node-a, node-b, node-c; taint not changed: no"},
        {"", [](world& at) { at.testbed.spec.isolation = "Taint"; }, ""},
    };
    for (const auto& row : rows) {
        world at;
        at.all_ghosts();
        row.change(at);
        const auto status = at.decide().status;
        EXPECT_EQ(status.reason, row.reason) << row.message;
        EXPECT_EQ(status.message, row.message);
    }
    world none{std::vector<std::string>{}};
    EXPECT_EQ(none.decide().status.reason, "NoNodes");
    EXPECT_EQ(none.decide().status.message,
              "no node carries the label tuberlin.de/slots: kubectl label node NODE "
              "tuberlin.de/slots=0");
}

TEST(told, a_testbed_of_one_slot_is_spoken_of_in_the_singular) {
    world at{{"node-a"}};
    at.testbed.spec.slots_per_node = 1;
    at.testbed.status.layout->slots_per_node = 1;
    EXPECT_EQ(at.condition("Ready").message, "a ghost is under way in 1 of 1 slot");
    at.ghost("node-a", 0);
    EXPECT_EQ(at.condition("Ready").message, "1 slot can be used");
    at.pods.clear();
    at.stranger("fat", "node-a", "2");
    EXPECT_EQ(
        at.condition("Ready").message,
        "no slot can be used: 1 of 1 slot has no room: node-a: room for 0 of 1 slot: 600m cpu "
        "missing (1 slot needs 600m, others take 2 of 2); largest consumers: default/fat (2 "
        "cpu)");
    at.testbed.status.layout.reset();
    EXPECT_EQ(at.decide().notes.at(0).text, "layout 1: 1 node, 1 slot");
}

/// "Stalled SpecInvalid", of those that kstatus reads.
lines for_kstatus(const world& at) {
    lines out;
    for (const auto& each : at.decide().status.conditions) {
        if (each.type != "Stalled" && each.type != "Reconciling") continue;
        EXPECT_EQ(each.status, "True");
        EXPECT_EQ(each.observed_generation, at.testbed.metadata.generation);
        out.push_back(each.type + " " + each.reason);
    }
    return out;
}

TEST(told, kstatus_finds_reconciling_while_ghosts_come_and_stalled_until_somebody_mends_it) {
    world at;
    EXPECT_EQ(for_kstatus(at), lines{"Reconciling GhostsUnderWay"});
    at.testbed.status = at.decide().status;
    at.all_ghosts();
    EXPECT_EQ(for_kstatus(at), lines{}) << "both are absent when all is well";
    at.testbed.spec.slots_per_node = 0;
    at.pods.pop_back();
    EXPECT_EQ(for_kstatus(at), lines{"Stalled SpecInvalid"}) << "not both";
    at.testbed.status = at.decide().status;
    at.wall = at_second(200);
    EXPECT_EQ(at.decide().status.conditions, at.testbed.status.conditions)
        << "nothing is written at rest";
    at.testbed.spec.slots_per_node = 2;
    EXPECT_EQ(for_kstatus(at), lines{"Reconciling GhostsUnderWay"});
    at.testbed.metadata.undecodable = ".spec: is not an object";
    EXPECT_EQ(for_kstatus(at), lines{"Stalled Undecodable"});
    world unnumbered{std::vector<std::string>{}};
    EXPECT_EQ(for_kstatus(unnumbered), lines{}) << "nodes may come";
    unnumbered.add_node("node-x", "first");
    EXPECT_EQ(for_kstatus(unnumbered), lines{"Stalled NodeProblems"});
    world held;
    held.all_ghosts();
    held.hold();
    held.testbed.spec.slots_per_node = 3;
    EXPECT_EQ(for_kstatus(held), lines{}) << "the release brings it on";
}

TEST(told, a_node_without_room_is_one_event_whatever_comes_and_goes_there) {
    world at;
    at.stranger("fat", "node-b", "2");
    const auto notes = at.decide().notes;
    EXPECT_EQ(reasons(at.decide()), lines{"SlotWithoutRoom"}) << "for both slots";
    EXPECT_TRUE(notes.at(0).warning);
    EXPECT_THAT(notes.at(0).text, HasSubstr("node node-b has too little room for its 2 slots"));
    at.known.told[notes.at(0).subject] = notes.at(0).text;
    at.stranger("passer-by", "node-b", "100m");
    EXPECT_EQ(reasons(at.decide()), lines{});
    at.nodes["node-b"].ready = false;
    EXPECT_EQ(reasons(at.decide()), lines{});
    EXPECT_TRUE(at.decide().subjects.contains(notes.at(0).subject)) << "it is still told";
    at.nodes["node-b"].ready = true;
    at.pods.clear();
    const auto over = at.decide().notes;
    ASSERT_EQ(reasons(at.decide()), lines{"SlotsHaveRoom"});
    EXPECT_FALSE(over.at(0).warning);
    EXPECT_EQ(over.at(0).text, "node node-b has the room for its 2 slots again");
    at.known.told[over.at(0).subject] = over.at(0).text;
    EXPECT_EQ(reasons(at.decide()), lines{});
}

TEST(told, what_only_people_can_end_is_a_warning_and_told_once) {
    struct row {
        const char* reason;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"SpecInvalid", [](world& at) { at.testbed.spec.resources_per_slot.erase("cpu"); }},
        {"Undecodable", [](world& at) { at.testbed.metadata.undecodable = "x"; }},
        {"NodeWithoutNumber",
         [](world& at) {
             at.hold();
             at.add_node("node-d", "1e9");
         }},
        {"WaitsForRelease",
         [](world& at) {
             at.hold();
             at.testbed.metadata.deletion_timestamp.emplace();
         }},
    };
    for (const auto& row : rows) {
        world at;
        at.all_ghosts();
        row.change(at);
        const auto decided = at.decide();
        ASSERT_EQ(reasons(decided), lines{row.reason});
        EXPECT_TRUE(decided.notes[0].warning) << row.reason;
        EXPECT_EQ(decided.notes[0].holder != nullptr, row.reason == std::string("WaitsForRelease"));
        at.known.told[decided.notes[0].subject] = decided.notes[0].text;
        EXPECT_EQ(reasons(at.decide()), lines{}) << row.reason;
    }
    EXPECT_EQ(reasons(world{std::vector<std::string>{}}.decide()), lines{"NoNodes"});
}

TEST(told, what_runs_and_what_only_comes_first_are_told_apart) {
    world at{{"node-a"}};
    at.others = {world::make_testbed("big", "old-uid", 5)};
    at.others[0].spec.slots_per_node = 14;
    at.stranger("fat", "node-a", "500m");
    const auto told = [&] { return at.decide().status.node_problems["node-a"].at(0); };
    EXPECT_THAT(told(),
                testing::StartsWith("room for 0 of 2 slots: 8100m cpu missing (2 slots need 1200m, "
                                    "others take 500m of 2, slots that come first need 8400m)"));
    EXPECT_THAT(told(), testing::EndsWith("; largest consumers: default/fat (500m cpu); older, and "
                                          "first: 14 slots of testbed default/big (8400m cpu)"));
    ghosts_of(at, at.others[0], "b");
    EXPECT_THAT(told(), HasSubstr("others take 1100m of 2, slots that come first need 7800m)"));
    EXPECT_THAT(told(), testing::EndsWith(
                            "; largest consumers: testbed default/big (600m cpu), default/fat "
                            "(500m cpu); older, and first: 13 slots of testbed default/big "
                            "(7800m cpu)"));
    at.others[0].metadata.namespace_ = "secret";
    at.pods.back().metadata.namespace_ = "secret";
    at.pods.back().metadata.labels[std::string(names::testbed_namespace)] = "secret";
    EXPECT_THAT(told(), testing::EndsWith("13 slots of testbeds of other namespaces (7800m cpu)"));
    EXPECT_THAT(told(), testing::Not(HasSubstr("secret")));
    at.others.push_back(world::make_testbed("other", "older-uid", 4));
    at.others[1].metadata.namespace_ = "secret";
    at.others[1].spec.resources_per_slot = resources("100m", "1Mi");
    EXPECT_THAT(told(), testing::EndsWith("15 slots of testbeds of other namespaces (8 cpu)"))
        << "each Testbed by its own slots";
}

TEST(told, nodes_that_another_testbed_has_too_are_named_and_it_where_it_may_be) {
    world at;
    at.all_ghosts();
    at.others = {world::make_testbed("new", "new-uid", 20),
                 world::make_testbed("far", "far-uid", 5)};
    at.others[1].metadata.namespace_ = "secret";
    for (auto& other : at.others) other.spec.node_label = "other/slots";
    EXPECT_EQ(at.decide().status.message, "");
    at.others[0].status.layout = at.testbed.status.layout;
    at.others[0].status.layout->nodes.pop_back();
    at.others[1].status.layout = at.testbed.status.layout;
    at.others[1].status.layout->nodes.resize(1);
    at.nodes["node-a"].allocatable["cpu"] = 4000;
    const auto status = at.decide().status;
    EXPECT_EQ(status.reason, "") << "there is room for all";
    EXPECT_EQ(status.message,
              "node-a, node-b are also of Testbed default/new (younger); node-a is also of a "
              "Testbed of another namespace");
    EXPECT_EQ(at.condition("CapacitySufficient").message,
              "every slot has its room; " + status.message);
    at.others[0].metadata.deletion_timestamp.emplace();
    at.others[1].status.layout.reset();
    EXPECT_EQ(at.decide().status.message, "");
}

}  // namespace
}  // namespace esi::testbed::tests
