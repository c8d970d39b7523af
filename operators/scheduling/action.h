// The action that one decision of the scheduling operator asks for: one step of the chain of
// rights, or a live read that has to come first. Plain data; every write carries the uid and the
// resourceVersion of the object that the decision was made from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "grid/grid.h"
#include "model/batchjob.h"
#include "model/testbed.h"

namespace esi::scheduling {

/// No action until something changes; the wanted status is written if it differs.
struct wait {};
/// The Testbed is to be read live before the next decision.
struct read_testbed {
    model::object_key key;
};
struct read_job {
    model::object_key key;
};
/// The pods of these jobs in slots of the Testbed are to be read live.
struct read_pods {
    model::object_key testbed;
    std::vector<model::object_key> jobs;
};
/// All jobs of the plan or the release, the Testbed, and their pods in its slots are to be read
/// live.
struct read_release {
    std::vector<model::object_key> jobs;
    model::object_key testbed;
    /// Pods that the caches have on record for runs of the Scheduling. Those that the list of the
    /// jobs' pods lacks are read by their names.
    std::vector<grid::pod_pointer> pods{};
};
struct add_finalizer {};
struct remove_finalizer {};
struct acquire_job {
    model::object_key key;
    std::string uid;
    std::string resource_version;
};
struct hold_testbed {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    std::string token;
    /// Sent concurrently with the hold. Either may fail without the other.
    std::optional<acquire_job> beside{};
};
/// The part of a commit that concerns one job: an Event on the job and one on the Scheduling, and a
/// line in the log.
struct job_note {
    model::object_key job;
    std::string uid;
    std::string run;
    std::string note;
    bool bad = false;
    std::string outcome{};  ///< of a run that has ended
};
/// The wanted status is a step of the protocol: it is written with the resourceVersion, and the
/// next decision is made from the answer.
struct commit {
    std::string_view reason;  ///< of event_reason
    /// The text of the Scheduling's own Event, if the step is not about jobs.
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
/// creationRequest is removed.
struct reset_job {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    std::string token;
};
/// Its ttlSecondsAfterFinished have passed.
struct delete_self {};
struct remove_hold {
    model::object_key key;
    std::string uid;
    std::string resource_version;
};
/// Makes the Testbed of the Scheduling's own claim. An existing Testbed of that name is read live
/// instead.
struct make_testbed {
    model::object_key key;
    model::testbed_claim claim;
};
/// Writes the fields that the claim of that Testbed takes from its Scheduling, in one write.
struct steer_claim {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    int priority = 0;
    bool suspend = false;
    /// The annotation unused-since; empty: it is removed.
    std::string unused_since{};
};
/// Deletes that Testbed, which is held by none: its places become free.
struct remove_testbed {
    model::object_key key;
    std::string uid;
    std::string resource_version;
    std::string why;
};

using action =
    std::variant<wait, read_testbed, read_job, read_pods, read_release, add_finalizer,
                 remove_finalizer, hold_testbed, acquire_job, commit, request_creation, release_job,
                 remove_hold, reset_job, delete_self, make_testbed, steer_claim, remove_testbed>;

/// The spelling of an action for metrics and logs: "hold", "acquire", ...
std::string_view name_of(const action& what);

/// The reasons of the Events that actions leave, and of `commit::reason`.
namespace event_reason {
inline constexpr std::string_view held = "Held";
inline constexpr std::string_view acquired = "Acquired";
inline constexpr std::string_view assigned = "Assigned";
inline constexpr std::string_view requested = "Requested";
inline constexpr std::string_view ending = "Ending";
inline constexpr std::string_view job_ended = "JobEnded";
inline constexpr std::string_view retrying = "Retrying";
inline constexpr std::string_view completed = "Completed";
inline constexpr std::string_view releasing = "Releasing";
inline constexpr std::string_view job_released = "JobReleased";
inline constexpr std::string_view assignments_cleared = "AssignmentsCleared";
inline constexpr std::string_view hold_removed = "HoldRemoved";
inline constexpr std::string_view released = "Released";
inline constexpr std::string_view expired = "Expired";
inline constexpr std::string_view claim_made = "ClaimMade";
inline constexpr std::string_view claim_returned = "ClaimReturned";
inline constexpr std::string_view orphan_released = "OrphanReleased";
}  // namespace event_reason

}  // namespace esi::scheduling
