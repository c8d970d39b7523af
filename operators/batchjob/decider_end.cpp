// How the line of a run (status.runs) begins and ends. The end is written before anything is
// deleted; close_run has the part that all ends share.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "batchjob/backends/marks.h"
#include "batchjob/decider.h"
#include "batchjob/fill_slots.h"
#include "batchjob/runs.h"
#include "model/text.h"

namespace esi::batchjob {

namespace state = model::job_state;

namespace {

constexpr std::string_view reason_completed = "Completed";
constexpr std::string_view reason_failed = "ApplicationFailed";

/// The watch of pods may show the end of the coordinator, with the exact time and reason, a moment
/// after the watch of applications shows the result.
constexpr seconds last_pod_patience{2};

}  // namespace

pod_pointer decider::newest_coordinator(std::string_view run) const {
    pod_pointer out;
    for (const auto& pod : pods_of(run, pod_role::coordinator)) {
        if (!out || came_before(out->metadata, pod->metadata)) out = pod;
    }
    return out;
}

void decider::start_run(const model::creation_request& order, const application& app) {
    if (line_of(status_, order.run)) return;
    // An application that was taken over may have waited for long.
    add_line(status_, order, layout(),
             seen_.kind->adopts() ? stamp() : app.metadata.creation_timestamp);
    status_.placements.clear();
    status_.state = state::submitted;
    set_condition(condition_type::succeeded, "False", "RunUnderWay", "");
    // The API server has accepted the application: so the spec is accepted, unless it was edited
    // since.
    const auto hash = spec_hash_now();
    if (app.metadata.annotation(spec_hash) != hash) return;
    status_.spec_hash = hash;
    const auto* accepted = model::find_condition(status_.conditions, condition_type::accepted);
    if (!accepted || accepted->status != "True") {
        set_condition(condition_type::accepted, "True", "Accepted",
                      "the API server accepts the application");
    }
}

/// If its own operator restarts the application (restartPolicy OnFailure), each attempt has a line,
/// under one run token.
bool decider::start_attempt(const model::creation_request& order, const application& app) {
    auto& line = *line_of(status_, order.run);
    if (app.attempt < 2 || !app.attempt_since) return false;
    if (line.submitted && *app.attempt_since <= *line.submitted) return true;
    close_run(run_outcome::failed, reasons::attempt_failed,
              "this attempt failed; the application was started again", *app.attempt_since);
    add_line(status_, order, nullptr, app.attempt_since).nodes =
        status_.runs.size() > 1 ? status_.runs[status_.runs.size() - 2].nodes
                                : std::vector<std::string>{};
    status_.state = state::submitted;
    set_condition(condition_type::succeeded, "False", "RunUnderWay", "");
    return true;
}

void decider::fail_launch(const model::creation_request& order, std::string_view reason,
                          std::string message) {
    if (!line_of(status_, order.run)) add_line(status_, order, layout(), std::nullopt);
    set_condition(condition_type::submitted, "False", reason, message);
    close_run(run_outcome::failed, reason, std::move(message), stamp());
    status_.state = state::failed_submission;
    name_application(nullptr);
}

void decider::fail_run(std::string_view reason, std::string message) {
    const auto& order = job_.spec.creation_request;
    if (order && !running_line(status_)) {
        // The application was created, and deleted before a status could name it.
        add_line(status_, *order, nullptr, std::nullopt);
    }
    close_run(run_outcome::failed, reason, std::move(message), stamp());
    status_.state = state::failed;
}

/// spec.activeDeadlineSeconds; the attempts of a run count together.
bool decider::fail_when_overdue(const model::creation_request& order) {
    const auto& limit = job_.spec.active_deadline_seconds;
    if (!limit) return false;
    const auto line = std::ranges::find_if(status_.runs, [&](const model::run_record& each) {
        return each.run == order.run && each.started;
    });
    if (line == status_.runs.end()) return false;
    const auto& started = line->started;
    const auto& submitted = line->submitted;
    if (!started) return false;
    auto begun = started->value;
    // A kubelet's clock may be ahead: the run began at the latest when its pods were seen running.
    const auto* runs = model::find_condition(status_.conditions, condition_type::running);
    if (runs && runs->status == "True" && runs->last_transition_time) {
        begun = std::min(begun, runs->last_transition_time->value);
    }
    // It may also be behind: no pod of it started before its application was created.
    if (submitted) begun = std::max(begun, submitted->value);
    const auto deadline = begun + seconds(*limit);
    if (now_ < deadline) {
        reconcile_in(deadline - now_);
        return false;
    }
    fail_run(reasons::deadline_exceeded,
             fmt::format("it had not ended {} s after the start of its first {} "
                         "(spec.activeDeadlineSeconds)",
                         *limit, seen_.kind->worker()));
    return true;
}

/// True: this decision ends a run without the result of its application, which the cache shows as
/// not ended. The cache may be minutes behind: the application may have a result by now. So it is
/// read live before the end is written, once for such an end; a run that ends by its application's
/// result needs no request.
bool decider::ends_unproven() const {
    const auto* there = app();
    if (seen_.live.application_read || !ours(there) || status_.runs.empty()) return false;
    const auto& run = status_.runs.back().run;
    if (!has_ended(status_, run) || has_ended(job_.status, run)) return false;
    return there->run() != run || !there->final();
}

bool decider::close_when_final(const model::creation_request& order, const application& app) {
    if (!app.final()) return false;
    const auto coordinator = newest_coordinator(order.run);
    if (coordinator && coordinator->live() && !coordinator->metadata.deleting() && app.ended &&
        !seen_.kind->keeps_pods() && is_near(app.ended->value, last_pod_patience)) {
        // The application may be deleted before then (a short time to live, or a person): the line
        // has its result already.
        auto& line = *line_of(status_, order.run);
        line.reason = app.phase == phase::succeeded ? reason_completed : reason_failed;
        line.message = model::cut(app.message);
        line.stopped = app.ended;
        reconcile_in(app.ended->value + last_pod_patience - now_);
        return true;
    }
    close_with_result(order.run, app);
    return true;
}

bool decider::close_with_last_result(std::string_view run, const application* there) {
    const auto* line = line_of(status_, run);
    if (!line || line->outcome != run_outcome::running) return false;
    for (const auto* app : {there, seen_.last_final.get()}) {
        if (!app || app->run() != run || !app->final()) continue;
        close_with_result(run, *app);
        return true;
    }
    if (line->reason != reason_completed && line->reason != reason_failed) return false;
    application last;
    last.phase = line->reason == reason_completed ? phase::succeeded : phase::failed;
    last.message = line->message;
    last.attempt = 1;
    last.ended = line->stopped;
    close_with_result(run, last);
    return true;
}

void decider::close_with_result(std::string_view run, const application& app) {
    const auto coordinator = newest_coordinator(run);
    const auto stopped = end_time_of(run, app);
    note_job_times(*line_of(status_, run), app);
    if (app.phase == phase::succeeded) {
        auto& line = *line_of(status_, run);
        // The run was so short that no watch showed a pod in a slot start: the nearest known time
        // counts.
        if (!line.started) line.started = app.started;
        if (!line.started && coordinator) line.started = coordinator->started_at;
        close_run(run_outcome::succeeded, reason_completed, "", stopped);
        status_.state = state::completed;
        return;
    }
    std::string message = app.message;
    if (message.empty() && coordinator && !coordinator->reason.empty()) {
        message = fmt::format("{} {}: {} {}", seen_.kind->coordinator(), coordinator->metadata.name,
                              coordinator->reason, coordinator->message);
    }
    if (message.empty()) message = "the application failed without a message";
    if (app.attempt == 0) {
        set_condition(condition_type::submitted, "False", "SubmissionFailed", message);
        close_run(run_outcome::failed, "SubmissionFailed", std::move(message), stopped);
        status_.state = state::failed_submission;
    } else {
        close_run(run_outcome::failed, reason_failed, std::move(message), stopped);
        status_.state = state::failed;
    }
}

/// The end by the coordinator's pod or the application; the present time only if neither has one.
model::timestamp decider::end_time_of(std::string_view run, const application& app) const {
    const auto coordinator = newest_coordinator(run);
    const auto told = coordinator ? coordinator->finished_at : std::nullopt;
    // If pods are kept after the end, the end of a pod is not the end of the job.
    if (told && !seen_.kind->keeps_pods()) return *told;
    if (app.ended) return *app.ended;
    return told.value_or(stamp());
}

void decider::close_run(std::string_view outcome, std::string_view reason, std::string message,
                        model::timestamp stopped) {
    const auto& line = status_.runs.back();
    const bool released = outcome == run_outcome::released;
    if (released) {
        const auto coordinator = newest_coordinator(line.run);
        const auto told = coordinator ? coordinator->finished_at : std::nullopt;
        stopped = told.value_or(stopped);
    }
    const bool good = outcome == run_outcome::succeeded;
    if (outcome == run_outcome::failed) message += describe_deaths(line);
    set_condition(condition_type::succeeded, good ? "True" : "False", reason, message);
    set_condition(condition_type::placed, "False", "Ended", "");
    set_condition(condition_type::running, "False", "Ended", "");
    close_line(status_, {outcome, std::string(reason), std::move(message), stopped});
    // The waits of the run do not matter any more.
    problems_.clear();
    reason_.clear();
    reason_text_.clear();
    // The next attempt takes over the slots of this one as its pods end.
    if (line.reason != reasons::attempt_failed) drop_ended_placements();
}

/// "; 2 executors OOMKilled (exit code 137)", the most frequent first; empty if no pod has died.
std::string decider::describe_deaths(const model::run_record& line) const {
    constexpr std::size_t most_listed = 5;
    if (!seen_.kind) return {};
    // The application's own message says how a coordinator has died.
    const auto coordinator = slot_of_coordinator(line.slots, line.run);
    std::map<std::string, int> counts;
    for (const auto& each : seen_.deaths) {
        if (coordinator && each.slot == *coordinator) continue;
        const bool of_attempt = !line.submitted || !each.made || *each.made >= *line.submitted;
        if (each.run == line.run && of_attempt) ++counts[each.died_of];
    }
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [died_of, count] : counts) sorted.emplace_back(-count, died_of);
    std::ranges::sort(sorted);
    if (sorted.size() > most_listed) sorted.resize(most_listed);
    std::string out;
    for (const auto& [minus, died_of] : sorted) {
        const int count = -minus;
        out += fmt::format("{} {} {}{} {}", out.empty() ? ";" : ",", count, seen_.kind->worker(),
                           count == 1 ? "" : "s", died_of);
    }
    return out;
}

}  // namespace esi::batchjob
