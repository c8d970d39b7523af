// Why a pod in the namespace of a job is not bound yet. Pure.
#pragma once

#include <boost/describe.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "scheduling/view.h"

namespace esi::scheduling::answers {

namespace waiting_reason {
/// It is not a pod of a run that a Scheduling has assigned: ESI does not handle it.
inline constexpr std::string_view foreign = "Foreign";
/// A ghost that waits for the room of its slot.
inline constexpr std::string_view room_taken = "RoomTaken";
/// The batchjob operator has recorded no slot of the run for it.
inline constexpr std::string_view no_slot = "NoSlot";
/// As many pods as the run has slots are recorded before it.
inline constexpr std::string_view surplus = "Surplus";
/// Its slot is in ERROR.
inline constexpr std::string_view slot_in_error = "SlotInError";
/// Another job pod is still in its slot.
inline constexpr std::string_view slot_occupied = "SlotOccupied";
/// The ghost of its slot still runs.
inline constexpr std::string_view ghost_in_slot = "GhostInSlot";
/// Its slot is empty, and the testbed operator has not let it in yet.
inline constexpr std::string_view not_let_in = "NotLetIn";
/// ESI no longer holds it; its scheduler has not bound it.
inline constexpr std::string_view not_bound = "NotBound";
/// The same, and the time for it (scheduleTimeoutSeconds) has passed.
inline constexpr std::string_view not_bound_in_time = "NotBoundInTime";
}  // namespace waiting_reason

struct waiting_pod {
    std::string namespace_;
    std::string name;
    std::string reason;  ///< of waiting_reason
    model::object_key job;
    std::string run;
    std::optional<int> slot;  ///< that its placement gives it
    std::string node;         ///< of that slot
    /// Creation of the pod: its wait began then, if nothing records another time.
    std::optional<model::timestamp> created;
    /// When its run fails if the pod is not bound by then; absent if it does not fail for that.
    std::optional<model::timestamp> deadline;
    std::string text;
    std::string freed_by;  ///< what has to happen next, a sentence
    bool operator==(const waiting_pod&) const = default;
};
BOOST_DESCRIBE_STRUCT(waiting_pod, (),
                      (namespace_, name, reason, job, run, slot, node, created, deadline, text,
                       freed_by))

/// Nothing for a pod that does not wait: it is bound or has ended. `beside`: the known pods of its
/// run, whose ages set the deadline; may contain other pods. The content of its slot is known for
/// the Testbed of `v.self` only.
std::optional<waiting_pod> wait_of_pod(const view& v, const model::pod& pod,
                                       std::span<const grid::pod_pointer> beside, wall_time now);

}  // namespace esi::scheduling::answers
