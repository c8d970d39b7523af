// Places that Testbeds have on a node and that nobody stands in yet: they are promised, and no gang
// gets them. Pure, but for reading the caches; costs what the one node has.
#pragma once

#include <set>
#include <string>

#include "testbed/caches.h"

namespace esi::testbed::gangs {

/// Of the layouts of all Testbeds that this operator sees: the places on the node without a bound
/// live pod in them (a ghost, or a job pod that is on record for the slot), together, with their
/// places in the node's `pods`. Empty for most nodes. Two layouts that both have the node count
/// both.
model::amounts slots_waiting(const caches& from, const std::string& node);

/// The nodes of a Testbed's layout: of which slots_waiting may have changed when the Testbed did.
std::set<std::string> nodes_with_slots(const model::testbed& testbed);

}  // namespace esi::testbed::gangs
