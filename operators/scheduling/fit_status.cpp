#include "scheduling/fit_status.h"

#include "model/json_size.h"
#include "model/text.h"

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

}  // namespace

model::scheduling_status fit_status(model::scheduling_status wanted, std::size_t room) {
    cut_texts(wanted, model::longest_text, wanted.problems.size());
    if (room > 0 && model::json_size(wanted) <= room) return wanted;
    cut_texts(wanted, short_text, most_short_problems);
    if (room > 0 && model::json_size(wanted) <= room) return wanted;
    cut_texts(wanted, shortest_text, 1);
    wanted.job_states.clear();
    return wanted;
}

}  // namespace esi::scheduling
