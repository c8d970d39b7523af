// What a Scheduling's status tells people: job states, progress, conditions. Recomputed from the
// objects at every look. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/plan.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// status.jobStates, progress and the sentences about failed jobs in `problems`, 100 at most.
/// `skipped`: jobs of the plan that can never start; they count as failed.
void report_jobs(const view& v, const plan& wants, const std::set<model::object_key>& skipped,
                 model::scheduling_status& status);

/// One condition of a Scheduling, at its present generation.
void set(model::scheduling_status& status, const model::scheduling& of, std::string_view type,
         bool holds, std::string_view reason, std::string_view message, wall_time now);

/// Started by this Scheduling before, and its assignment dropped since: it was taken out of the
/// plan for a while, or dropped by an older ESI.
bool started_and_dropped(const model::batchjob& job, const model::scheduling& by);

}  // namespace esi::scheduling
