// What each slot of a Testbed is, has and needs, worked out from one view. Pure. The plan
// (decide.h) and the report (status.h) are both made from this one assessment, so that what is done
// and what is told never differ.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testbed/hints.h"
#include "testbed/layout.h"
#include "testbed/room.h"
#include "testbed/view.h"

namespace esi::testbed {

struct node_assessment {
    const node_view* seen = nullptr;
    /// Why no slot of the node can be used (gone, cordoned, NotReady, being deleted); else empty.
    std::string trouble;
    node_room room;
    /// With isolation Taint: the taint is there, ours or an older Testbed's.
    bool shielded = true;
    /// It is not ours to set: an older Testbed of another namespace has the node, too, without one.
    bool kept_open = false;
    /// Why it is not; empty: it is being set.
    std::string obstacle;
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
    /// When the state changes without any event (a ghost waits too long); else nothing.
    std::optional<wall_time> next_look;
};

struct assessment {
    model::testbed_layout layout;
    std::map<std::string, node_assessment, std::less<>> nodes;
    std::vector<slot_assessment> slots;
    /// Pods with our labels that stand in no slot by right: gated ones with a nomination, committed
    /// ones of the extender path, whose placement was withdrawn.
    std::vector<pod_pointer> withdrawn;
    /// Own ghosts that are not in the layout (node, index, name or size).
    std::vector<pod_pointer> misfits;
    std::vector<std::string> problems;
    /// Why ghosts keep the image that they have; empty: nothing is in the way.
    std::string image_obstacle;
};

/// A ghost that waits longer than this for its node makes its slot ERROR.
inline constexpr seconds ghost_patience{5};
/// A pod let in and not bound for this long, whose place is gone, is given up.
inline constexpr seconds let_in_patience{10};
/// A ghost whose container ends by itself fails until it has run for so long: the kubelet starts it
/// anew after five minutes at most.
inline constexpr std::chrono::minutes crash_memory{10};

assessment assess(const view& seen, const model::testbed_layout& layout, const hints& known,
                  steady_time now, wall_time wall);

using grid::has_right;
bool has_right(const model::batchjob& job, const view& seen);

/// A ghost's node, index, name and size are what `layout` has.
bool fits_layout(const model::pod& ghost, const model::testbed& testbed,
                 const model::testbed_layout& layout, const layout_members& members);

}  // namespace esi::testbed
