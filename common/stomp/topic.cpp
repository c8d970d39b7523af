#include "stomp/topic.h"

#include <vector>

namespace esi::stomp {

namespace {

std::vector<std::string_view> segments_of(std::string_view text) {
    std::vector<std::string_view> out;
    for (;;) {
        const auto end = text.find('/');
        out.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

/// Walks both from the left; at a mismatch goes back to the last star, which then takes one more.
template <class List, class IsStar, class Equal>
bool glob(const List& pattern, const List& text, IsStar is_star, Equal equal) {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = pattern.size();
    std::size_t taken = 0;
    while (t < text.size()) {
        if (p < pattern.size() && is_star(pattern[p])) {
            star = p++;
            taken = t;
        } else if (p < pattern.size() && equal(pattern[p], text[t])) {
            ++p;
            ++t;
        } else if (star < pattern.size()) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && is_star(pattern[p])) ++p;
    return p == pattern.size();
}

bool segment_matches(std::string_view pattern, std::string_view text) {
    return glob(
        pattern, text, [](char c) { return c == '*'; },
        [](char p, char c) { return p == '?' || p == c; });
}

}  // namespace

bool is_pattern(std::string_view destination) {
    return destination.find_first_of("?*") != std::string_view::npos;
}

bool matches(std::string_view pattern, std::string_view destination) {
    return glob(
        segments_of(pattern), segments_of(destination),
        [](std::string_view segment) { return segment == "**"; }, segment_matches);
}

}  // namespace esi::stomp
