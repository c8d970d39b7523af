// Makes the status of a BatchJob small enough to be stored. Fields that other operators decide by
// always stay: the state, the placements, the application, the reasons of conditions, and the last
// run. Pure.
#pragma once

#include "model/batchjob.h"

namespace esi::batchjob {

/// Three caches keep every status. This is enough for 1,024 slots with long names of pods and
/// nodes, twenty runs and their texts.
inline constexpr std::size_t most_status_bytes = 512 * 1024;

/// A controller::fit_function. Shortens in this order, each no further than needed: the oldest
/// runs, the neighbours of the last one, messages. In its smallest form an ended run is shorter
/// than the same run before its end: so an end can be written wherever the run could.
model::batchjob_status fit_status(model::batchjob_status wanted, std::size_t room);

}  // namespace esi::batchjob
