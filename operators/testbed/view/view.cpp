#include "testbed/view/view.h"

#include "model/names.h"

namespace esi::testbed {

bool is_held(const model::testbed& testbed) { return !testbed.hold().empty(); }

stage stage_of(const model::testbed& testbed) {
    const bool finalizer = testbed.metadata.has_finalizer(model::names::testbed_finalizer);
    if (testbed.metadata.deleting()) {
        if (!is_held(testbed)) return finalizer ? stage::leaves : stage::ended;
    } else if (!finalizer) {
        return stage::begins;
    }
    return testbed.metadata.undecodable.empty() ? stage::works : stage::unreadable;
}

bool is_damaged_ghost(const model::pod& pod, const model::testbed& testbed) {
    const auto& name = pod.metadata.name;
    const auto& of = testbed.metadata;
    if (pod.metadata.namespace_ != of.namespace_ ||
        !name.starts_with(of.name + std::string(grid::ghost_infix))) {
        return false;
    }
    const auto digits =
        std::string_view(name).substr(of.name.size() + std::string(grid::ghost_infix).size());
    if (digits.size() != 10 ||
        digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
        return false;
    }
    const auto* owner = pod.metadata.controller_owner();
    if (owner && owner->uid != of.uid) return false;
    if (is_own_ghost(pod, testbed) && testbed_key_of(pod) == of.key().text()) return false;
    // The layout of the ghost may be outdated: any index will do.
    const int most_on_a_node = testbed.spec.claim ? static_cast<int>(model::most_claimed_places)
                                                  : model::most_slots_per_node;
    for (const std::string_view node :
         {std::string_view(pod.node_name), std::string_view(pod.nominated_node_name),
          pod.metadata.annotation(model::names::node)}) {
        if (node.empty()) continue;
        for (int index = 0; index < most_on_a_node; ++index) {
            if (name == grid::ghost_name(of.name, of.uid, node, index)) return true;
        }
    }
    return false;
}

std::string pod_text(const model::pod& pod, const model::testbed& testbed) {
    if (pod.metadata.namespace_ != testbed.metadata.namespace_) return std::string(foreign_pod);
    return "pod " + pod.metadata.key().text();
}

grid::records records_of(const view& seen, const std::vector<grid::slot>& of) {
    const auto key = seen.testbed->metadata.key();
    grid::records out(key);
    std::set<int> positions;
    for (const auto& slot : of) positions.insert(slot.position);
    const auto& rows = seen.testbed->status.slots;
    const auto& index = seen.index_of(*seen.testbed);
    if (!index.slices.empty()) {
        for (const int position : positions) {
            if (const auto line = index.slices.at(position)) out.add(line->record(), position);
        }
    }
    if (index.rows_in_order) {
        for (const int position : positions) {
            if (position >= std::ssize(rows)) continue;
            out.add(rows[static_cast<std::size_t>(position)].pod_u_id, position);
        }
    } else {
        for (const auto& row : rows) {
            if (positions.contains(row.position)) out.add(row.pod_u_id, row.position);
        }
    }
    for (const auto& job : seen.jobs) {
        if (grid::placed_in(*job) != key) continue;
        for (const auto& entry : job->status.placements) {
            if (positions.contains(entry.slot)) out.add(entry.pod_uid, entry.slot);
        }
    }
    return out;
}

std::shared_ptr<const testbed_index> index_testbed(const model::testbed& testbed,
                                                   std::span<const grid::slice_pointer> slices,
                                                   const model::testbed* older,
                                                   const testbed_index* before) {
    auto out = std::make_shared<testbed_index>();
    const auto& layout = testbed.status.layout;
    if (before && (older == &testbed || older->status.layout == layout)) {
        out->places = before->places;
    } else {
        out->places = layout ? std::make_shared<const grid::places>(*layout)
                             : std::make_shared<const grid::places>();
    }
    int next = 0;
    for (const auto& row : testbed.status.slots) {
        out->rows_in_order = out->rows_in_order && row.position == next++;
        out->in_slots.insert(row.pod_u_id);
    }
    out->slices = grid::slice_list(testbed, slices);
    return out;
}

const testbed_index& view::index_of(const model::testbed& of) const {
    auto& entry = indexes[&of];
    if (!entry) entry = index_testbed(of);
    return *entry;
}

std::set<int> slots_given(const model::scheduling* holder) {
    std::set<int> out;
    if (holder == nullptr) return out;
    for (const auto& each : holder->status.assignments) {
        if (!each.ended) out.insert(each.slot_ids.begin(), each.slot_ids.end());
    }
    return out;
}

std::string_view home_of(const model::pod& pod) {
    return pod.metadata.annotation(pod.is_ghost() ? model::names::node : model::names::slot_node);
}

std::string_view door_of(const model::pod& pod) {
    if (!pod.is_ghost() || pod.bound() || !pod.live()) return {};
    return pod.metadata.annotation(model::names::node);
}

std::string testbed_key_of(const model::pod& pod) {
    auto key = pod.testbed();
    return key.namespace_.empty() || key.name.empty() ? std::string{} : key.text();
}

}  // namespace esi::testbed
