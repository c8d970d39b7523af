#include "testbed/gangs/room_upkeep.h"

#include <utility>

#include "testbed/gangs/slot_promises.h"

namespace esi::testbed::gangs {

room_upkeep::room_upkeep(testbed::caches& from) : caches_(from) {
    from.on_node_change([this](const kube::change<model::node>& what) {
        const auto& name = (what.after ? what.after : what.before)->metadata.name;
        room_.node_changed(name, what.after);
    });
    from.on_pod_change([this](const kube::change<model::pod>& what) {
        room_.pod_changed(what.before, what.after);
    });
}

void room_upkeep::slots_changed(std::string_view node) {
    if (!node.empty()) stale_nodes_.emplace(node);
}

void room_upkeep::all_slots_changed(const model::object_key& testbed) {
    const auto found = caches_.find_testbed(testbed);
    auto now = found ? nodes_with_slots(*found) : std::set<std::string>();
    auto& before = layouts_[testbed];
    for (const auto& node : before) stale_nodes_.insert(node);
    for (const auto& node : now) stale_nodes_.insert(node);
    if (now.empty()) {
        layouts_.erase(testbed);
    } else {
        before = std::move(now);
    }
}

cluster_room& room_upkeep::bring_up() {
    for (const auto& node : std::exchange(stale_nodes_, {})) {
        room_.slots_changed(node, slots_on(caches_, node));
    }
    return room_;
}

}  // namespace esi::testbed::gangs
