// One swap on the gate path: ghost out, job pod in. A pure state machine that names the next single
// step; the coroutine that takes the steps is in let_in.cpp. The order of the steps, each of which
// was proven by experiment, is docs/architecture.md, "The swap":
//   check -> nominate, or show a nomination that stands -> read it back, unless the answer came at
//   once -> ghost out -> look at the node -> one patch that pins and lets in.
// It never reads anything older than its arguments, and takes no step twice without need.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "grid/records.h"
#include "kube/watch/store.h"
#include "testbed/ledger/assess.h"

namespace esi::testbed {

enum class swap_step {
    wait,             ///< nothing to do now; an event will come
    nominate,         ///< status.nominatedNodeName = node
    show_nomination,  ///< the pod has one that this attempt did not set: an update of the pod
    read_back,        ///< GET the pod: does the nomination stand?
    remove_ghost,     ///< uid precondition, grace 0
    look,             ///< all pods of the node, as they are once the ghost has gone
    let_in,           ///< the one patch
};

struct swap_view {
    /// The pod as last read or written.
    const model::pod* pod = nullptr;
    /// The ghost is still there, as far as is known.
    bool ghost_stands = false;
    /// A live pod is in the slot.
    bool slot_taken = false;
    std::string node;
    bool has_room = true;
};

swap_step next_step(const swap_view& at, const swap_progress& so_far);

/// The answer to a write proves a nomination as well as a read does, if it came within this time
/// after the request: a read may be as old as that, too.
inline constexpr milliseconds answer_counts_for{250};

/// True: the cache is as good as a live list made now. Its snapshot has this attempt's last write
/// of the pod (`written`, its answer), so it is no older than that write, and the ghost, which
/// existed before it, has gone, whichever client deleted it.
bool shows_the_end(const kube::store<model::pod>& pods, const model::pod& ghost,
                   const model::pod& written);

/// The result of one look at all pods of a node about letting `pod` into a slot of that node.
struct node_look {
    bool ghost_stands = false;
    /// Empty: the slot is empty and the room is there; else what is in the way.
    std::string problem;
};

/// `on_node`: the pods that are bound to it. `known`: the records that give a pod a slot.
/// `on_the_way`: requests of pods that were let in to this node and are not bound yet.
node_look judge_node(const std::vector<pod_pointer>& on_node, const model::node& node,
                     const grid::slot& place, const model::testbed& testbed,
                     const grid::records& known, const model::pod& pod,
                     const model::amounts& on_the_way);

/// The one patch of step 4: annotations, the node in every required affinity term, the gate gone.
/// Guarded by the pod's uid and resourceVersion.
nlohmann::json let_in_patch(const model::pod& pod, const grid::slot& place);

/// The commit of the extender path: annotations only. `ghost_uid` is empty without a ghost; the
/// annotation is set all the same, as it tells a commit, which can be taken back, from the patch
/// above.
nlohmann::json commit_patch(const model::pod& pod, const grid::slot& place,
                            const std::string& ghost_uid);
/// The patch that takes that commit back.
nlohmann::json uncommit_patch(const model::pod& pod);

}  // namespace esi::testbed
