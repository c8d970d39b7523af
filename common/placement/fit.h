// Where the members of a gang can run together, or why they cannot: one pure function, which
// answers as kube-scheduler would if it placed them one after another on what the ledger says is
// left.
//
// Exact: resources (extended ones too), pods per node, nodeSelector, required node affinity,
// taints, host ports, node affinity and zones of bound volumes, required pod affinity and
// anti-affinity, that of bound and promised pods against members too, topology spread that must
// hold; members see each other. A node that is cordoned or not ready takes no member, not even one
// that tolerates it. A constraint that is not modelled is refused by name
// (constraint_not_planned): device claims, ephemeral and unbound volumes, volumes for one pod
// alone, volumes whose driver limits how many a node takes.
//
// Authors of pods choose how many constraints they have: more than bounds.h allows are refused by
// name too, also with best effort, before anything is read for them.
//
// The largest members are placed first. If this order fails, a search with a limited number of
// steps follows (fit_options::search_steps), so that a small gang that fits is found. The same
// input gives the same answer.
#pragma once

#include <span>

#include "placement/question.h"

namespace esi::placement {

/// What has to be in `facts` before members like these can be planned. Most gangs need nothing; one
/// that asks for too much (bounds.h) needs nothing either: fit refuses it. `known`: labels of all
/// namespaces, for terms that select namespaces by them.
needs needs_of(std::span<const pod_pointer> members, const namespace_labels* known = nullptr);

/// Members are neither bound nor promised; what is promised to them in `room` counts against them.
/// An empty list of members fits anywhere.
fit_result fit(std::span<const pod_pointer> members, const cluster_room& room, const facts& known,
               const fit_options& options = {});

/// Fits the members into what nodes have when all that ends has ended: allocatable less what stays
/// (cluster_room.h). Nodes where room is now are preferred, so that the answer is also where to
/// reserve piece by piece. no_fit says never_fits.
fit_result fits_ever(std::span<const pod_pointer> members, const cluster_room& room,
                     const facts& known, const fit_options& options = {});

/// Two gangs with the same text get the same answer on the same room, names aside: if one does not
/// fit, the other need not be tried before cluster_room::freed() has changed.
struct gang_shape {
    std::string text;
    /// The answer depends on pods elsewhere (pod affinity, spread) or on volumes: it may change
    /// also when room is taken, and by facts that no count covers.
    bool depends_on_facts = false;

    auto operator<=>(const gang_shape&) const = default;
};
gang_shape shape_of(std::span<const pod_pointer> members, const cluster_room& room,
                    const fit_options& options = {});

}  // namespace esi::placement
