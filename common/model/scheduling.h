// Scheduling: which jobs take which slots, driven to the end. Contract: crds/scheduling.yaml.
#pragma once

#include "model/meta.h"
#include "model/testbed.h"

namespace esi::model {

struct slot_job {
    object_key name;
    std::vector<int> slot_ids;
    bool operator==(const slot_job&) const = default;
};
BOOST_DESCRIBE_STRUCT(slot_job, (), (name, slot_ids))

struct slot_based_spec {
    std::string mode;  ///< "strict" or "relaxed"
    std::vector<slot_job> jobs;
    bool operator==(const slot_based_spec&) const = default;
};
BOOST_DESCRIBE_STRUCT(slot_based_spec, (), (mode, jobs))

/// A job that takes any free slots as soon as there are enough.
struct pool_job {
    object_key name;
    int slots = 1;
    bool operator==(const pool_job&) const = default;
};
BOOST_DESCRIBE_STRUCT(pool_job, (), (name, slots))

struct pool_based_spec {
    std::vector<pool_job> jobs;
    bool operator==(const pool_based_spec&) const = default;
};
BOOST_DESCRIBE_STRUCT(pool_based_spec, (), (jobs))

/// How often a job of the plan is started again when its run fails.
struct job_policy {
    object_key name;
    int backoff_limit = 0;                   ///< retries, 0 to 10
    std::optional<int> retry_delay_seconds;  ///< end of a run to its retry, to 86,400; default 10
    bool operator==(const job_policy&) const = default;
};
BOOST_DESCRIBE_STRUCT(job_policy, (), (name, backoff_limit, retry_delay_seconds))

/// Places of its own: the claim of the Testbed that the Scheduling makes (model::testbed_claim),
/// without priority and suspend, which are the Scheduling's.
struct scheduling_claim {
    std::vector<claim_shape> shapes;
    std::string packing;  ///< see model::claim_packing
    int timeout_seconds = 30;
    bool operator==(const scheduling_claim&) const = default;
};
BOOST_DESCRIBE_STRUCT(scheduling_claim, (), (shapes, packing, timeout_seconds))

/// Either `testbed` or `claim`; grid::testbed_of returns the Testbed.
struct scheduling_spec {
    object_key testbed;
    std::optional<scheduling_claim> claim;
    std::optional<std::vector<object_key>> queue_based;
    std::optional<slot_based_spec> slot_based;
    std::optional<pool_based_spec> pool_based;
    bool release_on_completion = false;
    std::optional<int> schedule_timeout_seconds;  ///< default 300
    std::optional<int> submit_timeout_seconds;    ///< default 600
    // The following fields may change at any time.
    std::optional<bool> suspend;  ///< nothing new starts
    std::string suspend_policy;   ///< see scheduling_suspend_policy; empty: Keep
    std::optional<int> priority;  ///< among those that wait, the highest goes first; default 0
    std::vector<object_key> cancelled_jobs;
    std::optional<int> active_deadline_seconds;  ///< from the first assignment
    std::vector<job_policy> job_policies;
    std::optional<int> ttl_seconds_after_finished;
};
BOOST_DESCRIBE_STRUCT(scheduling_spec, (),
                      (testbed, claim, queue_based, slot_based, pool_based, release_on_completion,
                       schedule_timeout_seconds, submit_timeout_seconds, suspend, suspend_policy,
                       priority, cancelled_jobs, active_deadline_seconds, job_policies,
                       ttl_seconds_after_finished))

namespace scheduling_suspend_policy {
inline constexpr std::string_view keep = "Keep";        ///< running jobs go on
inline constexpr std::string_view release = "Release";  ///< running jobs end, and start again later
}  // namespace scheduling_suspend_policy

struct job_ref {
    std::string namespace_;
    std::string name;
    std::string uid;
    bool operator==(const job_ref&) const = default;
    object_key key() const { return {namespace_, name}; }
};
BOOST_DESCRIBE_STRUCT(job_ref, (), (namespace_, name, uid))

/// The right of one BatchJob to a set of slots; writing it is the commit point of a start.
struct assignment {
    job_ref job;
    std::vector<int> slot_ids;
    std::string run;
    std::optional<timestamp> since;
    std::optional<timestamp> ended;
    std::string outcome;  ///< see assignment_outcome; empty while it runs
    /// Why its run is being ended, which is the outcome that it will have: Cancelled, Suspended or
    /// DeadlineExceeded; empty if it is not being ended.
    std::string ending;
    std::optional<int> attempt;  ///< retries before this one; absent: none
    bool operator==(const assignment&) const = default;
};
BOOST_DESCRIBE_STRUCT(assignment, (), (job, slot_ids, run, since, ended, outcome, ending, attempt))

struct job_progress {
    object_key name;
    std::string state;  ///< see job_progress_state
    bool operator==(const job_progress&) const = default;
};
BOOST_DESCRIBE_STRUCT(job_progress, (), (name, state))

struct progress_counts {
    int done = 0;
    int failed = 0;
    int total = 0;
    std::string summary;  ///< "3/5", or "3/5 (1 failed)": for kubectl get
    bool operator==(const progress_counts&) const = default;
};
BOOST_DESCRIBE_STRUCT(progress_counts, (), (done, failed, total, summary))

struct scheduling_status {
    std::string state;
    std::string mode;  ///< queue, strict, relaxed, pool
    /// The spec at the first assignment, without queueBased and poolBased: later changes of these
    /// fields are ignored.
    std::optional<scheduling_spec> plan;
    std::vector<job_progress> job_states;
    std::vector<std::string> problems;
    std::int64_t observed_generation = 0;
    std::vector<assignment> assignments;
    std::int64_t epoch = 0;
    std::string releasing;  ///< reason of the release under way; empty without one
    std::int64_t last_run = 0;
    std::optional<progress_counts> progress;
    std::vector<condition> conditions;
    /// Sentences for people.
    std::string waiting_for;
    /// The Schedulings that have to release or to start first, by the condition Acquired: the
    /// holders of the wanted objects, the older one (OlderFirst), or the cycle from its smallest
    /// member on (WaitCycle).
    std::vector<object_key> waiting_for_schedulings;
    /// One CamelCase word for why it does not progress, or what went wrong; empty when well.
    std::string reason;
    std::optional<timestamp> started;  ///< of the first assignment
    std::optional<timestamp> ended;    ///< when all jobs had ended
};
BOOST_DESCRIBE_STRUCT(scheduling_status, (),
                      (state, mode, plan, job_states, problems, observed_generation, assignments,
                       epoch, releasing, last_run, progress, conditions, waiting_for,
                       waiting_for_schedulings, reason, started, ended))

struct scheduling {
    object_meta metadata;
    scheduling_spec spec;
    scheduling_status status;
};
BOOST_DESCRIBE_STRUCT(scheduling, (), (metadata, spec, status))

namespace scheduling_state {
inline constexpr std::string_view initial = "InitialState";
inline constexpr std::string_view acquire = "AcquireState";
inline constexpr std::string_view confirmation = "ConfirmationState";
inline constexpr std::string_view submission = "SubmissionState";
inline constexpr std::string_view awaiting_completion = "AwaitingCompletionState";
inline constexpr std::string_view completed = "CompletedState";
inline constexpr std::string_view finished = "FinishedState";
inline constexpr std::string_view error = "Error";
}  // namespace scheduling_state

/// status.assignments[].outcome: how a run ended for its Scheduling.
namespace assignment_outcome {
inline constexpr std::string_view succeeded = "Succeeded";  ///< the application ended well
inline constexpr std::string_view failed = "Failed";        ///< it did not, or was never made
inline constexpr std::string_view deleted = "Deleted";      ///< the BatchJob has gone
/// The BatchJob no longer names the Scheduling.
inline constexpr std::string_view released_by_hand = "ReleasedByHand";
inline constexpr std::string_view cancelled = "Cancelled";  ///< by spec.cancelledJobs
/// The plan was suspended with the policy Release: the job starts again when the plan continues.
inline constexpr std::string_view suspended = "Suspended";
/// The plan's activeDeadlineSeconds had passed.
inline constexpr std::string_view deadline_exceeded = "DeadlineExceeded";
}  // namespace assignment_outcome

/// status.jobStates[].state.
namespace job_progress_state {
inline constexpr std::string_view acquiring = "Acquiring";  ///< it is not the Scheduling's yet
inline constexpr std::string_view in_queue = "InQueue";     ///< acquired, without slots
inline constexpr std::string_view submitted = "Submitted";  ///< assigned
inline constexpr std::string_view scheduled = "Scheduled";  ///< all its pods are bound
inline constexpr std::string_view completed = "Completed";  ///< ended, well or badly
/// In the order in which a job goes through them.
inline constexpr std::string_view all[] = {acquiring, in_queue, submitted, scheduled, completed};
}  // namespace job_progress_state

}  // namespace esi::model
