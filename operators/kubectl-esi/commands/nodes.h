// Which nodes belong to a Testbed: labels them with their numbers, or takes the labels off.
#pragma once

#include <string>
#include <vector>

#include "grid/node_choice.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl {

struct nodes_options {
    int count = 0;  ///< the least requested ones
    std::vector<std::string> names;
    bool clear = false;
    bool dry_run = false;
    // None of the first three: what is labelled now is shown.
};

/// These nodes get the numbers 0, 1, ... in this order; all others lose the label. An error names
/// the node that does not exist. Pure.
result<grid::node_choice> assign_nodes(const model::testbed& testbed,
                                       const std::vector<grid::node_candidate>& nodes,
                                       const std::vector<std::string>& names);

asio::awaitable<result<reply>> nodes(session& in, std::string testbed, nodes_options how);

}  // namespace esi::kubectl
