// The status of a Scheduling that holds everything and has nothing to do right now.
#include <fmt/format.h>

#include <algorithm>

#include "scheduling/decider.h"
#include "scheduling/report.h"
#include "scheduling/wait_texts.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

namespace condition_type = model::condition_type;
namespace outcome = model::assignment_outcome;
namespace states = model::scheduling_state;

}  // namespace

decision decider::settle_running(round seen) {
    status_.problems = seen.skipped.texts();
    report_jobs(v_, plan_, seen.skipped.keys, status_);
    const auto& counts = *status_.progress;
    const bool all_ended = counts.done + counts.failed == counts.total;
    const bool all_started = seen.jobs.progress.startable.empty() && seen.jobs.blockers.empty();

    auto waits = std::move(seen.waits);
    for (const auto& each : seen.jobs.blockers) waits.push_back(each.text);
    const slot_texts texts(v_, *testbed_, seen.free);
    for (const auto& each : seen.slot_blockers) {
        // Why it is not ready is one of the blockers.
        if (each.why != slot_blocker::kind::not_ready) waits.push_back(texts.of(each));
    }
    if (waits.empty() && !all_ended) {
        for (const auto& a : status_.assignments) {
            if (a.ended) continue;
            const auto job = v_.find_job(a.job.key());
            const bool says = job && !job->status.reason.empty();
            waits.push_back("the end of " + job_text(a.job.key()) +
                            (says ? fmt::format(" ({})", job->status.reason) : ""));
        }
    }
    status_.waiting_for = enumerate(waits, 10, "; ");
    report_acquired(seen.jobs.blockers);
    if (all_ended) {
        status_.state = states::completed;
        status_.waiting_for.clear();
        if (!status_.ended) status_.ended = model::timestamp{now_};
        auto text = text_of(counts);
        set(condition_type::completed, true, how_completed(counts, seen.skipped.cut_short), text);
        if (plan_.release_on_completion) return begin_release(model::release_reason::completed);
        set(condition_type::progressing, false, model::release_reason::completed, text);
        if (auto gone = delete_when_expired()) return std::move(*gone);
    } else {
        status_.ended.reset();
        status_.state = all_started ? states::awaiting_completion : states::confirmation;
        set(condition_type::progressing, true,
            all_started ? reasons::awaiting_completion : reasons::waiting_to_start,
            status_.waiting_for);
        set(condition_type::completed, false, reasons::running, text_of(counts));
    }
    return settle();
}

std::string_view decider::how_completed(const model::progress_counts& counts,
                                        bool cut_short) const {
    if (counts.failed == 0) return reasons::all_succeeded;
    const bool late = cut_short || std::ranges::any_of(status_.assignments, [](const auto& a) {
                          return a.outcome == outcome::deadline_exceeded;
                      });
    return late ? reasons::deadline_exceeded : reasons::some_failed;
}

/// Runs under way go on to their end; a plan that cannot be read begins nothing else.
decision decider::settle_unread() {
    status_.observed_generation = self_.metadata.generation;
    set(condition_type::progressing, false, reasons::undecodable,
        self_.metadata.undecodable_text());
    status_.problems = {self_.metadata.undecodable_text()};
    return {wait{}, status_};
}

decision decider::settle() {
    status_.observed_generation = self_.metadata.generation;
    status_.mode = plan_.chosen->mode();
    report_spec();
    return {wait{}, status_};
}

void decider::report_spec() {
    if (!self_.metadata.undecodable.empty()) {
        set(condition_type::spec_current, false, reasons::undecodable,
            self_.metadata.undecodable_text());
    } else if (plan_.ignored.empty()) {
        set(condition_type::spec_current, true, reasons::as_specified, "");
    } else {
        set(condition_type::spec_current, false, reasons::change_ignored,
            enumerate(plan_.ignored, 10, "; "));
    }
}

void decider::report_acquired(const std::vector<blocker>& blockers) {
    if (blockers.empty()) {
        set_acquired(true, reasons::acquired, "");
        return;
    }
    if (const auto cycle = wait_cycle_of(v_); !cycle.empty()) {
        const auto text = cycle_text(cycle);
        status_.problems.push_back(text);
        status_.waiting_for = text;
        set_acquired(false, reasons::wait_cycle, text, cycle);
        return;
    }
    std::vector<std::string> texts;
    for (const auto& each : blockers) texts.push_back(each.text);
    set_acquired(false, blockers.front().reason, enumerate(texts, 10, "; "), holders_of(blockers));
}

}  // namespace esi::scheduling
