#include "kubectl-esi/shown/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace esi::kubectl::shown {

namespace {

using namespace std::chrono_literals;

std::string two(std::int64_t large, const char* large_unit, std::int64_t small,
                const char* small_unit) {
    return small == 0 ? fmt::format("{}{}", large, large_unit)
                      : fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

std::string duration_text(std::chrono::microseconds time) {
    const auto all = std::chrono::duration_cast<seconds>(time).count();
    if (all <= 0) return "0s";
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    constexpr std::int64_t year = 365 * day;
    if (all < 2 * minute) return fmt::format("{}s", all);
    if (all < 10 * minute) return two(all / minute, "m", all % minute, "s");
    if (all < 3 * hour) return fmt::format("{}m", all / minute);
    if (all < 8 * hour) return two(all / hour, "h", all % hour / minute, "m");
    if (all < 2 * day) return fmt::format("{}h", all / hour);
    if (all < 8 * day) return two(all / day, "d", all % day / hour, "h");
    if (all < 2 * year) return fmt::format("{}d", all / day);
    if (all < 8 * year) return two(all / year, "y", all % year / day, "d");
    return fmt::format("{}y", all / year);
}

std::string age_text(const std::optional<model::timestamp>& since, wall_time now) {
    return since ? duration_text(now - since->value) : std::string(none);
}

std::string ago_text(const std::optional<model::timestamp>& since, wall_time now) {
    return since ? duration_text(now - since->value) + " ago" : std::string(none);
}

std::string estimate_text(const std::optional<scheduling::answers::estimated_time>& of) {
    if (!of) return std::string(none);
    auto out = of->in_seconds > 0 ? "in " + duration_text(seconds(of->in_seconds)) : "due";
    if (of->runs > 0) out += fmt::format(" ({} {})", of->runs, of->runs == 1 ? "run" : "runs");
    return out;
}

std::string seconds_text(double time) {
    if (time < 100) return fmt::format("{:.1f}s", time);
    return duration_text(std::chrono::microseconds(static_cast<std::int64_t>(time * 1e6)));
}

std::string between_text(const std::optional<model::timestamp>& from,
                         const std::optional<model::timestamp>& to) {
    if (!from || !to) return std::string(none);
    // Of two clocks, or of whole seconds.
    const auto time = std::max(to->value - from->value, std::chrono::microseconds(0));
    return seconds_text(std::chrono::duration<double>(time).count());
}

std::string slots_text(const std::vector<int>& slots) {
    if (slots.empty()) return std::string(none);
    std::string out;
    for (std::size_t i = 0; i < slots.size();) {
        auto last = i;
        while (last + 1 < slots.size() && slots[last + 1] == slots[last] + 1) ++last;
        if (last < i + 2) last = i;
        if (!out.empty()) out += ",";
        out += std::to_string(slots[i]);
        if (last != i) out += "-" + std::to_string(slots[last]);
        i = last + 1;
    }
    return out;
}

std::string list_text(const std::vector<std::string>& names) {
    if (names.empty()) return std::string(none);
    return fmt::format("{}", fmt::join(names, ","));
}

std::string name_in(const model::object_key& key, std::string_view ns) {
    return key.namespace_ == ns || key.namespace_.empty() ? key.name : key.text();
}

namespace {

/// Bytes of the code point at the beginning of `text` if a terminal, or who reads it, takes it for
/// something else than a character; 0 if not.
std::size_t length_of_unprintable(std::string_view text) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x20 || byte == 0x7f) return 1;
    // U+0080 to U+009F, which some terminals take for the start of a sequence.
    if (text.size() > 1 && byte == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0) return 2;
    // Marks of direction and of no width, separators of lines: what stands there reads otherwise.
    using range = std::pair<std::string_view, std::string_view>;
    constexpr range ranges[] = {{"\xe2\x80\x8b", "\xe2\x80\x8f"},   // U+200B to U+200F
                                {"\xe2\x80\xa8", "\xe2\x80\xae"},   // U+2028 to U+202E
                                {"\xe2\x81\xa6", "\xe2\x81\xa9"},   // U+2066 to U+2069
                                {"\xef\xbb\xbf", "\xef\xbb\xbf"}};  // U+FEFF
    const auto three = text.substr(0, 3);
    for (const auto& [first, last] : ranges) {
        if (three.size() == 3 && three >= first && three <= last) return 3;
    }
    return 0;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const auto length = length_of_unprintable(text);
        out += length > 0 ? ' ' : text.front();
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

bool is_printable(std::string_view text) { return printable(text) == text; }

std::string or_none(std::string text) { return text.empty() ? std::string(none) : text; }

}  // namespace esi::kubectl::shown
