#include "world/timeline.h"

#include <algorithm>

namespace esi::simulation {

void timeline::at(steady_time when, std::function<void()> what) {
    entries_.emplace(std::pair(std::max(when, now()), added_++), std::move(what));
}

std::optional<steady_time> timeline::next() const {
    auto first = clock_.next();
    if (entries_.empty()) return first;
    const auto entry = entries_.begin()->first.first;
    return first ? std::min(*first, entry) : entry;
}

std::function<void()> timeline::take() {
    if (entries_.empty() || entries_.begin()->first.first > now()) return nullptr;
    return std::move(entries_.extract(entries_.begin()).mapped());
}

}  // namespace esi::simulation
