// What each slot of one node is, has and needs, as assess.h works it out. Values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testbed/room/layout.h"
#include "testbed/room/room.h"
#include "testbed/view/hints.h"
#include "testbed/view/view.h"

namespace esi::testbed {

struct node_assessment {
    const node_view* seen = nullptr;
    /// Why no slot of the node can be used (gone, cordoned, NotReady, being deleted); else empty.
    std::string problem;
    node_room room;
    /// With isolation Taint: the taint is there, ours or an older Testbed's.
    bool shielded = true;
    /// It is not ours to set: an older Testbed of another namespace has the node, too, without one.
    bool kept_open = false;
    /// Why it is not; empty: it is being set.
    std::string taint_problem;
    /// Slots without room.
    int without_room = 0;
};

struct slot_assessment {
    grid::slot_view in;
    /// The job whose creationRequest gives it this slot under the present hold; else null.
    job_pointer assigned;
    /// The live pod that the job's placements record for this slot, of the right run; else null.
    pod_pointer placed;
    /// Why `placed` is not let in, for good as long as nothing changes; else empty.
    std::string refusal;
    /// `placed`, once it was let in; else null.
    pod_pointer current;
    /// A ghost must stand here, or wait at the door.
    bool ghost_wanted = false;
    /// Why its ghost does not run, though it holds the room; else empty.
    std::string ghost_failure;
    /// The node has the room for this slot, counted in the order in which slots take it.
    bool has_room = true;
    /// Its ghost stands in room that an older Testbed's ghost waits for, and is the next to go.
    bool gives_way = false;

    std::string state;  ///< see model::slot_state
    /// Why it is ERROR.
    std::string problem;
    std::string reserved_for;
    /// A ghost is being made or waits to be bound, and nobody else has a right to the slot.
    bool ghost_under_way = false;
};

/// When something changes though no object does.
struct deadlines {
    std::optional<steady_time> at;
    /// By the API server's time, of which more is learned as time goes by, so that it may go back:
    /// the next point, and the last that has passed.
    std::optional<wall_time> until;
    std::optional<wall_time> since;

    void add(steady_time when) {
        if (!at || when < *at) at = when;
    }
    /// Whether `when` has passed.
    bool has_passed(wall_time when, wall_time now) {
        const bool passed = now >= when;
        if (passed && (!since || when > *since)) since = when;
        if (!passed && (!until || when < *until)) until = when;
        return passed;
    }
    bool due(steady_time now, wall_time wall) const {
        return (at && *at <= now) || (until && *until <= wall) || (since && wall < *since);
    }
};

/// What two orders or two records dispute.
struct dispute {
    /// Of the job that comes second.
    model::object_key job;
    std::size_t nth = 0;  ///< of its order's slots
    std::string text;
    auto operator<=>(const dispute&) const = default;
};

/// One node of a Testbed, or a name that ghosts give as their node.
struct assessment {
    std::string name;
    /// The layout names it; else it has no slots.
    bool member = false;
    node_assessment node;
    /// In position order.
    std::vector<slot_assessment> slots;
    /// Own ghosts that are not in the layout (node, index, name or size), and damaged ones.
    std::vector<pod_pointer> misfits;
    std::vector<dispute> disputes;
    /// Pods that are recorded for a slot here and not refused.
    std::vector<pod_pointer> accepted;
    deadlines changes;
};

/// A ghost that waits longer than this for its node makes its slot ERROR.
inline constexpr seconds ghost_patience{5};
/// A pod let in and not bound for this long, whose place is gone, is given up.
inline constexpr seconds let_in_patience{10};
/// A ghost whose container ends by itself fails until it has run for so long: the kubelet starts it
/// anew after five minutes at most.
inline constexpr std::chrono::minutes crash_memory{10};

}  // namespace esi::testbed
