// What is known of one Testbed, node by node, and the sums that its report is made of. A sum is
// kept up: what a node added before is taken away, what it adds now is added, so that the cost of a
// change does not grow with the Testbed. A value; a process may lose it at any moment and make it
// anew by putting every node once.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testbed/ledger/node_state.h"

namespace esi::testbed {

/// What is wrong with a pod that carries the Testbed's labels and is no ghost.
struct pod_state {
    pod_pointer pod;
    /// It stands in no slot by right, and has a nomination (gated) or a commit (extender path) of a
    /// placement that was withdrawn.
    bool withdrawn = false;
    /// It was a ghost.
    bool damaged = false;
    /// Why it gets no slot though it says that it belongs here.
    std::optional<note> refused;

    bool empty() const { return !withdrawn && !damaged && !refused; }
};

/// `accepted`, `inside`: it is one of these of a node (node_state). `seen` has the jobs whose run
/// it carries.
pod_state assess_pod(const view& seen, const pod_pointer& pod, bool accepted, bool inside,
                     purpose what_for);

/// Orders of a job for slots that the layout does not have.
std::vector<dispute> assess_job(const view& seen, const model::batchjob& job,
                                const grid::places& places);

/// Sums over all nodes; sets of node names where the report names the first ones.
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
    /// Of these, those whose taint is not set for a reason.
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
    /// Takes the place of what was known of the node; a state that adds nothing is not kept.
    void put_node(const std::string& name, node_state state);
    void put_pod(const model::object_key& key, pod_state state);
    void put_job(const model::object_key& key, std::vector<dispute> disputes);

    const totals& sums() const { return sums_; }
    const std::map<std::string, node_state, std::less<>>& nodes() const { return nodes_; }
    const node_state& node(std::string_view name) const { return nodes_.find(name)->second; }
    const std::map<model::object_key, pod_state>& pods() const { return pods_; }
    bool has_accepted(const model::object_key& pod) const { return sums_.accepted.contains(pod); }
    bool has_inside(const model::object_key& pod) const { return sums_.inside.contains(pod); }
    /// Pods whose being accepted or inside has changed since this was asked.
    std::set<model::object_key> take_moved() { return std::exchange(moved_, {}); }
    /// Counts the changes of what a report is made of.
    std::uint64_t version() const { return version_; }
    /// Nodes, pods and sums, times aside; for comparison.
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
