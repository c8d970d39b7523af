// Whether a plan that was written by hand says what can be done (plan/happenings.md). A happening
// may rightly have no effect; one with a mistyped name would have none either, and the plan would
// pass unnoticed.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace esi::simulation {

/// Everything that is wrong with its happenings, a line each: "faults[2] crash: ...".
std::vector<std::string> faults_of_plan(const plan& what);

/// The latest time, and the longest one, that a plan may name.
inline constexpr milliseconds longest_time = std::chrono::days(7);

}  // namespace esi::simulation
