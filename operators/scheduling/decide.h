// The state machine of a Scheduling as one pure function: from the present objects to ONE next
// action, and the status that is wanted if there is nothing to do. Level-based: it does not know
// earlier decisions, so a new process (or a second leader) continues from the objects.
//
// The chain of rights (docs/architecture.md): finalizer, hold, acquire, assign, request; and the
// way back: epoch, jobs, wait, assignments, hold, `releasing`, finalizer. Every write is guarded
// with the resourceVersion of the object that the decision was made from.
#pragma once

#include <optional>

#include "base/clock.h"
#include "scheduling/action.h"
#include "scheduling/view.h"

namespace esi::scheduling {

struct decision {
    action next = wait{};
    model::scheduling_status status;
    /// For a wait: when time alone changes the decision.
    std::optional<steady_time::duration> again_in{};
};

/// `v.self` must be set.
decision decide(const view& v, wall_time now);

/// The job of an action of a running Scheduling, if the other jobs do not depend on it: one that is
/// added or is to be started.
std::optional<model::object_key> job_apart(const action& what, const model::scheduling& self);

}  // namespace esi::scheduling
