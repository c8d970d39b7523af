#include "http/accept.h"

#include "base/text.h"

namespace esi::http {

namespace {

bool is_quality_of_zero(std::string_view parameter) {
    const auto text = lower(parameter);
    return text.starts_with("q=0") && text.find_first_not_of("0.", 2) == std::string::npos;
}

}  // namespace

std::vector<media_range> media_ranges(std::string_view accept) {
    std::vector<media_range> out;
    while (!accept.empty()) {
        auto range = take_part(accept, ',');
        auto& added = out.emplace_back();
        added.name = lower(take_part(range, ';'));
        while (!range.empty()) {
            added.refused = is_quality_of_zero(take_part(range, ';')) || added.refused;
        }
    }
    return out;
}

bool accepts(std::string_view accept, std::string_view media_type) {
    if (trimmed(accept).empty()) return true;
    const auto all_of_type = std::string(media_type.substr(0, media_type.find('/'))) + "/*";
    // The most specific range that matches decides (RFC 9110 12.5.1).
    int best = 0;
    bool out = false;
    for (const auto& [name, refused] : media_ranges(accept)) {
        const int rank = name == media_type ? 3 : name == all_of_type ? 2 : name == "*/*" ? 1 : 0;
        if (rank < best || rank == 0) continue;
        best = rank;
        out = !refused;
    }
    return out;
}

std::string media_type_of(std::string_view content_type) {
    return lower(trimmed(content_type.substr(0, content_type.find(';'))));
}

}  // namespace esi::http
