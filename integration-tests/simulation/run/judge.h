// The verdict on one plan: the rules of its run, and, where the faults may not change the end, the
// end of the same plan without them.
#pragma once

#include "run/run.h"

namespace esi::simulation {

/// Runs `what`, and where its outcome is fixed (plan/generate.h) its undisturbed twin too, and adds
/// a violation "other-end" where their ends differ.
outcome judge(const plan& what, const run_options& how = run_options());

/// Runs `what` with a crash at one write. `calm`: the same without it. A violation "other-end"
/// where the ends differ though they must not, "no-crash" where that write was never sent.
outcome judge_crash(const plan& what, const crash_point& at, const outcome& calm,
                    run_options how = run_options());
/// The same of `out`, a run in which it has crashed there.
void judge_crashed(const plan& what, const crash_point& at, const outcome& calm, outcome& out);

/// How the end of a run differs from that of its undisturbed twin, where it must not.
std::vector<std::string> other_ends(const plan& what, json calm, json found);

/// The plan without its faults, one replica.
plan undisturbed(plan what);

}  // namespace esi::simulation
