// A Testbed with a claim: what it requests of the cluster, and the layout that it gets. Pure.
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

/// True: the Testbed has the places of its claim.
bool is_formed(const model::testbed& testbed);
/// True: places may be added or given back: the Testbed is not held and not being deleted.
bool may_change(const model::testbed& testbed);

/// By position, a pod for fit() with the requests of that place's ghost, which also asks that the
/// node is well. Its uid is that of no pod of the API.
std::vector<pod_pointer> places_asked_for(const model::testbed& testbed);
/// The reservation for such a place: its requests, without the constraints that chose its node.
pod_pointer promise_for(const model::pod& place);

/// The next layout, with the places where fit() has put them; `room` has all these nodes.
model::testbed_layout layout_of(const model::testbed& testbed, const placement::chosen_nodes& where,
                                const placement::cluster_room& room, bool compact);
/// The next layout after the places are given back.
model::testbed_layout layout_without_places(const model::testbed& testbed);

/// All places of a claim are to be given back.
struct give_back {
    /// The state that the Testbed reports from then on.
    standing at;
    /// Nodes that the plans leave out for some time.
    std::set<std::string> nodes = {};
    /// The claim waits this long. 0: it is planned again at once.
    seconds wait{};
    /// The API server refused its ghosts.
    bool refused = false;
};
/// The places were not free for `patience`. A node is left out if it has a problem of its own, if a
/// ghost on it has ended, or if one waits though the node has its room. Pods that have taken room
/// are in the ledger of the cluster's room: the next plan uses none of it. `places`: of the layout.
give_back as_not_free(const model::testbed& testbed, const ledger& states,
                      const grid::places& places, const hints& known, steady_time now,
                      seconds patience);

/// Orders claims by highest priority, then by age (oldest first).
bool comes_before(const model::testbed& a, const model::testbed& b);

/// What is wrong with the ghosts' PriorityClass; empty: `found`, the class in the API server, is
/// right. `found` is empty if there is no such class.
std::string class_problem(int priority, std::string_view found);

}  // namespace esi::testbed::claims
