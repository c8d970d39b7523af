// Which JSON texts all readers take alike. Two readers are compared on these only.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace esi::fuzz {

/// False for what RFC 8259 leaves to the reader and no API server writes: members given twice, a
/// mark of byte order; for a NUL, which nlohmann takes for the end; and for deep nesting. Text that
/// is not JSON at all means the same to everybody.
inline bool one_meaning(std::string_view text) {
    using nlohmann::json;
    if (text.starts_with("\xEF\xBB\xBF") || text.contains('\0')) return false;
    std::vector<std::set<std::string>> open;
    bool repeated = false;
    int depth = 0;
    int deepest = 0;
    const auto watch = [&](int, json::parse_event_t event, json& value) {
        switch (event) {
            case json::parse_event_t::object_start:
                open.emplace_back();
                deepest = std::max(deepest, ++depth);
                break;
            case json::parse_event_t::array_start:
                deepest = std::max(deepest, ++depth);
                break;
            case json::parse_event_t::object_end:
                open.pop_back();
                --depth;
                break;
            case json::parse_event_t::array_end:
                --depth;
                break;
            case json::parse_event_t::key:
                repeated |= !open.back().insert(value.get<std::string>()).second;
                break;
            case json::parse_event_t::value:
                break;
        }
        return true;
    };
    const auto parsed = json::parse(text, watch, false);
    return parsed.is_discarded() || (!repeated && deepest < 200);
}

}  // namespace esi::fuzz
