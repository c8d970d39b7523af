#include "grid/places.h"

#include <algorithm>
#include <tuple>

namespace esi::grid {

places::places(const model::testbed_layout& layout) : all_(layout.nodes) {
    for (const auto& node : all_) members_.try_emplace(node.name, &node);
    if (count_of_slots(layout) == 0) return;
    slots_per_node_ = layout.slots_per_node;
    for (const auto& node : all_) nodes_.push_back(&node);
    std::sort(nodes_.begin(), nodes_.end(), [](const auto* a, const auto* b) {
        return std::tie(a->id, a->name) < std::tie(b->id, b->name);
    });
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        ranks_[nodes_[rank]->name].push_back(static_cast<int>(rank));
    }
}

std::optional<slot> places::at(int position) const {
    if (position < 0 || position >= count()) return std::nullopt;
    const auto nodes = static_cast<int>(nodes_.size());
    const auto& node = *nodes_[static_cast<std::size_t>(position % nodes)];
    return slot{position, node.name, node.id, position / nodes};
}

std::vector<slot> places::on(std::string_view node) const {
    std::vector<slot> out;
    const auto ranks = ranks_.find(node);
    if (ranks == ranks_.end()) return out;
    for (int index = 0; index < slots_per_node_; ++index) {
        for (const int rank : ranks->second) {
            out.push_back(*at(index * static_cast<int>(nodes_.size()) + rank));
        }
    }
    return out;
}

const model::layout_node* places::member(std::string_view node) const {
    const auto found = members_.find(node);
    return found == members_.end() ? nullptr : found->second;
}

}  // namespace esi::grid
