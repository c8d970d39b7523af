#include "batchjob/happenings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/log.h"
#include "batchjob/contains.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "grid/rights.h"
#include "model/conditions.h"

namespace esi::batchjob {

namespace condition_type = model::condition_type;
namespace reasons = model::condition_reason;

namespace {

namespace state = model::job_state;

/// Reasons that are told with the condition that they come from, or that pass by themselves.
constexpr std::array<std::string_view, 5> told_elsewhere{
    reasons::spec_refused, reasons::undecodable, reasons::backend_missing, "TestbedNotReady",
    "CheckFailed"};

/// Reason of Reconciling while what is left of a run goes without trouble.
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

/// Reason and text of what the job waits for; empty where it waits for nobody.
std::pair<std::string, std::string> wait_of(const model::batchjob_status& of) {
    // The reason of a failed job is why it has failed.
    const auto* work = model::find_condition(of.conditions, condition_type::reconciling);
    if (failed(of) && work && work->reason != ending) return {work->reason, work->message};
    if (failed(of) || contains(told_elsewhere, of.reason)) return {};
    return {of.reason, first_problem(of)};
}

model::active_scheduling_ref scheduling_of(const model::run_record& line) {
    return {line.scheduling.namespace_, line.scheduling.name,
            std::string(grid::owner_of_run(line.run))};
}

class gathering {
public:
    gathering(const model::batchjob_status& before, const model::batchjob_status& after)
        : before_(before), after_(after) {}

    std::vector<happening> all() && {
        tell_line_that_ended();
        tell_state();
        tell_placements();
        tell_refusals();
        tell_wait();
        return std::move(out_);
    }

private:
    happening& tell(bool warning, std::string_view reason, std::string_view action,
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

    /// The same for what belongs to the last run.
    happening& tell_of_run(bool warning, std::string_view reason, std::string_view action,
                           std::string_view words, std::string note) {
        auto& what = tell(warning, reason, action, words, std::move(note));
        if (!after_.runs.empty()) of_line(what, after_.runs.back());
        return what;
    }

    static void of_line(happening& what, const model::run_record& line) {
        what.run = line;
        what.scheduling = scheduling_of(line);
    }

    /// One that ended without the job being failed: released early, or one of several attempts.
    void tell_line_that_ended() {
        if (before_.runs.empty() || before_.runs.back().outcome != run_outcome::running) return;
        const auto& was = before_.runs.back();
        const auto at = std::ranges::find_if(after_.runs, [&](const model::run_record& line) {
            return line.run == was.run && line.submitted == was.submitted;
        });
        if (at == after_.runs.end()) return;
        const bool again = at->reason == reasons::attempt_failed;
        if (at->outcome != run_outcome::released && !again) return;
        of_line(tell(true, at->reason, "Observe", again ? "attempt failed" : "run released",
                     at->message),
                *at);
    }

    void tell_state() {
        if (before_.state == after_.state) return;
        const std::string_view now = after_.state;
        if (now == state::ready && !before_.state.empty()) {
            tell(false, "Ready", "Release", "job ready", "waits to be acquired");
        } else if (now == state::submitted) {
            const auto& app = after_.application;
            tell_of_run(false, "Submitted", "CreateApplication", "run started",
                        fmt::format("{} {} was made for slots {}", app ? app->kind : "application",
                                    app ? app->name : "", grid::show_slot_list(after_.slot_ids)));
        } else if (now == state::scheduled) {
            tell_of_run(false, "Scheduled", "Place", "pods bound",
                        fmt::format("all pods are bound in slots {}",
                                    grid::show_slot_list(after_.slot_ids)));
        } else if (now == state::running) {
            tell_of_run(false, "Running", "Observe", "application runs", "the application runs");
        } else if (now == state::completed) {
            tell_of_run(false, "Completed", "Observe", "run ended", after_.last_result);
        } else if (now == state::pending_deletion) {
            tell_of_run(false, "Releasing", "Release", "release begun",
                        "waits until application and pods are gone");
        } else if (now == state::failed_submission) {
            tell_of_run(true, "SubmissionFailed", "Observe", "submission failed",
                        first_problem(after_));
        } else if (now == state::failed) {
            tell_of_run(true, "Failed", "Observe", "run failed", first_problem(after_));
        }
    }

    void tell_placements() {
        std::vector<model::placement> fresh;
        std::string text;
        for (const auto& entry : after_.placements) {
            if (contains(before_.placements, entry)) continue;
            text += fmt::format("{}pod {} takes slot {}", text.empty() ? "" : ", ", entry.pod_name,
                                entry.slot);
            fresh.push_back(entry);
        }
        if (fresh.empty()) return;
        tell_of_run(false, "Placed", "Place", "pod placed", std::move(text)).pods =
            std::move(fresh);
    }

    void tell_refusals() {
        for (const auto type : {condition_type::accepted, condition_type::backend_available}) {
            const auto* now = model::find_condition(after_.conditions, type);
            if (!now || now->status != "False" || status_of(before_, type) == "False") continue;
            if (type == condition_type::backend_available) {
                tell(true, reasons::backend_missing, "CheckSpec", "backend missing", now->message);
                continue;
            }
            const bool unread = now->reason == reasons::undecodable;
            tell(true, unread ? reasons::undecodable : reasons::spec_refused, "CheckSpec",
                 unread ? "job cannot be read" : "spec refused", now->message);
        }
    }

    /// What the job waits for until somebody does something.
    void tell_wait() {
        auto [why, text] = wait_of(after_);
        if (why.empty() || why == wait_of(before_).first) return;
        const bool of_run = !after_.runs.empty() &&
                            (!after_.slot_ids.empty() || after_.state == state::pending_deletion);
        if (of_run) {
            tell_of_run(true, why, "Observe", "run waits", std::move(text));
        } else {
            tell(true, why, "Observe", "job waits", std::move(text));
        }
    }

    const model::batchjob_status& before_;
    const model::batchjob_status& after_;
    std::vector<happening> out_;
};

}  // namespace

std::vector<happening> happenings(const model::batchjob_status& before,
                                  const model::batchjob_status& after) {
    return gathering(before, after).all();
}

void log_happening(const model::object_key& job, const happening& what) {
    const auto level = what.warning ? log::level::warn : log::level::info;
    const auto line = [&](const std::string& pod, const std::string& note) {
        log::write(level, what.words,
                   {{"job", job.text()},
                    {"run", what.run ? what.run->run : std::string()},
                    {"scheduling", what.scheduling ? what.scheduling->key().text() : std::string()},
                    {"testbed", what.run ? what.run->testbed.text() : std::string()},
                    {"pod", pod},
                    {"note", note}});
    };
    for (const auto& entry : what.pods) {
        line(model::object_key{job.namespace_, entry.pod_name}.text(),
             fmt::format("takes slot {}", entry.slot));
    }
    if (what.pods.empty()) line({}, what.note);
}

}  // namespace esi::batchjob
