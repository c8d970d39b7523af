#include "placement/room_upkeep.h"

#include <utility>

namespace esi::placement {

void room_upkeep::node_changed(const kube::change<model::node>& what) {
    room_.node_changed((what.after ? what.after : what.before)->metadata.name, what.after);
}

void room_upkeep::pod_changed(const kube::change<model::pod>& what) {
    room_.pod_changed(what.before, what.after);
}

void room_upkeep::slots_changed(std::string_view node) {
    if (!node.empty()) stale_nodes_.emplace(node);
}

void room_upkeep::all_slots_changed(const model::object_key& testbed, std::set<std::string> nodes) {
    auto& before = layouts_[testbed];
    stale_nodes_.insert(before.begin(), before.end());
    stale_nodes_.insert(nodes.begin(), nodes.end());
    if (nodes.empty()) {
        layouts_.erase(testbed);
    } else {
        before = std::move(nodes);
    }
}

cluster_room& room_upkeep::bring_up() {
    for (const auto& node : std::exchange(stale_nodes_, {})) {
        room_.slots_changed(node, slots_on_(node));
    }
    return room_;
}

}  // namespace esi::placement
