#include "http/target.h"

#include <optional>

namespace esi::http {

namespace {

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
    return std::nullopt;
}

/// Length of the well-formed UTF-8 sequence at `at` (RFC 3629), 0 when there is none.
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
    const auto first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() - at < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return length;
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto length = utf8_length(text, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

result<std::string> decode(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '+' && plus_is_space) {
            out += ' ';
            continue;
        }
        if (c != '%') {
            out += c;
            continue;
        }
        const auto high = at + 1 < text.size() ? hex_digit(text[at + 1]) : std::nullopt;
        const auto low = at + 2 < text.size() ? hex_digit(text[at + 2]) : std::nullopt;
        if (!high || !low) return fail(errc::bad_request, "a % is not followed by two hex digits");
        out += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    if (!is_utf8(out)) return fail(errc::bad_request, "the address is not UTF-8");
    if (out.find('\0') != std::string::npos) return fail(errc::bad_request, "NUL in the address");
    return out;
}

result<std::vector<std::pair<std::string, std::string>>> decode_query(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!text.empty()) {
        const auto end = std::min(text.find('&'), text.size());
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (part.empty()) continue;
        if (out.size() == most_parameters) {
            return fail(errc::bad_request,
                        "more than " + std::to_string(most_parameters) + " parameters");
        }
        const auto equals = std::min(part.find('='), part.size());
        auto key = decode(part.substr(0, equals), true);
        if (!key) return std::unexpected(std::move(key).error());
        auto value = decode(part.substr(std::min(equals + 1, part.size())), true);
        if (!value) return std::unexpected(std::move(value).error());
        out.emplace_back(std::move(*key), std::move(*value));
    }
    return out;
}

/// Takes "http://authority" off an absolute form, and returns the authority; nothing for other
/// forms.
std::optional<std::string_view> take_authority(std::string_view& text) {
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!text.starts_with(scheme)) continue;
        text.remove_prefix(scheme.size());
        const auto end = std::min(text.find_first_of("/?"), text.size());
        const auto authority = text.substr(0, end);
        text = end == text.size() ? "/" : text.substr(end);
        return authority;
    }
    return std::nullopt;
}

}  // namespace

result<target> parse_target(std::string_view text) {
    const bool fragment = text.find('#') != std::string_view::npos;
    const auto authority = take_authority(text);
    if (!text.starts_with('/') || fragment) {
        return fail(errc::bad_request, "the address does not start with / or contains #");
    }
    if (authority && authority->empty()) {
        return fail(errc::bad_request, "the address names no host");
    }
    const auto mark = std::min(text.find('?'), text.size());
    auto query = decode_query(text.substr(std::min(mark + 1, text.size())));
    if (!query) return std::unexpected(std::move(query).error());
    return target{std::string(text.substr(0, mark)), std::move(*query),
                  std::string(authority.value_or(std::string_view()))};
}

result<std::vector<std::string>> decode_segments(std::string_view raw_path) {
    if (!raw_path.starts_with('/'))
        return fail(errc::bad_request, "the path does not start with /");
    raw_path.remove_prefix(1);
    std::vector<std::string> out;
    for (;;) {
        const auto end = std::min(raw_path.find('/'), raw_path.size());
        auto segment = decode(raw_path.substr(0, end), false);
        if (!segment) return std::unexpected(std::move(segment).error());
        if (segment->find('/') != std::string::npos) {
            return fail(errc::bad_request, "an encoded slash in the path");
        }
        out.push_back(std::move(*segment));
        if (end == raw_path.size()) return out;
        raw_path.remove_prefix(end + 1);
    }
}

}  // namespace esi::http
