// Asks for previews at one moment of a run, and watches what the Schedulings then do.
#pragma once

#include "foresee/moment.h"
#include "foresee/report.h"
#include "run/run.h"

namespace esi::simulation::foresee {

/// How wrong answers are made, for tests of the judge; nothing: they are those of the planner.
using forger = std::function<void(answers::preview&)>;

/// Runs the seed up to its moment, computes the previews of all Schedulings and of the one that a
/// person is about to make or change, lets the person do it, and compares.
report probe_previews(std::uint64_t seed, const run_options& how = run_options(),
                      const forger& forge = nullptr);

}  // namespace esi::simulation::foresee
