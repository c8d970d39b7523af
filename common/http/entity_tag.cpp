#include "http/entity_tag.h"

#include "base/text.h"

namespace esi::http {

namespace {

/// Takes the next entry off the front; a comma within quotes is a part of a tag.
std::string_view take_entry(std::string_view& from) {
    bool quoted = false;
    std::size_t end = 0;
    for (; end < from.size() && (quoted || from[end] != ','); ++end) {
        if (from[end] == '"') quoted = !quoted;
    }
    const auto out = trimmed(from.substr(0, end));
    from.remove_prefix(end == from.size() ? end : end + 1);
    return out;
}

}  // namespace

bool is_any_tag(std::string_view header) { return trimmed(header) == "*"; }

bool names_tag(std::string_view header, std::string_view tag) {
    while (!header.empty()) {
        auto each = take_entry(header);
        if (each.starts_with("W/")) each.remove_prefix(2);
        if (each == tag) return true;
    }
    return false;
}

}  // namespace esi::http
