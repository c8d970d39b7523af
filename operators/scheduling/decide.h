// The state machine of a Scheduling as one pure function: what there is -> ONE next step, and the
// status that is wanted when there is nothing to do. Level-based: it never knows what was decided
// before, so a new process (or a second leader) goes on from the objects.
//
// The chain of rights (docs/architecture.md): finalizer, hold, acquire, assign, request; and the
// way back: epoch, jobs, wait, assignments, hold, `releasing`, finalizer. Every write is guarded
// with the resourceVersion of the object that was looked at.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "scheduling/view.h"

namespace esi::scheduling {

namespace step {

/// Nothing to do until something changes; the wanted status is written when it differs.
struct wait {};
/// The Testbed is to be read live before the next decision.
struct read_testbed {
    model::object_key key;
};
struct read_job {
    model::object_key key;
};
/// The pods in slots of the Testbed are to be read live.
struct read_pods {
    model::object_key testbed;
};
/// All jobs of the plan or the release and the Testbed's job pods are to be read live.
struct read_release {
    std::vector<model::object_key> jobs;
    model::object_key testbed;
};
struct add_finalizer {};
struct remove_finalizer {};
struct hold_testbed {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    std::string token;
};
struct acquire_job {
    model::object_key key;
    std::string uid;
    std::string resource_version;
};
/// What a commit is to one job: an Event on the job and one on the Scheduling, and a line in the
/// log.
struct job_note {
    model::object_key job;
    std::string uid;
    std::string run;
    std::string note;
    bool bad = false;
    std::string outcome{};  ///< of a run that has ended
};
/// The wanted status is a step of the protocol: written with the resourceVersion, then looked
/// again.
struct commit {
    std::string reason;  ///< CamelCase, of the Events
    /// Of the Scheduling's own Event, where the step is not about jobs.
    std::string note;
    std::vector<job_note> jobs{};
    bool bad = false;
};
struct request_creation {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    model::creation_request request;
};
/// Clears activeScheduling and creationRequest.
struct release_job {
    model::object_key key;
    std::string uid;
    std::string resource_version;
};
/// Resets a failed job for its next attempt: the annotation reset gets a new value, and
/// creationRequest goes.
struct reset_job {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    std::string token;
};
/// Its ttlSecondsAfterFinished are over.
struct delete_self {};
struct remove_hold {
    model::object_key key;
    std::string uid;
    std::string resource_version;
};

}  // namespace step

using next_step =
    std::variant<step::wait, step::read_testbed, step::read_job, step::read_pods,
                 step::read_release, step::add_finalizer, step::remove_finalizer,
                 step::hold_testbed, step::acquire_job, step::commit, step::request_creation,
                 step::release_job, step::remove_hold, step::reset_job, step::delete_self>;

struct decision {
    next_step next = step::wait{};
    model::scheduling_status status;
    /// Of a wait: when time alone changes the decision.
    std::optional<steady_time::duration> again_in{};
};

/// `v.self` must be set.
decision decide(const view& v, wall_time now);

/// The reasons that `status.releasing` can have.
namespace release_reason {
inline constexpr std::string_view deleted = "Deleted";
inline constexpr std::string_view rolled_back = "RolledBack";
inline constexpr std::string_view completed = "Completed";
inline constexpr std::string_view hold_lost = "HoldLost";
/// Something names a Scheduling that is over.
inline constexpr std::string_view left_over = "LeftOver";
}  // namespace release_reason

/// The job that a step of a running Scheduling is about when the others do not hang on it: one that
/// is added or is to be started.
std::optional<model::object_key> job_apart(const next_step& what, const model::scheduling& self);

/// The spelling of a step for metrics and logs: "hold", "acquire", ...
std::string_view name_of(const next_step& what);

}  // namespace esi::scheduling
