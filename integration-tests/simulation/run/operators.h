// Makes the operators of a run: the one place of the simulation that knows their code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/operator_life.h"
#include "plan/plan.h"

namespace esi::simulation {

/// The operators of a plan, by name.
const std::vector<std::string>& operators_of(const plan& what);

/// With the flags that the plan asks for. Throws std::logic_error for a name without a row.
controller::operator_factory factory_of(std::string_view name, const plan& what);

}  // namespace esi::simulation
