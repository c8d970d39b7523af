#include "testbed/caches/slot_promises.h"

#include <algorithm>

#include "testbed/room/room.h"

namespace esi::testbed {

namespace {

/// True: the status of the Testbed, a slice or the status of its job records the pod for the slot.
bool on_record(const caches& from, const model::object_key& testbed, const testbed_index& index,
               const model::pod& pod, int position) {
    const auto& uid = pod.metadata.uid;
    if (index.in_slots.contains(uid)) return true;
    if (const auto line = index.slices.at(position); line && line->record() == uid) return true;
    for (const auto& job : from.jobs().by_index("uid", uid)) {
        if (grid::placed_in(*job) != testbed) continue;
        const bool placed = std::ranges::any_of(job->status.placements, [&](const auto& placement) {
            return placement.pod_uid == uid && placement.slot == position;
        });
        if (placed) return true;
    }
    return false;
}

}  // namespace

placement::slots_of_node slots_on(const caches& from, const std::string& node) {
    placement::slots_of_node out;
    const auto there = from.nodes().find({"", node});
    const auto testbeds = from.roster().of_node(node, there.get());
    if (!there || testbeds.empty()) return out;
    for (const auto& key : testbeds) {
        const auto testbed = from.find_testbed(key);
        const auto index = from.roster().index_of(key);
        if (!testbed || !index || testbed->metadata.deleting()) continue;
        const auto* member = index->places->member(node);
        if (!member || member->uid != there->metadata.uid) continue;
        const auto slots = index->places->on(node);
        // The place of the node to which the pod has a right; nothing: none.
        const auto place_of = [&](const model::pod& pod) -> std::optional<int> {
            if (!pod.live()) return std::nullopt;
            if (is_own_ghost(pod, *testbed)) return grid::slot_index_of_ghost(pod);
            if (pod.is_ghost() || pod.testbed() != key) return std::nullopt;
            const auto position = grid::slot_of_pod(pod);
            const auto place = position ? index->places->at(*position) : std::nullopt;
            if (!place || place->node != node) return std::nullopt;
            if (!on_record(from, key, *index, pod, *position)) return std::nullopt;
            return place->index;
        };
        std::set<int> taken;
        from.pods().each_by_index("node", node, [&](const pod_pointer& pod) {
            const auto nth = place_of(*pod);
            if (!nth) return;
            taken.insert(*nth);
            out.in.insert(pod->metadata.uid);
            if (!placement::comes_back(*pod)) out.taken.count(*pod, 1);
        });
        const auto home = in_testbed(key, "@", node);
        from.pods().each_by_index("home", home, [&](const pod_pointer& pod) {
            if (!pod->bound() && place_of(*pod)) out.coming.insert(pod->metadata.uid);
        });
        slot_sizes sizes(*testbed->status.layout);
        for (const auto& slot : slots) {
            if (!taken.contains(slot.index)) model::add(out.waiting, sizes.of(slot.position));
        }
    }
    return out;
}

std::set<std::string> nodes_with_slots(const model::testbed& testbed) {
    std::set<std::string> out;
    if (!testbed.status.layout) return out;
    for (const auto& node : testbed.status.layout->nodes) out.insert(node.name);
    return out;
}

}  // namespace esi::testbed
