#include "scheduling/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/conditions.h"
#include "model/text.h"
#include "scheduling/acquire.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace job_state = model::job_state;
namespace outcome = model::assignment_outcome;
namespace progress = model::job_progress_state;

constexpr std::size_t most_problems = 100;

std::size_t rung_of(std::string_view state) {
    const auto found = std::ranges::find(progress::all, state) - std::begin(progress::all);
    return found == std::ssize(progress::all) ? 0 : static_cast<std::size_t>(found);
}

bool bound(const model::batchjob& job) {
    const auto& state = job.status.state;
    return state == job_state::scheduled || state == job_state::running;
}

std::string failure_text(const view& v, const object_key& key, std::string_view how) {
    if (how == outcome::deleted) return job_text(key) + " was deleted while it was assigned";
    if (how == outcome::released_by_hand) return job_text(key) + " was taken away by hand";
    if (how == outcome::cancelled) return job_text(key) + " was cancelled (spec.cancelledJobs)";
    if (how == outcome::suspended) {
        return job_text(key) + " was ended by a pause, and is no longer in the plan";
    }
    if (how == outcome::deadline_exceeded) {
        return job_text(key) + " was ended: the plan's activeDeadlineSeconds were over";
    }
    auto job = v.find_job(key);
    if (!job || job->status.problems.empty()) return job_text(key) + " failed";
    return job_text(key) + " failed: " + job->status.problems.front();
}

}  // namespace

bool started_and_dropped(const model::batchjob& job, const model::scheduling& by) {
    return acquired_by(job, by) && requested_by(job, by.metadata.uid) &&
           model::is_final(job.status.state);
}

void report_jobs(const view& v, const plan& wants, const std::set<object_key>& skipped,
                 model::scheduling_status& status) {
    std::map<object_key, const model::assignment*> assigned;
    for (const auto& a : status.assignments) assigned[a.job.key()] = &a;
    std::map<object_key, std::size_t> before;
    for (const auto& job : status.job_states) before[job.name] = rung_of(job.state);

    std::vector<object_key> keys;
    for (const auto& job : wants.jobs) keys.push_back(job.name);
    for (const auto& a : status.assignments) {
        if (wants.find(a.job.key()) == nullptr) keys.push_back(a.job.key());
    }

    model::progress_counts counts;
    counts.total = static_cast<int>(keys.size());
    status.job_states.clear();
    for (const auto& key : keys) {
        auto job = v.find_job(key);
        auto at = assigned.find(key);
        std::size_t rung = 0;
        if (skipped.contains(key)) {
            rung = rung_of(progress::completed);
            ++counts.failed;
        } else if (at != assigned.end()) {
            const auto& a = *at->second;
            rung = rung_of(progress::submitted);
            if (wants.retries(a)) {
                rung = rung_of(progress::in_queue);
            } else if (a.ended) {
                rung = rung_of(progress::completed);
                (a.outcome == outcome::succeeded ? counts.done : counts.failed) += 1;
                if (a.outcome != outcome::succeeded) {
                    status.problems.push_back(failure_text(v, key, a.outcome));
                }
            } else {
                if (job && job->metadata.uid == a.job.uid && bound(*job))
                    rung = rung_of(progress::scheduled);
                if (auto was = before.find(key); was != before.end()) {
                    rung = std::max(rung, was->second);
                }
            }
        } else if (job && started_and_dropped(*job, *v.self)) {
            rung = rung_of(progress::completed);
            (job->status.state == job_state::completed ? counts.done : counts.failed) += 1;
        } else if (job && acquired_by(*job, *v.self)) {
            rung = rung_of(progress::in_queue);
        }
        status.job_states.push_back({key, std::string(progress::all[rung])});
    }
    if (status.problems.size() > most_problems) status.problems.resize(most_problems);
    counts.summary = fmt::format("{}/{}", counts.done, counts.total);
    if (counts.failed > 0) counts.summary += fmt::format(" ({} failed)", counts.failed);
    status.progress = counts;
}

std::string text_of(const model::progress_counts& counts) {
    auto out = fmt::format("{} of {} {} ended well", counts.done, counts.total,
                           counts.total == 1 ? "job" : "jobs");
    if (counts.failed > 0) out += fmt::format(", {} failed", counts.failed);
    return out;
}

namespace {

namespace condition_type = model::condition_type;
namespace states = model::scheduling_state;

bool any_failed(const model::scheduling_status& status) {
    return status.progress && status.progress->failed > 0;
}

bool is_at_its_end(const model::scheduling_status& status) {
    return status.state == states::completed || status.state == states::finished;
}

/// AllSucceeded, SomeFailed, DeadlineExceeded: the reason of the condition Completed.
std::string_view how_completed(const model::scheduling_status& status) {
    const auto* completed = model::find_condition(status.conditions, condition_type::completed);
    return completed != nullptr && completed->status == "True" ? std::string_view(completed->reason)
                                                               : reasons::some_failed;
}

/// Why it does not go on or went wrong; empty when well.
std::string reason_of(const model::scheduling_status& status) {
    if (!status.releasing.empty()) return std::string(reasons::releasing);
    const auto* current = model::find_condition(status.conditions, condition_type::spec_current);
    if (current != nullptr && current->reason == reasons::undecodable) return current->reason;
    if (is_at_its_end(status)) {
        return any_failed(status) ? std::string(how_completed(status)) : "";
    }
    const auto* acquired = model::find_condition(status.conditions, condition_type::acquired);
    return acquired != nullptr && acquired->status == "False" ? acquired->reason : "";
}

}  // namespace

void conclude(model::scheduling_status& status, const model::scheduling& of, wall_time now) {
    status.reason = reason_of(status);
    const bool wrong = status.state == states::error;
    const bool over = is_at_its_end(status);
    const bool bad = wrong || (over && any_failed(status));
    const bool well = over && !bad;
    const std::string reason = over    ? std::string(how_completed(status))
                               : wrong ? status.reason
                                       : std::string(reasons::not_ended);
    std::string text;
    if (over && status.progress) text = text_of(*status.progress);
    if (bad && !status.problems.empty()) text += (text.empty() ? "" : ": ") + status.problems[0];
    set(status, of, condition_type::succeeded, well, reason, text, now);
    set(status, of, condition_type::failed, bad, reason, text, now);
    // A release under way is work, whatever happened before.
    const bool works = !status.releasing.empty() || (!over && !wrong);
    if (works) {
        model::remove_condition(status.conditions, condition_type::stalled);
        set(status, of, condition_type::reconciling, true,
            status.reason.empty() ? reasons::running : std::string_view(status.reason),
            model::cut(status.waiting_for, 1024), now);
        return;
    }
    model::remove_condition(status.conditions, condition_type::reconciling);
    if (bad) {
        set(status, of, condition_type::stalled, true, reason, text, now);
    } else {
        model::remove_condition(status.conditions, condition_type::stalled);
    }
}

void set(model::scheduling_status& status, const model::scheduling& of, std::string_view type,
         bool holds, std::string_view reason, std::string_view message, wall_time now) {
    model::set_condition(status.conditions, type, holds ? "True" : "False", reason, message,
                         of.metadata.generation, now);
}

}  // namespace esi::scheduling
