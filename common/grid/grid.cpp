#include "grid/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/hash.h"
#include "model/names.h"

namespace esi::grid {

namespace names = model::names;

namespace {

/// A whole number from 0 without sign, blanks or rest.
std::optional<int> parse_number(std::string_view text) {
    int value = 0;
    if (text.empty() || text.front() == '-' || text.front() == '+') return std::nullopt;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// FNV-1a with a final mix. Fixed for all times: the names of existing ghosts depend on it.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = fnv1a(text);
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdull;
    hash ^= hash >> 33;
    return hash;
}

}  // namespace

int count_of_slots(const model::testbed_layout& layout) {
    if (is_of_claim(layout)) {
        if (layout.slots_per_node != 0) return 0;
        if (layout.places.size() > model::most_claimed_places) return 0;
        std::int64_t count = 0;
        for (const auto& shape : layout.shapes) {
            if (shape.count < 0) return 0;
            count += shape.count;
        }
        if (count != std::ssize(layout.places)) return 0;
        const auto nodes = std::ssize(layout.nodes);
        const bool known =
            std::ranges::all_of(layout.places, [&](int node) { return node >= 0 && node < nodes; });
        return known ? static_cast<int>(count) : 0;
    }
    if (layout.slots_per_node < 1 || layout.slots_per_node > model::most_slots_per_node) return 0;
    if (layout.nodes.size() > model::most_layout_nodes) return 0;
    return static_cast<int>(layout.nodes.size()) * layout.slots_per_node;
}

bool is_of_claim(const model::testbed_layout& layout) {
    return !layout.shapes.empty() || !layout.places.empty();
}

namespace {

/// Null if the layout is not of a claim, or has no such position.
const model::layout_shape* shape_of(const model::testbed_layout& layout, int position) {
    for (const auto& shape : layout.shapes) {
        if (position < 0) return nullptr;
        if (position < shape.count) return &shape;
        position -= shape.count;
    }
    return nullptr;
}

}  // namespace

const model::resource_list& size_of(const model::testbed_layout& layout, int position) {
    static const model::resource_list none;
    if (!is_of_claim(layout)) return layout.resources_per_slot;
    const auto* shape = shape_of(layout, position);
    return shape ? shape->resources : none;
}

std::string_view role_of(const model::testbed_layout& layout, int position) {
    const auto* shape = shape_of(layout, position);
    return shape && shape->role == model::slot_role::coordinator ? model::slot_role::coordinator
                                                                 : model::slot_role::worker;
}

std::vector<int> with_role(const model::testbed_layout& layout, std::span<const int> positions,
                           std::string_view role) {
    std::vector<int> out;
    std::ranges::copy_if(positions, std::back_inserter(out),
                         [&](int position) { return role_of(layout, position) == role; });
    return out;
}

std::vector<const model::resource_list*> sizes_of(const model::testbed_layout& layout,
                                                  std::string_view role) {
    std::vector<const model::resource_list*> out;
    if (!is_of_claim(layout)) {
        if (role == model::slot_role::worker) out.push_back(&layout.resources_per_slot);
        return out;
    }
    int first = 0;
    for (const auto& shape : layout.shapes) {
        const int position = first;
        first += shape.count;
        if (shape.count == 0 || role_of(layout, position) != role) continue;
        const bool known =
            std::ranges::any_of(out, [&](const auto* size) { return *size == shape.resources; });
        if (!known) out.push_back(&shape.resources);
    }
    return out;
}

std::string ghost_name(std::string_view testbed, std::string_view testbed_uid,
                       std::string_view node, int index) {
    const auto hash = hash_of(fmt::format("{}/{}/{}", testbed_uid, node, index));
    return fmt::format("{}{}{:010x}", testbed, ghost_infix, hash >> 24);
}

bool slot_view::ghost_bound() const { return ghost && ghost->bound(); }

bool slot_view::free() const {
    return job_pods.empty() && ghost_bound() && ghost->live() && !ghost->metadata.deleting();
}

std::optional<int> slot_index_of_ghost(const model::pod& ghost) {
    return parse_number(ghost.metadata.annotation(names::index));
}

std::optional<int> slot_of_pod(const model::pod& pod) {
    return parse_number(pod.metadata.annotation(names::slot));
}

bool is_better_ghost(const model::pod& candidate, const model::pod& known) {
    auto rank = [](const model::pod& pod) {
        return (pod.live() ? 4 : 0) + (pod.bound() ? 2 : 0) + (pod.metadata.deleting() ? 0 : 1);
    };
    return rank(candidate) > rank(known);
}

bool let_in(const model::pod& pod) {
    return std::find(pod.scheduling_gates.begin(), pod.scheduling_gates.end(), names::gate) ==
           pod.scheduling_gates.end();
}

model::object_key in_namespace(model::object_key reference, std::string_view ns) {
    if (reference.namespace_.empty()) reference.namespace_ = ns;
    return reference;
}

model::object_key placed_in(const model::batchjob& job) {
    if (job.status.placements.empty() || job.status.runs.empty()) return {};
    return in_namespace(job.status.runs.back().testbed, job.metadata.namespace_);
}

bool is_own_ghost(const model::pod& pod, const model::testbed& testbed) {
    if (!pod.is_ghost() || pod.metadata.namespace_ != testbed.metadata.namespace_) return false;
    const auto* owner = pod.metadata.controller_owner();
    return owner && owner->uid == testbed.metadata.uid;
}

std::vector<int> parse_slot_list(std::string_view text) {
    std::vector<int> out;
    while (true) {
        auto comma = text.find(',');
        auto number = parse_number(text.substr(0, comma));
        if (!number) return {};
        out.push_back(*number);
        if (comma == std::string_view::npos) return out;
        text.remove_prefix(comma + 1);
    }
}

std::string show_slot_list(std::span<const int> slots) {
    return fmt::format("{}", fmt::join(slots, ","));
}

std::string_view hold_of_run(std::string_view run) {
    auto dot = run.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : run.substr(0, dot);
}

std::string_view scheduling_uid_of_hold(std::string_view hold) {
    auto dot = hold.rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : hold.substr(0, dot);
}

}  // namespace esi::grid
