// The state machine of a BatchJob as one pure function: a view and the time in, the wanted status
// and the next action out. It remembers nothing: every answer follows from the objects, so a new
// process goes on where the last one was killed.
//
// Order of effects. An end is written to status before anything is deleted, so that our own
// deletion is never taken for "vanished under us". A create comes before its status: an application
// that was made and not recorded is found again by its name, owner and run.
//
// observedGeneration. The scheduling operator takes a job for released when observedGeneration =
// generation and status.application names no run of its hold, and then gives the slots to others.
// So no status that speaks about a spec without run says "no application" from the cache alone:
// where one may have been made for a generation that status has not spoken about (by this process,
// whose create's answer was lost, or by the leader before it), the application is read live first.
// An application that is there is named in the same write that moves observedGeneration. What a
// paused leader creates even later carries a dead run token: no slot is opened for it, and it is
// deleted as soon as it is seen.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "batchjob/view.h"
#include "grid/rights.h"
#include "model/conditions.h"

namespace esi::batchjob {

namespace condition_type = model::condition_type;
namespace reasons = model::condition_reason;

/// Read the application of the job's name live; where it is not the job's, those of other kinds.
struct read_application {};
/// Read the Scheduling that the job names live: has it given this order?
struct read_assignment {};
/// Read these pods live.
struct read_pods {
    std::vector<model::placement> pods;
};
/// Create the probe as a dry run with strict field validation.
struct check_spec {
    json object;
};
struct create_application {
    json object;
};
struct delete_application {
    std::string name;
    std::string uid;
    std::string run;
    std::string why;
};
struct delete_pods {
    std::vector<pod_pointer> pods;
    std::string why;
    /// They go for what they were seen doing: one that has changed since stays.
    bool as_seen = false;
};

using action = std::variant<std::monostate, read_application, read_assignment, read_pods,
                            check_spec, create_application, delete_application, delete_pods>;

struct decision {
    model::batchjob_status status;
    action next;
    /// The action gives a fact that the status depends on: act, decide again, then write.
    bool act_first = false;
    /// The next change is a moment away and belongs into the same write: nothing is written now.
    bool hold_back = false;
    /// Look again then, if nothing happens before.
    std::optional<std::chrono::microseconds> again_in;
    /// The create failed for now: tried again with back-off.
    bool retry = false;
    /// The application is in a state that this version does not know.
    bool unknown_state = false;
};

decision decide(const view& seen, wall_time now);

/// The order to start, where it counts: the job is acquired, the order has a run token, and both
/// are of one Scheduling. Null else; `why` then says what is wrong with an order that is there.
const model::creation_request* order_of(const model::batchjob& job, std::string* why = nullptr);

using grid::testbed_of;

/// How long a scheduler may ignore a pod of ours.
inline constexpr seconds scheduler_patience{5};
/// A pod that was let in, rejected, and is not bound for this long is what the job waits for.
inline constexpr seconds binding_patience{2};

}  // namespace esi::batchjob
