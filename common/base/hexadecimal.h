// Bytes as hexadecimal digits, two for each, in lower case. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace esi {

inline std::string hexadecimal(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * bytes.size());
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += digits[byte >> 4u];
        out += digits[byte & 15u];
    }
    return out;
}

/// The bytes; nothing if the text is not such digits in pairs.
inline std::optional<std::string> from_hexadecimal(std::string_view text) {
    const auto value = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    if (text.size() % 2 != 0) return std::nullopt;
    std::string out;
    out.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = value(text[i]);
        const int low = value(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
    }
    return out;
}

}  // namespace esi
