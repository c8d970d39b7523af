#include "model/conditions.h"

#include <gtest/gtest.h>

#include <utility>

#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::model {
namespace {

/// The words once more, as clients know them: scripts, external schedulers, `kubectl wait`. One
/// that changes breaks them, and statuses that are stored; it needs an entry in the CHANGELOG.
TEST(words, that_clients_know_stay_as_they_are) {
    const std::pair<std::string_view, std::string_view> words[] = {
        {slot_state::free, "FREE"},
        {slot_state::reserved, "RESERVED"},
        {slot_state::occupied, "OCCUPIED"},
        {slot_state::error, "ERROR"},
        {testbed_state::initial, "INITIAL"},
        {testbed_state::in_progress, "IN_PROGRESS"},
        {testbed_state::success, "SUCCESS"},
        {testbed_state::running, "RUNNING"},
        {testbed_state::error, "ERROR"},
        {job_state::init, "InitState"},
        {job_state::ready, "ReadyState"},
        {job_state::in_queue, "InQueueState"},
        {job_state::submitted, "SubmittedState"},
        {job_state::scheduled, "ScheduledState"},
        {job_state::running, "RunningState"},
        {job_state::completed, "CompletedState"},
        {job_state::failed, "FailedState"},
        {job_state::failed_submission, "FailedSubmissionState"},
        {job_state::pending_deletion, "PendingDeletion"},
        {run_outcome::running, "Running"},
        {run_outcome::succeeded, "Succeeded"},
        {run_outcome::failed, "Failed"},
        {run_outcome::released, "Released"},
        {scheduling_state::initial, "InitialState"},
        {scheduling_state::acquire, "AcquireState"},
        {scheduling_state::confirmation, "ConfirmationState"},
        {scheduling_state::submission, "SubmissionState"},
        {scheduling_state::awaiting_completion, "AwaitingCompletionState"},
        {scheduling_state::completed, "CompletedState"},
        {scheduling_state::finished, "FinishedState"},
        {scheduling_state::error, "Error"},
        {assignment_outcome::succeeded, "Succeeded"},
        {assignment_outcome::failed, "Failed"},
        {assignment_outcome::deleted, "Deleted"},
        {assignment_outcome::released_by_hand, "ReleasedByHand"},
        {assignment_outcome::cancelled, "Cancelled"},
        {assignment_outcome::suspended, "Suspended"},
        {assignment_outcome::deadline_exceeded, "DeadlineExceeded"},
        {scheduling_suspend_policy::keep, "Keep"},
        {scheduling_suspend_policy::release, "Release"},
        {condition_type::failed, "Failed"},
        {condition_type::reconciling, "Reconciling"},
        {condition_type::stalled, "Stalled"},
        {condition_type::startable, "Startable"},
        {condition_type::fits, "Fits"},
        {condition_type::completed, "Completed"},
        {condition_reason::operator_silent, "OperatorSilent"},
        {condition_reason::pods_missing, "PodsMissing"},
        {condition_reason::deadline_exceeded, "DeadlineExceeded"},
        {condition_reason::priority_first, "PriorityFirst"},
        {condition_reason::suspended, "Suspended"},
        {condition_reason::plan_empty, "PlanEmpty"},
        {job_progress_state::acquiring, "Acquiring"},
        {job_progress_state::in_queue, "InQueue"},
        {job_progress_state::submitted, "Submitted"},
        {job_progress_state::scheduled, "Scheduled"},
        {job_progress_state::completed, "Completed"},
        {condition_type::layout_current, "LayoutCurrent"},
        {condition_type::accepted, "Accepted"},
        {condition_type::backend_available, "BackendAvailable"},
        {condition_type::submitted, "Submitted"},
        {condition_type::placed, "Placed"},
        {condition_type::running, "Running"},
        {condition_type::succeeded, "Succeeded"},
        {condition_type::acquired, "Acquired"},
        {condition_reason::undecodable, "Undecodable"},
        {condition_reason::backend_missing, "BackendMissing"},
        {condition_reason::refused, "Refused"},
        {condition_reason::spec_refused, "SpecRefused"},
        {condition_reason::create_failing, "CreateFailing"},
        {condition_reason::scheduler_absent, "SchedulerAbsent"},
        {condition_reason::driver_unschedulable, "DriverUnschedulable"},
        {condition_reason::attempt_failed, "AttemptFailed"},
        {condition_reason::not_allowed, "NotAllowed"},
        {condition_reason::testbed_missing, "TestbedMissing"},
        {condition_reason::testbed_held, "TestbedHeld"},
        {condition_reason::testbed_deleting, "TestbedDeleting"},
        {condition_reason::testbed_not_ready, "TestbedNotReady"},
        {condition_reason::testbed_empty, "TestbedEmpty"},
        {condition_reason::job_missing, "JobMissing"},
        {condition_reason::job_failed, "JobFailed"},
        {condition_reason::job_held, "JobHeld"},
        {condition_reason::job_deleting, "JobDeleting"},
        {condition_reason::job_not_ready, "JobNotReady"},
        {condition_reason::older_first, "OlderFirst"},
        {condition_reason::wait_cycle, "WaitCycle"},
        {condition_reason::hold_lost, "HoldLost"},
        {condition_reason::released, "Released"},
    };
    for (const auto& [has, known] : words) EXPECT_EQ(has, known);
}

TEST(words, of_progress_are_in_the_order_of_a_job) {
    EXPECT_EQ(std::string_view("Acquiring"), job_progress_state::all[0]);
    EXPECT_EQ(std::string_view("Completed"), job_progress_state::all[4]);
}

}  // namespace
}  // namespace esi::model
