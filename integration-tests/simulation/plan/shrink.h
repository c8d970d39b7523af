// A failing plan cut down to what it takes to fail: first the faults, then the workload and
// scripts, then replicas and times. Deterministic; every candidate is asked of `still_fails`.
#pragma once

#include <functional>

#include "plan/plan.h"

namespace esi::simulation {

/// The smallest failing plan found with at most `tries` questions; `what` itself when nothing
/// smaller fails. `what` is taken as failing and not asked.
plan shrink(const plan& what, const std::function<bool(const plan&)>& still_fails, int tries = 400);

}  // namespace esi::simulation
