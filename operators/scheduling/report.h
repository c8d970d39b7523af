// The reported status of a Scheduling: job states, progress, conditions. Computed again from the
// objects for every decision. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/plan.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// status.jobStates, progress and the sentences about failed jobs in `problems`, 100 at most.
/// `skipped`: jobs of the plan that can never start; they count as failed. A failed run that is
/// followed by another one of the same job counts neither as done nor as failed.
void report_jobs(const view& v, const plan& wants, const std::set<model::object_key>& skipped,
                 model::scheduling_status& status);

/// "2 of 3 jobs ended well", "2 of 3 jobs ended well, 1 failed".
std::string text_of(const model::progress_counts& counts);

/// Sets status.reason and the conditions that say how it ended or that it goes on: Succeeded and
/// Failed, and for kstatus Reconciling and Stalled, which exist only while they are true. Derived
/// from the rest of the status.
void conclude(model::scheduling_status& status, const model::scheduling& of, wall_time now);

/// Sets one condition of a Scheduling, at its present generation.
void set(model::scheduling_status& status, const model::scheduling& of, std::string_view type,
         bool holds, std::string_view reason, std::string_view message, wall_time now);

/// Whether this Scheduling started the job before, and its assignment was dropped since: the job
/// was taken out of the plan for a while, or an older ESI dropped it.
bool started_and_dropped(const model::batchjob& job, const model::scheduling& by);

}  // namespace esi::scheduling
