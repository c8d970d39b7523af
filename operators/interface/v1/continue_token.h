// Where the next page of a list begins: after which key, and as of which version the list began.
// The text is opaque to clients. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace esi::interface::v1 {

struct continue_token {
    /// The last key that was listed.
    std::string after_namespace;
    std::string after_name;
    /// resourceVersion of the first page.
    std::string version;
    /// Hash of the query: a token does not continue another query.
    std::uint64_t question = 0;
    bool operator==(const continue_token&) const = default;
};

std::string text_of(const continue_token& token);
std::optional<continue_token> parse_continue_token(std::string_view text);

}  // namespace esi::interface::v1
