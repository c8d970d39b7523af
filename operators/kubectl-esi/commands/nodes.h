// Shows and changes the nodes of a Testbed: labels them with their numbers, or removes the labels.
#pragma once

#include <string>
#include <vector>

#include "grid/node_choice.h"
#include "kubectl-esi/read/session.h"

namespace esi::kubectl {

struct nodes_options {
    int count = 0;  ///< number of least requested nodes
    std::vector<std::string> names;
    bool clear = false;
    bool dry_run = false;
    // Without one of the first three the present labels are shown.
};

/// Gives these nodes the numbers 0, 1, ... in this order; all others lose the label. An error names
/// a node that does not exist. Pure.
result<grid::node_choice> assign_nodes(const model::testbed& testbed,
                                       const std::vector<grid::node_candidate>& nodes,
                                       const std::vector<std::string>& names);

asio::awaitable<result<reply>> nodes(session& in, std::string testbed, nodes_options how);

}  // namespace esi::kubectl
