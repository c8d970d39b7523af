#include "kubectl-esi/commands/nodes.h"

#include <gtest/gtest.h>

namespace esi::kubectl {
namespace {

std::vector<grid::node_candidate> three_nodes() {
    std::vector<grid::node_candidate> out;
    for (const char* name : {"a", "b", "c"}) {
        auto node = std::make_shared<model::node>();
        node->metadata.name = name;
        if (std::string_view(name) == "b") node->metadata.labels["lab/slots"] = "0";
        if (std::string_view(name) == "c") node->metadata.labels["lab/slots"] = "1";
        out.push_back({node, {}});
    }
    return out;
}

/// "b- c=0": names and values in the order in which they are written.
std::string assign(const std::vector<std::string>& names) {
    model::testbed of;
    of.spec.node_label = "lab/slots";
    const auto choice = assign_nodes(of, three_nodes(), names);
    if (!choice) return choice.error().text;
    std::string out;
    for (const auto& change : choice->changes) {
        if (!out.empty()) out += " ";
        out += change.node->metadata.name + (change.value ? "=" + *change.value : "-");
    }
    return out;
}

TEST(nodes_by_name, are_numbered_in_their_order_and_others_lose_the_label_first) {
    EXPECT_EQ(assign({"c", "a"}), "b- c=0 a=1");
    EXPECT_EQ(assign({"b", "c"}), "") << "nothing differs";
    EXPECT_EQ(assign({}), "b- c-") << "--clear";
}

TEST(nodes_by_name, a_node_that_does_not_exist_or_is_named_twice_is_told) {
    EXPECT_EQ(assign({"a", "x"}), "Node x does not exist; those that do: kubectl get nodes");
    EXPECT_EQ(assign({"a", "a"}), "--nodes names a twice");
}

}  // namespace
}  // namespace esi::kubectl
