// Asks at one moment of a run why something waits, and takes away what is named, one thing after
// the other.
#pragma once

#include <functional>

#include "foresee/moment.h"
#include "foresee/report.h"
#include "run/run.h"

namespace esi::simulation::foresee {

/// How wrong explanations are made, for tests of the judge.
using explanation_forger = std::function<void(answers::explanation&)>;

/// Runs the seed up to its moment, lets the person do what probe_previews has, and picks one that
/// waits: a plan, a job of a plan, or a pod. First somebody does something that is not named: it
/// waits on. Then, until it goes on, one of the things that are named is taken away. It must not be
/// named any more then; and nothing else may be in the way once nothing is named.
report probe_explanations(std::uint64_t seed, const run_options& how = run_options(),
                          const explanation_forger& forge = nullptr);

}  // namespace esi::simulation::foresee
