#include "testbed/room/room.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.h"
#include "testbed/view/words.h"

namespace esi::testbed {

namespace {

/// True: a ghost of `of`, or a job pod that its operator has seen in a slot. If `of` has no rows,
/// or no row of the slot that the pod names, what the pod says is believed.
bool is_in_a_slot(const model::pod& pod, const rivals::elder& of) {
    if (pod.is_ghost()) return is_own_ghost(pod, *of.testbed);
    if (of.testbed->status.slots.empty()) {
        const auto position = grid::slot_of_pod(pod);
        const auto line = position ? of.index->slices.at(*position) : std::nullopt;
        if (line) return line->record() == pod.metadata.uid;
        return !pod.run().empty() && !pod.metadata.annotation(model::names::slot).empty();
    }
    return of.index->in_slots.contains(pod.metadata.uid);
}

/// The resources of the slots that an older Testbed has, or will have, on the node.
model::amounts demand_on(const rivals::elder& other, const node_view& seen) {
    const auto& node = *seen.node;
    model::amounts out;
    auto times = [](const model::resource_list& size, int slots) {
        auto amounts = slot_amounts(size);
        for (auto& [name, amount] : amounts) amount = model::times(amount, slots);
        return amounts;
    };
    const auto& testbed = *other.testbed;
    auto label = node.metadata.labels.find(testbed.spec.node_label);
    if (other.wants_slots && label != node.metadata.labels.end() && parse_node_id(label->second) &&
        !seen.doubled.contains(label->first)) {
        model::raise(out, times(testbed.spec.resources_per_slot, testbed.spec.slots_per_node));
    }
    const auto* member = other.index->places->member(node.metadata.name);
    if (member && member->uid == node.metadata.uid) {
        const auto& layout = *testbed.status.layout;
        if (grid::is_of_claim(layout)) {
            slot_sizes sizes(layout);
            model::amounts all;
            for (const auto& slot : other.index->places->on(node.metadata.name)) {
                model::add(all, sizes.of(slot.position));
            }
            model::raise(out, all);
        } else {
            model::raise(out, times(layout.resources_per_slot, layout.slots_per_node));
        }
    }
    return out;
}

/// True: a ghost of an older Testbed does not fit into the node, also after all that is being
/// deleted has gone. A ghost that fits waits for another cause: its own job pod that ends, its
/// scheduler.
bool an_elder_waits(const rivals& others, const node_view& node) {
    if (node.ghosts_at_the_door.empty()) return false;
    std::vector<pod_pointer> staying;
    std::ranges::copy_if(node.pods, std::back_inserter(staying),
                         [](const auto& pod) { return !pod->metadata.deleting(); });
    const auto free = left_after(*node.node, staying);
    return std::ranges::any_of(node.ghosts_at_the_door, [&](const auto& pod) {
        const auto elder = others.older.find(testbed_key_of(*pod));
        if (elder == others.older.end() || pod->metadata.deleting()) return false;
        const auto& testbed = *elder->second.testbed;
        return is_own_ghost(*pod, testbed) && !testbed.metadata.deleting() &&
               missing_resource(free, taken_by(*pod));
    });
}

std::int64_t amount_of(const model::amounts& of, std::string_view resource) {
    auto found = of.find(resource);
    return found == of.end() ? 0 : found->second;
}

/// The slots of older Testbeds on a node: those with a pod, and those that wait.
struct standing {
    model::amounts demand;
    std::int64_t pods = 0;  ///< in its slots
    model::amounts taken = {};
    std::int64_t waiting = 0;
    model::amounts waits_for = {};

    void split() {
        const auto slots = amount_of(demand, "pods") / grid::one_pod;
        waiting = std::max<std::int64_t>(slots - pods, 0);
        taken = demand;
        if (waiting == 0) return;
        for (const auto& [resource, amount] : demand) {
            waits_for[resource] = amount / slots * waiting;
        }
        model::take(taken, waits_for);
    }
    void join(const standing& other) {
        waiting += other.waiting;
        model::add(taken, other.taken);
        model::add(waits_for, other.waits_for);
    }
};

void tell(node_room& out, std::string name, const standing& of) {
    if (of.waiting > 0) out.before.push_back({name, of.waiting, of.waits_for});
    if (amount_of(of.taken, "pods") > 0) out.consumers.push_back({std::move(name), of.taken});
}

/// "600m cpu", "1 place for pods".
std::string resource_text(std::string_view resource, std::int64_t amount) {
    const auto number = model::show(std::string(resource), amount);
    if (resource != "pods") return fmt::format("{} {}", number, resource);
    return fmt::format("{} {} for pods", number, amount == grid::one_pod ? "place" : "places");
}

/// The largest takers of the resource, at most five: "default/fat (1 cpu), default/thin (100m
/// cpu)".
std::string largest_of(std::vector<consumer> all, std::string_view resource) {
    constexpr std::size_t most_named = 5;
    std::erase_if(all, [&](const auto& who) { return amount_of(who.takes, resource) == 0; });
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
        return std::pair(-amount_of(a.takes, resource), std::string_view(a.name)) <
               std::pair(-amount_of(b.takes, resource), std::string_view(b.name));
    });
    std::vector<std::string> names;
    for (const auto& who : all) {
        if (names.size() == most_named) break;
        names.push_back(fmt::format("{} ({})", who.name,
                                    resource_text(resource, amount_of(who.takes, resource))));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

/// "14 slots of testbed default/big (8400m cpu)".
std::string slots_before_text(const node_room& room, std::string_view resource) {
    std::vector<std::string> out;
    for (const auto& each : room.before) {
        const auto takes = amount_of(each.takes, resource);
        if (takes == 0) continue;
        out.push_back(fmt::format("{} of {} ({})", count_of(each.slots, "slot"), each.name,
                                  resource_text(resource, takes)));
    }
    return fmt::format("{}", fmt::join(out, ", "));
}

}  // namespace

const model::amounts& slot_sizes::of(int position) {
    const auto& size = grid::size_of(layout_, position);
    const auto [entry, first] = known_.try_emplace(&size);
    if (first) entry->second = slot_amounts(size);
    return entry->second;
}

rivals rivals_of(const view& seen) {
    rivals out;
    for (const auto& other : seen.others) {
        // A claim gets room where it was free: no Testbed gives way to it, nor does a claim to
        // another.
        if (other->spec.claim) continue;
        auto key = other->metadata.key().text();
        if (!model::older(other->metadata, seen.testbed->metadata)) {
            out.younger.emplace(std::move(key), other);
            continue;
        }
        rivals::elder entry{other, &seen.index_of(*other), false};
        entry.wants_slots = !other->metadata.deleting() && problems_of(other->spec).empty();
        out.older.emplace(std::move(key), std::move(entry));
    }
    return out;
}

node_room room_on(const view& seen, const rivals& others, const node_view& node,
                  const std::set<std::string_view>& in_slots) {
    node_room out;
    if (!node.node) return out;
    out.allocatable = node.node->allocatable;
    std::map<std::string, standing> demands;
    for (const auto& [key, other] : others.older) {
        auto demand = demand_on(other, node);
        if (!demand.empty()) demands.emplace(key, standing{std::move(demand)});
    }
    out.elder_waits = !demands.empty() && an_elder_waits(others, node);
    model::amounts elsewhere;
    for (const auto& pod : node.pods) {
        if (!pod->live()) continue;
        const auto key = testbed_key_of(*pod);
        if (in_slots.contains(pod->metadata.uid) || is_own_ghost(*pod, *seen.testbed)) continue;
        const auto younger = others.younger.find(key);
        if (younger != others.younger.end() && is_own_ghost(*pod, *younger->second)) continue;
        // The whole demand of an older Testbed counts.
        const auto elder = demands.find(key);
        if (elder != demands.end() && is_in_a_slot(*pod, others.older.at(key))) {
            ++elder->second.pods;
            continue;
        }
        auto takes = taken_by(*pod);
        model::add(out.foreign, takes);
        if (pod->metadata.namespace_ != seen.testbed->metadata.namespace_) {
            model::add(elsewhere, takes);
        } else {
            out.consumers.push_back({pod->metadata.key().text(), std::move(takes)});
        }
    }
    if (!elsewhere.empty()) {
        out.consumers.push_back({"pods of other namespaces", std::move(elsewhere)});
    }
    const auto& own = seen.testbed->metadata.namespace_;
    standing of_other_namespaces;
    for (auto& [key, elder] : demands) {
        model::add(out.foreign, elder.demand);
        elder.split();
        out.elder_lacks |= elder.waiting > 0;
        if (others.older.at(key).testbed->metadata.namespace_ == own) {
            tell(out, "testbed " + key, elder);
        } else {
            of_other_namespaces.join(elder);
        }
    }
    tell(out, "testbeds of other namespaces", of_other_namespaces);
    out.left = out.allocatable;
    model::take(out.left, out.foreign);
    return out;
}

std::string describe_shortage(const node_room& room, const model::testbed_layout& layout,
                              std::span<const int> positions) {
    std::vector<std::string> missing;
    std::string first;
    const auto slots = count_of(std::ssize(positions), "slot");
    slot_sizes sizes(layout);
    model::amounts all;
    auto left = room.left;
    int fitting = 0;
    for (const int position : positions) {
        const auto& size = sizes.of(position);
        model::add(all, size);
        if (missing_resource(left, size)) continue;
        model::take(left, size);
        ++fitting;
    }
    for (const auto& [name, wanted] : all) {
        const auto others = amount_of(room.foreign, name);
        const auto there = amount_of(room.allocatable, name);
        const auto needed = model::plus(others, wanted);
        if (needed <= there) continue;
        if (first.empty()) first = name;
        std::int64_t later = 0;
        for (const auto& each : room.before)
            later = model::plus(later, amount_of(each.takes, name));
        missing.push_back(fmt::format(
            "{} missing ({} {} {}, others take {} of {}{})", resource_text(name, needed - there),
            slots, positions.size() == 1 ? "needs" : "need", model::show(name, wanted),
            model::show(name, model::plus(others, -later)), model::show(name, there),
            later > 0 ? ", slots that come first need " + model::show(name, later) : ""));
    }
    if (missing.empty()) return "the scheduler has not found the room yet";
    const auto largest = largest_of(room.consumers, first);
    const auto before = slots_before_text(room, first);
    return fmt::format("room for {} of {}: {}{}{}{}{}", fitting, slots, fmt::join(missing, ", "),
                       largest.empty() ? "" : "; largest consumers: ", largest,
                       before.empty() ? "" : "; older, and first: ", before);
}

}  // namespace esi::testbed
