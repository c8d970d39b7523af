#include "scheduling/event_notes.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "scheduling/acquire.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

namespace condition_type = model::condition_type;
namespace types = kube::types;

/// The wait ends when other Schedulings or operators go on.
bool waits_for_others(const model::condition& acquired) {
    static constexpr std::string_view reasons_of_others[] = {
        reasons::testbed_held,   reasons::job_held,          reasons::older_first,
        reasons::job_not_ready,  reasons::testbed_not_ready, reasons::priority_first,
        reasons::waits_for_claim};
    return std::ranges::find(reasons_of_others, acquired.reason) != std::end(reasons_of_others);
}

/// The wait ends by itself, or when the spec's suspend is taken back.
bool waits_as_wanted(const model::condition& acquired) {
    return acquired.reason == reasons::retry_delayed || acquired.reason == reasons::resetting ||
           acquired.reason == reasons::suspended;
}

/// The words of a line of the log for a step; empty for a reason to wait.
std::string_view words_of(std::string_view reason) {
    namespace step = event_reason;
    static const std::map<std::string_view, std::string_view> words{
        {step::held, "testbed held"},
        {step::acquired, "job acquired"},
        {step::assigned, "slots assigned"},
        {step::requested, "start ordered"},
        {step::ending, "end of the run begun"},
        {step::job_ended, "run ended"},
        {step::retrying, "job reset for its next attempt"},
        {step::completed, "all jobs have ended"},
        {step::releasing, "release begun"},
        {step::job_released, "job released"},
        {step::assignments_cleared, "assignments cleared"},
        {step::hold_removed, "hold removed"},
        {step::released, "all released"},
        {step::expired, "scheduling deleted"},
        {step::claim_made, "testbed of the claim made"},
        {step::claim_returned, "places of the claim given back"}};
    const auto found = words.find(reason);
    return found == words.end() ? std::string_view() : found->second;
}

bool completes(const model::scheduling& before, const model::scheduling& after) {
    return after.status.state == model::scheduling_state::completed &&
           before.status.state != after.status.state;
}

}  // namespace

event_notes::event_notes(controller::environment& env)
    : env_(env),
      waited_(
          env.numbers.histogram("esi_scheduling_wait_seconds",
                                "From the creation of a Scheduling to the start of its first job.",
                                {1, 5, 15, 60, 300, 900, 3600, 14400, 86400})) {}

void event_notes::tell(const model::scheduling& about, std::string_view reason,
                       const std::string& note, bool bad) {
    controller::event_subject subject(types::scheduling, about.metadata);
    if (bad) {
        env_.events.warning(subject, reason, reason, note);
    } else {
        env_.events.normal(subject, reason, reason, note);
    }
    const auto words = words_of(reason);
    log::write(bad ? log::level::warn : log::level::info,
               words.empty() ? "scheduling waits" : words,
               {{"reason", words.empty() ? reason : std::string_view()},
                {"scheduling", about.metadata.key().text()},
                {"testbed", testbed_of(about).text()},
                {"note", note}});
}

void event_notes::tell_job(const model::scheduling& about, std::string_view reason,
                           const job_note& what) {
    model::object_meta meta;
    meta.namespace_ = what.job.namespace_;
    meta.name = what.job.name;
    meta.uid = what.uid;
    controller::event_subject own(types::scheduling, about.metadata);
    controller::event_subject job(types::batchjob, meta);
    const auto of_own = job_text(what.job) + ": " + what.note;
    const auto of_job = scheduling_text(about.metadata.key()) + ": " + what.note;
    if (what.bad) {
        env_.events.warning(own, reason, reason, of_own, job);
        env_.events.warning(job, reason, reason, of_job, own);
    } else {
        env_.events.normal(own, reason, reason, of_own, job);
        env_.events.normal(job, reason, reason, of_job, own);
    }
    log::write(what.bad ? log::level::warn : log::level::info, words_of(reason),
               {{"scheduling", about.metadata.key().text()},
                {"testbed", testbed_of(about).text()},
                {"job", what.job.text()},
                {"run", what.run},
                {"note", what.note}});
}

void event_notes::tell_completed(const model::scheduling& about) {
    const auto& counts = about.status.progress;
    tell(about, event_reason::completed, counts ? text_of(*counts) : "all jobs have ended",
         counts && counts->failed > 0);
}

void event_notes::tell_commit(const model::scheduling& before, const commit& what,
                              const model::scheduling& after) {
    if (!before.status.started && after.status.started && before.status.assignments.empty() &&
        before.metadata.creation_timestamp) {
        const auto waited = after.status.started->value - before.metadata.creation_timestamp->value;
        waited_.Observe(std::chrono::duration<double>(waited).count());
    }
    for (const auto& job : what.jobs) {
        if (job.outcome.empty()) continue;
        env_.numbers
            .counter("esi_scheduling_jobs_ended_total",
                     "Assignments of jobs that ended, by how they did.", {{"outcome", job.outcome}})
            .Increment();
    }
    for (const auto& job : what.jobs) tell_job(before, what.reason, job);
    if (completes(before, after)) tell_completed(after);
    if (!what.note.empty()) tell(before, what.reason, what.note, what.bad);
}

void event_notes::tell_report(const model::scheduling& before, const model::scheduling& after) {
    const auto* was = model::find_condition(before.status.conditions, condition_type::acquired);
    const auto* is = model::find_condition(after.status.conditions, condition_type::acquired);
    const bool waits = is != nullptr && is->status == "False" && after.status.releasing.empty() &&
                       !is_over(after.status);
    // An Event for each new sentence: a reader sees what the Scheduling waits for now.
    const bool differs =
        was == nullptr || is == nullptr || was->reason != is->reason || was->message != is->message;
    if (waits && differs) {
        // A wait that only a person can end is a warning.
        const bool bad = !waits_as_wanted(*is) && !waits_for_others(*is);
        tell(before, is->reason, is->message, bad);
    }
    if (completes(before, after)) tell_completed(after);
}

void event_notes::count_action(const action& what) {
    env_.numbers
        .counter("esi_scheduling_steps_total", "Steps of the chain of rights that were tried.",
                 {{"step", std::string(name_of(what))}})
        .Increment();
}

}  // namespace esi::scheduling
