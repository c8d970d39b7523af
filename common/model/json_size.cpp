#include "model/json_size.h"

namespace esi::model {

namespace {

/// Bytes of one character as the API server writes it: Go escapes <, > and & as well.
std::size_t escaped(char c) {
    constexpr std::size_t as_code = 6;  // \u003c
    if (c == '"' || c == '\\') return 2;
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || c == '<' || c == '>' || c == '&' ? as_code : 1;
}

}  // namespace

std::size_t json_size(std::string_view text) {
    std::size_t out = detail::brackets;
    for (const char c : text) out += escaped(c);
    return out;
}

std::size_t json_size(const testbed_layout& layout) {
    // {"name":"","uid":"","id":-1234567890123456789}, of which a compact line has less.
    constexpr std::size_t around_node = 48;
    // The names of the members, revision and slotsPerNode.
    constexpr std::size_t around_lists = 160;
    std::size_t out = around_lists + json_size(layout.resources_per_slot) +
                      json_size(layout.shapes) + json_size(layout.places);
    for (const auto& node : layout.nodes) out += node.name.size() + node.uid.size() + around_node;
    return out;
}

}  // namespace esi::model
