// The status of a Scheduling, made small enough to be stored. What others decide by always stays:
// plan, assignments, the release, and the reasons of conditions. What grows by what others write
// are texts: they name jobs, and quote what is wrong with them. Pure.
#pragma once

#include "model/scheduling.h"

namespace esi::scheduling {

/// A controller::fit_function. Of jobs that have reached nothing, the first most_jobs have a row in
/// jobStates. Texts are shortened first, then left out together with the states of
/// the jobs, which the next report works out again.
model::scheduling_status fit_status(model::scheduling_status wanted, std::size_t room);

}  // namespace esi::scheduling
