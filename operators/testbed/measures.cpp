#include "testbed/measures.h"

#include "model/names.h"
#include "testbed/view/trail.h"

namespace esi::testbed {

namespace {

/// Node and slot of a ghost, as place_key.
std::string place_in_testbed(const model::pod& ghost) {
    return place_key(std::string(ghost.metadata.annotation(model::names::node)),
                     grid::slot_index_of_ghost(ghost).value_or(-1));
}

/// Testbed and slot of a ghost, as the histograms' key.
std::string place_of_ghost(const model::pod& ghost) {
    return testbed_key_of(ghost) + "/" + place_in_testbed(ghost);
}

}  // namespace

void measures::pod_seen(const kube::change<model::pod>& what, hints* known) {
    const auto& some = what.after ? *what.after : *what.before;
    if (known && !what.after) known->forget_pod(some.metadata.uid);
    if (some.is_ghost()) {
        if (!what.after || !what.after->bound() || (what.before && what.before->bound())) return;
        gaps_.ghost_bound(place_of_ghost(some));
        if (!known) return;
        const auto left = known->left.extract(place_in_testbed(some));
        if (left) log_step(log::level::info, "slot free again", left.mapped());
        return;
    }
    const auto& uid = some.metadata.uid;
    if (!what.after) gaps_.pod_gone(uid);
    if (what.after && what.after->bound()) gaps_.pod_bound(uid);
    const bool was_in = what.before && what.before->bound() && what.before->live();
    const bool is_in = what.after && what.after->live();
    const auto position = grid::slot_of_pod(some);
    if (!was_in || is_in || !position) return;
    auto testbed = caches_.find_testbed(some.testbed());
    if (!testbed || !testbed->status.layout) return;
    const auto index = caches_.roster().index_of(testbed->metadata.key());
    auto place_at = index ? index->places->at(*position) : std::nullopt;
    if (!place_at) return;
    const grid::slot place{*position, some.node_name, 0, place_at->index};
    const auto where = place_key(place.node, place.index);
    gaps_.pod_left(testbed_key_of(some) + "/" + where);
    if (!known) return;
    known->vacated[where] = time_.wall();
    if (!is_on_record(*testbed, some, *position)) return;
    const auto of = trail_of(*testbed, some, &place);
    known->left[where] = of;
    log_step(log::level::info, "pod has left its slot", of, what.after ? some.phase : "");
}

/// Labels of a pod alone make no line about a slot: the Testbed or its job has to name the pod.
bool measures::is_on_record(const model::testbed& testbed, const model::pod& pod,
                            int position) const {
    const auto& uid = pod.metadata.uid;
    const auto index = caches_.roster().index_of(testbed.metadata.key());
    // Only the row at the position of the slot counts: rows are not searched.
    const auto& rows = testbed.status.slots;
    const auto row = static_cast<std::size_t>(position);
    if (index && index->rows_in_order && row < rows.size() && rows[row].pod_u_id == uid) {
        return true;
    }
    const auto line = index ? index->slices.at(position) : std::nullopt;
    if (line && line->record() == uid) return true;
    return caches_.seat_of(testbed.metadata.key(), pod.run(), uid).has_value();
}

}  // namespace esi::testbed
