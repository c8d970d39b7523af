// Which nodes a person gets who asks for "count nodes for this Testbed": the least requested that
// have the room, numbered 0..count-1. Pure; the writes are in debug.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbed/observe.h"

namespace esi::testbed {

struct label_change {
    node_pointer node;
    /// Nothing: the label goes (a node that was not chosen).
    std::optional<std::string> value;
};

struct node_choice {
    /// In the order of their ids.
    std::vector<std::string> names;
    /// Only nodes whose label differs.
    std::vector<label_change> changes;
    /// Nodes with the room, for the message when they are too few.
    int fitting = 0;
};

/// Whether it is a label in a domain of Kubernetes itself, kubernetes.io or k8s.io, which parts of
/// the cluster rely on.
bool is_kubernetes_own(std::string_view label);

/// `nodes`: all of the cluster. The testbed's own ghosts do not count as requested, so the same
/// question gives the same nodes again. `names` is empty when too few nodes fit.
node_choice choose_nodes(const model::testbed& testbed, const std::vector<node_view>& nodes,
                         int count);

}  // namespace esi::testbed
