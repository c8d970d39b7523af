// The way back, seen from the objects: which of them still name a Scheduling, and what its release
// waits for. Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduling/plan.h"
#include "scheduling/subject.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// Jobs that the release concerns: those of the plan, of assignments, and all that name `v.self`.
std::vector<model::object_key> jobs_of_release(const view& v, const plan& wants);

/// The first job, in key order, that still names `v.self` or carries its request without naming
/// another Scheduling. Null when there is none.
std::shared_ptr<const model::batchjob> job_to_release(const view& v, const plan& wants);

/// What has to happen before a job that was taken back is released; empty: nothing.
/// `with_application`: the job's status names an application, whose end counts.
std::string wait_for_job(const model::batchjob& job, bool with_application);

/// An object that has to go, or an event that has to happen, before the assignments may be cleared.
struct release_wait {
    subject about;  ///< a BatchJob or a Pod
    std::string text;
};
/// Jobs that have not shown their release yet, applications, and pods on record, of a run of this
/// Scheduling.
std::vector<release_wait> waits_of_release(const view& v, const plan& wants);
/// The sentences of these.
std::vector<std::string> release_waits(const view& v, const plan& wants);

/// Whether anything on the server still belongs to `v.self`: hold, jobs or assignments.
bool owns_anything(const view& v, const plan& wants);

}  // namespace esi::scheduling
