// Room on a node: who takes it, and which of two Testbeds goes first.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

TEST(decide, a_full_node_is_named_with_the_missing_amount_and_the_consumers) {
    world at;
    at.all_ghosts();
    std::erase_if(at.pods, [](const auto& pod) { return pod.metadata.uid == "ghost-node-b-1"; });
    at.stranger("fat", "node-b", "1");
    at.stranger("thin", "node-b", "100m");
    auto decided = at.decide();
    EXPECT_EQ(at.actions(), lines{}) << "standing ghosts stay, nothing is made without room";
    EXPECT_EQ(at.states(), "FREE FREE FREE FREE ERROR FREE");
    EXPECT_EQ(decided.status.state, "SUCCESS");
    EXPECT_EQ(at.condition("CapacitySufficient").status, "False");
    ASSERT_EQ(decided.status.node_problems.size(), 1u);
    ASSERT_EQ(decided.status.node_problems["node-b"].size(), 1u);
    EXPECT_THAT(decided.status.node_problems["node-b"][0], HasSubstr("300m cpu missing"));
    EXPECT_THAT(decided.status.node_problems["node-b"][0],
                HasSubstr("default/fat (1 cpu), default/thin"));
}

TEST(decide, pods_that_have_ended_hold_no_room) {
    world at{{"node-a"}};
    at.stranger("done", "node-a", "2").phase = "Succeeded";
    at.stranger("failed", "node-a", "2").phase = "Failed";
    EXPECT_EQ(at.actions(), (lines{"create 0 node-a/0", "create 1 node-a/1"}));
}

TEST(decide, places_for_pods_are_room_too) {
    world at{{"node-a"}};
    at.nodes["node-a"].allocatable["pods"] = 2000;
    at.stranger("small", "node-a", "1m");
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"});
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0],
                HasSubstr("1 place for pods missing (2 slots need 2, others"));
}

TEST(decide, free_ghosts_give_way_to_those_of_an_older_testbed_one_at_a_time) {
    struct row {
        const char* what;
        void (*change)(world&);
        lines expected;
        const char* states;
    };
    const lines last{"remove ghost-node-a-1"};
    const std::vector<row> rows{
        {"the older one's second ghost waits", [](world&) {}, last, "FREE ERROR"},
        {"nobody waits", [](world& at) { at.pods.pop_back(); }, {}, "FREE FREE"},
        {"what waits is on its way out",
         [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); },
         {},
         "FREE FREE"},
        {"what waits is nobody's ghost",
         [](world& at) { at.pods.back().metadata.owner_references.clear(); },
         {},
         "FREE FREE"},
        {"what waits is a younger one's",
         [](world& at) {
             at.others[0].metadata.creation_timestamp = model::timestamp{at_second(20)};
         },
         {},
         "FREE FREE"},
        {"one is on its way",
         [](world& at) { at.pods[0].metadata.deletion_timestamp.emplace(); },
         {},
         "RESERVED FREE"},
        {"there is room for all",
         [](world& at) { at.nodes["node-a"].allocatable["cpu"] = 2400; },
         {},
         "FREE FREE"},
        {"the last is given to a job",
         [](world& at) {
             at.hold();
             at.job("pi", {1});
         },
         {"remove ghost-node-a-0"},
         "ERROR RESERVED"},
        {"the last is assigned and not ordered yet",
         [](world& at) {
             at.hold();
             at.assigned_ahead = {1};
         },
         {"remove ghost-node-a-0"},
         "ERROR FREE"},
        {"a pod on its way out has the room that the ghost waits for",
         [](world& at) {
             at.nodes["node-a"].allocatable["cpu"] = 2400;
             at.stranger("ends", "node-a", "600m").metadata.deletion_timestamp.emplace();
         },
         {},
         "FREE FREE"},
        {"the same pod stays",
         [](world& at) {
             at.nodes["node-a"].allocatable["cpu"] = 2400;
             at.stranger("stays", "node-a", "600m");
         },
         last, "FREE ERROR"},
        {"the older one goes",
         [](world& at) { at.others[0].metadata.deletion_timestamp.emplace(); },
         {},
         "FREE FREE"},
        {"all are given to jobs",
         [](world& at) {
             at.hold();
             at.job("pi", {0, 1});
         },
         {},
         "RESERVED RESERVED"},
    };
    for (const auto& row : rows) {
        // Room for three slots: two of the older Testbed and one.
        world at{{"node-a"}};
        at.all_ghosts();
        at.others = {world::make_testbed("old", "old-uid", 5)};
        ghosts_of(at, at.others[0], "bw");
        row.change(at);
        EXPECT_EQ(at.actions(), row.expected) << row.what;
        EXPECT_EQ(at.states(), row.states) << row.what;
    }
}

TEST(decide, the_older_testbed_has_the_right_of_way) {
    // Room for three slots, two Testbeds of two.
    world younger{{"node-a"}};
    younger.others = {world::make_testbed("old", "old-uid", 5)};
    EXPECT_EQ(younger.actions(), lines{"create 0 node-a/0"}) << "1200m of 2 are the older's";
    EXPECT_THAT(younger.decide().status.node_problems["node-a"][0],
                HasSubstr("testbed default/old (1200m cpu)"));

    world older{{"node-a"}};
    older.others = {world::make_testbed("new", "new-uid", 20)};
    ghosts_of(older, older.others[0], "bb");
    EXPECT_EQ(older.actions(), (lines{"create 0 node-a/0", "create 1 node-a/1"}))
        << "the younger's ghosts are ignored";
}

TEST(decide, a_ghost_without_room_stays_at_the_door_while_the_older_testbed_lacks_nothing) {
    struct row {
        const char* what;
        void (*change)(world&);
        lines expected;
    };
    const lines goes{"remove ghost-node-a-1"};
    const std::vector<row> rows{
        {"both slots of the older one have their ghosts", [](world&) {}, {}},
        {"in one of them is a job pod that its status names",
         [](world& at) {
             auto& old = at.others[0];
             auto& ghost = at.pods[2];
             ghost.metadata.labels.erase(std::string(names::ghost));
             ghost.metadata.annotations = {{std::string(names::slot), "0"}};
             auto& row = old.status.slots.emplace_back();
             row.state = "OCCUPIED";
             row.pod_u_id = "old-uid-0";
         },
         {}},
        {"a ghost of the older one is missing", [](world& at) { at.pods.pop_back(); }, goes},
        {"a ghost of the older one is at the door",
         [](world& at) { at.pods.back().node_name = ""; }, goes},
        {"a ghost of the older one has ended", [](world& at) { at.pods.back().phase = "Failed"; },
         goes},
        {"the older one has no ghosts yet",
         [](world& at) { at.pods.erase(at.pods.begin() + 2, at.pods.begin() + 4); }, goes},
    };
    for (const auto& row : rows) {
        // Room for four slots, two of each Testbed; a pod of others is in the last one.
        world at{{"node-a"}};
        at.nodes["node-a"].allocatable["cpu"] = 2400;
        at.ghost("node-a", 0);
        at.ghost("node-a", 1, false).nominated_node_name = "node-a";
        at.others = {world::make_testbed("old", "old-uid", 5)};
        ghosts_of(at, at.others[0], "bb");
        row.change(at);
        at.stranger("other", "node-a", "600m");
        EXPECT_EQ(at.actions(), row.expected) << row.what;
    }
}

TEST(decide, an_older_testbed_that_has_no_slots_on_a_node_is_in_nobodys_way) {
    struct row {
        const char* what;
        void (*change)(world&);
        lines expected;
    };
    const lines all{"create 0 node-a/0", "create 1 node-b/0", "create 2 node-a/1",
                    "create 3 node-b/1"};
    const lines one_each{"create 0 node-a/0", "create 1 node-b/0"};
    const std::vector<row> rows{
        {"numbers of its own", [](world&) {}, one_each},
        {"a number that is there twice",
         [](world& at) { at.nodes["node-b"].metadata.labels["old/slots"] = "0"; }, all},
        {"no number",
         [](world& at) { at.nodes["node-b"].metadata.labels["old/slots"] = "b"; },
         {"create 0 node-a/0", "create 1 node-b/0", "create 3 node-b/1"}},
        {"a spec that has no slots", [](world& at) { at.others[0].spec.slots_per_node = 0; }, all},
        {"a spec without a size",
         [](world& at) { at.others[0].spec.resources_per_slot.erase("memory"); }, all},
        {"it goes", [](world& at) { at.others[0].metadata.deletion_timestamp.emplace(); }, all},
        {"a wrong spec, but a layout that stands",
         [](world& at) {
             at.others[0].status.layout = at.testbed.status.layout;
             at.others[0].spec.slots_per_node = 0;
         },
         one_each},
    };
    for (const auto& row : rows) {
        // Room for three slots on each node.
        world at{{"node-a", "node-b"}};
        at.others = {world::make_testbed("old", "old-uid", 5)};
        at.others[0].spec.node_label = "old/slots";
        at.nodes["node-a"].metadata.labels["old/slots"] = "0";
        at.nodes["node-b"].metadata.labels["old/slots"] = "1";
        row.change(at);
        EXPECT_EQ(at.actions(), row.expected) << row.what;
    }
}

TEST(decide, standing_ghosts_are_never_deleted_for_room) {
    world at{{"node-a"}};
    at.all_ghosts();
    at.stranger("fat", "node-a", "2");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "FREE FREE");
}

TEST(decide, a_slot_into_whose_room_a_pod_beside_it_has_grown_is_not_free) {
    world at{{"node-a"}};
    at.ghost("node-a", 1);
    at.hold();
    auto& job = at.job("j", {0});
    auto& pod = at.placed(job, "j-exec-1", 0);
    world::let_in(pod, 0, "node-a");
    const auto before = at.decide().status;
    EXPECT_EQ(before.slots[1].state, "FREE");

    // Resized in place: with the ghost there is more requested than the node has.
    pod.requests["cpu"] = 1500;
    const auto after = at.decide();
    EXPECT_EQ(after.status.slots[0].state, "OCCUPIED");
    EXPECT_EQ(after.status.slots[1].state, "ERROR");
    EXPECT_EQ(after.status.reason, "NotEnoughRoom");
    EXPECT_EQ(
        after.status.node_problems.at("node-a")[0],
        "room for 1 of 2 slots: 100m cpu missing (2 slots need 1200m, others take 900m of 2); "
        "largest consumers: pod default/j-exec-1 above its slot 0 (900m cpu)");
    EXPECT_EQ(at.actions(), lines{}) << "the ghost keeps what is left of its room";

    // Grown into room that is no slot's.
    pod.requests["cpu"] = 1400;
    EXPECT_EQ(at.decide().status.slots[1].state, "FREE");
}

TEST(decide, pods_of_other_namespaces_are_told_without_their_names) {
    world at{{"node-a"}};
    at.stranger("secret", "node-a", "1", "other");
    at.stranger("hidden", "node-a", "500m", "another");
    EXPECT_EQ(
        at.decide().status.node_problems["node-a"][0],
        "room for 0 of 2 slots: 700m cpu missing (2 slots need 1200m, others take 1500m of 2); "
        "largest consumers: pods of other namespaces (1500m cpu)");

    world held{{"node-a"}};
    held.all_ghosts();
    held.hold();
    auto& job = held.job("j", {0, 1});
    job.metadata.namespace_ = "team-a";
    auto status = held.decide().status;
    EXPECT_EQ(status.slots[0].reserved_for, "a pod of another namespace");
}

}  // namespace
}  // namespace esi::testbed::tests
