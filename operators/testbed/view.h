// What one look at a Testbed sees: a consistent picture out of the caches, taken in one stretch
// without waiting, and then handed to pure functions. Owned by the reconcile that took it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "grid/rights.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::testbed {

using grid::pod_pointer;
using node_pointer = std::shared_ptr<const model::node>;
using testbed_pointer = std::shared_ptr<const model::testbed>;
using job_pointer = std::shared_ptr<const model::batchjob>;

struct node_view {
    /// Null where a layout names a node that does not exist.
    node_pointer node;
    /// Every pod bound to it, of anybody, in any phase.
    std::vector<pod_pointer> pods;
    /// Ghosts that are to be bound to it and are not yet, of any Testbed.
    std::vector<pod_pointer> ghosts_at_the_door = {};
    /// Labels of other Testbeds whose number is also on another node: they give no slots here.
    std::set<std::string, std::less<>> doubled = {};
};

struct view {
    testbed_pointer testbed;
    /// All other Testbeds that this operator sees.
    std::vector<testbed_pointer> others;
    /// The image that ghosts are to have; empty: whatever they have.
    std::string ghost_image;
    /// There are no more: it watches all namespaces.
    bool all_namespaces = true;
    /// Nodes that carry the testbed's label, are in its layout, or carry its taint.
    std::map<std::string, node_view, std::less<>> nodes;
    /// Pods that carry the testbed's labels: ghosts and job pods (and whoever pretends).
    std::vector<pod_pointer> pods;
    /// BatchJobs whose creationRequest names the testbed, or whose pods are still in its slots.
    std::vector<job_pointer> jobs;
    /// The Scheduling whose hold the testbed shows; null where it is not seen.
    std::shared_ptr<const model::scheduling> holder;
};

/// Somebody uses the Testbed: layout and finalizer stand still. Only the hold's token counts, as it
/// does for who wants to take the Testbed; labels alone are a leftover.
bool is_held(const model::testbed& testbed);

using grid::is_own_ghost;

/// A pod that was a ghost of this Testbed until somebody took its labels, its annotations or its
/// owner away: it still has the name, a hash of the Testbed's uid and of the node that it is on, is
/// nominated to or was made for. It would keep slot and name for ever.
bool is_damaged_ghost(const model::pod& pod, const model::testbed& testbed);

/// All of these that are seen, those without the testbed's labels on their nodes.
std::vector<pod_pointer> damaged_ghosts(const view& seen);

/// "pod namespace/name" for the Testbed's status, which whoever may read Testbeds reads: a pod of
/// another namespace is told without its name.
std::string pod_text(const model::pod& pod, const model::testbed& testbed);
using grid::foreign_pod;
using grid::testbed_of;

/// Which pod takes which slot by what ESI's operators have written.
grid::records records_of(const view& seen);

/// "namespace/name" of a Testbed, as pods carry it in their two labels; empty without them.
std::string testbed_key_of(const model::pod& pod);

}  // namespace esi::testbed
