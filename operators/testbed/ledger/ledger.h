// The known state of one Testbed, node by node, and the sums for its report. A sum is updated: the
// old share of a node is subtracted and the new one added, so that the cost of a change does not
// grow with the Testbed. A value; a process may lose it at any moment and rebuild it by putting
// every node once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testbed/ledger/node_state.h"

namespace esi::testbed {

/// The problems of a pod that carries the Testbed's labels and is no ghost.
struct pod_state {
    pod_pointer pod;
    /// The pod has no right to a slot, but a nomination (gated) or a commit (extender path) of a
    /// placement that was withdrawn.
    bool withdrawn = false;
    /// The pod was a ghost.
    bool damaged = false;
    /// Why it gets no slot though it claims to belong here.
    std::optional<note> refused;

    bool empty() const { return !withdrawn && !damaged && !refused; }
};

/// `accepted`, `inside`: the pod is in these sets of a node (node_state). `seen` has the jobs whose
/// run it carries.
pod_state assess_pod(const view& seen, const pod_pointer& pod, bool accepted, bool inside,
                     purpose what_for);

/// Disputes about a job's orders for slots that the layout does not have.
std::vector<dispute> assess_job(const view& seen, const model::batchjob& job,
                                const grid::places& places);

/// Sums over all nodes, and sets of node names where the report names the first ones.
struct totals {
    using names = std::set<std::string, std::less<>>;

    model::slot_counts counts;
    int under_way = 0;
    int without_room = 0;
    int beside = 0;
    int beside_elsewhere = 0;
    int pods_waiting = 0;
    names out_of_use;
    names with_slot_problems;
    names short_of_room;
    names open;
    /// Those of `open` whose taint has a reason not to be set.
    names taint_refused;
    names tainted;
    names with_beside;
    names acting;
    names with_notes;
    names with_old_images;
    names using_hold;
    struct failure {
        int ghosts = 0;
        names nodes;
        bool operator==(const failure&) const = default;
    };
    std::map<std::string, failure> failing;
    std::map<std::string, int> schedulers;
    std::map<std::string, names> shared;
    std::multiset<dispute> disputes;
    std::multiset<std::string> unbound;
    std::map<model::object_key, int> accepted;
    std::map<model::object_key, int> inside;

    bool operator==(const totals&) const = default;
};

class ledger {
public:
    /// Replaces the state of the node; a state that adds nothing is not kept.
    void put_node(const std::string& name, node_state state);
    void put_pod(const model::object_key& key, pod_state state);
    void put_job(const model::object_key& key, std::vector<dispute> disputes);

    const totals& sums() const { return sums_; }
    const std::map<std::string, node_state, std::less<>>& nodes() const { return nodes_; }
    const node_state& node(std::string_view name) const { return nodes_.find(name)->second; }
    const std::map<model::object_key, pod_state>& pods() const { return pods_; }
    bool has_accepted(const model::object_key& pod) const { return sums_.accepted.contains(pod); }
    bool has_inside(const model::object_key& pod) const { return sums_.inside.contains(pod); }
    /// Returns the pods that entered or left `accepted` or `inside` since the last call.
    std::set<model::object_key> take_moved() { return std::exchange(moved_, {}); }
    /// Counts the changes of what a report is made of.
    std::uint64_t version() const { return version_; }
    /// Nodes, pods and sums as text, without times; for comparison.
    std::string text() const;

private:
    void count(const std::string& name, const node_state& state, int sign);

    totals sums_;
    std::map<std::string, node_state, std::less<>> nodes_;
    std::map<model::object_key, pod_state> pods_;
    std::map<model::object_key, std::vector<dispute>> jobs_;
    std::set<model::object_key> moved_;
    std::uint64_t version_ = 0;
};

}  // namespace esi::testbed
