// Plans as people name them on the command line.
#pragma once

#include <string>

#include "plan/plan.h"

namespace esi::simulation {

/// A seed ("42", "gangs:42"), a scenario's name (plan/generate.h), or a file.
result<plan> find_plan(const std::string& name);

}  // namespace esi::simulation
