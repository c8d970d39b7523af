#include "testbed/original/node_setup.h"

#include "testbed/room/room.h"

namespace esi::testbed {

grid::node_choice choose_nodes(const model::testbed& testbed, const std::vector<node_view>& nodes,
                               int count) {
    std::vector<grid::node_candidate> candidates;
    for (const auto& seen : nodes) {
        std::vector<pod_pointer> others;
        for (const auto& pod : seen.pods) {
            if (!is_own_ghost(*pod, testbed)) others.push_back(pod);
        }
        candidates.push_back({seen.node, left_after(*seen.node, others)});
    }
    return grid::choose_nodes(testbed, candidates, count);
}

}  // namespace esi::testbed
