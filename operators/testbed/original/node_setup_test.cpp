#include "testbed/original/node_setup.h"

#include <gtest/gtest.h>

#include "testbed/testing.h"

namespace esi::testbed::tests {
namespace {

TEST(node_setup, the_least_requested_nodes_that_fit_are_numbered) {
    world at{{"node-a", "node-b", "node-c", "node-d"}};
    for (auto& [name, node] : at.nodes) node.metadata.labels.clear();
    at.stranger("s1", "node-a", "500m");
    at.stranger("s2", "node-c", "1");
    at.nodes["node-d"].unschedulable = true;
    auto choose = [&](int count) {
        std::vector<node_view> nodes;
        for (auto& [name, seen] : at.see().nodes) nodes.push_back(seen);
        return choose_nodes(at.testbed, nodes, count);
    };
    auto two = choose(2);
    EXPECT_EQ(two.names, (lines{"node-b", "node-a"}));
    EXPECT_EQ(two.changes.size(), 2u);
    EXPECT_EQ(choose(3).names, lines{}) << "1 core is left on node-c, two slots need 1200m";
    EXPECT_EQ(choose(3).fitting, 2);
    // Asked again, with the ghosts there: the same nodes, nothing to change.
    at.nodes["node-b"].metadata.labels = {{"tuberlin.de/slots", "0"}};
    at.nodes["node-a"].metadata.labels = {{"tuberlin.de/slots", "1"}};
    at.nodes["node-c"].metadata.labels = {{"tuberlin.de/slots", "2"}};
    at.all_ghosts();
    auto again = choose(2);
    EXPECT_EQ(again.names, (lines{"node-b", "node-a"}));
    ASSERT_EQ(again.changes.size(), 1u);
    EXPECT_EQ(again.changes[0].node->metadata.name, "node-c");
    EXPECT_FALSE(again.changes[0].value);
    // A number is taken from one node before it is given to another.
    at.nodes["node-b"].metadata.labels.clear();
    at.nodes["node-c"].metadata.labels = {{"tuberlin.de/slots", "0"}};
    auto moved = choose(2);
    ASSERT_EQ(moved.changes.size(), 2u);
    EXPECT_EQ(moved.changes[0].node->metadata.name, "node-c");
    EXPECT_EQ(moved.changes[1].value, "0");
}

TEST(node_setup, amounts_without_end_fit_nowhere) {
    world at{{"node-a", "node-b"}};
    at.testbed.spec.resources_per_slot = resources("9223372036854775807", "1Gi");
    at.testbed.spec.slots_per_node = 2;
    auto choose = [&] {
        std::vector<node_view> nodes;
        for (auto& [name, seen] : at.see().nodes) nodes.push_back(seen);
        return choose_nodes(at.testbed, nodes, 1);
    };
    EXPECT_EQ(choose().fitting, 0) << "times two is not -2";
    at.testbed.spec.resources_per_slot = {{"pods", *model::quantity::parse("1")}};
    auto& greedy = at.stranger("greedy", "node-a", "9223372036854775807");
    greedy.requests["memory"] = greedy.requests["cpu"];
    for (auto& [name, node] : at.nodes) node.allocatable["memory"] = 2000;
    EXPECT_EQ(choose().names, lines{"node-b"}) << "the one that is asked for less";
}

}  // namespace
}  // namespace esi::testbed::tests
