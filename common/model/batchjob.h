// BatchJob: a Spark or Flink job, or a Spark driver, that waits to be started. Contract:
// crds/batchjob.yaml.
#pragma once

#include "model/meta.h"

namespace esi::model {

struct active_scheduling_ref {
    std::string namespace_;
    std::string name;
    std::string uid;
    bool operator==(const active_scheduling_ref&) const = default;
    object_key key() const { return {namespace_, name}; }
};
BOOST_DESCRIBE_STRUCT(active_scheduling_ref, (), (namespace_, name, uid))

/// The order to start: written by the scheduling operator, after the assignment stands.
struct creation_request {
    object_key testbed_name;
    std::vector<int> slot_ids;
    int replication = 0;
    std::string run;
    int submit_timeout_seconds = 0;
    int schedule_timeout_seconds = 0;
    bool operator==(const creation_request&) const = default;
};
BOOST_DESCRIBE_STRUCT(creation_request, (),
                      (testbed_name, slot_ids, replication, run, submit_timeout_seconds,
                       schedule_timeout_seconds))

/// spec.sizing: whose numbers the pods ask for.
namespace job_sizing {
/// Those of the spec, which have to fit the slot; what it leaves out is filled up to the slot.
inline constexpr std::string_view spec = "Spec";
inline constexpr std::string_view slot = "Slot";  ///< those of the slot, whatever the spec has
}  // namespace job_sizing

struct batchjob_spec {
    std::optional<raw_json> spark_spec;
    std::optional<raw_json> flink_spec;
    /// A driver pod that exists already: {"uid": ...}. It has the name of the BatchJob.
    std::optional<raw_json> spark_driver;
    /// Notes of external schedulers, which no operator reads: lists of maps by name.
    std::optional<raw_json> external_scheduler;
    std::optional<active_scheduling_ref> active_scheduling;
    std::optional<creation_request> creation_request;
    /// Counted from the start of a run, that is of its first pod in a slot; a run that takes longer
    /// fails.
    std::optional<int> active_deadline_seconds;
    std::string sizing;  ///< see job_sizing; empty: Spec
};
BOOST_DESCRIBE_STRUCT(batchjob_spec, (),
                      (spark_spec, flink_spec, spark_driver, external_scheduler, active_scheduling,
                       creation_request, active_deadline_seconds, sizing))

struct scheduled_event {
    std::optional<timestamp> start;
    std::optional<timestamp> stop;
    bool successful = false;
    object_key scheduling;
    bool operator==(const scheduled_event&) const = default;
};
BOOST_DESCRIBE_STRUCT(scheduled_event, (), (start, stop, successful, scheduling))

/// Which pod of the run takes which slot; authoritative, recorded before any gate is opened.
struct placement {
    int slot = 0;
    std::string pod_uid;
    std::string pod_name;
    bool operator==(const placement&) const = default;
};
BOOST_DESCRIBE_STRUCT(placement, (), (slot, pod_uid, pod_name))

struct application_ref {
    std::string api_version;
    std::string kind;
    std::string name;
    std::string uid;
    std::string run;
    bool operator==(const application_ref&) const = default;
};
BOOST_DESCRIBE_STRUCT(application_ref, (), (api_version, kind, name, uid, run))

struct neighbour {
    std::string node;
    std::vector<std::string> jobs;
    /// How many more neighbours there were at one time: of other namespaces, and beyond the bound.
    /// Absent: none.
    std::optional<int> others = std::nullopt;
    bool operator==(const neighbour&) const = default;
};
BOOST_DESCRIBE_STRUCT(neighbour, (), (node, jobs, others))

/// One line of status.runs: what a run was, for people and external schedulers.
struct run_record {
    std::string run;
    object_key scheduling;
    object_key testbed;
    std::vector<int> slots;
    std::vector<std::string> nodes;
    std::vector<neighbour> neighbours;
    std::optional<timestamp> submitted;
    std::optional<timestamp> scheduled;
    std::optional<timestamp> started;
    std::optional<timestamp> stopped;
    /// The start of the job by the application's own operator, without the start of its pods; for
    /// Flink only.
    std::optional<timestamp> job_started;
    std::optional<timestamp> job_stopped;
    std::string outcome;  ///< see run_outcome
    std::string reason;
    std::string message;
    bool operator==(const run_record&) const = default;
};
BOOST_DESCRIBE_STRUCT(run_record, (),
                      (run, scheduling, testbed, slots, nodes, neighbours, submitted, scheduled,
                       started, stopped, job_started, job_stopped, outcome, reason, message))

struct batchjob_status {
    std::string state;
    std::vector<scheduled_event> scheduled_events;
    std::optional<object_key> slots;
    std::optional<active_scheduling_ref> active_scheduling;
    std::vector<int> slot_ids;
    std::optional<int> replication;
    std::vector<std::string> problems;
    std::vector<placement> placements;
    std::string spec_hash;
    std::string observed_reset;
    std::int64_t observed_generation = 0;
    std::optional<application_ref> application;
    std::vector<condition> conditions;
    std::vector<run_record> runs;
    // For the columns of kubectl get.
    std::string type;            ///< Spark or Flink
    std::int64_t run_count = 0;  ///< all runs so far, also those dropped from `runs`
    std::string last_result;     ///< "Succeeded 24.1s": outcome and duration of the last ended run
    std::string reason;          ///< one CamelCase word for why it is in its state; empty when well
};
BOOST_DESCRIBE_STRUCT(batchjob_status, (),
                      (state, scheduled_events, slots, active_scheduling, slot_ids, replication,
                       problems, placements, spec_hash, observed_reset, observed_generation,
                       application, conditions, runs, type, run_count, last_result, reason))

struct batchjob {
    object_meta metadata;
    batchjob_spec spec;
    batchjob_status status;
};
BOOST_DESCRIBE_STRUCT(batchjob, (), (metadata, spec, status))

namespace job_state {
inline constexpr std::string_view init = "InitState";
inline constexpr std::string_view ready = "ReadyState";
inline constexpr std::string_view in_queue = "InQueueState";
inline constexpr std::string_view submitted = "SubmittedState";
inline constexpr std::string_view scheduled = "ScheduledState";
inline constexpr std::string_view running = "RunningState";
inline constexpr std::string_view completed = "CompletedState";
inline constexpr std::string_view failed = "FailedState";
inline constexpr std::string_view failed_submission = "FailedSubmissionState";
inline constexpr std::string_view pending_deletion = "PendingDeletion";
}  // namespace job_state

/// status.runs[].outcome, and the first word of status.lastResult.
namespace run_outcome {
inline constexpr std::string_view running = "Running";      ///< it has not ended
inline constexpr std::string_view succeeded = "Succeeded";  ///< the application ended well
inline constexpr std::string_view failed = "Failed";        ///< it did not, or was never made
inline constexpr std::string_view released = "Released";    ///< the job was taken away before
}  // namespace run_outcome

/// Completed, Failed or FailedSubmission: the run has ended.
bool is_final(std::string_view job_state);

}  // namespace esi::model
