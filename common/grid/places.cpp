#include "grid/places.h"

#include <algorithm>
#include <tuple>

namespace esi::grid {

namespace {

using members = std::vector<const model::layout_node*>;

/// `position` is one of the layout's.
slot slot_at(const members& nodes, int position) {
    const auto columns = static_cast<int>(nodes.size());
    const auto& node = *nodes[static_cast<std::size_t>(position % columns)];
    return slot{position, node.name, node.id, position / columns};
}

}  // namespace

std::vector<const model::layout_node*> nodes_in_order(
    const std::vector<model::layout_node>& nodes) {
    members out;
    out.reserve(nodes.size());
    for (const auto& node : nodes) out.push_back(&node);
    std::ranges::sort(out, [](const auto* a, const auto* b) {
        return std::tie(a->id, a->name) < std::tie(b->id, b->name);
    });
    return out;
}

std::vector<slot> slots_at(const model::testbed_layout& layout, std::span<const int> positions) {
    const int count = count_of_slots(layout);
    const auto nodes = nodes_in_order(layout.nodes);
    std::vector<slot> out;
    for (const int position : positions) {
        if (position >= 0 && position < count) out.push_back(slot_at(nodes, position));
    }
    return out;
}

places::places(const model::testbed_layout& layout) : all_(layout.nodes) {
    for (const auto& node : all_) members_.try_emplace(node.name, &node);
    if (count_of_slots(layout) == 0) return;
    slots_per_node_ = layout.slots_per_node;
    nodes_ = nodes_in_order(all_);
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        ranks_[nodes_[rank]->name].push_back(static_cast<int>(rank));
    }
}

std::optional<slot> places::at(int position) const {
    if (position < 0 || position >= count()) return std::nullopt;
    return slot_at(nodes_, position);
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
