#include "batchjob/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "grid/places.h"
#include "model/text.h"

namespace esi::batchjob {

namespace {

constexpr std::size_t lines_kept = 20;
/// The API allows 10,000; an object of etcd holds about that many, and nothing else.
constexpr std::size_t events_kept = 2000;

template <class T>
void keep_last(std::vector<T>& list, std::size_t count) {
    if (list.size() > count) {
        list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(count));
    }
}

}  // namespace

model::run_record* line_of(model::batchjob_status& status, std::string_view run) {
    return !status.runs.empty() && status.runs.back().run == run ? &status.runs.back() : nullptr;
}

const model::run_record* line_of(const model::batchjob_status& status, std::string_view run) {
    return !status.runs.empty() && status.runs.back().run == run ? &status.runs.back() : nullptr;
}

model::run_record* running_line(model::batchjob_status& status) {
    if (status.runs.empty() || status.runs.back().outcome != run_outcome::running) return nullptr;
    return &status.runs.back();
}

bool has_ended(const model::batchjob_status& status, std::string_view run) {
    // The attempts of a run follow each other: its last line decides, which need not be the last of
    // the list.
    const auto at =
        std::ranges::find(status.runs.rbegin(), status.runs.rend(), run, &model::run_record::run);
    return at != status.runs.rend() && at->outcome != run_outcome::running;
}

model::run_record& add_line(model::batchjob_status& status, const model::creation_request& request,
                            const model::testbed_layout* layout,
                            std::optional<model::timestamp> submitted) {
    auto& line = status.runs.emplace_back();
    line.run = request.run;
    if (status.active_scheduling) line.scheduling = status.active_scheduling->key();
    line.testbed = request.testbed_name;
    line.slots = request.slot_ids;
    line.submitted = submitted;
    line.outcome = run_outcome::running;
    if (layout) {
        std::set<std::string> nodes;
        for (auto& slot : grid::slots_at(*layout, request.slot_ids)) {
            nodes.insert(std::move(slot.node));
        }
        line.nodes.assign(nodes.begin(), nodes.end());
    }
    ++status.run_count;
    keep_last(status.runs, lines_kept);
    return status.runs.back();
}

void open_event(model::batchjob_status& status, const model::run_record& line) {
    if (!status.scheduled_events.empty() && !status.scheduled_events.back().stop) return;
    auto& event = status.scheduled_events.emplace_back();
    event.start = line.started;
    event.scheduling = line.scheduling;
    keep_last(status.scheduled_events, events_kept);
}

void close_line(model::batchjob_status& status, const closing& how) {
    if (status.runs.empty()) return;
    auto& line = status.runs.back();
    line.outcome = how.outcome;
    line.reason = how.reason;
    line.message = model::cut(how.message);
    line.stopped = how.stopped;
    // The nodes' clocks wrote these times: a run never lasts less than 0.
    if (line.started && *line.stopped < *line.started) line.stopped = line.started;

    open_event(status, line);
    auto& event = status.scheduled_events.back();
    event.start = line.started;
    event.stop = line.stopped;
    event.successful = how.outcome == run_outcome::succeeded;

    status.last_result = how.outcome;
    if (line.started) {
        const std::chrono::duration<double> took = line.stopped->value - line.started->value;
        status.last_result += fmt::format(" {:.1f}s", took.count());
    }
}

void note_job_times(model::run_record& line, const application& app) {
    if (app.job_started) line.job_started = app.job_started;
    if (app.job_stopped && line.job_started && *app.job_stopped >= *line.job_started) {
        line.job_stopped = app.job_stopped;
    }
}

}  // namespace esi::batchjob
