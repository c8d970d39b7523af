// The question to a plan and its answer: the facts beside the ledger, the options, the nodes or the
// reason. Values.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "placement/cluster_room.h"

namespace esi::placement {

/// The facts about a PersistentVolumeClaim.
struct claim_fact {
    /// It exists and is bound, and its volume was read.
    bool bound = false;
    /// The volume's spec.nodeAffinity.required as text; empty: it can be used everywhere.
    model::raw_json node_affinity;
    /// The volume's labels, of which zone and region count.
    model::string_map labels;
    /// accessModes has ReadWriteOncePod.
    bool for_one_pod = false;
    /// A CSINode says how many volumes of its driver a node takes.
    bool limited = false;
};

/// Facts that the caches do not have and a plan may need; read for the plan (needs_of lists them).
struct facts {
    /// By namespace: all its pods that are bound, as whole as the API server has them.
    std::map<std::string, std::vector<pod_pointer>, std::less<>> pods;
    /// By namespace and name of the claim; also of one that does not exist.
    std::map<model::object_key, claim_fact> claims;
    /// Labels of all namespaces, as the cache has them; null where they are not known. Lives longer
    /// than the call.
    const namespace_labels* namespaces = nullptr;
};

struct needs {
    std::set<std::string> pods_of;
    std::set<model::object_key> claims;

    bool empty() const { return pods_of.empty() && claims.empty(); }
};
/// Which nodes are taken where there is a choice.
enum class packing {
    fewest_nodes,  ///< as few as possible, and of these the fullest
    spread,        ///< as many as possible, and of these the emptiest
};

struct fit_options {
    packing how = packing::fewest_nodes;
    /// Constraints that are not modelled are left to the scheduler, instead of refused.
    bool best_effort = false;
    /// Nodes that are not to be taken.
    std::set<std::string, std::less<>> without = {};
    /// The word for the members in messages.
    std::string_view members = "members";
    std::string_view member = "pod";
    std::string_view left_out = "node(s) were left out after a failed attempt";
    /// Messages name nodes: their readers may list them (--tell-nodes).
    bool tell_nodes = false;
    /// How many attempts to place a member the search makes before it gives up.
    int search_steps = 5000;
};

/// nodes[i] is where members[i] goes.
struct chosen_nodes {
    std::vector<std::string> nodes;
    /// The work to find it (planning::board::work).
    std::int64_t work = 0;
};

enum class no_fit_reason {
    no_room,                 ///< they do not fit into what is left
    never_fits,              ///< they do not fit into what the nodes have for pods that end either
    constraint_not_planned,  ///< a member has a constraint that is not modelled, or too many
    facts_missing,           ///< something of needs_of is not in `facts`
};

struct no_fit {
    no_fit_reason reason = no_fit_reason::no_room;
    int members = 0;
    /// How many of them fit together, the largest first.
    int fitting = 0;
    /// "7 of 10 members fit; pod lab/w-7 (2 cpu, 4Gi memory) does not: 0/5 nodes are available: 3
    /// node(s) had untolerated taint {key: value}, 2 Insufficient cpu; most cpu left on one node:
    /// 600m", with the node's name where the reader may see it. For people; no decision depends on
    /// it.
    std::string message;
    /// The node of that part of the message, for those who may list nodes; empty: none.
    std::string most_left_on = {};
    /// The work to find out.
    std::int64_t work = 0;
};

using fit_result = std::variant<chosen_nodes, no_fit>;

}  // namespace esi::placement
