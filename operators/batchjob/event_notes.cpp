#include "batchjob/event_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/contains.h"
#include "base/log.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "grid/rights.h"
#include "model/conditions.h"

namespace esi::batchjob {

namespace condition_type = model::condition_type;
namespace reasons = model::condition_reason;

namespace {

namespace state = model::job_state;

/// Reasons that note_conditions reports, or that end without a person's help.
constexpr std::array<std::string_view, 5> reported_elsewhere{
    reasons::spec_refused, reasons::undecodable, reasons::backend_missing, "TestbedNotReady",
    "CheckFailed"};

/// Reason of Reconciling while the leftovers of a run are deleted without a problem.
constexpr std::string_view ending = "Ending";

std::string_view status_of(const model::batchjob_status& of, std::string_view type) {
    const auto* found = model::find_condition(of.conditions, type);
    return found ? std::string_view(found->status) : std::string_view{};
}

std::string first_problem(const model::batchjob_status& of) {
    return of.problems.empty() ? std::string("failed") : of.problems.front();
}

bool failed(const model::batchjob_status& status) {
    return status.state == state::failed || status.state == state::failed_submission;
}

/// Reason and text of a wait that only a person can end; empty if there is none.
std::pair<std::string, std::string> wait_of(const model::batchjob_status& of) {
    // The reason of a failed job says why the run has failed; its wait is in Reconciling.
    const auto* work = model::find_condition(of.conditions, condition_type::reconciling);
    if (failed(of) && work && work->reason != ending) return {work->reason, work->message};
    if (failed(of) || contains(reported_elsewhere, of.reason)) return {};
    return {of.reason, first_problem(of)};
}

model::active_scheduling_ref scheduling_of(const model::run_record& line) {
    return {line.scheduling.namespace_, line.scheduling.name,
            std::string(grid::owner_of_run(line.run))};
}

class note_writer {
public:
    note_writer(const model::batchjob_status& before, const model::batchjob_status& after)
        : before_(before), after_(after) {}

    std::vector<event_note> all() && {
        note_closed_line();
        note_state();
        note_placements();
        note_conditions();
        note_wait();
        return std::move(out_);
    }

private:
    event_note& add(bool warning, std::string_view reason, std::string_view action,
                    std::string_view words, std::string note) {
        auto& what = out_.emplace_back();
        what.warning = warning;
        what.reason = reason;
        what.action = action;
        what.words = words;
        what.note = std::move(note);
        if (after_.active_scheduling) {
            what.scheduling = after_.active_scheduling;
        } else if (before_.active_scheduling) {
            what.scheduling = before_.active_scheduling;
        }
        return what;
    }

    /// The same for a note that belongs to the last run.
    event_note& add_of_run(bool warning, std::string_view reason, std::string_view action,
                           std::string_view words, std::string note) {
        auto& what = add(warning, reason, action, words, std::move(note));
        if (!after_.runs.empty()) set_run(what, after_.runs.back());
        return what;
    }

    static void set_run(event_note& what, const model::run_record& line) {
        what.run = line;
        what.scheduling = scheduling_of(line);
    }

    /// Reports a run that ended and did not leave the job failed: it was released early, or was one
    /// of several attempts.
    void note_closed_line() {
        if (before_.runs.empty() || before_.runs.back().outcome != run_outcome::running) return;
        const auto& was = before_.runs.back();
        const auto at = std::ranges::find_if(after_.runs, [&](const model::run_record& line) {
            return line.run == was.run && line.submitted == was.submitted;
        });
        if (at == after_.runs.end()) return;
        const bool again = at->reason == reasons::attempt_failed;
        if (at->outcome != run_outcome::released && !again) return;
        set_run(add(true, at->reason, "Observe", again ? "attempt failed" : "run released",
                    at->message),
                *at);
    }

    void note_state() {
        if (before_.state == after_.state) return;
        const std::string_view now = after_.state;
        if (now == state::ready && !before_.state.empty()) {
            add(false, "Ready", "Release", "job ready", "waits to be acquired");
        } else if (now == state::submitted) {
            const auto& app = after_.application;
            add_of_run(false, "Submitted", "CreateApplication", "run started",
                       fmt::format("{} {} was made for slots {}", app ? app->kind : "application",
                                   app ? app->name : "", grid::show_slot_list(after_.slot_ids)));
        } else if (now == state::scheduled) {
            add_of_run(false, "Scheduled", "Place", "pods bound",
                       fmt::format("all pods are bound in slots {}",
                                   grid::show_slot_list(after_.slot_ids)));
        } else if (now == state::running) {
            add_of_run(false, "Running", "Observe", "application runs", "the application runs");
        } else if (now == state::completed) {
            add_of_run(false, "Completed", "Observe", "run ended", after_.last_result);
        } else if (now == state::pending_deletion) {
            add_of_run(false, "Releasing", "Release", "release begun",
                       "waits until application and pods are gone");
        } else if (now == state::failed_submission) {
            add_of_run(true, "SubmissionFailed", "Observe", "submission failed",
                       first_problem(after_));
        } else if (now == state::failed) {
            add_of_run(true, "Failed", "Observe", "run failed", first_problem(after_));
        }
    }

    void note_placements() {
        std::vector<model::placement> fresh;
        std::string text;
        for (const auto& entry : after_.placements) {
            if (contains(before_.placements, entry)) continue;
            text += fmt::format("{}pod {} takes slot {}", text.empty() ? "" : ", ", entry.pod_name,
                                entry.slot);
            fresh.push_back(entry);
        }
        if (fresh.empty()) return;
        add_of_run(false, "Placed", "Place", "pod placed", std::move(text)).pods = std::move(fresh);
    }

    void note_conditions() {
        for (const auto type : {condition_type::accepted, condition_type::backend_available}) {
            const auto* now = model::find_condition(after_.conditions, type);
            if (!now || now->status != "False" || status_of(before_, type) == "False") continue;
            if (type == condition_type::backend_available) {
                add(true, reasons::backend_missing, "CheckSpec", "backend missing", now->message);
                continue;
            }
            const bool unread = now->reason == reasons::undecodable;
            add(true, unread ? reasons::undecodable : reasons::spec_refused, "CheckSpec",
                unread ? "job cannot be read" : "spec refused", now->message);
        }
    }

    /// Reports a wait of the job that only a person can end.
    void note_wait() {
        auto [why, text] = wait_of(after_);
        if (why.empty() || why == wait_of(before_).first) return;
        const bool of_run = !after_.runs.empty() &&
                            (!after_.slot_ids.empty() || after_.state == state::pending_deletion);
        if (of_run) {
            add_of_run(true, why, "Observe", "run waits", std::move(text));
        } else {
            add(true, why, "Observe", "job waits", std::move(text));
        }
    }

    const model::batchjob_status& before_;
    const model::batchjob_status& after_;
    std::vector<event_note> out_;
};

}  // namespace

std::vector<event_note> event_notes(const model::batchjob_status& before,
                                    const model::batchjob_status& after) {
    return note_writer(before, after).all();
}

void log_note(const model::object_key& job, const event_note& note) {
    const auto level = note.warning ? log::level::warn : log::level::info;
    const auto line = [&](const std::string& pod, const std::string& text) {
        log::write(level, note.words,
                   {{"job", job.text()},
                    {"run", note.run ? note.run->run : std::string()},
                    {"scheduling", note.scheduling ? note.scheduling->key().text() : std::string()},
                    {"testbed", note.run ? note.run->testbed.text() : std::string()},
                    {"pod", pod},
                    {"note", text}});
    };
    for (const auto& entry : note.pods) {
        line(model::object_key{job.namespace_, entry.pod_name}.text(),
             fmt::format("takes slot {}", entry.slot));
    }
    if (note.pods.empty()) line({}, note.note);
}

void send(controller::event_recorder& events, const model::object_meta& job, event_note note) {
    std::optional<controller::event_subject> related;
    if (const auto& by = note.scheduling; by && !by->name.empty()) {
        model::object_meta meta;
        meta.namespace_ = by->namespace_;
        meta.name = by->name;
        meta.uid = by->uid;
        related.emplace(kube::types::scheduling, meta);
    }
    const controller::event_subject about(kube::types::batchjob, job);
    if (note.warning) {
        events.warning(about, note.reason, note.action, std::move(note.note), related);
    } else {
        events.normal(about, note.reason, note.action, std::move(note.note), related);
    }
}

}  // namespace esi::batchjob
