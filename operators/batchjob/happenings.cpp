#include "batchjob/happenings.h"

#include <fmt/format.h>

#include <algorithm>

#include "batchjob/contains.h"
#include "batchjob/runs.h"
#include "grid/grid.h"
#include "model/conditions.h"

namespace esi::batchjob {

namespace condition_type = model::condition_type;
namespace reasons = model::condition_reason;

namespace {

namespace state = model::job_state;

std::string_view status_of(const model::batchjob_status& of, std::string_view type) {
    const auto* found = model::find_condition(of.conditions, type);
    return found ? std::string_view(found->status) : std::string_view{};
}

happening of_state(const model::batchjob_status& after) {
    const auto slots = grid::show_slot_list(after.slot_ids);
    if (after.state == state::ready) return {false, "Ready", "Release", "waits to be acquired"};
    if (after.state == state::in_queue) {
        return {false, "Acquired", "Acquire",
                after.active_scheduling ? fmt::format("acquired by Scheduling {}",
                                                      after.active_scheduling->key().text())
                                        : std::string("acquired")};
    }
    if (after.state == state::submitted) {
        return {false, "Submitted", "CreateApplication",
                fmt::format("{} {} was made for slots {}",
                            after.application ? after.application->kind : "application",
                            after.application ? after.application->name : "", slots)};
    }
    if (after.state == state::scheduled) {
        return {false, "Scheduled", "Place", fmt::format("all pods are bound in slots {}", slots)};
    }
    if (after.state == state::running) return {false, "Running", "Observe", "the application runs"};
    if (after.state == state::completed) {
        return {false, "Completed", "Observe", after.last_result};
    }
    if (after.state == state::pending_deletion) {
        return {false, "Releasing", "Release", "waits until application and pods are gone"};
    }
    const bool submission = after.state == state::failed_submission;
    std::string note = after.problems.empty() ? std::string("failed") : after.problems.front();
    return {true, submission ? "SubmissionFailed" : "Failed", "Observe", std::move(note)};
}

}  // namespace

std::vector<happening> happenings(const model::batchjob_status& before,
                                  const model::batchjob_status& after) {
    std::vector<happening> out;
    // A line that ended without the job being failed: released early, or one of several attempts.
    if (!before.runs.empty() && before.runs.back().outcome == run_outcome::running) {
        const auto& was = before.runs.back();
        const auto at = std::ranges::find_if(after.runs, [&](const model::run_record& line) {
            return line.run == was.run && line.submitted == was.submitted;
        });
        if (at != after.runs.end() &&
            (at->outcome == run_outcome::released || at->reason == reasons::attempt_failed)) {
            out.push_back({true, at->reason, "Observe", at->message});
        }
    }
    if (before.state != after.state && !after.state.empty() &&
        !(before.state.empty() && after.state == state::ready)) {
        out.push_back(of_state(after));
    }
    if (before.placements != after.placements && !after.placements.empty()) {
        std::string text;
        for (const auto& entry : after.placements) {
            if (contains(before.placements, entry)) continue;
            text += fmt::format("{}pod {} takes slot {}", text.empty() ? "" : ", ", entry.pod_name,
                                entry.slot);
        }
        if (!text.empty()) out.push_back({false, "Placed", "Place", std::move(text)});
    }
    for (const auto type : {condition_type::accepted, condition_type::backend_available}) {
        const auto* now = model::find_condition(after.conditions, type);
        if (now && now->status == "False" && status_of(before, type) != "False") {
            const auto why =
                type == condition_type::accepted ? reasons::spec_refused : reasons::backend_missing;
            out.push_back({true, std::string(why), "CheckSpec", now->message});
        }
    }
    for (const std::string_view reason :
         {reasons::driver_unschedulable, reasons::scheduler_absent, reasons::create_failing}) {
        if (after.reason == reason && before.reason != reason) {
            out.push_back({true, std::string(reason), "Observe",
                           after.problems.empty() ? std::string() : after.problems.front()});
        }
    }
    return out;
}

}  // namespace esi::batchjob
