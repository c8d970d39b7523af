#include "interface/v1/continue_token.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/hexadecimal.h"

namespace esi::interface::v1 {

namespace {

constexpr std::size_t longest_token = 2048;
/// The form of the text inside.
constexpr std::string_view form = "1";
/// A character that no name contains.
constexpr char between = '\n';

}  // namespace

std::string text_of(const continue_token& token) {
    const auto inside =
        fmt::format("{1}{0}{2}{0}{3}{0}{4}{0}{5:x}", between, form, token.after_namespace,
                    token.after_name, token.version, token.question);
    return hexadecimal(inside);
}

std::optional<continue_token> parse_continue_token(std::string_view text) {
    if (text.size() > longest_token) return std::nullopt;
    const auto inside = from_hexadecimal(text);
    if (!inside) return std::nullopt;
    std::array<std::string_view, 5> parts;
    std::string_view rest = *inside;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool last = i + 1 == parts.size();
        const auto end = last ? rest.size() : rest.find(between);
        if (end == std::string_view::npos) return std::nullopt;
        parts[i] = rest.substr(0, end);
        rest.remove_prefix(last ? end : end + 1);
    }
    if (parts[0] != form) return std::nullopt;
    continue_token out{std::string(parts[1]), std::string(parts[2]), std::string(parts[3]), 0};
    const auto* const end = parts[4].data() + parts[4].size();
    const auto read = std::from_chars(parts[4].data(), end, out.question, 16);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return out;
}

}  // namespace esi::interface::v1
