// The status of a Scheduling, reduced until it can be stored. Fields that others decide by always
// stay: plan, assignments, the release, and the reasons of conditions. Texts grow with the input of
// others: they name jobs, and quote their faults. Pure.
#pragma once

#include "model/scheduling.h"

namespace esi::scheduling {

/// A controller::fit_function. Of jobs that have not progressed, the first most_jobs have a row in
/// jobStates. Texts are shortened first, then omitted together with the states of the jobs, which
/// the next report computes again.
model::scheduling_status fit_status(model::scheduling_status wanted, std::size_t room);

}  // namespace esi::scheduling
