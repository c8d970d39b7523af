// Percent-encoding of what goes into a path segment or a query value (RFC 3986).
#pragma once

#include <string>
#include <string_view>

namespace esi::kube {

/// Everything but the unreserved characters (letters, digits, - . _ ~) becomes %XX. The segments
/// "." and ".." come out encoded too: a proxy would resolve them otherwise.
std::string percent_encode(std::string_view text);

/// Builds "path?key=value&...": values are encoded, keys are literals of ours.
class query_builder {
public:
    explicit query_builder(std::string path) : text_(std::move(path)) {}
    query_builder& add(std::string_view key, std::string_view value);
    std::string take() { return std::move(text_); }

private:
    std::string text_;
    bool first_ = true;
};

}  // namespace esi::kube
