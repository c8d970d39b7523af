// Texts for people in the status of an object: the API bounds them, and a status with one that is
// too long is refused as a whole. Pure.
#pragma once

#include <string>
#include <string_view>

namespace esi::model {

/// Bytes of the longest text that ESI writes.
inline constexpr std::size_t longest_text = 4096;

/// Each control character, line break and invisible mark of direction becomes a blank: names and
/// messages come from others, and may be read on a terminal. Characters in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

/// How many bytes of the text fit: at most `limit`, never cutting a UTF-8 sequence.
std::size_t cut_size(std::string_view text, std::size_t limit);
/// At most `limit` bytes, never cutting a UTF-8 sequence; printable, except for line breaks and
/// tabs.
std::string cut(std::string_view text, std::size_t limit = longest_text);

}  // namespace esi::model
