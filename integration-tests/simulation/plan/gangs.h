// Plans of gangs: one for each seed. Pure functions of their arguments. Names of nodes: worker-0..;
// of namespaces: default and team-a (enabled), elsewhere (not enabled).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace esi::simulation {

/// A small cluster, a Testbed in some, 2 to 7 gangs of all kinds, strangers that come and go, what
/// people do to groups and nodes, and 0 to 10 faults.
plan generate_gangs(std::uint64_t seed);

/// Small undisturbed plans of gangs and of claims, for the table of crash points.
std::vector<plan> gang_scenarios();

}  // namespace esi::simulation
