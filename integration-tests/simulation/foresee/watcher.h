// Follows Schedulings through the changes of the storage: when one takes its Testbed, when its
// assignments are written, and which change is a step of its own.
#pragma once

#include <map>
#include <vector>

#include "foresee/picture.h"

namespace esi::simulation::foresee {

/// The assignments of `after` that `before` does not have and that have not ended, by job.
std::map<object_key, std::vector<int>> new_assignments(const model::scheduling* before,
                                                       const object& after);

/// Uid of the Scheduling whose hold the Testbed shows; empty without one.
std::string holder_in(const object& testbed);

/// Whether the change is what the Scheduling of that uid does on its way in, or the operators do
/// for it: it sets its hold, acquires a job, has a finalizer, reports. `seen`: before the change.
bool is_own_step(const picture& seen, const change& what, const std::string& uid);

}  // namespace esi::simulation::foresee
