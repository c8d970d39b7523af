// Runs one plan to its end and judges it. A pure function: the same plan gives the same outcome, to
// the byte.
#pragma once

#include "base/outcome.h"
#include "plan/plan.h"

namespace esi::simulation {

outcome run(const plan& what, const run_options& how = run_options());

class visitor;
/// The run ends when `guest` leaves, and is not judged as one that has come to rest.
outcome run(const plan& what, const run_options& how, visitor& guest);

}  // namespace esi::simulation
