// The view that one reconcile has of a Testbed, or of one of its nodes: a consistent copy out of
// the caches (observe.h), passed to pure functions. Owned by the reconcile that took it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "grid/places.h"
#include "grid/records.h"
#include "grid/rights.h"
#include "grid/slot_slices.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::testbed {

using grid::node_pointer;
using grid::pod_pointer;
using testbed_pointer = std::shared_ptr<const model::testbed>;
using job_pointer = std::shared_ptr<const model::batchjob>;

struct node_view {
    /// Null where a layout names a node that does not exist.
    node_pointer node;
    /// Every pod bound to it, whatever its owner and phase.
    std::vector<pod_pointer> pods;
    /// Ghosts of any Testbed that are to be bound to it and are not bound yet.
    std::vector<pod_pointer> ghosts_at_the_door = {};
    /// Labels of other Testbeds whose number is also on another node: they give no slots here.
    std::set<std::string, std::less<>> doubled = {};
};

/// Look-up tables of one version of a Testbed. Made once for it, and shared: the places belong to
/// the layout, the rest to the rows of its status or slices.
struct testbed_index {
    std::shared_ptr<const grid::places> places;
    /// Uids of status.slots.
    std::set<std::string, std::less<>> in_slots;
    /// Each row of status.slots is at the index that its position says.
    bool rows_in_order = true;
    grid::slice_list slices;
};
/// `slices`: those that name the Testbed; `before`: the index of the version before, whose
/// unchanged parts are shared.
std::shared_ptr<const testbed_index> index_testbed(const model::testbed& testbed,
                                                   std::span<const grid::slice_pointer> slices = {},
                                                   const model::testbed* older = nullptr,
                                                   const testbed_index* before = nullptr);

/// The whole of a Testbed, or, from observe_node, what concerns one of its nodes.
struct view {
    testbed_pointer testbed;
    /// The other Testbeds that this operator sees (of one node: those that have to do with it).
    std::vector<testbed_pointer> others;
    /// The image that ghosts are to have; empty: any image.
    std::string ghost_image;
    /// True: `others` is complete, as the operator watches all namespaces.
    bool all_namespaces = true;
    /// The rows of a large Testbed can be kept in slices.
    bool slices_served = false;
    /// Nodes that carry the testbed's label, are in its layout, or carry its taint.
    std::map<std::string, node_view, std::less<>> nodes;
    /// Pods that carry the testbed's labels: ghosts, job pods, and pods that pretend to be either.
    std::vector<pod_pointer> pods;
    /// BatchJobs whose creationRequest names the testbed, or whose pods are still in its slots.
    std::vector<job_pointer> jobs;
    /// The Scheduling whose hold the testbed shows; null where it is not seen.
    std::shared_ptr<const model::scheduling> holder;
    /// Slots that the holder has assigned and not ended; null: take them from `holder`.
    std::shared_ptr<const std::set<int>> given = {};
    /// Indexes of `testbed` and `others`; a missing one is made when it is asked for.
    mutable std::map<const model::testbed*, std::shared_ptr<const testbed_index>> indexes = {};

    const testbed_index& index_of(const model::testbed& of) const;
};

/// The slots that assignments of `holder` name which have not ended.
std::set<int> slots_given(const model::scheduling* holder);

/// The node to which a pod with the Testbed's labels says that it belongs: a ghost by its
/// annotation `node`, every other pod by `slot-node`. Empty where it names none.
std::string_view home_of(const model::pod& pod);
/// The node that a ghost waits for; empty for every other pod.
std::string_view door_of(const model::pod& pod);

/// True: the Testbed is in use, and layout and finalizer do not change. Only the hold's token
/// counts, as it does for a Scheduling that wants to take the Testbed; labels alone are a leftover.
bool is_held(const model::testbed& testbed);

/// The stages in the life of a Testbed.
enum class stage {
    ended,       ///< it is being deleted, and nothing of ours is left on it
    leaves,      ///< it is being deleted, and no hold is in the way
    begins,      ///< it has no finalizer yet
    unreadable,  ///< ESI cannot read it
    works,
};
stage stage_of(const model::testbed& testbed);

using grid::is_own_ghost;

/// True: the pod was a ghost of this Testbed until it lost its labels, its annotations or its
/// owner: it still has the name, a hash of the Testbed's uid and of the node that it is on, is
/// nominated to or was made for. It would keep slot and name for ever.
bool is_damaged_ghost(const model::pod& pod, const model::testbed& testbed);

/// "pod namespace/name" for the Testbed's status, which all readers of Testbeds see: a pod of
/// another namespace is mentioned without its name.
std::string pod_text(const model::pod& pod, const model::testbed& testbed);
using grid::foreign_pod;
using grid::testbed_of;

/// The records of these slots.
grid::records records_of(const view& seen, const std::vector<grid::slot>& of);

/// "namespace/name" of a Testbed, as pods carry it in their two labels; empty without them.
std::string testbed_key_of(const model::pod& pod);

}  // namespace esi::testbed
