#include "scheduling/words.h"

#include <fmt/format.h>

namespace esi::scheduling {

std::string enumerate(const std::vector<std::string>& items, std::size_t limit,
                      std::string_view separator) {
    std::string out;
    std::size_t named = 0;
    for (const auto& item : items) {
        if (named == limit) return out + fmt::format(" and {} more", items.size() - named);
        if (named++ > 0) out += separator;
        out += item;
    }
    return out;
}

std::string job_text(const model::object_key& key) { return "BatchJob " + key.text(); }

std::string testbed_text(const model::object_key& key) { return "Testbed " + key.text(); }

std::string scheduling_text(const model::object_key& key) { return "Scheduling " + key.text(); }

std::string slots_text(const std::vector<int>& slots) {
    std::vector<std::string> names;
    names.reserve(slots.size());
    for (int slot : slots) names.push_back(fmt::to_string(slot));
    return (slots.size() == 1 ? "slot " : "slots ") + enumerate(names, 20);
}

}  // namespace esi::scheduling
