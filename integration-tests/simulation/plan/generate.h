// Plans: one for each seed, and a fixed list for the tables of crash points. Pure functions of
// their arguments. Names of nodes: worker-0.. (testbed nodes), other-0.. (a second testbed's),
// plain-0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace esi::simulation {

/// A small cluster, a scenario and 0 to 12 faults of a few classes, most of them when something is
/// going on.
plan generate(std::uint64_t seed);

/// Small undisturbed plans, one for each way through the operators; `scenario` is their name.
std::vector<plan> scenarios();

/// Whether the run may end otherwise than without this fault. Crashes, pauses, lost answers, late
/// or broken watches, an API server or a neighbour that is away may not, as long as they are
/// shorter than the Schedulings' time-outs (300 s, 600 s).
bool may_change_outcome(const happening& fault);

/// Every deletion of the workload waits for what has ended: whenever it comes, it changes nothing
/// but that the object goes.
bool deletes_only_what_has_ended(const plan& what);

/// People pause a plan, cancel its jobs or shorten its time at a moment of their own: how far it
/// got by then is free.
bool is_paused_or_cut_short(const plan& what);

/// Whether the end of the plan must be that of the same plan without faults: none of the faults may
/// change it, all of them together are short, and nothing in the workload is a race whose winner is
/// free (a stranger that may sit down in a slot during a gap, a deletion in the middle of short
/// work).
bool outcome_is_fixed(const plan& what);

/// Whether the plan itself names the slots of every job. A queue takes the slots that are free when
/// a job's turn comes: which ones differs with the time that everything takes, so ends of such
/// plans are to be compared without slot numbers.
bool slots_are_named(const plan& what);

/// How many faults of each class a plan has: "crash", "request 409", "watch silent", ...
std::map<std::string, int> fault_classes(const plan& what);

}  // namespace esi::simulation
