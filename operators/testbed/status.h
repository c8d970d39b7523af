// Builds a Testbed's status: state, slots, counts, conditions, problems. Pure. For people, and for
// the operators: `layout` says which slots there are, `slots` which pod was seen in which (that
// record outlives a deleted BatchJob) and which slots are in ERROR, `nodesOutOfUse` the same of
// whole nodes where `slots` is left out.
#pragma once

#include "testbed/room/layout.h"
#include "testbed/view/hints.h"
#include "testbed/view/view.h"

namespace esi::testbed {

/// Above this many slots the report is written beside the work, at most once in 500 ms.
inline constexpr int many_slots = 200;
inline constexpr milliseconds many_slots_pause{500};
/// While there are actions to take, the report waits for their end, at most this long.
inline constexpr milliseconds acting_pause{1000};

/// How long after the last report the next one may be written; `acts`: there are actions to
/// take; `many`: more slots than that are many.
milliseconds report_pause(const model::slot_counts& slots, bool acts, int many = many_slots);

/// Sentences of status and Events: the state, and the command that mends it.
std::string undecodable_words(const model::testbed& testbed);
std::string spec_words(const model::testbed& testbed, const std::vector<std::string>& problems);
std::string no_nodes_words(const model::testbed& testbed);
std::string deletion_words(const model::testbed& testbed);

/// The status of a Testbed that ESI cannot read: what was reported stays, and the conditions say
/// that nothing is done.
model::testbed_status report_undecodable(const model::testbed& testbed, wall_time wall);

/// What a Testbed's report needs beside the sums over its nodes. Refers to the view's Testbed.
struct overview {
    /// Its nodes, pods and jobs are not used.
    view seen;
    wanted_layout wanted;
    /// The layout of the slots: the Testbed's, or the next one.
    const model::testbed_layout* layout = nullptr;
    /// True: `layout` is what nodes and spec ask for; else `difference` says for people what
    /// differs.
    bool current = false;
    std::string difference;
    /// The state of a claim that has no places.
    claims::standing claim;
    /// Why ghosts keep their present image; empty: nothing prevents a change.
    std::string image_refusal;
    /// Above this many slots `slots` is left out: the rows are in slices, where those are served.
    int most_listed = grid::most_listed_slots;
    /// Why a slice of them is not written; empty: nothing prevents it.
    std::string slice_problem;
};
overview overview_of(view seen, wanted_layout wanted, const hints& known);
/// The same overview for the next layout, which must live as long.
overview overview_for(overview of, const model::testbed_layout& next);
/// The layout that nodes and spec ask for, in the form that `compact` names. It has the next
/// revision, or that of the present layout where only the form is another: positions mean the same.
model::testbed_layout next_layout(const overview& of, bool compact);

class ledger;
/// Builds the status. Depends on `wall` only for the transition times of conditions that flip.
model::testbed_status report(const overview& of, const ledger& all, wall_time wall);

}  // namespace esi::testbed
