#include "testbed/fit_status.h"

#include <algorithm>
#include <iterator>

#include "model/json_size.h"
#include "model/text.h"

namespace esi::testbed {

namespace {

constexpr std::size_t short_text = 256;
constexpr std::size_t most_short_problems = 8;
constexpr std::size_t most_short_problems_of_node = 2;
constexpr std::size_t shortest_text = 128;

void cut_list(std::vector<std::string>& list, std::size_t longest, std::size_t most) {
    if (list.size() > most) list.resize(most);
    for (auto& text : list) text = model::cut(text, longest);
}

void cut_texts(model::testbed_status& status, std::size_t longest, std::size_t problems,
               std::size_t problems_of_node) {
    cut_list(status.problems, longest, problems);
    for (auto& [node, list] : status.node_problems) cut_list(list, longest, problems_of_node);
    for (auto& each : status.conditions) each.message = model::cut(each.message, longest);
    status.message = model::cut(status.message, longest);
}

/// Removes nodes, beginning with the last one, until `size` fits.
void drop_nodes(model::testbed_status& status, std::size_t size, std::size_t room) {
    auto& all = status.node_problems;
    while (size > room && !all.empty()) {
        const auto last = std::prev(all.end());
        size -= std::min(size, model::json_size(last->first) + model::json_size(last->second));
        all.erase(last);
    }
}

}  // namespace

model::testbed_status fit_status(model::testbed_status wanted, std::size_t room) {
    if (room > 0 && model::json_size(wanted) <= room) return wanted;
    cut_texts(wanted, short_text, most_short_problems, most_short_problems_of_node);
    if (room > 0) drop_nodes(wanted, model::json_size(wanted), room);
    if (room > 0 && model::json_size(wanted) <= room) return wanted;
    wanted.node_problems.clear();
    cut_texts(wanted, shortest_text, 1, 0);
    return wanted;
}

}  // namespace esi::testbed
