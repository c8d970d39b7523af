// The room left on every node of the cluster, and the promises of it: allocatable, less live bound
// pods, less promises. Promises are the places of gangs' members that are not bound yet and the
// places of Testbeds' layouts in which nothing is bound yet. Kept up by changes, each at a cost
// that does not grow with the cluster. A value; memory of a process only: rebuilt by adding every
// node and pod, and every member that is nominated or let in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "placement/pod_terms.h"

namespace esi::placement {

using grid::node_pointer;
using grid::pod_pointer;

/// Sums of many requests, of which each may be as large as a number can be.
__extension__ using wide = __int128;

/// Pods that take room of one node.
struct demand {
    std::map<std::string, wide, std::less<>> amounts;
    std::map<model::host_port, int> ports;

    /// `sign`: 1 adds the pod, -1 takes it away again.
    void count(const model::pod& pod, int sign);
    bool empty() const { return amounts.empty() && ports.empty(); }
    bool operator==(const demand&) const = default;
};

/// Pods by their uids.
using uid_set = std::set<std::string, std::less<>>;

/// The places that Testbeds have on a node.
struct slots_of_node {
    /// Sum of the places in which nothing is bound, with their places in the node's `pods`.
    model::amounts waiting;
    /// Pods bound in the other places: ghosts of the Testbed and pods on record, and what they
    /// take.
    uid_set in = {};
    demand taken = {};
    /// Such pods that are not bound yet: their places are counted in `waiting`.
    uid_set coming = {};

    bool empty() const { return waiting.empty() && in.empty() && coming.empty(); }
    bool operator==(const slots_of_node&) const = default;
};

/// One node. Amounts are in thousandths, by the number that the resource has in resource_names; a
/// resource beyond the end is not there.
struct node_ledger {
    /// Null while no such node exists and something is on it or promised of it.
    node_pointer node;
    /// All that takes room now or is promised.
    demand taken;
    /// The part of `taken` that comes back when it ends: DaemonSets' and mirror pods.
    demand stays;
    /// Pods in the places of Testbeds are in `taken`, too, and stay as well.
    slots_of_node slots;
    /// allocatable - taken - slots.waiting; below zero where more is promised than there is.
    std::vector<std::int64_t> free;
    /// allocatable - stays - slots.waiting - slots.taken.
    std::vector<std::int64_t> emptied;

    /// 0 for a resource that the node does not have, or that has no number (-1).
    std::int64_t free_of(int resource) const {
        const auto at = static_cast<std::size_t>(resource);
        return resource >= 0 && at < free.size() ? free[at] : 0;
    }
};

/// Numbers for the resources that nodes have.
class resource_names {
public:
    int enter(std::string_view name);
    /// -1: no node has ever had it.
    int find(std::string_view name) const;
    const std::string& name(int number) const { return names_[static_cast<std::size_t>(number)]; }
    int count() const { return static_cast<int>(names_.size()); }

private:
    std::vector<std::string> names_;
    std::map<std::string, int, std::less<>> numbers_;
};

/// Pods on nodes whose anti-affinity repels others, all with the same terms.
struct repelling_pods {
    repelling_terms terms;
    /// How many are on the node or promised to it, and of these how many stay.
    struct count {
        int all = 0;
        int staying = 0;
    };
    std::map<std::string, count, std::less<>> on;
};

class cluster_room {
public:
    // --- changes; a repeated one counts once only where it says so ---

    /// Null: the node is gone. The same node again changes nothing.
    void node_changed(const std::string& name, const node_pointer& after);
    /// A change from the cache of pods: `before` is the last version, null if the pod is new;
    /// `after` is null if it is gone. A promise to the pod ends when it is bound, has ended or is
    /// gone. A pod that is neither bound nor gated and is nominated takes its room of that node.
    void pod_changed(const pod_pointer& before, const pod_pointer& after);
    /// The places of Testbeds on the node; they replace the earlier ones.
    void slots_changed(const std::string& node, slots_of_node after);

    // --- promises to members of gangs ---

    /// The pod is going to run on the node. Replaces an earlier promise to the same uid. The ledger
    /// does not check that there is room: a reservation promises places before it is there.
    void promise(const pod_pointer& pod, const std::string& node);
    /// Nothing happens where there is none. A pod without gates that is still nominated takes its
    /// room of that node again with its next change.
    void release(std::string_view uid);
    /// Empty where nothing is promised.
    std::string_view promised_to(std::string_view uid) const;
    struct promised {
        pod_pointer pod;
        std::string node;
    };
    /// By uid.
    const std::map<std::string, promised, std::less<>>& promises() const { return promises_; }

    // --- what there is ---

    /// Counts the changes after which something may fit that did not fit before: of nodes (but not
    /// of their heartbeats), of pods that left a node, of promises that ended unused, of places. As
    /// long as it is unchanged, a gang without pod affinity and spread still does not fit.
    std::uint64_t freed() const { return freed_; }
    /// Counts every change that may make another plan, also those that only take room.
    std::uint64_t changes() const { return changes_; }
    /// By name; pods may be on a node that does not exist.
    const std::map<std::string, node_ledger, std::less<>>& nodes() const { return nodes_; }
    /// Null where there is no such node.
    const node_ledger* find(std::string_view node) const;
    /// The pod is not expected to end: a DaemonSet's, a mirror pod, one in a place of a Testbed.
    bool stays_for_good(const model::pod& pod) const;
    /// The room left on a node, promises taken off; nothing if there is no such node.
    std::optional<model::amounts> left_on(std::string_view node) const;
    const resource_names& resources() const { return resources_; }
    /// By namespace and text of their terms.
    const std::map<std::pair<std::string, std::string>, repelling_pods>& repelling() const {
        return repelling_;
    }
    /// Label keys that the selectors of those terms ask for, with how many do.
    const std::map<std::string, int, std::less<>>& repelled_labels() const {
        return repelled_labels_;
    }
    /// Label keys that nodes have, with how many do: a term of another topology key says nothing.
    const std::map<std::string, int, std::less<>>& node_labels() const { return node_labels_; }

private:
    void count(const model::pod& pod, const std::string& node, int sign);
    void count_terms(const model::pod& pod, const std::string& node, bool stays, int sign);
    void count_labels(const repelling_terms& terms, int sign);
    void count_labels(const node_pointer& node, int sign);
    /// After a change of the entry: its sums, or its end.
    void settle(const std::string& node);
    void changed(bool may_free);
    void forget_nomination(std::string_view uid);

    std::map<std::string, node_ledger, std::less<>> nodes_;
    resource_names resources_;
    std::map<std::string, promised, std::less<>> promises_;
    /// Pods of no gang that wait for room that their scheduler has made.
    std::map<std::string, promised, std::less<>> nominated_;
    /// Pods of slots_of_node::coming, with their nodes.
    std::map<std::string, std::string, std::less<>> coming_;
    std::map<std::pair<std::string, std::string>, repelling_pods> repelling_;
    std::map<std::string, int, std::less<>> repelled_labels_;
    std::map<std::string, int, std::less<>> node_labels_;
    std::uint64_t freed_ = 0;
    std::uint64_t changes_ = 0;
};

/// The pod comes back when it ends, whatever else is on its node: a DaemonSet's, a mirror pod.
bool comes_back(const model::pod& pod);

}  // namespace esi::placement
