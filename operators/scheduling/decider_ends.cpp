// Which runs have ended, and which are to be ended. An end is recorded only when no pod of the run
// is left, by the caches and by a live read; until then its slots stay taken.
#include <fmt/format.h>

#include <algorithm>

#include "scheduling/decider.h"
#include "scheduling/release.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace job_state = model::job_state;
namespace outcome = model::assignment_outcome;

/// At most this many ended assignments of jobs that were taken out of the plan are kept; the oldest
/// are dropped first.
constexpr std::size_t kept_assignments = 100;

const model::run_record* line_of(const model::batchjob& job, std::string_view run) {
    const auto found = std::ranges::find(job.status.runs, run, &model::run_record::run);
    return found == job.status.runs.end() ? nullptr : &*found;
}

/// How the run ended by itself, as the job has recorded it; empty if it did not.
std::string_view result_of(const model::batchjob& job, std::string_view run) {
    const auto* line = line_of(job, run);
    if (line == nullptr) return {};
    if (line->outcome == model::run_outcome::succeeded) return outcome::succeeded;
    if (line->outcome == model::run_outcome::failed) return outcome::failed;
    return {};
}

/// "run u.1.2 ended: Failed: the driver was OOMKilled".
std::string end_text(const model::assignment& a, const model::batchjob* job, const plan& wants) {
    auto text = fmt::format("run {} ended: {}", a.run, a.outcome);
    if (a.outcome == outcome::failed && job != nullptr && !job->status.problems.empty()) {
        text += ": " + job->status.problems.front();
    }
    if (wants.retries(a)) {
        text += fmt::format("; attempt {} of {} follows", a.attempt.value_or(0) + 2,
                            wants.policies.at(a.job.key()).backoff_limit + 1);
    }
    return text;
}

}  // namespace

decider::run_end decider::end_of(const model::assignment& a) const {
    const auto job = v_.find_job(a.job.key());
    const bool read = v_.proven().jobs.contains(a.job.key());
    if (!job || job->metadata.uid != a.job.uid) return {outcome::deleted, !read};
    if (!acquired_by(*job, self_)) {
        if (a.ending.empty()) return {outcome::released_by_hand, !read};
        const auto& application = job->status.application;
        if (auto text = wait_for_job(*job, application && application->run == a.run);
            !text.empty()) {
            return {{}, false, std::move(text)};
        }
        const auto result = result_of(*job, a.run);
        return {result.empty() ? std::string_view(a.ending) : result, !read};
    }
    // A job that is final without our request has failed before it could see the request.
    const auto& state = job->status.state;
    if (state == job_state::completed) return {outcome::succeeded};
    if (model::is_final(state)) return {outcome::failed};
    // Reset between two reconciles: the record of the run still says how it ended.
    if (state == job_state::ready || state == job_state::in_queue) {
        const auto result = result_of(*job, a.run);
        if (!result.empty()) return {result};
        const auto* line = line_of(*job, a.run);
        if (line != nullptr && line->outcome == model::run_outcome::released) {
            return {outcome::failed};
        }
    }
    return {};
}

ended_runs decider::runs_that_ended() const {
    ended_runs out;
    const auto& all = self_.status.assignments;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& a = all[i];
        if (a.ended) continue;
        auto end = end_of(a);
        if (!end.waits_for.empty()) {
            out.waits.push_back({a.job.key(), std::move(end.waits_for)});
        }
        if (end.outcome.empty()) continue;
        if (v_.has_pods(a.run)) {
            out.waits.push_back({a.job.key(), "the end of the pods of " + job_text(a.job.key())});
            continue;
        }
        if (end.needs_read) out.read_first = read_job{a.job.key()};
        if (out.read_first) return out;
        out.ends.push_back({i, end.outcome});
    }
    // A cache far behind shows no pod yet of a run that has ended meanwhile. All pods of a run are
    // made with the label of its job, so a list of the job's pods shows those that the cache does
    // not have yet; those that it has are found by their uids, whatever has happened to their
    // labels.
    const auto& read = v_.proven().pods;
    read_pods pods{testbed_of(self_), {}};
    for (const auto& end : out.ends) pods.jobs.push_back(all[end.index].job.key());
    const bool proved = std::ranges::all_of(
        pods.jobs, [&](const auto& job) { return read && read->jobs.contains(job); });
    if (!proved) out.read_first = std::move(pods);
    return out;
}

decision decider::end_assignments(const ended_runs& ended, const skipped_jobs& skipped) {
    commit note{event_reason::job_ended, "", {}, false};
    for (const auto& end : ended.ends) {
        auto& a = status_.assignments[end.index];
        a.ended = model::timestamp{now_};
        a.outcome = end.outcome;
        const bool bad = end.outcome != outcome::succeeded && end.outcome != outcome::suspended;
        note.jobs.push_back(note_of(a, end_text(a, v_.find_job(a.job.key()).get(), plan_), bad));
        note.jobs.back().outcome = end.outcome;
    }
    // A plan that cannot be read looks as if it named no job.
    const bool readable = self_.metadata.undecodable.empty();
    // Its run starts again when the plan continues.
    std::erase_if(status_.assignments, [&](const auto& a) {
        const bool planned = !readable || plan_.find(a.job.key()) != nullptr;
        return a.ended && a.outcome == outcome::suspended && planned;
    });
    if (readable) drop_old_assignments();
    status_.problems = skipped.texts();
    report_jobs(v_, plan_, skipped.keys, status_);
    return {std::move(note), status_};
}

/// Only the assignment proves that a job of the plan has been run: its BatchJob may be deleted,
/// released by hand or reset. So these stay: 1,024 of them, a few hundred bytes each.
void decider::drop_old_assignments() {
    std::vector<const model::assignment*> ended;
    for (const auto& a : status_.assignments) {
        if (a.ended && plan_.find(a.job.key()) == nullptr) ended.push_back(&a);
    }
    if (ended.size() <= kept_assignments) return;
    std::ranges::sort(ended, {}, [](const auto* a) { return std::pair(*a->ended, a); });
    std::set<std::string> dropped;
    ended.resize(ended.size() - kept_assignments);
    for (const auto* a : ended) dropped.insert(a->run);
    std::erase_if(status_.assignments, [&](const auto& a) { return dropped.contains(a.run); });
}

/// Why the run of an assignment is to be ended now; empty when it may go on.
std::string_view decider::reason_to_end(const model::assignment& a, bool late) const {
    if (plan_.cancelled.contains(a.job.key())) return outcome::cancelled;
    if (late) return outcome::deadline_exceeded;
    if (is_suspended() && self_.spec.suspend_policy == model::scheduling_suspend_policy::release) {
        return outcome::suspended;
    }
    return {};
}

/// Records which runs are ended. From then on their jobs are released, whatever the spec says
/// later.
std::optional<decision> decider::begin_endings(bool late) {
    commit note{event_reason::ending, "", {}, false};
    for (auto& a : status_.assignments) {
        if (a.ended || !a.ending.empty()) continue;
        const auto why = reason_to_end(a, late);
        if (why.empty()) continue;
        a.ending = why;
        note.jobs.push_back(note_of(a, fmt::format("ends run {}: {}", a.run, why), false));
    }
    if (note.jobs.empty()) return std::nullopt;
    return decision{std::move(note), status_};
}

/// A job whose run is being ended and that still names us. A run that has ended by itself stays:
/// its result counts.
decider::job_pointer decider::job_to_end() const {
    for (const auto& a : self_.status.assignments) {
        if (a.ended || a.ending.empty()) continue;
        auto job = v_.find_job(a.job.key());
        if (!job || job->metadata.uid != a.job.uid || !acquired_by(*job, self_)) continue;
        if (model::is_final(job->status.state)) continue;
        if (refusal_of(a.job.key()) == nullptr) return job;
    }
    return nullptr;
}

}  // namespace esi::scheduling
