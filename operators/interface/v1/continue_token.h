// Where a list that came in parts goes on: behind which key, and as of which version it began. The
// text is opaque to clients. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace esi::interface::v1 {

struct continue_token {
    /// The last that was told.
    std::string after_namespace;
    std::string after_name;
    /// resourceVersion of the first part.
    std::string version;
    /// Hash of what was asked for: a token does not go on with another question.
    std::uint64_t question = 0;
    bool operator==(const continue_token&) const = default;
};

std::string text_of(const continue_token& token);
std::optional<continue_token> parse_continue_token(std::string_view text);

}  // namespace esi::interface::v1
