// Words of conditions that more than one file or operator writes or compares: programs go by these,
// never by a message, which is a sentence for people. What one file alone writes and nobody
// compares stands there. Clients know these words (conditions_test.cpp has them once more).
#pragma once

#include <string_view>

namespace esi::model {

namespace condition_type {
// Of BatchJob and Scheduling.
inline constexpr std::string_view succeeded = "Succeeded";  ///< its run or its plan ended well
inline constexpr std::string_view failed = "Failed";        ///< it ended badly or cannot begin
/// Read by kstatus: work is under way. Absent where there is none.
inline constexpr std::string_view reconciling = "Reconciling";
/// Of any kind, read by kstatus: nothing goes on until somebody mends something. Absent otherwise.
inline constexpr std::string_view stalled = "Stalled";
// Of a Testbed.
inline constexpr std::string_view layout_current = "LayoutCurrent";  ///< with nodes and spec
// Of a BatchJob.
inline constexpr std::string_view accepted = "Accepted";  ///< the API server takes the object
inline constexpr std::string_view backend_available = "BackendAvailable";  ///< its kind is served
inline constexpr std::string_view submitted = "Submitted";  ///< the application of the run exists
inline constexpr std::string_view placed = "Placed";        ///< all pods of the run are bound
inline constexpr std::string_view running = "Running";      ///< the application runs
inline constexpr std::string_view startable = "Startable";  ///< a Scheduling can start it now
inline constexpr std::string_view fits = "Fits";  ///< a slot that its namespace may use can hold it
// Of a Scheduling.
inline constexpr std::string_view acquired = "Acquired";  ///< it has its Testbed and all its jobs
inline constexpr std::string_view completed = "Completed";  ///< all jobs have ended
}  // namespace condition_type

namespace condition_reason {
/// Of any kind: the API server has taken what ESI cannot read.
inline constexpr std::string_view undecodable = "Undecodable";

// BatchJob.
/// The operator of the application's kind is not installed.
inline constexpr std::string_view backend_missing = "BackendMissing";
/// The API server has refused the application.
inline constexpr std::string_view refused = "Refused";
/// The order came for a job whose application was refused before.
inline constexpr std::string_view spec_refused = "SpecRefused";

// Also status.reason, or the reason of a run.
inline constexpr std::string_view create_failing = "CreateFailing";      ///< for now
inline constexpr std::string_view scheduler_absent = "SchedulerAbsent";  ///< nobody looks at a pod
inline constexpr std::string_view driver_unschedulable = "DriverUnschedulable";
inline constexpr std::string_view attempt_failed = "AttemptFailed";  ///< Spark starts it once more
/// Nobody has taken up the application: its operator does not run or does not watch its namespace.
inline constexpr std::string_view operator_silent = "OperatorSilent";
inline constexpr std::string_view pods_missing = "PodsMissing";  ///< it runs, some pods do not exist
inline constexpr std::string_view deadline_exceeded = "DeadlineExceeded";

// Acquired=False of a Scheduling: the first thing that has to change.
inline constexpr std::string_view not_allowed = "NotAllowed";  ///< its namespace may not use it
inline constexpr std::string_view testbed_missing = "TestbedMissing";
inline constexpr std::string_view testbed_held = "TestbedHeld";  ///< by another Scheduling
inline constexpr std::string_view testbed_deleting = "TestbedDeleting";
inline constexpr std::string_view testbed_not_ready = "TestbedNotReady";  ///< no current layout
inline constexpr std::string_view testbed_empty = "TestbedEmpty";         ///< no nodes
inline constexpr std::string_view job_missing = "JobMissing";
inline constexpr std::string_view job_failed = "JobFailed";  ///< and was not reset
inline constexpr std::string_view job_held = "JobHeld";      ///< by another Scheduling
inline constexpr std::string_view job_deleting = "JobDeleting";
inline constexpr std::string_view job_not_ready = "JobNotReady";  ///< not in ReadyState yet
inline constexpr std::string_view older_first = "OlderFirst";     ///< an older one could go now
inline constexpr std::string_view priority_first = "PriorityFirst";  ///< one of higher priority could
inline constexpr std::string_view suspended = "Suspended";           ///< by its own spec.suspend
inline constexpr std::string_view plan_empty = "PlanEmpty";          ///< it names no job to start
inline constexpr std::string_view wait_cycle = "WaitCycle";       ///< they wait for each other
inline constexpr std::string_view hold_lost = "HoldLost";  ///< the Testbed no longer shows its hold
inline constexpr std::string_view released = "Released";   ///< a release has ended
}  // namespace condition_reason

}  // namespace esi::model
