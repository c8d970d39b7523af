// The sweep of specs (after Acto, SOSP'23): every property of the three kinds, read from their
// CustomResourceDefinitions, takes every value that a careless or hostile hand might write, on an
// object that was good before (or from its creation), and then the good one again; some of them
// after one another. What must hold:
//
//   bad-value-accepted  the API server refuses what the schema forbids, with 4xx
//   (any rule of a run) no operator dies, spins or breaks a rule of the chain of rights
//   not-shown           a change that was accepted shows: in the status, or in another object
//   not-taken-back      what is not the user's to write is set right again
//   not-recovered       with the good spec restored, the end is that of a run without the change
//
// Cases are made without running anything; running them is the program's part (run_sweep).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/run.h"
#include "sweep/bases.h"

namespace esi::simulation {

struct sweep_case {
    /// "testbed-idle/slotsPerNode/above-maximum", without blanks.
    std::string name;
    const sweep_base* base = nullptr;
    /// The schema forbids the value.
    bool forbidden = false;
    /// What the API server said to it.
    std::optional<error> refusal;
    /// The stored spec is another one after it.
    bool changes = false;
    /// The change, to the end; and the change (or two after one another) taken back. Empty
    /// workloads: not to be run.
    plan stays;
    plan back;
    bool unread = false;
    bool taken_back = false;
};

std::vector<sweep_case> sweep_cases(const std::string& crds);

/// "RULE: text" for what does not hold. `good`: outcome::end of the base's undisturbed run.
/// Outcomes of plans that are not to be run are left empty.
std::vector<std::string> judge(const sweep_case& what, const json& good, const outcome& stays,
                               const outcome& back);

/// An end without what tells only that there was a change: generations, revisions, counters of
/// attempts. `without_spec`: the swept object's own spec is left out, too.
json comparable(const json& end, const sweep_base& base, bool without_spec);

/// All cases; one line for each that does not hold ("sweep NAME: RULE: text") and a table. Exit
/// code.
int run_sweep(int jobs);

}  // namespace esi::simulation
