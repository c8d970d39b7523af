#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

std::vector<std::string> reasons(const decision& of) {
    std::vector<std::string> out;
    for (const auto& note : of.notes) out.push_back(note.reason);
    return out;
}

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
    // The same view gives the same status again: at rest nothing is written.
    at.testbed.status = decided.status;
    at.wall = at_second(200);
    EXPECT_EQ(at.decide().status.conditions, decided.status.conditions);
}

TEST(decide, no_nodes_are_success_but_not_ready) {
    world at{std::vector<std::string>{}};
    EXPECT_EQ(at.decide().status.state, "SUCCESS");
    EXPECT_EQ(at.condition("Ready").reason, "NoNodes");
}

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

/// Ghosts of the Testbed `of`, which has its slots on node-a: one for each letter, 'b'ound or at
/// the door.
void ghosts_of(world& at, const model::testbed& of, std::string_view each) {
    for (int index = 0; index < std::ssize(each); ++index) {
        auto& ghost = at.ghost("node-a", index, each[static_cast<std::size_t>(index)] == 'b');
        ghost.metadata.uid = fmt::format("{}-{}", of.metadata.uid, index);
        ghost.metadata.name = grid::ghost_name(of.metadata.name, of.metadata.uid, "node-a", index);
        ghost.metadata.labels[std::string(names::testbed)] = of.metadata.name;
        ghost.metadata.owner_references[0].uid = of.metadata.uid;
    }
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
        // There is room for three slots: two of the older Testbed and one.
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
    // There is room for three slots; there are two Testbeds of two.
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
        // There is room for four slots, two of each Testbed; a foreign pod is in the last one.
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
        // There is room for three slots on each node.
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

TEST(decide, node_labels_must_be_unique_integers) {
    world at;
    at.add_node("node-d", "x");
    at.add_node("node-e", "1");
    at.add_node("node-f", "-1");
    at.add_node("node-g", "007");
    auto decided = at.decide();
    EXPECT_EQ(at.actions(), lines{"layout 2: node-a=0 node-c=2 node-g=7"});
    EXPECT_THAT(decided.status.node_problems["node-d"][0], HasSubstr("is not an integer from 0"));
    EXPECT_THAT(decided.status.node_problems["node-f"][0], HasSubstr("is not an integer from 0"));
    EXPECT_THAT(decided.status.node_problems["node-b"][0], HasSubstr("is also on node-e"));
    EXPECT_THAT(decided.status.node_problems["node-e"][0], HasSubstr("is also on node-b"));
}

TEST(decide, a_held_layout_stands_still_whatever_happens_to_nodes_and_spec) {
    struct row {
        const char* what;
        void (*change)(world&);
        std::string states;
    };
    const std::vector<row> rows{
        {"label removed", [](world& at) { at.nodes["node-b"].metadata.labels.clear(); },
         "FREE FREE FREE FREE FREE FREE"},
        {"another joins", [](world& at) { at.add_node("node-d", "3"); },
         "FREE FREE FREE FREE FREE FREE"},
        {"spec changed", [](world& at) { at.testbed.spec.slots_per_node = 1; },
         "FREE FREE FREE FREE FREE FREE"},
        {"node deleted", [](world& at) { at.nodes.erase("node-b"); },
         "FREE ERROR FREE FREE ERROR FREE"},
        {"node replaced", [](world& at) { at.nodes["node-b"].metadata.uid = "another"; },
         "FREE ERROR FREE FREE ERROR FREE"},
    };
    for (const auto& row : rows) {
        world at;
        at.all_ghosts();
        at.hold();
        row.change(at);
        const auto decided = at.decide();
        EXPECT_EQ(at.actions(), lines{}) << row.what;
        EXPECT_EQ(at.states(), row.states) << row.what;
        EXPECT_EQ(decided.status.layout, at.testbed.status.layout) << row.what;
        EXPECT_EQ(at.condition("LayoutCurrent").reason, "WaitsForRelease") << row.what;
        EXPECT_EQ(decided.status.held_by, (model::holder_status{"default", "s", "s"})) << row.what;
        // After the release the layout follows.
        at.testbed.metadata.annotations.clear();
        at.testbed.metadata.labels.clear();
        ASSERT_EQ(at.actions().size(), 1u) << row.what;
        EXPECT_THAT(at.actions()[0], HasSubstr("layout 2:")) << row.what;
    }
}

/// The layout that is written with that option; nothing: no layout is written.
std::optional<model::testbed_layout> layout_written(const world& at, bool compact) {
    const auto decided = decide(at.see(), at.known, at.now, at.wall, compact);
    for (const auto& what : decided.actions) {
        const auto* next = std::get_if<write_layout>(&what);
        if (!next) continue;
        EXPECT_EQ(decided.actions.size(), 1u);
        EXPECT_EQ(decided.status.layout, next->layout);
        return next->layout;
    }
    return std::nullopt;
}

TEST(decide, a_layout_gets_the_other_form_while_nobody_holds_it_and_keeps_its_revision) {
    world at;
    at.all_ghosts();
    EXPECT_FALSE(layout_written(at, false));
    for (const bool compact : {true, false}) {
        at.hold();
        EXPECT_FALSE(layout_written(at, compact)) << "a hold freezes its text";
        at.testbed.metadata.annotations.clear();
        at.testbed.metadata.labels.clear();
        auto wanted = *at.testbed.status.layout;
        wanted.compact = compact;
        EXPECT_EQ(layout_written(at, compact), wanted);
        EXPECT_TRUE(decide(at.see(), at.known, at.now, at.wall, compact).notes.empty());
        at.testbed.status.layout = wanted;
        EXPECT_FALSE(layout_written(at, compact));
    }
}

TEST(decide, another_layout_has_the_wanted_form_and_the_next_revision) {
    world at;
    at.add_node("node-d", "3");
    const auto next = layout_written(at, true);
    ASSERT_TRUE(next);
    EXPECT_TRUE(next->compact);
    EXPECT_EQ(next->revision, 2);
    EXPECT_EQ(next->nodes.size(), 4u);

    // Without nodes both forms are the same: it is written once.
    at.nodes.clear();
    at.testbed.status.layout->nodes.clear();
    EXPECT_FALSE(layout_written(at, true));
    at.testbed.status.layout.reset();
    const auto first = layout_written(at, true);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->compact);
    EXPECT_EQ(first->revision, 1);
}

TEST(decide, a_report_keeps_the_form_of_the_layout) {
    world at;
    at.all_ghosts();
    at.testbed.status.layout->compact = true;
    at.hold();
    const auto decided = at.decide();
    EXPECT_EQ(decided.status.layout, at.testbed.status.layout);
    EXPECT_EQ(at.condition("LayoutCurrent").status, "True");
}

TEST(decide, cordoned_and_lost_nodes_are_error_and_their_ghosts_are_left_alone) {
    const std::vector<std::pair<std::string, void (*)(model::node&)>> rows{
        {"cordoned", [](model::node& node) { node.unschedulable = true; }},
        {"not ready", [](model::node& node) { node.ready = false; }},
        {"being deleted", [](model::node& node) { node.metadata.deletion_timestamp.emplace(); }},
    };
    for (const auto& [what, change] : rows) {
        world at;
        at.ghost("node-a", 0).phase = "Failed";
        change(at.nodes["node-a"]);
        EXPECT_EQ(at.actions(), (lines{"create 1 node-b/0", "create 2 node-c/0",
                                       "create 4 node-b/1", "create 5 node-c/1"}))
            << what;
        const auto status = at.decide().status;
        EXPECT_THAT(status.node_problems.at("node-a")[0], HasSubstr(what));
        EXPECT_EQ(status.nodes_out_of_use, (model::nodes_out_of_use{1, {"node-a"}})) << what;
    }
}

TEST(decide, a_node_with_too_little_room_is_not_out_of_use) {
    world at;
    at.all_ghosts();
    EXPECT_EQ(at.decide().status.nodes_out_of_use, (model::nodes_out_of_use{0, {}}))
        << "told also where there is none";
    at.hold();
    std::erase_if(at.pods, [](const auto& pod) { return pod.metadata.uid == "ghost-node-b-1"; });
    at.stranger("fat", "node-b", "1");
    at.nodes.erase("node-c");
    const auto status = at.decide().status;
    EXPECT_TRUE(status.node_problems.contains("node-b"));
    EXPECT_EQ(status.nodes_out_of_use, (model::nodes_out_of_use{1, {"node-c"}}));
}

TEST(decide, nodes_out_of_use_are_told_where_no_slot_is_listed) {
    std::vector<std::string> names;
    for (int i = 0; i < 37; ++i) names.push_back(fmt::format("node-{}", 100 + i));
    world at{names};
    at.testbed.spec.slots_per_node = 110;
    at.testbed.status.layout->slots_per_node = 110;
    at.nodes["node-107"].unschedulable = true;
    const auto status = at.decide().status;
    EXPECT_EQ(status.counts->total, 37 * 110);
    EXPECT_TRUE(status.slots.empty());
    EXPECT_EQ(status.nodes_out_of_use, (model::nodes_out_of_use{1, {"node-107"}}));
}

TEST(decide, ghosts_that_are_not_in_the_layout_go) {
    world at;
    at.all_ghosts();
    at.testbed.status.layout->slots_per_node = 1;
    at.testbed.spec.slots_per_node = 1;
    EXPECT_EQ(at.actions(),
              (lines{"remove ghost-node-a-1", "remove ghost-node-b-1", "remove ghost-node-c-1"}));
    world resized{{"node-a"}};
    resized.all_ghosts();
    resized.testbed.spec.resources_per_slot = resources("500m", "1Gi");
    resized.testbed.status.layout->resources_per_slot = resources("500m", "1Gi");
    EXPECT_EQ(resized.actions(), (lines{"remove ghost-node-a-0", "remove ghost-node-a-1",
                                        "create 0 node-a/0", "create 1 node-a/1"}));
}

TEST(decide, a_ghost_whose_labels_annotations_or_owner_were_taken_away_goes) {
    const auto whole = [] {
        world at{{"node-a"}};
        at.all_ghosts();
        return at;
    };
    EXPECT_EQ(whole().actions(), lines{});
    const std::vector<void (*)(model::pod&)> damages{
        [](model::pod& pod) { pod.metadata.owner_references.clear(); },
        [](model::pod& pod) { pod.metadata.labels.erase(std::string(names::ghost)); },
        [](model::pod& pod) { pod.metadata.labels.clear(); },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.owner_references.clear();
        },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.labels.clear();
        },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.labels.clear();
            pod.metadata.owner_references.clear();
        },
        [](model::pod& pod) {
            pod.metadata.annotations.clear();
            pod.metadata.owner_references.clear();
            pod.node_name.clear();
            pod.nominated_node_name = "node-a";
        },
    };
    for (std::size_t i = 0; i < damages.size(); ++i) {
        auto at = whole();
        damages[i](at.pods[0]);
        EXPECT_THAT(at.actions(), testing::Contains("remove ghost-node-a-0")) << i;
        // The ghost belongs to an earlier Testbed of that name: it is not ours to touch.
        at = whole();
        damages[i](at.pods[0]);
        at.pods[0].metadata.name = grid::ghost_name("tb", "other-uid", "node-a", 0);
        EXPECT_THAT(at.actions(), testing::Not(testing::Contains(testing::HasSubstr("remove"))))
            << i;
        at = whole();
        damages[i](at.pods[0]);
        at.pods[0].metadata.owner_references = {
            {"apps/v1", "ReplicaSet", "others", "others-uid", true}};
        EXPECT_THAT(at.actions(), testing::Not(testing::Contains(testing::HasSubstr("remove"))))
            << i;
    }
}

TEST(decide, a_damaged_ghost_that_an_earlier_layout_has_left_goes) {
    world at{{"node-a"}};
    at.all_ghosts();
    auto& left = at.ghost("node-a", 7);
    left.metadata.annotations.clear();
    left.metadata.owner_references.clear();
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-7"});
}

TEST(decide, labels_of_a_holder_without_a_hold_hold_nothing) {
    world at{{"node-a"}};
    at.testbed.metadata.labels[std::string(names::active_scheduling_name)] = "s";
    at.testbed.metadata.labels[std::string(names::active_scheduling_namespace)] = "default";
    EXPECT_FALSE(is_held(at.testbed));
    at.testbed.metadata.annotations[std::string(names::hold)] = "uid.1";
    EXPECT_TRUE(is_held(at.testbed));
}

TEST(decide, a_failed_ghost_goes_and_comes_back_after_a_pause) {
    world at{{"node-a"}};
    at.ghost("node-a", 0);
    auto& ghost = at.ghost("node-a", 1);
    ghost.phase = "Failed";
    ghost.reason = "OutOfcpu";
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-1 (failed)"});
    EXPECT_EQ(at.states(), "FREE ERROR");
    const auto name = ghost.metadata.name;
    at.pods.pop_back();
    at.known.ghost_failed(name, at.now, "it has ended: OutOfcpu");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "FREE ERROR");
    EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(1)));
    at.now += seconds(1);
    EXPECT_EQ(at.actions(), lines{"create 1 node-a/1"});
    at.known.ghost_failed(name, at.now, "again");
    EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(2)));
}

TEST(decide, only_a_ghost_that_the_api_server_does_not_create_is_refused) {
    world at;
    const auto begin = at.now;
    at.known.ghost_failed("g", at.now, "it has ended: OutOfcpu");
    EXPECT_FALSE(at.known.refused_since(begin));
    at.now += seconds(1);
    at.known.ghost_failed("g", at.now, "exceeded quota", true);
    ASSERT_TRUE(at.known.refused_since(begin));
    EXPECT_EQ(at.known.refused_since(begin)->text, "exceeded quota");
    EXPECT_FALSE(at.known.refused_since(at.now + seconds(1)));
    at.known.ghost_failed("g", at.now, "it has ended: Evicted");
    EXPECT_FALSE(at.known.refused_since(begin)) << "it was created since";
}

TEST(decide, a_place_that_goes_and_comes_again_does_not_begin_the_time_of_a_claim_anew) {
    hints known;
    const steady_time begin{seconds(1000)};
    EXPECT_EQ(known.incomplete_since(2, begin), begin);
    EXPECT_EQ(known.incomplete_since(1, begin + seconds(5)), begin);
    EXPECT_EQ(known.incomplete_since(2, begin + seconds(10)), begin);
    EXPECT_EQ(known.incomplete_since(3, begin + seconds(15)), begin + seconds(15));
}

TEST(decide, a_ghost_of_another_image_is_given_the_right_one_in_place) {
    world at;
    at.all_ghosts();
    at.ghost_image = "mirror/pause:1";
    for (auto& pod : at.pods) {
        pod.metadata.annotations[std::string(names::ghost_image)] = "mirror/pause:1";
    }
    at.pods[1].metadata.annotations[std::string(names::ghost_image)] = "old/pause:1";
    at.pods[2].metadata.annotations.erase(std::string(names::ghost_image));
    at.pods[3].metadata.annotations[std::string(names::ghost_image)] = "old/pause:1";
    at.pods[3].metadata.deletion_timestamp = model::timestamp{at_second(90)};
    const lines wanted{"image " + at.pods[1].metadata.uid, "image " + at.pods[2].metadata.uid};
    EXPECT_THAT(at.actions(), testing::UnorderedElementsAreArray(wanted))
        << "their room stays held";
    at.hold();
    EXPECT_THAT(at.actions(), testing::UnorderedElementsAreArray(wanted)) << "somebody uses it";
    at.ghost_image.clear();
    EXPECT_EQ(at.actions(), lines{});
}

TEST(decide, ghosts_that_do_not_run_are_told_and_their_slots_are_free_all_the_same) {
    world at;
    at.all_ghosts();
    EXPECT_EQ(at.condition("GhostsRunning").status, "True");
    for (const char* starting : {"", "ContainerCreating", "PodInitializing"}) {
        at.pods[0].reason = starting;
        EXPECT_EQ(at.condition("GhostsRunning").status, "True") << starting;
    }
    for (std::size_t i : {0u, 1u}) {
        at.pods[i].phase = "Pending";
        at.pods[i].metadata.annotations[std::string(names::ghost_image)] = "x/pause:9";
    }
    at.pods[0].reason = "ErrImagePull";
    at.pods[1].reason = "ImagePullBackOff";
    const auto told = at.condition("GhostsRunning");
    EXPECT_EQ(told.status, "False");
    EXPECT_EQ(told.reason, "GhostsFail");
    EXPECT_THAT(told.message, testing::StartsWith("2 of 6 slots have a ghost that does not run: "
                                                  "image x/pause:9 cannot be pulled (node-a); "));
    EXPECT_EQ(at.states(), "FREE FREE FREE FREE FREE FREE");
    EXPECT_EQ(at.condition("Ready").status, "True");
    const auto notes = at.decide().notes;
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_TRUE(notes[0].warning);
    EXPECT_EQ(notes[0].reason, "GhostsNotRunning");
    // The kubelet goes back and forth between the two while it tries: this is not reported again.
    std::swap(at.pods[0].reason, at.pods[1].reason);
    at.known.told[notes[0].subject] = notes[0].text;
    EXPECT_EQ(at.decide().notes.size(), 0u);
    EXPECT_EQ(at.condition("GhostsRunning").message, told.message);
}

TEST(decide, a_ghost_that_ends_again_and_again_fails_until_it_has_run_for_long) {
    world at;
    at.all_ghosts();
    at.pods[0].reason = "CrashLoopBackOff";
    const auto told = at.condition("GhostsRunning");
    EXPECT_EQ(told.status, "False");
    EXPECT_THAT(told.message, HasSubstr("container does not keep running (node-a)"));
    for (const char* attempt : {"RunContainerError", "", "CreateContainerError"}) {
        at.pods[0].reason = attempt;
        at.known.crashed[at.pods[0].metadata.uid] = at.now - 9min;
        EXPECT_EQ(at.condition("GhostsRunning"), told) << attempt;
    }
    at.pods[0].reason.clear();
    at.known.crashed[at.pods[0].metadata.uid] = at.now - 10min;
    EXPECT_EQ(at.condition("GhostsRunning").status, "True");
}

TEST(decide, an_image_that_the_api_server_refuses_is_told_and_tried_ever_later) {
    world at;
    at.all_ghosts();
    at.ghost_image = "mirror/pause:1";
    EXPECT_EQ(at.actions().size(), 6u);
    at.known.images.failed(at.now, "policy x: no");
    at.known.images.failed(at.now, "policy x: no, either");
    EXPECT_EQ(at.known.images.failures, 1) << "those of one look count once";
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().again, steady_time::duration(1s));
    const auto told = at.condition("GhostsRunning");
    EXPECT_EQ(told.status, "True");
    EXPECT_EQ(told.reason, "ImageNotChanged");
    EXPECT_THAT(told.message, HasSubstr("policy x: no"));
    ASSERT_EQ(at.decide().notes.size(), 1u);
    EXPECT_EQ(at.decide().notes[0].reason, "GhostImageNotChanged");
    at.now += 1s;
    EXPECT_EQ(at.actions().size(), 6u);
}

TEST(decide, a_ghost_that_waits_too_long_is_an_error_with_the_schedulers_words) {
    world at{{"node-a"}};
    at.ghost("node-a", 0);
    auto& ghost = at.ghost("node-a", 1, false);
    ghost.nominated_node_name = "node-a";
    ghost.scheduled_message = "0/1 nodes are available: 1 Insufficient cpu.";
    at.wall = at_second(52);
    EXPECT_EQ(at.states(), "FREE RESERVED");
    ASSERT_TRUE(at.decide().again);
    at.wall = at_second(57);
    EXPECT_EQ(at.states(), "FREE ERROR");
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0], HasSubstr("Insufficient cpu"));
    EXPECT_EQ(at.actions(), lines{});
    ghost.nominated_node_name.clear();
    EXPECT_EQ(at.actions(), lines{"nominate ghost-node-a-1 node-a"}) << "cleared by a preemptor";
}

TEST(decide, of_two_ghosts_at_the_door_of_room_for_one_the_later_steps_back) {
    world at{{"node-a"}};
    for (int index : {0, 1}) at.ghost("node-a", index, false).nominated_node_name = "node-a";
    EXPECT_EQ(at.actions(), lines{});
    auto& room = at.nodes["node-a"].allocatable;
    for (auto& [resource, amount] : room) {
        if (resource == "cpu") amount = 700;
    }
    EXPECT_EQ(at.actions(), lines{"nominate ghost-node-a-1 "});
}

TEST(decide, isolation_comes_before_the_first_ghost) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    EXPECT_EQ(at.actions(), lines{"node-a taint tb-uid"});
    EXPECT_EQ(at.condition("Isolated").reason, "NotTainted");
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    EXPECT_EQ(at.actions(), (lines{"create 0 node-a/0", "create 1 node-a/1"}));
    EXPECT_EQ(at.condition("Isolated").status, "True");
    at.testbed.spec.isolation = "None";
    EXPECT_EQ(at.actions()[0], "node-a untaint");
    EXPECT_EQ(at.condition("Isolated").reason, "NoTaint");
}

TEST(decide, a_taint_that_is_refused_is_told_in_the_words_of_the_api_server) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    EXPECT_EQ(at.condition("Isolated").message, "without the taint: node-a");
    at.known.meets("node-a", "taint not changed", errc::forbidden, "denied at 12:00:01");
    const auto told = at.condition("Isolated").message;
    EXPECT_EQ(told, "without the taint: node-a; taint not changed: denied at 12:00:01");
    at.known.meets("node-a", "taint not changed", errc::forbidden, "denied at 12:00:02");
    EXPECT_EQ(at.condition("Isolated").message, told) << "nothing to write";
    at.known.meets("node-a", "taint not changed", errc::invalid, "wrong");
    EXPECT_EQ(at.condition("Isolated").message,
              "without the taint: node-a; taint not changed: wrong");
    at.known.meets("node-a", "node not read", errc::forbidden, std::string(999, 'x') + "\u00e4");
    EXPECT_THAT(at.condition("Isolated").message, testing::EndsWith("xxx")) << "a whole character";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    EXPECT_EQ(at.condition("Isolated").message, "every node carries the taint");
}

TEST(decide, of_two_testbeds_the_olders_taint_stands) {
    auto with = [](int born, std::string value) {
        world at{{"node-a"}};
        at.testbed.spec.isolation = "Taint";
        at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", value, "NoSchedule"}};
        auto other = world::make_testbed("other", "other-uid", born);
        other.spec.isolation = "Taint";
        other.status.layout = at.testbed.status.layout;
        at.others = {other};
        return at;
    };
    EXPECT_NE(with(5, "other-uid").actions()[0], "node-a taint tb-uid");
    EXPECT_EQ(with(20, "other-uid").actions()[0], "node-a taint tb-uid")
        << "the younger's gives way";
    EXPECT_EQ(with(5, "gone-uid").actions()[0], "node-a taint tb-uid") << "nobody's";
}

/// Puts an older or younger Testbed of another namespace without a taint beside it.
world beside_an_open_testbed(int born, std::string ns) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    auto other = world::make_testbed("other", "other-uid", born);
    other.metadata.namespace_ = std::move(ns);
    other.status.layout = at.testbed.status.layout;
    at.others = {other};
    return at;
}

TEST(decide, a_node_that_an_elder_of_another_namespace_keeps_open_is_not_tainted) {
    auto at = beside_an_open_testbed(5, "team-a");
    EXPECT_THAT(at.actions(), testing::Not(testing::Contains("node-a taint tb-uid")));
    EXPECT_EQ(at.condition("Isolated").status, "False");
    EXPECT_EQ(
        at.condition("Isolated").message,
        "without the taint: node-a; an older Testbed of another namespace has the node too and "
        "keeps it open to other pods (isolation: None)");
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << "the slots that the elder leaves it";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    EXPECT_EQ(at.actions()[0], "node-a untaint") << "the elder got the node later";
    at.others[0].spec.isolation = "Taint";
    at.nodes["node-a"].taints.clear();
    EXPECT_EQ(at.actions(), lines{"node-a taint tb-uid"}) << "both want it closed";
}

TEST(decide, a_node_is_tainted_beside_a_younger_testbed_and_beside_one_of_the_same_namespace) {
    EXPECT_EQ(beside_an_open_testbed(20, "team-a").actions(), lines{"node-a taint tb-uid"});
    EXPECT_EQ(beside_an_open_testbed(5, "default").actions(), lines{"node-a taint tb-uid"});
    auto going = beside_an_open_testbed(5, "team-a");
    going.others[0].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(going.actions(), lines{"node-a taint tb-uid"});
}

TEST(decide, a_taint_has_no_heir_in_a_testbed_that_may_not_close_the_node) {
    world at{{"node-a"}};
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    auto younger = world::make_testbed("other", "other-uid", 20);
    younger.metadata.namespace_ = "team-a";
    younger.spec.isolation = "Taint";
    younger.status.layout = at.testbed.status.layout;
    at.others = {younger};
    EXPECT_EQ(at.actions()[0], "node-a untaint") << "it would wait for ever";
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

    // It was resized in place: with the ghost the requests exceed the node.
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

    // It has grown into room that belongs to no slot.
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

TEST(decide, a_taint_of_a_testbed_in_another_operators_namespace_shields_too) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "unknown-uid", "NoSchedule"}};
    auto seen = at.see();
    const auto change = [&] {
        return change_taint(*seen.nodes["node-a"].node, seen, *seen.index_of(*seen.testbed).places,
                            true);
    };
    EXPECT_FALSE(is_shielded(*seen.nodes["node-a"].node, seen));
    seen.all_namespaces = false;
    EXPECT_TRUE(is_shielded(*seen.nodes["node-a"].node, seen));
    EXPECT_FALSE(change());
    at.nodes["node-a"].taints.clear();
    seen = at.see();
    seen.all_namespaces = false;
    EXPECT_TRUE(change()) << "it went";
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

// Swaps.

world held_with_job(std::vector<int> slots) {
    world at{{"node-a"}};
    at.all_ghosts();
    at.hold();
    at.jobs.reserve(4);
    at.pods.reserve(16);
    at.job("j", std::move(slots));
    return at;
}

TEST(decide, an_assigned_slot_is_reserved_and_a_placed_pod_is_swapped_in) {
    auto at = held_with_job({0});
    EXPECT_EQ(at.states(), "RESERVED FREE");
    EXPECT_EQ(at.decide().status.slots[0].reserved_for, "j");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().pods_waiting, 0);
    at.placed(at.jobs[0], "exec-1", 0);
    EXPECT_EQ(at.decide().status.slots[0].reserved_for, "exec-1");
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"});
    EXPECT_EQ(at.decide().pods_waiting, 1);
    EXPECT_EQ(at.decide().status.state, "IN_PROGRESS");
}

TEST(decide, only_pods_with_the_right_token_are_let_in) {
    struct row {
        const char* what;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"another hold", [](world& at) { at.hold("sched.101"); }},
        {"no hold", [](world& at) { at.testbed.metadata.annotations.clear(); }},
        {"old run on the pod",
         [](world& at) {
             at.pods.back().metadata.annotations[std::string(names::run)] = "sched.100.0";
         }},
        {"job has ended", [](world& at) { at.jobs[0].status.state = "FailedState"; }},
        {"job is being deleted",
         [](world& at) { at.jobs[0].metadata.deletion_timestamp.emplace(); }},
        {"orders gone", [](world& at) { at.jobs[0].spec.creation_request.reset(); }},
        {"another slot", [](world& at) { at.jobs[0].status.placements[0].slot = 1; }},
        {"another pod of the name", [](world& at) { at.pods.back().metadata.uid = "another"; }},
        {"another job's pod",
         [](world& at) { at.pods.back().metadata.labels[std::string(names::job)] = "k"; }},
        {"a pod that ends",
         [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); }},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        ASSERT_EQ(at.actions(), lines{"swap 0 exec-1"});
        row.change(at);
        EXPECT_EQ(at.actions(), lines{}) << row.what;
    }
}

TEST(decide, a_pod_that_cannot_be_let_in_is_refused_with_a_reason) {
    struct row {
        const char* why;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"larger than the slot: it requests 700m cpu, the slot has 600m",
         [](world& at) { at.pods.back().requests["cpu"] = 700; }},
        {"larger than the slot: it requests 1 nvidia.com/gpu, the slot has 0",
         [](world& at) { at.pods.back().requests["nvidia.com/gpu"] = 1000; }},
        {"also waits for the scheduling gate other/gate",
         [](world& at) { at.pods.back().scheduling_gates.push_back("other/gate"); }},
        {"does not tolerate the taint special:NoSchedule of node-a",
         [](world& at) { at.nodes["node-a"].taints = {{"special", "", "NoSchedule"}}; }},
        {"nodeSelector disk=ssd does not match node-a",
         [](world& at) { at.pods.back().node_selector = {{"disk", "ssd"}}; }},
        {"required node affinity does not match node-a",
         [](world& at) {
             at.pods.back().affinity.text =
                 R"({"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"Exists"}]}]}}})";
         }},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        row.change(at);
        const auto decided = at.decide();
        EXPECT_EQ(at.actions(), lines{}) << row.why;
        EXPECT_EQ(at.states(), "ERROR FREE") << row.why;
        ASSERT_EQ(decided.notes.size(), 1u) << row.why;
        EXPECT_THAT(decided.notes[0].text, HasSubstr(row.why));
        EXPECT_EQ(decided.notes[0].reason, "PodRefused");
    }
}

TEST(decide, what_keeps_a_placed_pod_out_is_told) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    at.known.meets("uid-exec-1", "pod not nominated", errc::forbidden, "no right to pods/status");
    EXPECT_EQ(at.states(), "ERROR FREE");
    EXPECT_EQ(at.decide().status.node_problems["node-a"],
              lines{"pod not nominated: no right to pods/status"});
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"}) << "it is tried all the same";
    at.known.meets("uid-exec-1", "pod waits at its slot", std::nullopt, "node-a has 1m cpu left");
    at.known.meets("uid-exec-1", "pod waits at its slot", std::nullopt, "node-a has 2m cpu left");
    EXPECT_EQ(at.decide().status.node_problems["node-a"],
              lines{"pod waits at its slot: node-a has 2m cpu left"})
        << "as it is now";
    world::let_in(pod, 0, "node-a", false);
    EXPECT_EQ(at.states(), "RESERVED FREE");
}

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
    // It is reported once.
    at.known.told[at.decide().notes[0].subject] = at.decide().notes[0].text;
    EXPECT_TRUE(at.decide().notes.empty());
}

TEST(decide, the_slot_is_occupied_once_the_pod_is_bound_and_stays_without_ghost) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"}) << "the ghost is gone: no new one is made";
    (void)pod;
    world::let_in(at.pods.back(), 0, "node-a", false);
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "RESERVED FREE");
    world::let_in(at.pods.back(), 0, "node-a");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "OCCUPIED FREE");
    EXPECT_EQ(at.decide().status.state, "RUNNING");
    EXPECT_EQ(at.decide().pods_waiting, 0);
    EXPECT_EQ(at.decide().status.slots[0].pod_name, "exec-1");
}

TEST(decide, a_ghost_beside_a_bound_job_pod_is_removed) {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(at.pods.back(), 0, "node-a");
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-0"});
}

TEST(decide, a_ghost_waits_at_the_door_as_soon_as_the_job_pods_end_is_announced) {
    struct row {
        const char* what;
        void (*change)(world&);
        std::string states;
    };
    const std::vector<row> rows{
        {"terminating", [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); },
         "OCCUPIED FREE"},
        {"failed", [](world& at) { at.pods.back().phase = "Failed"; }, "RESERVED FREE"},
        {"succeeded", [](world& at) { at.pods.back().phase = "Succeeded"; }, "RESERVED FREE"},
        {"run is no longer the job's", [](world& at) { at.jobs[0].spec.creation_request.reset(); },
         "OCCUPIED FREE"},
        {"the job has failed", [](world& at) { at.jobs[0].status.state = "FailedState"; },
         "OCCUPIED FREE"},
        {"gone, the slot still assigned", [](world& at) { at.pods.pop_back(); }, "RESERVED FREE"},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        world::let_in(at.pods.back(), 0, "node-a");
        std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
        ASSERT_EQ(at.actions(), lines{}) << row.what;
        row.change(at);
        EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"}) << row.what;
        EXPECT_EQ(at.states(), row.states) << row.what;
    }
}

TEST(decide, a_replacement_takes_the_place_of_the_pod_that_died_only_when_it_is_gone) {
    auto at = held_with_job({0, 1});
    at.placed(at.jobs[0], "old", 0);
    world::let_in(at.pods.back(), 0, "node-a");
    at.pods.back().metadata.deletion_timestamp.emplace();
    at.testbed.status.slots = at.decide().status.slots;
    at.jobs[0].status.placements.clear();
    at.placed(at.jobs[0], "new", 0);
    EXPECT_THAT(at.actions(), testing::Not(testing::Contains("swap 0 new")));
    std::erase_if(at.pods, [](const auto& pod) { return pod.metadata.name == "old"; });
    EXPECT_EQ(at.actions(), lines{"swap 0 new"});
    EXPECT_EQ(at.states(), "RESERVED RESERVED");
}

TEST(decide, after_an_abrupt_end_the_stranger_in_the_slot_is_named) {
    auto at = held_with_job({});
    at.nodes["node-a"].allocatable["cpu"] = 1200;
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    at.known.vacated["node-a/0"] = at_second(90);
    at.stranger("stranger", "node-a", "600m");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "ERROR FREE");
    EXPECT_EQ(at.decide().strangers, std::set<std::string>{"node-a/0"});
    EXPECT_THAT(at.decide().status.node_problems["node-a"][0], HasSubstr("default/stranger"));
    at.pods.pop_back();
    EXPECT_EQ(at.actions(), lines{"create 0 node-a/0"});
}

TEST(decide, a_withdrawn_placement_loses_its_nomination) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    at.jobs[0].status.placements.clear();
    EXPECT_EQ(at.actions(), lines{});
    pod.nominated_node_name = "node-a";
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
}

TEST(decide, a_pod_let_in_that_cannot_be_bound_is_given_up_after_ten_seconds) {
    struct row {
        const char* what;
        void (*change)(world&);
        lines expected;
    };
    const std::vector<row> rows{
        {"node fine: the scheduler is slow", [](world&) {}, {}},
        {"cordoned",
         [](world& at) { at.nodes["node-a"].unschedulable = true; },
         {"drop exec-1: the node is cordoned: kubectl uncordon node-a"}},
        {"node gone",
         [](world& at) { at.nodes.erase("node-a"); },
         {"drop exec-1: the node does not exist; its slots go when no Scheduling holds the "
          "Testbed"}},
        {"room taken",
         [](world& at) { at.stranger("s", "node-a", "900m"); },
         {"drop exec-1: the room of its slot is taken"}},
    };
    for (const auto& row : rows) {
        auto at = held_with_job({0});
        at.placed(at.jobs[0], "exec-1", 0);
        world::let_in(at.pods.back(), 0, "node-a", false);
        std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
        row.change(at);
        at.known.let_in_since["uid-exec-1"] = at.now;
        EXPECT_EQ(at.actions(), lines{}) << row.what;
        EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(10))) << row.what;
        at.now += seconds(10);
        EXPECT_EQ(at.actions(), row.expected) << row.what;
        const auto told = std::ranges::count(reasons(at.decide()), "PodGivenUp");
        EXPECT_EQ(told, std::ssize(row.expected)) << row.what;
    }
}

TEST(decide, on_the_extender_path_the_decision_goes_onto_the_pod) {
    auto at = held_with_job({1});
    auto& pod = at.placed(at.jobs[0], "exec-1", 1);
    pod.scheduling_gates.clear();
    EXPECT_EQ(at.actions(), lines{"commit 1 exec-1"});
    world::let_in(pod, 1, "node-a", false);
    pod.metadata.annotations[std::string(names::slot_ghost)] = "ghost-node-a-1";
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-1"}) << "committed, its ghost still stands";
    at.jobs[0].status.placements.clear();
    at.jobs[0].spec.creation_request.reset();
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
}

TEST(decide, one_slot_given_twice_is_the_firsts_and_a_problem) {
    auto at = held_with_job({0});
    at.job("k", {0}, "sched.100.2");
    at.placed(at.jobs[1], "exec-k", 0);
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_THAT(at.decide().status.problems[0], HasSubstr("given to default/j and to default/k"));
}

TEST(decide, a_pod_that_is_recorded_for_two_slots_gets_one) {
    auto at = held_with_job({0, 1});
    auto& pod = at.placed(at.jobs[0], "exec-1", 1);
    at.jobs[0].status.placements.push_back({0, "uid-exec-1", "exec-1"});
    EXPECT_EQ(at.actions(), lines{"swap 0 exec-1"});
    EXPECT_EQ(at.decide().status.problems,
              lines{"pod default/exec-1 is recorded for slot 0 and for slot 1"});
    world::let_in(pod, 1, "node-a");
    EXPECT_EQ(at.actions(), lines{"remove ghost-node-a-1"}) << "it stays where it is";
    at.jobs[0].status.placements = {{0, "uid-exec-1", "exec-1"}, {0, "uid-exec-1", "exec-1"}};
    EXPECT_EQ(at.decide().status.problems, lines{}) << "the same twice";
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

TEST(decide, a_pod_that_says_it_was_let_in_is_not_believed) {
    // The pod copies run, slot and node of the real pod, and has no gate.
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

TEST(decide, a_refused_pods_nomination_is_taken_back) {
    auto at = held_with_job({0});
    at.placed(at.jobs[0], "exec-1", 0).nominated_node_name = "node-a";
    at.nodes["node-a"].taints = {{"special", "", "NoSchedule"}};
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
    at.pods.back().nominated_node_name.clear();
    EXPECT_EQ(at.actions(), lines{});
}

TEST(decide, an_order_without_namespace_means_the_jobs_own) {
    auto at = held_with_job({0});
    at.jobs[0].spec.creation_request->testbed_name.namespace_.clear();
    EXPECT_EQ(at.states(), "RESERVED FREE");
    at.jobs[0].metadata.namespace_ = "other";
    EXPECT_EQ(at.states(), "FREE FREE");
}

TEST(decide, on_the_extender_path_nothing_is_committed_without_room) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    pod.scheduling_gates.clear();
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    EXPECT_EQ(at.actions(), lines{"commit 0 exec-1"});
    at.stranger("s", "node-a", "900m");
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.states(), "ERROR FREE");
}

/// A pod committed on the extender path to slot 0, whose ghost is gone.
world committed() {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(pod, 0, "node-a", false);
    pod.metadata.annotations[std::string(names::slot_ghost)] = "ghost-node-a-0";
    pod.scheduler_name = "external-scheduler";
    std::erase_if(at.pods, [](const auto& p) { return p.metadata.uid == "ghost-node-a-0"; });
    return at;
}

TEST(decide, a_committed_pod_whose_room_is_free_is_woken_after_two_seconds_and_less_and_less) {
    auto at = committed();
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(at.decide().again, std::optional<steady_time::duration>(seconds(2)));
    EXPECT_EQ(at.decide().unbound, std::set<std::string>{"uid-exec-1"});
    auto& waits = at.known.unbound["uid-exec-1"];
    waits.begin(at.now);
    EXPECT_EQ(at.actions(), lines{});
    EXPECT_EQ(reasons(at.decide()), lines{}) << "as ever";
    for (const int wait : {2, 4, 8, 16, 30, 30}) {
        at.now += seconds(wait) - milliseconds(1);
        EXPECT_EQ(at.actions(), lines{}) << wait;
        at.now += milliseconds(1);
        EXPECT_EQ(at.actions(), lines{"wake 0 exec-1"}) << wait;
        EXPECT_EQ(reasons(at.decide()), lines{"PodNotBound"}) << wait;
        waits.woke(at.now);
        EXPECT_EQ(at.actions(), lines{}) << wait;
    }
    at.known.told["unbound/uid-exec-1"] = at.decide().notes.at(0).text;
    EXPECT_EQ(reasons(at.decide()), lines{}) << "told once";
    EXPECT_THAT(at.known.told["unbound/uid-exec-1"],
                HasSubstr("slot 0 on node-a is free, and external-scheduler has not bound"));
}

TEST(decide, nobody_is_woken_whose_room_is_not_free_or_who_came_by_the_gate) {
    struct row {
        const char* what;
        void (*change)(world&);
    };
    const std::vector<row> rows{
        {"its ghost stands", [](world& at) { at.ghost("node-a", 0); }},
        {"its ghost goes",
         [](world& at) { at.ghost("node-a", 0).metadata.deletion_timestamp.emplace(); }},
        {"a stranger has the room", [](world& at) { at.stranger("s", "node-a", "900m"); }},
        {"its node is cordoned", [](world& at) { at.nodes["node-a"].unschedulable = true; }},
        {"it is bound", [](world& at) { at.pods.back().node_name = "node-a"; }},
        {"it is being deleted",
         [](world& at) { at.pods.back().metadata.deletion_timestamp.emplace(); }},
        {"it came by the gate",
         [](world& at) {
             at.pods.back().metadata.annotations.erase(std::string(names::slot_ghost));
         }},
    };
    for (const auto& row : rows) {
        auto at = committed();
        ASSERT_EQ(at.pods.back().metadata.name, "exec-1");
        row.change(at);
        at.known.unbound["uid-exec-1"].begin(at.now - seconds(60));
        EXPECT_EQ(at.decide().unbound, std::set<std::string>{}) << row.what;
        for (const auto& line : at.actions()) {
            EXPECT_THAT(line, testing::Not(HasSubstr("wake"))) << row.what;
        }
    }
}

TEST(decide, a_commit_made_without_a_ghost_is_taken_back_too) {
    auto at = held_with_job({0});
    auto& pod = at.placed(at.jobs[0], "exec-1", 0);
    world::let_in(pod, 0, "node-a", false);
    at.jobs[0].spec.creation_request.reset();
    EXPECT_EQ(at.actions(), lines{}) << "the one patch of the gate path cannot be taken back";
    pod.metadata.annotations[std::string(names::slot_ghost)] = "";
    EXPECT_EQ(at.actions(), lines{"withdraw exec-1"});
}

TEST(decide, an_heir_replaces_the_taint_by_itself_and_is_waited_for) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    at.testbed.metadata.deletion_timestamp.emplace();
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    auto other = world::make_testbed("other", "other-uid", 20);
    other.spec.isolation = "Taint";
    other.status.layout = at.testbed.status.layout;
    at.others = {other};
    EXPECT_EQ(at.actions(), lines{}) << "a taint of the heir is the heir's own write";

    world heir{{"node-a"}};
    heir.testbed = other;
    heir.nodes = at.nodes;
    heir.others = {at.testbed};
    EXPECT_EQ(heir.actions()[0], "node-a taint other-uid") << "though it is the younger";

    at.nodes["node-a"].taints[0].value = "other-uid";
    EXPECT_EQ(at.actions(), lines{"remove finalizer"});
    at.nodes["node-a"].taints[0].value = "tb-uid";
    at.others[0].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"node-a untaint"}) << "nobody takes over";
    at.others[0].metadata.deletion_timestamp.reset();
    at.nodes["node-a"].metadata.deletion_timestamp.emplace();
    EXPECT_EQ(at.actions(), lines{"node-a untaint"}) << "nobody taints a node that goes";
}

TEST(decide, pods_that_run_beside_tainted_slots_are_reported) {
    world at{{"node-a"}};
    at.testbed.spec.isolation = "Taint";
    at.nodes["node-a"].taints = {{"esi.tu-berlin.de/testbed", "tb-uid", "NoSchedule"}};
    at.all_ghosts();
    EXPECT_EQ(at.condition("Isolated").message, "every node carries the taint");
    at.stranger("early", "node-a", "100m");
    EXPECT_EQ(at.condition("Isolated").status, "True");
    EXPECT_EQ(
        at.condition("Isolated").message,
        "every node carries the taint; 1 pod of others runs there beside the slots and stays: "
        "default/early");
}

// The texts of kubectl get, kstatus and Events.

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

/// "Stalled SpecInvalid": the conditions that kstatus reads.
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
