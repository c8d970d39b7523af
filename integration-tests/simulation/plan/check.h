// Whether a plan that somebody wrote says what can be done (plan/happenings.md). A happening
// without effect is nobody's mistake; one with a mistyped name would be without effect as well, and
// the plan would pass.
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
