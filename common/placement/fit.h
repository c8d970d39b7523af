// Where the members of a gang can run together, or why they cannot: one pure function, which
// answers as kube-scheduler would if it placed them one after another on what the ledger says is
// left.
//
// Exact: resources (extended ones too), pods per node, nodeSelector, required node affinity,
// taints, host ports, node affinity and zones of bound volumes, required pod affinity and anti-
// affinity, that of bound and promised pods against members too, topology spread that must hold;
// members see each other. A node that is cordoned or not ready takes nobody, not even who tolerates
// it. What is not modelled is refused by name (constraint_not_planned): device claims, ephemeral
// and unbound volumes, volumes for one pod alone, volumes whose driver limits how many a node
// takes.
//
// Whoever makes pods chooses how many constraints they have: more than planning/bounds.h names are
// refused by name too, also with best effort, before anything is read for them.
//
// First the largest members. What this order misses is searched for, up to a number of steps
// (fit_options::search_steps), so that a small gang that fits is found. The same input gives the
// same answer.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "placement/cluster_room.h"

namespace esi::placement {

/// What is known of a PersistentVolumeClaim.
struct claim_fact {
    /// It exists and is bound, and its volume was read.
    bool bound = false;
    /// Of the volume: the text of spec.nodeAffinity.required; empty: it can be used everywhere.
    model::raw_json node_affinity;
    /// Of the volume: of these its zone and region count.
    model::string_map labels;
    /// accessModes has ReadWriteOncePod.
    bool for_one_pod = false;
    /// A CSINode says how many volumes of its driver a node takes.
    bool limited = false;
};

/// What the caches do not have and a plan may need; read for the plan (needs_of says what).
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
/// What has to be in `facts` before members like these can be planned; most gangs need nothing,
/// and one that asks for too much (planning/bounds.h) neither: fit refuses it.
/// `known`: labels of all namespaces, for terms that select namespaces by them.
needs needs_of(std::span<const pod_pointer> members, const namespace_labels* known = nullptr);

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
    /// What the members are called in messages.
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
    /// What it has cost to find it (planning::board::work).
    std::int64_t work = 0;
};

enum class no_fit_reason {
    no_room,                 ///< they do not fit into what is left
    never_fits,              ///< nor into what the nodes have for pods that end
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
    /// 600m", with its name where that may be told. For people; never decided by.
    std::string message;
    /// That node, for those who may list nodes; empty: none.
    std::string most_left_on = {};
    /// What it has cost to find out.
    std::int64_t work = 0;
};

using fit_result = std::variant<chosen_nodes, no_fit>;

/// Members are neither bound nor promised; what is promised to them in `room` counts against them.
/// No members fit anywhere.
fit_result fit(std::span<const pod_pointer> members, const cluster_room& room, const facts& known,
               const fit_options& options = {});

/// The same into what nodes have when all that ends has ended: allocatable less what stays
/// (cluster_room.h). Nodes where room is now are preferred, so that the answer is also where to
/// reserve piece by piece. no_fit says never_fits.
fit_result fits_ever(std::span<const pod_pointer> members, const cluster_room& room,
                     const facts& known, const fit_options& options = {});

/// Two gangs with the same text get the same answer on the same room, names aside: if one does not
/// fit, the other need not be tried before cluster_room::freed() has changed.
struct gang_shape {
    std::string text;
    /// The answer depends on pods elsewhere (pod affinity, spread) or on volumes: it may become
    /// another one also when room was taken, and by facts that no count tells of.
    bool depends_on_facts = false;

    auto operator<=>(const gang_shape&) const = default;
};
gang_shape shape_of(std::span<const pod_pointer> members, const cluster_room& room,
                    const fit_options& options = {});

}  // namespace esi::placement
