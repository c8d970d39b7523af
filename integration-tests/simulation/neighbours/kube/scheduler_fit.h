// Where a pod fits and who would have to go for it: the filters, the score and the choice of
// victims of kube-scheduler 1.34 to 1.36 (NodeUnschedulable, TaintToleration, NodeAffinity,
// NodeResourcesFit, LeastAllocated, DefaultPreemption). Pure functions of a snapshot.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neighbours/facts.h"

namespace esi::simulation {

/// A node with the pods that the scheduler takes to be on it.
struct node_view {
    node_pointer node;
    std::vector<pod_pointer> pods;
    model::amounts used;

    void add(const pod_pointer& pod);
    void remove(const pod_facts& pod);
};
using snapshot = std::map<std::string, node_view, std::less<>>;

enum class fits {
    yes,
    no,     ///< Unschedulable: preemption may help
    never,  ///< UnschedulableAndUnresolvable
};

/// What rejected a pod; decides which events are worth another attempt.
enum class rejector { none, node, taints, affinity, resources, extender };

struct verdict {
    fits answer = fits::yes;
    rejector by = rejector::none;
    std::vector<std::string> reasons = {};
};
using verdicts = std::map<std::string, verdict, std::less<>>;

/// `nominated`: pods nominated to the node, of the same or a higher priority, without the pod
/// itself. Judged with and, where there are any, without them; both must pass.
verdict judge(const pod_facts& pod, const node_view& on, const std::vector<pod_pointer>& nominated);

/// The pods of lower priority that must go; nothing: there are none, or it would not help.
std::optional<std::vector<pod_pointer>> victims_on(const pod_facts& pod, const node_view& on,
                                                   const std::vector<pod_pointer>& nominated);
using candidates = std::map<std::string, std::vector<pod_pointer>, std::less<>>;
/// The node where preemption does the least harm; empty where there is no candidate.
std::string least_harm(const candidates& among);

/// The more, the emptier the node would be.
std::int64_t score(const pod_facts& pod, const node_view& on);

/// "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable."; nodes without a
/// verdict count with `absent`.
std::string fit_error(std::size_t nodes, const verdicts& why, std::string_view absent);

}  // namespace esi::simulation
