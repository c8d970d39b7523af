// What can be done for a Testbed, one alternative for each step, and what is reported beside it.
// Values: made by decide, taken by the actor.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "testbed/ledger/assess.h"
#include "testbed/room/isolation.h"

namespace esi::testbed {

/// Sets (or on deletion removes) esi.tu-berlin.de/held.
struct change_finalizer {
    bool present = true;
};
/// Writes the layout: only on a Testbed that nobody holds, guarded with its resourceVersion.
struct write_layout {
    model::testbed_layout layout;
};
struct create_ghost {
    grid::slot place;
};
/// Another --ghost-image than it was made with: changed in place, so that the room stays held.
struct change_ghost_image {
    pod_pointer ghost;
};
struct nominate_ghost {
    pod_pointer ghost;
    std::string node;
};
struct remove_ghost {
    pod_pointer ghost;
    std::string why;
    /// It failed: the next one waits (hints::ghost_failed).
    bool failed = false;
};
/// Ghost out, job pod in: steps in swap.h.
struct swap_in {
    slot_assessment slot;
};
/// Extender path: the decision goes onto the pod.
struct commit_placement {
    slot_assessment slot;
};
/// Extender path: committed, its room free, and not bound. kube-scheduler is made to look at it.
struct wake_pod {
    slot_assessment slot;
};
/// A placement that is no more: its nomination, or its commit, goes.
struct withdraw {
    pod_pointer pod;
};
/// Let in, not bound in time, and its place is gone: deleted with its uid, its controller makes
/// another.
struct drop_pod {
    pod_pointer pod;
    grid::slot place;
    std::string why;
};

using action = std::variant<change_finalizer, write_layout, taint_change, create_ghost,
                            change_ghost_image, nominate_ghost, remove_ghost, swap_in,
                            commit_placement, wake_pod, withdraw, drop_pod>;

/// One line: "swap 0 exec-1".
std::string show(const action& what);

struct note {
    bool warning = false;
    std::string reason;
    std::string action;
    std::string text;
    /// About this pod, and the Testbed is the other object; null: about the Testbed.
    pod_pointer pod;
    /// The same subject with the same text is told once.
    std::string subject;
    /// Of a note about the Testbed: the Scheduling that it is about, too; else null.
    std::shared_ptr<const model::scheduling> holder = {};
};

}  // namespace esi::testbed
