#include "grid/slot_room.h"

#include <fmt/format.h>

#include <cstdint>

namespace esi::grid {

std::string larger_than_slot(const model::amounts& requests, const model::resource_list& slot) {
    constexpr int most_named = 4;
    std::string out;
    int count = 0;
    for (const auto& [name, amount] : requests) {
        const auto size = slot.find(name);
        const std::int64_t there = size == slot.end() ? 0 : size->second.milli;
        if (amount <= 0 || amount <= there) continue;
        if (++count > most_named) continue;
        out += fmt::format("{}it requests {} {}, the slot has {}", out.empty() ? "" : "; ",
                           model::show(name, amount), name, model::show(name, there));
    }
    if (count > most_named) out += fmt::format("; and {} more", count - most_named);
    return out;
}

}  // namespace esi::grid
