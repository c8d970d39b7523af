// What is to be done next for a Testbed. Pure: a view, what the process remembers, and the time in;
// actions and the report out. The reconcile takes the actions and looks again.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "testbed/assess.h"
#include "testbed/isolation.h"
#include "testbed/status.h"

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

struct plan {
    /// Independent of each other: may be taken side by side.
    std::vector<action> actions;
    model::testbed_status status;
    /// Events that are due.
    std::vector<note> notes;
    /// Subjects that notes are about now, told before or not.
    std::set<std::string> subjects;
    /// Uids of committed pods whose room is free and which are not bound.
    std::set<std::string> unbound;
    /// Pods that have been given a slot and are not bound in it yet.
    int pods_waiting = 0;
    /// Slots without room, as place_key.
    std::set<std::string> strangers;
    /// Look again then, though nothing happens.
    std::optional<steady_time::duration> again;
};

plan decide(const view& seen, const hints& known, steady_time now, wall_time wall);

}  // namespace esi::testbed
