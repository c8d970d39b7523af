// The steps that can be taken for a Testbed, one alternative for each, and the notes about them.
// Values: decide makes them, the actor takes them.
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
/// Writes the layout: only on a Testbed that is not held, guarded with its resourceVersion.
struct write_layout {
    model::testbed_layout layout;
};
struct create_ghost {
    grid::slot place;
};
/// The ghost has another image than --ghost-image: changed in place, so that the room stays held.
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
    /// The ghost failed: the next one waits (hints::ghost_failed).
    bool failed = false;
};
/// Ghost out, job pod in: steps in swap.h.
struct swap_in {
    slot_assessment slot;
};
/// Extender path: the decision is written onto the pod.
struct commit_placement {
    slot_assessment slot;
};
/// Extender path: committed, its room free, and not bound. It makes kube-scheduler try the pod.
struct wake_pod {
    slot_assessment slot;
};
/// The placement was withdrawn: the pod's nomination, or its commit, is removed.
struct withdraw {
    pod_pointer pod;
};
/// The pod was let in, is not bound in time, and its place is gone: it is deleted by its uid, and
/// its controller makes another.
struct drop_pod {
    pod_pointer pod;
    grid::slot place;
    std::string why;
};

using action = std::variant<change_finalizer, write_layout, taint_change, create_ghost,
                            change_ghost_image, nominate_ghost, remove_ghost, swap_in,
                            commit_placement, wake_pod, withdraw, drop_pod>;

/// One line of text: "swap 0 exec-1".
std::string show(const action& what);

struct note {
    bool warning = false;
    std::string reason;
    std::string action;
    std::string text;
    /// The subject is this pod, and the Testbed is the related object; null: the subject is the
    /// Testbed.
    pod_pointer pod;
    /// The same subject with the same text is reported once.
    std::string subject;
    /// If the note is about the Testbed: the Scheduling that it also concerns; else null.
    std::shared_ptr<const model::scheduling> holder = {};
};

}  // namespace esi::testbed
