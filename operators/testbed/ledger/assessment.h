// The state and the needs of each slot of one node, as assess.h works them out. Values.
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
    /// With isolation Taint: the node has the taint, ours or an older Testbed's.
    bool shielded = true;
    /// The taint is not ours to set: an older Testbed of another namespace has the node without
    /// one.
    bool kept_open = false;
    /// Why the taint is not set; empty: it is being set.
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
    /// A ghost must be here, or wait at the door.
    bool ghost_wanted = false;
    /// Why its ghost does not run, though it holds the room; else empty.
    std::string ghost_failure;
    /// The node has the room for this slot, counted in the order in which slots take it.
    bool has_room = true;
    /// Its ghost uses room that an older Testbed's ghost waits for, and is the next to be removed.
    bool gives_way = false;

    std::string state;  ///< see model::slot_state
    /// Why the state is ERROR.
    std::string problem;
    std::string reserved_for;
    /// A ghost is being made or waits to be bound, and no job has a right to the slot.
    bool ghost_under_way = false;
};

/// The times at which an assessment changes without any event.
struct deadlines {
    std::optional<steady_time> at;
    /// By the estimated clock of the API server. The estimate may go back, so two points are kept:
    /// the next one, and the last that has passed.
    std::optional<wall_time> until;
    std::optional<wall_time> since;

    void add(steady_time when) {
        if (!at || when < *at) at = when;
    }
    /// Returns true if `when` has passed; else notes when it will.
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

/// A conflict between two orders or two records.
struct dispute {
    /// The job that comes second.
    model::object_key job;
    std::size_t nth = 0;  ///< of its order's slots
    std::string text;
    auto operator<=>(const dispute&) const = default;
};

/// The assessment of one node of a Testbed, or of a name that ghosts give as their node.
struct assessment {
    std::string name;
    /// True: the layout names it; else it has no slots.
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

/// If a ghost waits longer than this for its node, its slot becomes ERROR.
inline constexpr seconds ghost_patience{5};
/// A pod that was let in, is not bound for this long, and whose place is gone is given up.
inline constexpr seconds let_in_patience{10};
/// A ghost whose container ends by itself counts as failing until it has run for this long: the
/// kubelet restarts it after five minutes at most.
inline constexpr std::chrono::minutes crash_memory{10};

}  // namespace esi::testbed
