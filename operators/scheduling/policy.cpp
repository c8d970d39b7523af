#include "scheduling/policy.h"

#include <algorithm>

#include "grid/grid.h"

namespace esi::scheduling {

namespace {

std::set<int> coordinators_of(const model::testbed_layout& layout) {
    std::set<int> out;
    if (!grid::is_of_claim(layout)) return out;
    const int count = grid::count_of_slots(layout);
    for (int position = 0; position < count; ++position) {
        if (grid::role_of(layout, position) == model::slot_role::coordinator) out.insert(position);
    }
    return out;
}

std::set<int> coordinators_of(const grid::slot_table& table) {
    const auto& testbed = table.testbed();
    if (!testbed || !testbed->status.layout) return {};
    return coordinators_of(*testbed->status.layout);
}

}  // namespace

plan_places::plan_places(const model::testbed_layout& layout)
    : count_(grid::count_of_slots(layout)), coordinators_(coordinators_of(layout)) {}

int plan_places::workers_among(std::span<const int> slots) const {
    return static_cast<int>(
        std::ranges::count_if(slots, [&](int id) { return !coordinators_.contains(id); }));
}

free_slots::free_slots(const grid::slot_table& table, std::set<int> taken)
    : positions_(table.free()),
      taken_(std::move(taken)),
      coordinators_(coordinators_of(table)),
      counts_(&table) {}

std::optional<int> free_slots::next(int position) const {
    for (auto at = positions_.lower_bound(position); at != positions_.end(); ++at) {
        count();
        if (!taken_.contains(*at) && !coordinators_.contains(*at)) return *at;
    }
    return std::nullopt;
}

std::optional<int> free_slots::next_coordinator(int position) const {
    for (auto at = coordinators_.lower_bound(position); at != coordinators_.end(); ++at) {
        count();
        if (positions_.contains(*at) && !taken_.contains(*at)) return *at;
    }
    return std::nullopt;
}

bool free_slots::contains(int position) const {
    count();
    return positions_.contains(position) && !taken_.contains(position) &&
           !coordinators_.contains(position);
}

std::size_t free_slots::size() const {
    const auto both =
        std::ranges::count_if(taken_, [&](int id) { return positions_.contains(id); });
    const auto others = std::ranges::count_if(
        coordinators_, [&](int id) { return positions_.contains(id) && !taken_.contains(id); });
    return positions_.size() - static_cast<std::size_t>(both + others);
}

bool coordinator_turns::give(std::vector<int>& slots) {
    if (free_.coordinators().empty()) return true;
    const auto place = free_.next_coordinator(from_);
    if (!place) return false;
    slots.push_back(*place);
    from_ = *place + 1;
    return true;
}

slot_blocker coordinator_turns::busy(const model::object_key& job) const {
    const auto& all = free_.coordinators();
    return {job, slot_blocker::kind::coordinator_busy, {all.begin(), all.end()}, {}};
}

}  // namespace esi::scheduling
