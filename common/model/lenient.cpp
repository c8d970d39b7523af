#include "model/lenient.h"

#include <charconv>

namespace esi::model::lenient {

namespace {

/// 9999-12-31T23:59:59Z.
constexpr std::int64_t last_second = 253402300799;

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
    return here.get(out) == simdjson::SUCCESS ? out : std::string_view{};
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
