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

}  // namespace esi
