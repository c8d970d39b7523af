#include "kubectl-esi/shown/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/text.h"

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
    // The times may come from two clocks, or be rounded to whole seconds: never below 0.
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

std::string printable(std::string_view text) { return model::printable(text); }

bool is_printable(std::string_view text) { return printable(text) == text; }

std::string or_none(std::string text) { return text.empty() ? std::string(none) : text; }

}  // namespace esi::kubectl::shown
