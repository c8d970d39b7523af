// Texts of ASCII letters, whatever the locale of the process. Pure.
#pragma once

#include <string>
#include <string_view>

namespace esi {

/// Letters A to Z in lower case, all other bytes as they are: names of headers, hosts and kinds.
inline std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

/// Without the blanks and tabs around it.
inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t";
    const auto from = text.find_first_not_of(blank);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blank) - from + 1);
}

/// Takes the part before the next `separator` off the front, without the blanks around it.
inline std::string_view take_part(std::string_view& from, char separator) {
    const auto end = from.find(separator);
    const auto part = from.substr(0, end);
    from.remove_prefix(end == std::string_view::npos ? from.size() : end + 1);
    return trimmed(part);
}

}  // namespace esi
