#include "batchjob/job_numbers.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/contains.h"

namespace esi::batchjob {

namespace run_outcome = model::run_outcome;

namespace {

constexpr std::array counted_states{model::job_state::init,
                                    model::job_state::ready,
                                    model::job_state::in_queue,
                                    model::job_state::submitted,
                                    model::job_state::scheduled,
                                    model::job_state::running,
                                    model::job_state::completed,
                                    model::job_state::failed,
                                    model::job_state::failed_submission,
                                    model::job_state::pending_deletion};

prometheus::Histogram& wait_of_runs(controller::metrics& numbers) {
    return numbers.histogram("esi_run_wait_seconds",
                             "Time from the submission of a run until all its pods were bound",
                             {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800});
}

prometheus::Histogram& time_of_runs(controller::metrics& numbers, const std::string& outcome) {
    return numbers.histogram(
        "esi_run_seconds", "Time from the start of a run's first container to its end",
        {5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400}, {{"outcome", outcome}});
}

/// At least 0: the clocks of several machines wrote these times.
double seconds_between(const model::timestamp& from, const model::timestamp& to) {
    return std::max(0.0, std::chrono::duration<double>(to.value - from.value).count());
}

}  // namespace

job_numbers::job_numbers(controller::metrics& numbers) : numbers_(numbers) {
    // The series exist from the start, so that a rate sees the first observation, too.
    wait_of_runs(numbers);
    for (const auto outcome :
         {run_outcome::succeeded, run_outcome::failed, run_outcome::released}) {
        time_of_runs(numbers, std::string(outcome));
    }
}

void job_numbers::count_state(const model::batchjob& job, double by) {
    if (!leads_) return;
    // A state that a person has written into the status by hand is not counted.
    const auto state =
        job.status.state.empty() ? std::string(model::job_state::init) : job.status.state;
    if (!contains(counted_states, state)) return;
    numbers_
        .gauge("esi_batchjobs", "BatchJobs by state, as the leader sees them", {{"state", state}})
        .Increment(by);
}

void job_numbers::job_changed(const kube::change<model::batchjob>& what) {
    if (what.before) count_state(*what.before, -1);
    if (what.after) count_state(*what.after, 1);
}

void job_numbers::measure_runs(const model::batchjob_status& before,
                               const model::batchjob_status& after) {
    for (const auto& line : after.runs) {
        const auto was = std::ranges::find_if(before.runs, [&](const model::run_record& known) {
            return known.run == line.run && known.submitted == line.submitted;
        });
        const bool known = was != before.runs.end();
        if (line.submitted && line.scheduled && !(known && was->scheduled)) {
            wait_of_runs(numbers_).Observe(seconds_between(*line.submitted, *line.scheduled));
        }
        const bool was_open = !known || was->outcome == run_outcome::running;
        if (!was_open || line.outcome == run_outcome::running) continue;
        numbers_.counter("esi_batchjob_runs_total", "Runs that ended", {{"outcome", line.outcome}})
            .Increment();
        if (line.started && line.stopped) {
            time_of_runs(numbers_, line.outcome)
                .Observe(seconds_between(*line.started, *line.stopped));
        }
    }
}

void job_numbers::status_written(const model::batchjob_status& before,
                                 const model::batchjob_status& after) {
    if (after.runs != before.runs) measure_runs(before, after);
    const auto placed = std::ranges::count_if(after.placements, [&](const model::placement& entry) {
        return !contains(before.placements, entry);
    });
    if (placed > 0) {
        numbers_.counter("esi_batchjob_placements_total", "Placements recorded")
            .Increment(static_cast<double>(placed));
    }
}

void job_numbers::application_created(std::string_view type) {
    numbers_
        .counter("esi_batchjob_applications_created_total", "Applications made",
                 {{"type", std::string(type)}})
        .Increment();
}

void job_numbers::leftover_pod_deleted() {
    numbers_
        .counter("esi_batchjob_leftover_pods_deleted_total",
                 "Pods of ended or foreign runs deleted")
        .Increment();
}

void job_numbers::unknown_state_seen() {
    numbers_
        .counter("esi_batchjob_unknown_application_states_total",
                 "Looks at applications in a state that this version does not know")
        .Increment();
}

}  // namespace esi::batchjob
