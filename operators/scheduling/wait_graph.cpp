#include "scheduling/wait_graph.h"

#include <algorithm>
#include <deque>
#include <map>

namespace esi::scheduling {

std::vector<model::object_key> cycle_through(const model::object_key& self,
                                             const waits_for_function& waits_for) {
    std::map<model::object_key, model::object_key> reached_from;
    std::deque<model::object_key> next{self};
    while (!next.empty()) {
        auto at = next.front();
        next.pop_front();
        for (const auto& holder : waits_for(at)) {
            if (holder == self) {
                std::vector<model::object_key> cycle;
                for (auto back = at; back != self; back = reached_from.at(back)) {
                    cycle.push_back(back);
                }
                cycle.push_back(self);
                std::ranges::reverse(cycle);
                return cycle;
            }
            if (reached_from.try_emplace(holder, at).second) next.push_back(holder);
        }
    }
    return {};
}

}  // namespace esi::scheduling
