#include "model/lenient.h"

#include <charconv>

#include "model/text.h"

namespace esi::model::lenient {

namespace {

/// 9999-12-31T23:59:59Z.
constexpr std::int64_t last_second = 253402300799;
/// Bytes that are read of one text: a stack trace in a status is some ten thousand.
constexpr std::size_t longest_lenient = 32 * 1024;

}  // namespace

std::string_view text_at(const simdjson::dom::element& from,
                         std::initializer_list<std::string_view> path) {
    auto here = from;
    for (const auto name : path) {
        simdjson::dom::element next;
        if (here.at_key(name).get(next) != simdjson::SUCCESS) return {};
        here = next;
    }
    std::string_view out;
    if (here.get(out) != simdjson::SUCCESS) return {};
    return out.substr(0, cut_size(out, longest_lenient));
}

std::optional<timestamp> time_at(const simdjson::dom::element& from,
                                 std::initializer_list<std::string_view> path) {
    const auto parsed = timestamp::parse(text_at(from, path));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

std::optional<timestamp> milliseconds_at(const simdjson::dom::element& from,
                                         std::initializer_list<std::string_view> path) {
    const auto text = text_at(from, path);
    std::int64_t count = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (count <= 0 || count / 1000 > last_second) return std::nullopt;
    return timestamp{wall_time(milliseconds(count))};
}

}  // namespace esi::model::lenient
