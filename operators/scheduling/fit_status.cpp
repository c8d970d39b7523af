#include "scheduling/fit_status.h"

#include <algorithm>

#include "model/json_size.h"
#include "model/text.h"
#include "scheduling/plan.h"

namespace esi::scheduling {

namespace {

constexpr std::size_t short_text = 512;
constexpr std::size_t most_short_problems = 16;
constexpr std::size_t shortest_text = 128;

void cut_texts(model::scheduling_status& status, std::size_t longest, std::size_t problems) {
    if (status.problems.size() > problems) status.problems.resize(problems);
    for (auto& text : status.problems) text = model::cut(text, longest);
    for (auto& each : status.conditions) each.message = model::cut(each.message, longest);
    status.waiting_for = model::cut(status.waiting_for, longest);
}

/// A job after this many others is never started, and each row costs the API server with each
/// write.
void leave_out_jobs_that_cannot_start(std::vector<model::job_progress>& rows) {
    const auto is_left_out = [](const model::job_progress& row) {
        return row.state == model::job_progress_state::acquiring;
    };
    if (rows.size() <= most_jobs) return;
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(most_jobs);
    rows.erase(std::remove_if(first, rows.end(), is_left_out), rows.end());
}

}  // namespace

model::scheduling_status fit_status(model::scheduling_status wanted, std::size_t room) {
    leave_out_jobs_that_cannot_start(wanted.job_states);
    cut_texts(wanted, model::longest_text, wanted.problems.size());
    if (room > 0 && model::json_size(wanted) <= room) return wanted;
    cut_texts(wanted, short_text, most_short_problems);
    if (room > 0 && model::json_size(wanted) <= room) return wanted;
    cut_texts(wanted, shortest_text, 1);
    wanted.job_states.clear();
    return wanted;
}

}  // namespace esi::scheduling
