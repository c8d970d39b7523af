// The layout: which nodes have slots, and which of them are out of use.
#include "testbed/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

using testing::HasSubstr;

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

/// The layout that is written with that option; nothing: none is.
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

}  // namespace
}  // namespace esi::testbed::tests
