#include "scheduling/policy.h"

#include <algorithm>

namespace esi::scheduling {

std::optional<int> free_slots::next(int position) const {
    for (auto at = positions_.lower_bound(position); at != positions_.end(); ++at) {
        count();
        if (!taken_.contains(*at)) return *at;
    }
    return std::nullopt;
}

bool free_slots::contains(int position) const {
    count();
    return positions_.contains(position) && !taken_.contains(position);
}

std::size_t free_slots::size() const {
    const auto both =
        std::ranges::count_if(taken_, [&](int id) { return positions_.contains(id); });
    return positions_.size() - static_cast<std::size_t>(both);
}

}  // namespace esi::scheduling
