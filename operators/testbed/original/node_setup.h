// Chooses the nodes for a request of "count nodes for this Testbed", out of this operator's view
// (grid/node_choice.h). Pure; the writes are in debug.cpp.
#pragma once

#include <vector>

#include "grid/node_choice.h"
#include "testbed/view/view.h"

namespace esi::testbed {

/// `nodes`: all of the cluster, with their pods.
grid::node_choice choose_nodes(const model::testbed& testbed, const std::vector<node_view>& nodes,
                               int count);

}  // namespace esi::testbed
