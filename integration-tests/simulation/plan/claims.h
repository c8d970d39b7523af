// Which plans have claims. A pure function.
#pragma once

#include "plan/plan.h"

namespace esi::simulation {

/// A Testbed or a Scheduling of its workload has one: the testbed operator runs with --claims.
bool has_claims(const plan& what);

}  // namespace esi::simulation
