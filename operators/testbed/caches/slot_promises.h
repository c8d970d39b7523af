// The places that Testbeds have on a node. Those in which nothing is bound yet are promised, and no
// gang gets them; what is bound in the others never ends as far as gangs are concerned, as a ghost
// follows each job pod. Pure, but for reading the caches; costs what the one node has.
#pragma once

#include <set>
#include <string>

#include "placement/cluster_room.h"
#include "testbed/caches/caches.h"

namespace esi::testbed {

/// Of the layouts of all Testbeds that this operator sees. A pod is in a place when it is the
/// Testbed's own ghost or on record for the slot; what it says of itself counts for nothing. Empty
/// for most nodes. Two layouts that both have the node count both.
placement::slots_of_node slots_on(const caches& from, const std::string& node);

/// The nodes of a Testbed's layout: of which slots_on may have changed when the Testbed did.
std::set<std::string> nodes_with_slots(const model::testbed& testbed);

}  // namespace esi::testbed
