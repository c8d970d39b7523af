// Words of conditions that more than one file or operator writes or compares: programs use these,
// never a message, which is a sentence for people. A word that one file alone writes and none
// compares is defined there. Clients know these words (conditions_test.cpp repeats them).
#pragma once

#include <string_view>

namespace esi::model {

namespace condition_type {
// For BatchJob and Scheduling.
inline constexpr std::string_view succeeded = "Succeeded";  ///< its run or its plan ended well
inline constexpr std::string_view failed = "Failed";        ///< it ended badly or cannot begin
/// Read by kstatus: work is under way. Absent if there is none.
inline constexpr std::string_view reconciling = "Reconciling";
/// For any kind, read by kstatus: no progress until a person mends something. Absent otherwise.
inline constexpr std::string_view stalled = "Stalled";
// For a Testbed.
inline constexpr std::string_view layout_current = "LayoutCurrent";  ///< with nodes and spec
// For a BatchJob.
inline constexpr std::string_view accepted = "Accepted";  ///< the API server takes the object
inline constexpr std::string_view backend_available = "BackendAvailable";  ///< its kind is served
inline constexpr std::string_view submitted = "Submitted";  ///< the application of the run exists
inline constexpr std::string_view placed = "Placed";        ///< all pods of the run are bound
inline constexpr std::string_view running = "Running";      ///< the application runs
inline constexpr std::string_view startable = "Startable";  ///< a Scheduling can start it now
inline constexpr std::string_view fits = "Fits";  ///< a slot that its namespace may use can hold it
// For a Scheduling.
inline constexpr std::string_view acquired = "Acquired";    ///< it has its Testbed and all its jobs
inline constexpr std::string_view completed = "Completed";  ///< all jobs have ended
inline constexpr std::string_view progressing = "Progressing";   ///< it starts or releases jobs
inline constexpr std::string_view allowed = "Allowed";           ///< it may use what it names
inline constexpr std::string_view spec_current = "SpecCurrent";  ///< all changes are acted on
}  // namespace condition_type

namespace condition_reason {
/// For any kind: the API server has accepted an object that ESI cannot read.
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
inline constexpr std::string_view scheduler_absent = "SchedulerAbsent";  ///< no scheduler at work
inline constexpr std::string_view driver_unschedulable = "DriverUnschedulable";
inline constexpr std::string_view attempt_failed = "AttemptFailed";  ///< Spark starts it once more
/// No operator has taken up the application: it does not run or does not watch its namespace.
inline constexpr std::string_view operator_silent = "OperatorSilent";
inline constexpr std::string_view pods_missing =
    "PodsMissing";  ///< it runs, some pods do not exist
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
inline constexpr std::string_view priority_first =
    "PriorityFirst";                                         ///< one of higher priority could
inline constexpr std::string_view suspended = "Suspended";   ///< by its own spec.suspend
inline constexpr std::string_view plan_empty = "PlanEmpty";  ///< it names no job to start
inline constexpr std::string_view testbed_owned =
    "TestbedOwned";  ///< it is the claim of another Scheduling
inline constexpr std::string_view name_taken =
    "NameTaken";  ///< a Testbed that is not its own has the name of its claim
inline constexpr std::string_view waits_for_claim =
    "ClaimWaiting";  ///< its claim has not all places yet
inline constexpr std::string_view claim_refused =
    "ClaimRefused";  ///< its claim gets no place until a person mends something
inline constexpr std::string_view wait_cycle = "WaitCycle";  ///< they wait for each other
inline constexpr std::string_view hold_lost = "HoldLost";  ///< the Testbed no longer shows its hold
inline constexpr std::string_view released = "Released";   ///< a release has ended
inline constexpr std::string_view retry_delayed = "RetryDelayed";  ///< until the next attempt
inline constexpr std::string_view resetting = "Resetting";         ///< for the next attempt
inline constexpr std::string_view job_refused = "JobRefused";  ///< by the API server or a webhook
// For a plan that cannot be started, or a job of it.
inline constexpr std::string_view too_many_jobs = "TooManyJobs";
inline constexpr std::string_view duplicate_job = "DuplicateJob";
inline constexpr std::string_view job_too_large = "TooManySlots";
inline constexpr std::string_view claim_too_large = "TooManyPlaces";  ///< of its claim
inline constexpr std::string_view slot_outside_layout = "SlotOutsideLayout";
inline constexpr std::string_view slot_of_coordinator = "SlotOfCoordinator";

// The other conditions of a Scheduling.
inline constexpr std::string_view acquired = "Acquired";         ///< Acquired=True
inline constexpr std::string_view allowed = "Allowed";           ///< Allowed=True
inline constexpr std::string_view held_before = "HeldBefore";    ///< the right was not checked then
inline constexpr std::string_view as_specified = "AsSpecified";  ///< SpecCurrent=True
inline constexpr std::string_view change_ignored = "ChangeIgnored";  ///< SpecCurrent=False
inline constexpr std::string_view waiting = "Waiting";         ///< holds nothing, cannot acquire
inline constexpr std::string_view not_started = "NotStarted";  ///< Completed=False
inline constexpr std::string_view starting = "Starting";       ///< slots are assigned, jobs ordered
inline constexpr std::string_view running = "Running";         ///< not all jobs have ended
inline constexpr std::string_view waiting_to_start = "WaitingToStart";  ///< not all have started
inline constexpr std::string_view awaiting_completion = "AwaitingCompletion";  ///< all have started
inline constexpr std::string_view releasing = "Releasing";
inline constexpr std::string_view finished = "Finished";   ///< ended and released
inline constexpr std::string_view not_ended = "NotEnded";  ///< Succeeded=False, Failed=False
inline constexpr std::string_view all_succeeded = "AllSucceeded";
inline constexpr std::string_view some_failed = "SomeFailed";
}  // namespace condition_reason

/// status.releasing of a Scheduling, and the reason of its condition Progressing: why it releases
/// its Testbed and jobs.
namespace release_reason {
inline constexpr std::string_view deleted = "Deleted";         ///< it is being deleted
inline constexpr std::string_view rolled_back = "RolledBack";  ///< it could not take everything
inline constexpr std::string_view completed = "Completed";     ///< spec.releaseOnCompletion
inline constexpr std::string_view hold_lost = "HoldLost";      ///< the Testbed shows another hold
inline constexpr std::string_view left_over = "LeftOver";  ///< a finished one still holds something
}  // namespace release_reason

// Testbed.
namespace condition_type {
inline constexpr std::string_view ready =
    "Ready";  ///< slots can be used, and no ghost is under way
inline constexpr std::string_view capacity_sufficient = "CapacitySufficient";  ///< room for all
inline constexpr std::string_view slots_listed = "SlotsListed";      ///< status.slots is complete
inline constexpr std::string_view ghosts_running = "GhostsRunning";  ///< no ghost fails to run
inline constexpr std::string_view isolated = "Isolated";             ///< every node has the taint
}  // namespace condition_type

// For a claim.
namespace condition_type {
inline constexpr std::string_view formed = "Formed";  ///< it has all its places
}  // namespace condition_type

namespace condition_reason {
inline constexpr std::string_view claim_placed = "Placed";    ///< Formed=True
inline constexpr std::string_view claim_waiting = "Waiting";  ///< not planned yet
inline constexpr std::string_view claim_no_room =
    "NoRoom";  ///< places do not fit into what is left
inline constexpr std::string_view claim_never_fits =
    "NeverFits";                                                  ///< nor into what can become free
inline constexpr std::string_view claim_suspended = "Suspended";  ///< by spec.claim.suspend
inline constexpr std::string_view claim_class_missing = "PriorityClassMissing";  ///< of its ghosts
inline constexpr std::string_view claim_disabled = "Disabled";  ///< the operator forms no claims
}  // namespace condition_reason

namespace condition_reason {
// For several conditions of a Testbed, and its Events.
inline constexpr std::string_view spec_invalid = "SpecInvalid";
inline constexpr std::string_view no_nodes = "NoNodes";  ///< no node carries the label
inline constexpr std::string_view waits_for_release = "WaitsForRelease";  ///< a hold freezes it
inline constexpr std::string_view ghosts_under_way = "GhostsUnderWay";
inline constexpr std::string_view node_problems = "NodeProblems";
// Ready.
inline constexpr std::string_view no_usable_slot = "NoUsableSlot";
inline constexpr std::string_view some_slots_usable = "SomeSlotsUsable";
inline constexpr std::string_view all_slots_usable = "AllSlotsUsable";
// CapacitySufficient.
inline constexpr std::string_view not_enough_room = "NotEnoughRoom";
inline constexpr std::string_view nodes_out_of_use = "NodesOutOfUse";
inline constexpr std::string_view room_for_all = "RoomForAll";
// SlotsListed.
inline constexpr std::string_view listed = "Listed";
inline constexpr std::string_view in_slices = "InSlices";  ///< their rows are in TestbedSlotSlices
/// The rows are nowhere: the kind of the slices is not served.
inline constexpr std::string_view too_many_slots = "TooManySlots";
// LayoutCurrent.
inline constexpr std::string_view current = "Current";
// GhostsRunning.
inline constexpr std::string_view ghosts_fail = "GhostsFail";
inline constexpr std::string_view image_not_changed = "ImageNotChanged";
inline constexpr std::string_view none_fails = "NoneFails";
// Isolated.
inline constexpr std::string_view tainted = "Tainted";
inline constexpr std::string_view not_tainted = "NotTainted";
inline constexpr std::string_view no_taint = "NoTaint";  ///< isolation is None
inline constexpr std::string_view other_schedulers = "OtherSchedulers";
// status.reason alone.
inline constexpr std::string_view orders_disputed = "OrdersDisputed";  ///< a slot is given twice
}  // namespace condition_reason

}  // namespace esi::model
