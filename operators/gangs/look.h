// The look: whether all members of some places may be let in, from live reads of each member and
// each node. Pure. It uses nothing of the caches but the promises to others.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gangs/action.h"
#include "gangs/shown_plans.h"

namespace esi::gangs {

using promises_by_node = std::map<std::string, std::map<std::string, pod_pointer>>;

struct live_view {
    /// Each member as it was read, by uid; one that is gone is absent.
    std::map<std::string, pod_pointer> members;
    /// For each node of the places: all pods with that spec.nodeName, listed after the members
    /// were nominated.
    std::map<std::string, std::vector<pod_pointer>> on_nodes;
    /// promised_on when the reads began. A pod that is bound in between is in one of the two.
    promises_by_node promised = {};
    /// The nodes as the cache has them at the time of the verdict.
    std::map<std::string, node_pointer> nodes;
};

/// By node and uid, the pods that have a place on one of the nodes and are not bound there:
/// promises, except those to `ahead`, and what other processes have promised, as the pods show it.
promises_by_node promised_on(const cluster_room& room, const shown_plans& shown,
                             const std::set<std::string>& nodes,
                             const std::set<std::string>& ahead);

/// Empty: go. Else why not, for people: "the node of w-0 has 500m cpu left, and 1200m is needed".
/// `room`: only the promises to others and the places of Testbeds are read, as they are at the time
/// of the verdict.
std::string judge_look(const look_and_let_in& what, const live_view& live, const cluster_room& room,
                       const shown_plans& shown);

/// The one patch that lets a member in: the node in every required affinity term, its annotation,
/// the gate of gangs gone and other gates kept. Guarded.
nlohmann::json gang_let_in_patch(const model::pod& pod, const std::string& node);

}  // namespace esi::gangs
