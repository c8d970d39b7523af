#include "grid/places.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/names.h"

namespace esi::grid {

namespace names = model::names;

std::vector<const model::layout_node*> nodes_in_order(
    const std::vector<model::layout_node>& nodes) {
    std::vector<const model::layout_node*> out;
    out.reserve(nodes.size());
    for (const auto& node : nodes) out.push_back(&node);
    std::ranges::sort(out, [](const auto* a, const auto* b) {
        return std::tie(a->id, a->name) < std::tie(b->id, b->name);
    });
    return out;
}

std::vector<slot> slots_at(const model::testbed_layout& layout, std::span<const int> positions) {
    const places all(layout);
    std::vector<slot> out;
    for (const int position : positions) {
        if (auto place = all.at(position)) out.push_back(*std::move(place));
    }
    return out;
}

places::places(const model::testbed_layout& layout) : all_(layout.nodes) {
    for (const auto& node : all_) members_.try_emplace(node.name, &node);
    if (count_of_slots(layout) == 0) return;
    slots_per_node_ = layout.slots_per_node;
    if (is_of_claim(layout)) {
        // Places are indexes into the list as it stands.
        for (const auto& node : all_) nodes_.push_back(&node);
        positions_.resize(nodes_.size());
        for (const int rank : layout.places) {
            auto& here = positions_[static_cast<std::size_t>(rank)];
            claimed_.push_back({rank, static_cast<int>(here.size())});
            here.push_back(static_cast<int>(claimed_.size()) - 1);
        }
    } else {
        nodes_ = nodes_in_order(all_);
    }
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        ranks_[nodes_[rank]->name].push_back(static_cast<int>(rank));
    }
}

const model::layout_node* places::node_of(int position) const {
    if (position < 0 || position >= count()) return nullptr;
    const auto at = static_cast<std::size_t>(position);
    if (claimed_.empty()) return nodes_[at % nodes_.size()];
    return nodes_[static_cast<std::size_t>(claimed_[at].rank)];
}

std::optional<slot> places::at(int position) const {
    const auto* node = node_of(position);
    if (!node) return std::nullopt;
    const int index = claimed_.empty() ? position / static_cast<int>(nodes_.size())
                                       : claimed_[static_cast<std::size_t>(position)].index;
    return slot{position, node->name, node->id, index};
}

std::vector<slot> places::on(std::string_view node) const {
    std::vector<slot> out;
    const auto ranks = ranks_.find(node);
    if (ranks == ranks_.end()) return out;
    for (const int rank : ranks->second) {
        if (claimed_.empty()) break;
        for (const int position : positions_[static_cast<std::size_t>(rank)]) {
            out.push_back(*at(position));
        }
    }
    for (int index = 0; index < slots_per_node_; ++index) {
        for (const int rank : ranks->second) {
            out.push_back(*at(index * static_cast<int>(nodes_.size()) + rank));
        }
    }
    return out;
}

std::optional<int> places::position_of(std::string_view node, int index) const {
    const auto ranks = ranks_.find(node);
    if (ranks == ranks_.end() || index < 0) return std::nullopt;
    const int rank = ranks->second.back();
    if (!claimed_.empty()) {
        const auto& here = positions_[static_cast<std::size_t>(rank)];
        const auto at = static_cast<std::size_t>(index);
        return at < here.size() ? std::optional(here[at]) : std::nullopt;
    }
    if (index >= slots_per_node_) return std::nullopt;
    return index * static_cast<int>(nodes_.size()) + rank;
}

const model::layout_node* places::member(std::string_view node) const {
    const auto found = members_.find(node);
    return found == members_.end() ? nullptr : found->second;
}

std::vector<slot> slots_of(const model::testbed_layout& layout) {
    const places all(layout);
    std::vector<slot> out;
    out.reserve(static_cast<std::size_t>(all.count()));
    for (int position = 0; position < all.count(); ++position) out.push_back(*all.at(position));
    return out;
}

std::vector<slot_view> look(const model::testbed_layout& layout,
                            std::span<const pod_pointer> pods) {
    return look(slots_of(layout), pods);
}

std::vector<slot_view> look(std::vector<slot> slots, std::span<const pod_pointer> pods) {
    std::vector<slot_view> out;
    std::map<std::pair<std::string_view, int>, std::size_t> by_place;
    std::map<int, std::size_t> by_position;
    out.reserve(slots.size());
    for (auto& place : slots) {
        out.emplace_back().place = std::move(place);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        by_place[{out[i].place.node, out[i].place.index}] = i;
        by_position[out[i].place.position] = i;
    }
    for (const auto& pod : pods) {
        if (!pod) continue;
        if (pod->is_ghost()) {
            auto index = slot_index_of_ghost(*pod);
            if (!index) continue;
            auto at = by_place.find({pod->metadata.annotation(names::node), *index});
            if (at == by_place.end()) continue;
            auto& known = out[at->second].ghost;
            if (!known || is_better_ghost(*pod, *known)) known = pod;
            continue;
        }
        const auto position = slot_of_pod(*pod);
        if (!position) continue;
        const auto at = by_position.find(*position);
        if (at == by_position.end()) continue;
        if (pod->terminal() || pod->run().empty() || !let_in(*pod)) continue;
        auto& view = out[at->second];
        if (pod->metadata.annotation(names::slot_node) != view.place.node) continue;
        if (pod->bound() && pod->node_name != view.place.node) continue;
        view.job_pods.push_back(pod);
    }
    return out;
}

}  // namespace esi::grid
