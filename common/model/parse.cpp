#include "model/parse.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace esi::model {

namespace {

/// The API server's limit, and the levels that a list and an event put around an object.
constexpr std::size_t deepest = 10'000 + 16;

bool of_a_number(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/// Whether the number is whole and out of the range that simdjson reads as whole.
bool beyond_64_bits(std::string_view number) {
    if (number.find_first_of(".eE") != std::string_view::npos) return false;
    const auto* end = number.data() + number.size();
    std::int64_t narrow = 0;
    std::uint64_t wide = 0;
    const auto as_signed = std::from_chars(number.data(), end, narrow);
    const auto as_unsigned = std::from_chars(number.data(), end, wide);
    return as_signed.ec == std::errc::result_out_of_range &&
           (number.starts_with('-') || as_unsigned.ec == std::errc::result_out_of_range);
}

/// The same text with an exponent after each such number.
std::string with_floats(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 16);
    for (std::size_t at = 0; at < text.size();) {
        const auto from = at;
        if (text[at] == '"') {
            for (++at; at < text.size() && text[at] != '"'; ++at) {
                if (text[at] == '\\') ++at;
            }
            at = std::min(at + 1, text.size());
        } else if (of_a_number(text[at])) {
            while (at < text.size() && of_a_number(text[at])) ++at;
        } else {
            ++at;
        }
        const auto token = text.substr(from, at - from);
        out += token;
        if (of_a_number(token.front()) && beyond_64_bits(token)) out += "e0";
    }
    return out;
}

}  // namespace

result<simdjson::dom::element> parse(simdjson::dom::parser& parser, std::string_view text) {
    simdjson::dom::element root;
    auto code = parser.parse(text.data(), text.size()).get(root);
    // Both faults are rare, and one may hide the other.
    for (int i = 0; i < 2; ++i) {
        if (code == simdjson::DEPTH_ERROR) {
            code = parser.allocate(std::max(parser.capacity(), text.size()), deepest);
            if (code == simdjson::SUCCESS) {
                code = parser.parse(text.data(), text.size()).get(root);
            }
        }
        if (code == simdjson::NUMBER_ERROR) {
            const auto other = with_floats(text);
            if (other.size() > text.size()) {
                code = parser.parse(other.data(), other.size()).get(root);
            }
        }
    }
    if (code != simdjson::SUCCESS) return fail(errc::decode, simdjson::error_message(code));
    return root;
}

}  // namespace esi::model
