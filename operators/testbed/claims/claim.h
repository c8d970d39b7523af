// A Testbed with a claim: what it asks of the cluster, and the layout that it gets. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "placement/fit.h"
#include "testbed/ledger/ledger.h"
#include "testbed/view/hints.h"
#include "testbed/view/standing.h"

namespace esi::testbed::claims {

/// The Testbed has the places of its claim.
bool is_formed(const model::testbed& testbed);
/// It may get places, or give them back: nobody holds it, and it stays.
bool may_change(const model::testbed& testbed);

/// By position, a pod that asks of a node what the ghost of that place asks, and that it is well:
/// as fit() takes it. Its uid is that of no pod of the API.
std::vector<pod_pointer> places_asked_for(const model::testbed& testbed);
/// What is promised for such a place: what it takes, without the constraints that chose its node.
pod_pointer promise_for(const model::pod& place);

/// The next layout with the places where fit() has put them; `room` has all these nodes.
model::testbed_layout layout_of(const model::testbed& testbed, const placement::chosen_nodes& where,
                                const placement::cluster_room& room, bool compact);
/// The next layout when the places are given back.
model::testbed_layout layout_without_places(const model::testbed& testbed);

/// All places of a claim are to be given back.
struct give_back {
    /// What the Testbed says from then on.
    standing at;
    /// Left out for some time.
    std::set<std::string> nodes = {};
    /// The claim waits so long. 0: it is planned again at once.
    seconds wait{};
    /// Its ghosts were refused.
    bool refused = false;
};
/// As places were not free for `patience`. A node is left out where it has a problem of its own, a
/// ghost has ended, or one waits though the node has its room. What others have taken is in the
/// ledger of the cluster's room: the next plan takes none of it. `places`: of the layout.
give_back as_not_free(const model::testbed& testbed, const ledger& states,
                      const grid::places& places, const hints& known, steady_time now,
                      seconds patience);

/// Highest priority first, then the oldest.
bool comes_before(const model::testbed& a, const model::testbed& b);

/// What the ghosts' PriorityClass has to be; empty: `found`, as the API server has it, is so.
/// `found` is empty where there is no such class.
std::string class_problem(int priority, std::string_view found);

}  // namespace esi::testbed::claims
