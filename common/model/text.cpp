#include "model/text.h"

#include <algorithm>
#include <utility>

namespace esi::model {

namespace {

/// Bytes of the code point at the beginning of `text` if a terminal, or its reader, takes it for
/// something other than a character; 0 if not.
std::size_t length_of_unprintable(std::string_view text) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x20 || byte == 0x7f) return 1;
    // U+0080 to U+009F, which some terminals take for the start of a sequence.
    if (text.size() > 1 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) return 2;
    // Marks of direction and of no width, separators of lines: they change how the text reads.
    using range = std::pair<std::string_view, std::string_view>;
    constexpr range ranges[] = {{"\xe2\x80\x8b", "\xe2\x80\x8f"},   // U+200B to U+200F
                                {"\xe2\x80\xa8", "\xe2\x80\xae"},   // U+2028 to U+202E
                                {"\xe2\x81\xa6", "\xe2\x81\xa9"},   // U+2066 to U+2069
                                {"\xef\xbb\xbf", "\xef\xbb\xbf"}};  // U+FEFF
    const auto three = text.substr(0, 3);
    for (const auto& [first, last] : ranges) {
        if (three.size() == 3 && three >= first && three <= last) return 3;
    }
    return 0;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto length =
            kept.contains(text.front()) ? std::size_t{0} : length_of_unprintable(text);
        out += length > 0 ? ' ' : text.front();
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::size_t cut_size(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text.size();
    auto end = limit;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return end;
}

std::string cut(std::string_view text, std::size_t limit) {
    return printable(text.substr(0, cut_size(text, limit)), "\n\t");
}

}  // namespace esi::model
