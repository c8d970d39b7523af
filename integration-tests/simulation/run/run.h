// Runs one plan to its end and judges it. A pure function: the same plan gives the same outcome, to
// the byte.
#pragma once

#include "base/outcome.h"
#include "plan/plan.h"

namespace esi::simulation {

outcome run(const plan& what, const run_options& how = run_options());

}  // namespace esi::simulation
