#include "batchjob/fit_status.h"

#include <algorithm>

#include "model/conditions.h"
#include "model/json_size.h"
#include "model/text.h"

namespace esi::batchjob {

namespace {

/// status.scheduledEvents of this many runs are kept as long as status.runs keeps its lines.
constexpr std::size_t most_events = 20;
constexpr std::size_t short_text = 256;
constexpr std::size_t most_short_problems = 8;
constexpr std::size_t shortest_text = 128;

template <class T>
void keep_last(std::vector<T>& list, std::size_t count) {
    if (list.size() > count) {
        list.erase(list.begin(), list.end() - static_cast<std::ptrdiff_t>(count));
    }
}

/// Removes the oldest entries until `size` fits or `least` are left, in one walk.
template <class T>
void drop_oldest(std::vector<T>& list, std::size_t least, std::size_t& size, std::size_t room) {
    std::size_t gone = 0;
    while (size > room && list.size() - gone > least) {
        size -= std::min(size, model::json_size(list[gone]) + 1);
        ++gone;
    }
    keep_last(list, list.size() - gone);
}

void cut_texts(model::batchjob_status& status, std::size_t longest, std::size_t problems) {
    if (status.problems.size() > problems) status.problems.resize(problems);
    for (auto& text : status.problems) text = model::cut(text, longest);
    for (auto& each : status.conditions) each.message = model::cut(each.message, longest);
    for (auto& line : status.runs) line.message = model::cut(line.message, longest);
}

model::batchjob_status smallest(model::batchjob_status status) {
    keep_last(status.runs, 1);
    const bool ended =
        !status.runs.empty() && status.runs.back().outcome != model::run_outcome::running;
    keep_last(status.scheduled_events, ended ? 0 : 1);
    cut_texts(status, ended ? 0 : shortest_text, ended ? 0 : 1);
    if (ended) {
        // These come with an end, and repeat what the state says.
        model::remove_condition(status.conditions, model::condition_type::reconciling);
        model::remove_condition(status.conditions, model::condition_type::stalled);
    }
    for (auto& line : status.runs) {
        line.neighbours.clear();
        line.nodes.clear();
        if (!ended) continue;
        line.slots.clear();
        line.submitted = line.scheduled = line.job_started = line.job_stopped = std::nullopt;
    }
    return status;
}

}  // namespace

model::batchjob_status fit_status(model::batchjob_status wanted, std::size_t room) {
    if (room == 0) return smallest(std::move(wanted));
    room = std::min(room, most_status_bytes);
    auto size = model::json_size(wanted);
    if (size <= room) return wanted;
    drop_oldest(wanted.scheduled_events, most_events, size, room);
    drop_oldest(wanted.runs, 1, size, room);
    drop_oldest(wanted.scheduled_events, 1, size, room);
    if (size > room && !wanted.runs.empty()) wanted.runs.back().neighbours.clear();
    if (model::json_size(wanted) > room) cut_texts(wanted, short_text, most_short_problems);
    return model::json_size(wanted) > room ? smallest(std::move(wanted)) : wanted;
}

}  // namespace esi::batchjob
