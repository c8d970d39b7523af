// What holds of a Testbed at rest: its layout, its ghosts, what its status says.
#include <fmt/format.h>

#include <algorithm>

#include "check/at_rest.h"
#include "grid/places.h"

namespace esi::simulation::checks {

namespace slot_state = model::slot_state;

namespace {

std::string name_of(const model::object_meta& meta) { return meta.key().text(); }

std::optional<std::int64_t> node_id(const model::node& node, const std::string& label) {
    auto found = node.metadata.labels.find(label);
    if (found == node.metadata.labels.end() || found->second.empty()) return std::nullopt;
    std::int64_t out = 0;
    for (char c : found->second) {
        if (c < '0' || c > '9' || out > 2147483647) return std::nullopt;
        out = out * 10 + (c - '0');
    }
    return out > 2147483647 ? std::nullopt : std::optional(out);
}

}  // namespace

bool rest_rules::healthy(const model::testbed& bed, const std::string& node) const {
    auto found = all_.nodes.find(node);
    if (found == all_.nodes.end() || !found->second.node) return false;
    const auto& there = *found->second.node;
    auto member = std::ranges::find(bed.status.layout->nodes, node, &model::layout_node::name);
    return member != bed.status.layout->nodes.end() && member->uid == there.metadata.uid &&
           there.ready && !there.unschedulable && !there.metadata.deleting();
}

bool rest_rules::has_room(const testbed_record& bed, const place& where) const {
    auto free = all_.nodes.at(where.node).node->allocatable;
    auto there = all_.on_node.find(where.node);
    const auto need = size_of(*bed.testbed, where);
    // Everybody counts but the ghost of this very slot.
    if (there != all_.on_node.end()) {
        for (const auto& uid : there->second) {
            const auto& pod = all_.pods.at(uid);
            if (pod.ghost() && pod.seat == where) continue;
            model::take(free, demand_of(*pod.pod));
        }
    }
    return fits(need, free);
}

void rest_rules::layout_is_current(const testbed_record& record) {
    const auto& bed = *record.testbed;
    if (!bed.hold().empty() || bed.metadata.deleting() || !bed.status.layout) return;
    const auto& spec = bed.spec;
    if (spec.claim) return;
    if (spec.slots_per_node < 1 || spec.node_label.empty() ||
        !spec.resources_per_slot.contains("cpu") || !spec.resources_per_slot.contains("memory") ||
        std::ranges::any_of(
            spec.resources_per_slot, [](const auto& each) { return each.second.milli <= 0; })) {
        return;
    }
    std::map<std::int64_t, std::vector<std::string>> by_id;
    for (const auto& [name, node] : all_.nodes) {
        if (!node.node) continue;
        if (auto id = node_id(*node.node, spec.node_label)) {
            by_id[*id].push_back(name + "=" + node.node->metadata.uid);
        }
    }
    std::vector<std::string> wanted;
    for (const auto& [id, nodes] : by_id) {
        if (nodes.size() == 1) wanted.push_back(fmt::format("{}:{}", id, nodes.front()));
    }
    std::map<std::int64_t, std::string> sorted;
    for (const auto& node : bed.status.layout->nodes) sorted[node.id] = node.name + "=" + node.uid;
    std::vector<std::string> stands;
    for (const auto& [id, node] : sorted) stands.push_back(fmt::format("{}:{}", id, node));
    const bool size = bed.status.layout->slots_per_node == spec.slots_per_node &&
                      bed.status.layout->resources_per_slot == spec.resources_per_slot;
    out_.require(wanted == stands && size, "layout-stale", {}, [&] {
        return fmt::format(
            "Testbed {}: its layout has [{}] with {} slots each, nodes and spec say "
            "[{}] with {}",
            name_of(bed.metadata), fmt::join(stands, ", "), bed.status.layout->slots_per_node,
            fmt::join(wanted, ", "), spec.slots_per_node);
    });
}

bool rest_rules::wanted_by_others(const std::string& node, const model::testbed& than) const {
    const auto found = all_.nodes.find(node);
    if (found == all_.nodes.end() || !found->second.node) return false;
    const auto& labels = found->second.node->metadata.labels;
    return std::ranges::any_of(all_.testbeds, [&](const auto& entry) {
        const auto& other = *entry.second.testbed;
        return other.metadata.uid != than.metadata.uid && labels.contains(other.spec.node_label);
    });
}

void rest_rules::slots_are_filled(const testbed_record& record) {
    const auto& bed = *record.testbed;
    if (!bed.status.layout || bed.metadata.deleting()) return;
    for (const auto& slot : grid::slots_of(*bed.status.layout)) {
        const place where{bed.metadata.key(), slot.node, slot.index};
        std::vector<std::string> ghosts;
        if (auto there = all_.ghosts_of.find(where); there != all_.ghosts_of.end()) {
            for (const auto& uid : there->second) {
                const auto& ghost = all_.pods.at(uid);
                if (ghost.live() && ghost.pod->bound()) ghosts.push_back(ghost.name());
            }
        }
        std::vector<std::string> pods;
        if (auto there = all_.in_place.find(where); there != all_.in_place.end()) {
            for (const auto& uid : there->second) pods.push_back(all_.pods.at(uid).name());
        }
        out_.require(ghosts.size() + pods.size() <= 1, "slot-shared", {}, [&] {
            return fmt::format("{} has ghosts [{}] and pods [{}] at the end", where.text(),
                               fmt::join(ghosts, ", "), fmt::join(pods, ", "));
        });
        if (!ghosts.empty() || !pods.empty() || !healthy(bed, slot.node)) continue;
        // Whose node it is too, or whose it would be, may have the right of way there, as long as
        // it lacks something.
        const bool shared =
            all_.testbeds_on(slot.node).size() > 1 || wanted_by_others(slot.node, bed);
        if (shared && !all_.elders_are_whole(bed, slot.node)) continue;
        // A placed pod that waits for its room keeps the slot in the ghost's stead.
        const bool placed = std::ranges::any_of(all_.jobs, [&](const auto& entry) {
            return has_right(*entry.second.job, bed) &&
                   std::ranges::any_of(entry.second.job->status.placements, [&](const auto& each) {
                       return each.slot == slot.position;
                   });
        });
        if (placed) continue;
        const auto rows = all_.rows_of(bed);
        auto row = std::ranges::find(rows, slot.position, &model::slot_status::position);
        const auto state = row == rows.end() ? std::string() : row->state;
        const bool possible =
            has_room(record, where) && !keeps_ghosts_away(*all_.nodes.at(slot.node).node);
        const bool excused = !possible && state == slot_state::error;
        out_.require(excused, "ghost-missing", {}, [&] {
            return fmt::format(
                "{} (position {}) is empty, the Testbed calls it \"{}\", its room "
                "{} there",
                where.text(), slot.position, state, has_room(record, where) ? "is" : "is not");
        });
    }
}

bool rest_rules::is_free_ghost_of_younger(const pod_record& pod, const model::testbed& than) const {
    if (!pod.ghost() || !pod.seat) return false;
    const auto found = all_.testbeds.find(pod.seat->testbed);
    if (found == all_.testbeds.end()) return false;
    const auto& bed = *found->second.testbed;
    // One that cannot be read is left as it is.
    if (!model::older(than.metadata, bed.metadata) || !bed.metadata.undecodable.empty() ||
        !bed.status.layout || !healthy(bed, pod.seat->node)) {
        return false;
    }
    return std::ranges::none_of(all_.jobs, [&](const auto& entry) {
        const auto& job = *entry.second.job;
        return has_right(job, bed) &&
               std::ranges::any_of(job.spec.creation_request->slot_ids, [&](int position) {
                   return place_of(bed, position) == pod.seat;
               });
    });
}

void rest_rules::nobody_younger_is_in_the_way(const testbed_record& record) {
    const auto& bed = *record.testbed;
    if (!bed.status.layout) return;
    for (const auto& [uid, ghost] : all_.pods) {
        if (!ghost.ghost() || !ghost.seat || ghost.seat->testbed != bed.metadata.key()) continue;
        if (!ghost.live() || ghost.pod->bound() || ghost.pod->metadata.deleting()) continue;
        if (!healthy(bed, ghost.seat->node)) continue;
        auto free = all_.nodes.at(ghost.seat->node).node->allocatable;
        std::vector<std::string> younger;
        for (const auto& there : all_.on_node[ghost.seat->node]) {
            const auto& pod = all_.pods.at(there);
            if (is_free_ghost_of_younger(pod, bed)) {
                younger.push_back(pod.name());
            } else {
                model::take(free, demand_of(*pod.pod));
            }
        }
        out_.require(younger.empty() || !fits(demand_of(*ghost.pod), free), "elder-kept-waiting",
                     {uid}, [&] {
                         return fmt::format(
                             "ghost {} of {} waits at the end for room that ghosts [{}] of younger "
                             "Testbeds have",
                             ghost.name(), name_of(bed.metadata), fmt::join(younger, ", "));
                     });
    }
}

void rest_rules::taints_are_where_they_belong() {
    for (const auto& [name, record] : all_.nodes) {
        if (!record.node || record.node->metadata.deleting()) continue;
        std::set<std::string> wanted;
        for (const auto& [key, bed] : all_.testbeds) {
            if (all_.wants_taint(*bed.testbed, *record.node))
                wanted.insert(bed.testbed->metadata.uid);
        }
        const auto* taint = taint_of(*record.node);
        out_.require(taint || wanted.empty(), "taint-lost", {}, [&] {
            return fmt::format("node {} is in a layout with isolation Taint and has no taint",
                               name);
        });
        if (!taint) continue;
        // Who strips a Testbed of its finalizer has it go without being tidied up.
        out_.require(wanted.contains(taint->value), "taint-left", {taint->value}, [&] {
            return fmt::format(
                "node {} has the taint of {}; layouts with isolation Taint have it: {}", name,
                taint->value, fmt::join(wanted, ", "));
        });
    }
}

void rest_rules::slices_are_those_of(const model::testbed& bed) {
    for (const auto& [name, slice] : all_.slices) {
        const auto* owner = slice->metadata.controller_owner();
        if (!owner || owner->uid != bed.metadata.uid) continue;
        const bool of_layout =
            bed.status.layout && slice->spec.layout_revision == bed.status.layout->revision;
        out_.require(
            of_layout && grid::is_believed(*slice, bed), "slice-left", {slice->metadata.uid}, [&] {
                return fmt::format(
                    "TestbedSlotSlice {}: revision {}, from position {}, {} rows: is not "
                    "one of Testbed {}, whose layout has the revision {}",
                    name.text(), slice->spec.layout_revision, slice->spec.first,
                    slice->spec.rows.size(), name_of(bed.metadata), bed.status.layout->revision);
            });
    }
}

void rest_rules::testbed_tells_the_truth(const testbed_record& record) {
    const auto& bed = *record.testbed;
    const auto& status = bed.status;
    out_.require(status.observed_generation == bed.metadata.generation, "status-stale", {}, [&] {
        return fmt::format("Testbed {}: observedGeneration {} of {}", name_of(bed.metadata),
                           status.observed_generation, bed.metadata.generation);
    });
    const auto holder = bed.holder();
    const auto known = status.held_by ? status.held_by->key() : model::object_key();
    const bool told = known == (holder.name.empty() ? model::object_key() : holder);
    out_.require(told, "status-stale", {}, [&] {
        return fmt::format("Testbed {}: heldBy says {}, its labels say {}", name_of(bed.metadata),
                           status.held_by ? known.text() : "nobody", holder.text());
    });
    if (!status.layout || !status.counts) return;
    const auto slots = grid::slots_of(*status.layout);
    out_.require(status.counts->total == static_cast<int>(slots.size()), "status-stale", {}, [&] {
        return fmt::format("Testbed {}: counts.total {}, the layout has {} slots",
                           name_of(bed.metadata), status.counts->total, slots.size());
    });
    std::vector<std::string> unusable;
    for (const auto& node : status.layout->nodes) {
        if (!healthy(bed, node.name)) unusable.push_back(node.name);
    }
    std::ranges::sort(unusable);
    const auto shown = status.nodes_out_of_use.value_or(model::nodes_out_of_use{-1, {}});
    out_.require(shown.names == unusable && shown.count == std::ssize(unusable), "status-stale", {},
                 [&] {
                     return fmt::format("Testbed {}: nodesOutOfUse says {} ({}), it is {}",
                                        name_of(bed.metadata), shown.count,
                                        fmt::join(shown.names, ", "), fmt::join(unusable, ", "));
                 });
    slices_are_those_of(bed);
    if (status.slots.empty() && !grid::has_slices(bed)) return;
    // What its namespace has deleted before is not made again.
    if (grid::has_slices(bed) && bed.metadata.deleting()) return;
    const auto rows = all_.rows_of(bed);
    std::set<int> assigned;
    for (const auto& [name, job] : all_.jobs) {
        if (job.job->metadata.deleting() || !has_right(*job.job, bed)) continue;
        const auto& ids = job.job->spec.creation_request->slot_ids;
        assigned.insert(ids.begin(), ids.end());
    }
    for (const auto& slot : slots) {
        const place where{bed.metadata.key(), slot.node, slot.index};
        std::string wanted;
        bool ghost = false;
        bool pod = false;
        if (auto there = all_.ghosts_of.find(where); there != all_.ghosts_of.end()) {
            for (const auto& each : there->second) {
                const auto& found = all_.pods.at(each);
                ghost |= found.live() && found.pod->bound() && found.pod->node_name == slot.node;
            }
        }
        if (auto there = all_.in_place.find(where); there != all_.in_place.end()) {
            for (const auto& each : there->second) pod |= all_.pods.at(each).pod->bound();
        }
        if (!healthy(bed, slot.node)) {
            wanted = slot_state::error;
        } else if (pod) {
            wanted = slot_state::occupied;
        } else if (assigned.contains(slot.position)) {
            continue;  // RESERVED, or ERROR with what keeps its pod out
        } else {
            wanted = ghost ? slot_state::free : slot_state::error;
        }
        auto row = std::ranges::find(rows, slot.position, &model::slot_status::position);
        const auto state = row == rows.end() ? std::string("missing") : row->state;
        out_.require(state == wanted, "status-stale", {}, [&] {
            return fmt::format("Testbed {}: slot {} is called {}, it is {}", name_of(bed.metadata),
                               slot.position, state, wanted);
        });
    }
}

}  // namespace esi::simulation::checks
