// Decides the next actions for all gangs: one pass. It reads nothing but its arguments, and the
// same arguments give the same decision. The order of one pass (docs/architecture.md, "Gangs"):
//   places kept up -> reserved ones shown and looked at -> order -> plans -> ends -> status, notes.
// It writes three things: the decision; `known`, which is the process' memory; and the promises in
// `room`, so that each plan of the pass sees those before it.
//
// The caller makes a pass when anything of the view or the room has changed, when an outcome has
// come, and when `again` is over. It must not make one before all caches are complete.
#pragma once

#include "gangs/view.h"

namespace esi::gangs {

decision decide(const view& seen, memory& known, cluster_room& room);

}  // namespace esi::gangs
