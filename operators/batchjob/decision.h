// The result of one step of the state machine of a BatchJob: the wanted status, and the action to
// be taken. Values; made by decide (decide.h), carried out by the actor (act.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "batchjob/observe.h"

namespace esi::batchjob {

/// Read live the application of the job's name; if the job does not own it, also those of other
/// kinds.
struct read_application {};
/// Read live the Scheduling that the job names: whether its status assigns these slots to the job.
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
/// Take over the pod of the job's name, which exists already, by this merge patch.
struct adopt_application {
    json patch;
};
/// Make these pods, as the cache shows them, members of the run by this merge patch.
struct mark_pods {
    std::vector<pod_pointer> pods;
    json patch;
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
    /// They are deleted for what the cache shows of them: a pod that has changed since is kept.
    bool as_seen = false;
};

using action =
    std::variant<read_application, read_assignment, read_pods, check_spec, create_application,
                 adopt_application, mark_pods, delete_application, delete_pods>;

struct decision {
    model::batchjob_status status;
    /// The next action; nothing if the job waits for a change.
    std::optional<action> next;
    /// The status depends on a fact that the action yields: take it, decide again, and do not write
    /// `status` before.
    bool act_first = false;
    /// The next change will come in a moment and belongs in the same write: nothing is written now.
    bool hold_back = false;
    /// Reconcile again after this time, if nothing changes before.
    std::optional<std::chrono::microseconds> again_in;
    /// The create failed for now: it is tried again with back-off.
    bool retry = false;
    /// The application is in a state that this version does not know.
    bool unknown_state = false;
};

}  // namespace esi::batchjob
