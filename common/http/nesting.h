// How deep a JSON text nests, checked before it is parsed: a parser, and the value that it builds,
// would recurse as deep. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace esi::http {

/// Whether more than `most` brackets are open at once, outside of strings. The text need not be
/// JSON.
inline bool nests_deeper_than(int most, std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\') ++i;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (++depth > most) return true;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    return false;
}

}  // namespace esi::http
