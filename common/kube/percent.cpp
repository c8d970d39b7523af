#include "kube/percent.h"

namespace esi::kube {

std::string percent_encode(std::string_view text) {
    static constexpr std::string_view hex = "0123456789ABCDEF";
    const bool dots = text == "." || text == "..";
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '~' ||
                           (c == '.' && !dots);
        if (plain) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += hex[byte >> 4];
        out += hex[byte & 15];
    }
    return out;
}

query_builder& query_builder::add(std::string_view key, std::string_view value) {
    text_ += first_ ? '?' : '&';
    first_ = false;
    text_ += key;
    text_ += '=';
    text_ += percent_encode(value);
    return *this;
}

}  // namespace esi::kube
