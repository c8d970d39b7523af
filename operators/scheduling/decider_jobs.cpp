// The next step of each job of the plan: it has started, it can start, it is to be acquired or
// reset, or it is blocked.
#include <fmt/format.h>

#include "model/names.h"
#include "scheduling/decider.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace job_state = model::job_state;

}  // namespace

sorted_jobs decider::sort_jobs(const skipped_jobs& skipped,
                               const std::optional<blocker>& withdrawn) {
    sorted_jobs out;
    auto& started = out.progress.started;
    for (const auto& a : self_.status.assignments) {
        if (!plan_.retries(a) || skipped.keys.contains(a.job.key())) started.insert(a.job.key());
    }
    for (const auto& planned : plan_.jobs) {
        const auto& key = planned.name;
        if (started.contains(key)) continue;
        if (skipped.keys.contains(key)) {
            started.insert(key);
            continue;
        }
        auto job = v_.find_job(key);
        const auto* failed = assignment_of(key);
        if (failed != nullptr) {
            if (auto wait = before_retry(*failed, job.get(), out)) {
                out.blockers.push_back(std::move(*wait));
                continue;
            }
        } else if (job && started_and_dropped(*job, self_)) {
            started.insert(key);
            continue;
        }
        if (auto found = blocker_of(v_, self_, key)) {
            out.blockers.push_back(std::move(*found));
        } else if (acquired_by(*job, self_)) {
            out.progress.startable.insert(key);
        } else if (const auto* refusal = refusal_of(key)) {
            out.blockers.push_back(
                {reasons::job_refused,
                 fmt::format("{} is free, but the API server refuses to have it acquired ({}; see "
                             "the operator's log)",
                             job_text(key), *refusal),
                 {},
                 {object_kind::batchjob, key}});
        } else {
            out.free.insert(key);
        }
    }
    // Nothing else is begun for now, while runs continue.
    auto stop = withdrawn;
    if (!stop && is_suspended()) stop = suspended(self_);
    if (stop) {
        // Neither acquired nor started nor reset.
        if (!out.free.empty() || !out.progress.startable.empty() || out.reset) {
            out.blockers.insert(out.blockers.begin(), std::move(*stop));
        }
        out.progress.startable.clear();
        out.free.clear();
        out.reset.reset();
    }
    return out;
}

/// What has to happen before the next attempt of a job whose run has failed; nothing once it waits
/// for slots like any other. Sets `jobs.reset` for the first job that is to be reset.
std::optional<blocker> decider::before_retry(const model::assignment& failed,
                                             const model::batchjob* job, sorted_jobs& jobs) {
    // A job that belongs to no Scheduling was taken back when it failed.
    if (!failed.ended || job == nullptr ||
        !(acquired_by(*job, self_) || !job->spec.active_scheduling)) {
        return std::nullopt;
    }
    const auto when = failed.ended->value + plan_.retry_delay(failed);
    const auto key = failed.job.key();
    if (!is_past(when)) {
        return blocker{reasons::retry_delayed,
                       fmt::format("{} failed and is started again at {}", job_text(key),
                                   model::timestamp{when}.whole_seconds()),
                       {},
                       {object_kind::batchjob, key},
                       model::timestamp{when}};
    }
    const auto resetting = blocker{reasons::resetting,
                                   job_text(key) + " is being reset for its next attempt",
                                   {},
                                   {object_kind::batchjob, key}};
    const auto last = job->metadata.annotation(model::names::reset);
    const bool asked = !last.empty() && last != job->status.observed_reset;
    if (model::is_final(job->status.state) && (!asked || job->spec.creation_request)) {
        if (const auto* refusal = refusal_of(key)) {
            return blocker{reasons::job_refused,
                           fmt::format("{} is to be reset, which the API server refuses ({}; see "
                                       "the operator's log)",
                                       job_text(key), *refusal),
                           {},
                           {object_kind::batchjob, key}};
        }
        if (!jobs.reset) {
            const auto& meta = job->metadata;
            // A person may have written that run there before it failed.
            auto token = last == failed.run ? failed.run + "/retry" : failed.run;
            jobs.reset = reset_job{key, meta.uid, meta.resource_version, std::move(token)};
        }
        return resetting;
    }
    if (job->status.state == job_state::in_queue || job->status.state == job_state::ready) {
        return std::nullopt;
    }
    return resetting;
}

/// A job that names us without being wanted: it was taken out of the queue before it started, or
/// was acquired by an attempt that is no longer ours.
decider::job_pointer decider::job_outside_plan(const std::set<object_key>& skipped) const {
    for (const auto& job : v_.jobs_of_self()) {
        auto key = job->metadata.key();
        if (assignment_of(key) || started_and_dropped(*job, self_)) continue;
        if (refusal_of(key) != nullptr) continue;
        if (plan_.find(key) == nullptr || skipped.contains(key)) return job;
    }
    return nullptr;
}

}  // namespace esi::scheduling
