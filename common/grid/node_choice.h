// The choice of nodes for a Testbed at a person's request: the least requested that have the room,
// numbered 0..count-1, or those that were named. Pure; the labels are written elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "model/quantity.h"
#include "model/testbed.h"

namespace esi::grid {

using node_pointer = std::shared_ptr<const model::node>;

/// A node of the cluster, and what its live pods leave of it, ghosts of the Testbed not counted: so
/// the same question gives the same nodes again.
struct node_candidate {
    node_pointer node;
    model::amounts left;
};

struct label_change {
    node_pointer node;
    /// Nothing: the label is removed (a node that was not chosen).
    std::optional<std::string> value;
};

struct node_choice {
    /// In the order of their ids.
    std::vector<std::string> names;
    /// Only nodes whose label differs; those that lose it come first, so that no number exists
    /// twice in between, unless nodes swap theirs.
    std::vector<label_change> changes;
    /// Nodes with the room, for the message when they are too few.
    int fitting = 0;
};

/// Whether it is a label in a domain of Kubernetes itself, kubernetes.io or k8s.io, which parts of
/// the cluster rely on.
bool is_kubernetes_own(std::string_view label);

/// Why this Testbed, which has a claim, takes no nodes; a sentence.
std::string nodes_of_claim(const model::testbed& testbed);

/// `nodes`: all of the cluster. `names` is empty when too few nodes fit, and for a Testbed with a
/// claim.
node_choice choose_nodes(const model::testbed& testbed, const std::vector<node_candidate>& nodes,
                         int count);

/// The nodes `names`, which all exist, in this order; for a Testbed without a claim.
node_choice give_nodes(const model::testbed& testbed, const std::vector<node_candidate>& nodes,
                       std::vector<std::string> names);

}  // namespace esi::grid
