// The places that Testbeds have on a node. A place in which no pod is bound yet is promised, and no
// gang gets it; for gangs, a pod bound in another place never ends, as a ghost follows each job
// pod. Pure, except that it reads the caches; the cost is that of one node.
#pragma once

#include <set>
#include <string>

#include "placement/cluster_room.h"
#include "testbed/caches/caches.h"

namespace esi::testbed {

/// Covers the layouts of all Testbeds that this operator sees. A pod is in a place when it is the
/// Testbed's own ghost or on record for the slot; what the pod says of itself does not count. Empty
/// for most nodes. If two layouts have the node, both count.
placement::slots_of_node slots_on(const caches& from, const std::string& node);

/// The nodes of a Testbed's layout: their slots_on may have changed when the Testbed did.
std::set<std::string> nodes_with_slots(const model::testbed& testbed);

}  // namespace esi::testbed
