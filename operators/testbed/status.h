// What a Testbed's status says: state, slots, counts, conditions, problems. Pure. For people, and
// for the operators: `layout` says which slots there are, `slots` which pod was seen in which (that
// record outlives a deleted BatchJob) and which slots are in ERROR, `nodesOutOfUse` the same of
// whole nodes where `slots` is left out.
#pragma once

#include "testbed/assess.h"
#include "testbed/layout.h"

namespace esi::testbed {

/// Above this many slots status is written at most once in 500 ms.
inline constexpr int many_slots = 200;
inline constexpr milliseconds many_slots_pause{500};
/// While there is something to do, the report waits for the end of it, at most so long.
inline constexpr milliseconds acting_pause{1000};
/// Above this many slots `slots` is left out (condition SlotsListed=False).
inline constexpr int most_listed_slots = 4000;

/// How long after the last report the next one may be written; `acts`: there are actions to take.
milliseconds report_pause(const model::testbed_status& next, bool acts);

/// Sentences of status and Events: what is, and the command that mends it.
std::string undecodable_words(const model::testbed& testbed);
std::string spec_words(const model::testbed& testbed, const std::vector<std::string>& problems);
std::string no_nodes_words(const model::testbed& testbed);
std::string deletion_words(const model::testbed& testbed);

/// The status of a Testbed that ESI cannot read: what was reported stays, and the conditions say
/// that nothing is done.
model::testbed_status report_undecodable(const model::testbed& testbed, wall_time wall);

/// The status for the layout of `all`. Depends on `wall` only for the transition times of
/// conditions that flip.
model::testbed_status report(const view& seen, const wanted_layout& wanted, const assessment& all,
                             wall_time wall);

}  // namespace esi::testbed
