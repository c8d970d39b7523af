// Times (RFC 3339) and the durations of flags. Oracles: days counted by hand, what is written reads
// as the same, and a duration is a whole number with s, m or no unit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "controller/process.h"
#include "model/meta.h"
#include "target.h"

namespace esi::fuzz {
namespace {

/// Days since 1970-01-01 (proleptic Gregorian), by counting the years.
std::int64_t days_of(int year, int month, int day) {
    const auto leap = [](int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; };
    std::int64_t days = 0;
    for (int y = 1970; y < year; ++y) days += leap(y) ? 366 : 365;
    for (int y = year; y < 1970; ++y) days -= leap(y) ? 366 : 365;
    static constexpr int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return days + before[month - 1] + (month > 2 && leap(year) ? 1 : 0) + day - 1;
}

/// 0 stands for a digit, T and Z for themselves in either case, - and : for themselves.
bool has_form(std::string_view text, std::string_view form) {
    return std::ranges::equal(text, form, [](char c, char wanted) {
        if (wanted == '0') return c >= '0' && c <= '9';
        return c == wanted || (wanted >= 'A' && (c | 0x20) == (wanted | 0x20));
    });
}
int number(std::string_view text, std::size_t at, std::size_t count) {
    return std::stoi(std::string(text.substr(at, count)));
}

/// Microseconds since 1970 of the plain form, whose fraction has a point; nothing for any other.
std::optional<std::int64_t> plain(std::string_view text) {
    if (!has_form(text.substr(0, 19), "0000-00-00T00:00:00")) return std::nullopt;
    const int year = number(text, 0, 4), month = number(text, 5, 2), day = number(text, 8, 2);
    const int hour = number(text, 11, 2), minute = number(text, 14, 2);
    const int second = number(text, 17, 2);
    static constexpr int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1]) return std::nullopt;
    if (month == 2 && day == 29 && days_of(year, 3, 1) - days_of(year, 2, 1) == 28) {
        return std::nullopt;
    }
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
    auto rest = text.substr(19);
    std::string fraction;
    if (rest.starts_with('.')) {
        const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
        if (end == 1) return std::nullopt;
        fraction = rest.substr(1, end - 1);
        rest.remove_prefix(end);
    }
    fraction.resize(6, '0');
    std::int64_t out = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    if (has_form(rest, "-00:00") || (rest.starts_with('+') && has_form(rest.substr(1), "00:00"))) {
        const int offset = number(rest, 1, 2) * 60 + number(rest, 4, 2);
        out -= (rest.front() == '-' ? -60 : 60) * offset;
    } else if (!has_form(rest, "Z")) {
        return std::nullopt;
    }
    return out * 1'000'000 + std::stoi(fraction);
}

void times(std::string_view text) {
    const auto got = model::timestamp::parse(text);
    const auto expected = plain(text);
    require(got || !expected, "\"{}\" is refused", text);
    if (!got) return;
    const auto count = got->value.time_since_epoch().count();
    // What lies outside of the years 0 to 9999 cannot be written any more: the nearest that can.
    const auto first = days_of(0, 1, 1) * 86'400'000'000;
    const auto last = days_of(10000, 1, 1) * 86'400'000'000 - 1;
    if (expected) {
        require(count == std::clamp(*expected, first, last), "\"{}\" is {}, not {}", text,
                *expected, count);
    }
    const auto micro = model::timestamp::parse(got->micro());
    require(micro && *micro == *got, "\"{}\" is written as {}", text, got->micro());
    const auto whole = model::timestamp::parse(got->whole_seconds());
    require(whole && whole->value == std::chrono::floor<seconds>(got->value), "\"{}\" is {}", text,
            got->whole_seconds());
    require(plain(got->micro()) == count, "{} is not RFC 3339", got->micro());
}

/// The flag's value as its help says: digits, then s or m or nothing.
std::optional<std::int64_t> duration(std::string_view text) {
    const bool minutes = text.ends_with('m');
    if (minutes || text.ends_with('s')) text.remove_suffix(1);
    if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
    const auto count = std::stoll(std::string(text));
    if (count > INT32_MAX) return std::nullopt;
    return count * (minutes ? 60 : 1);
}

void durations(std::string_view text) {
    controller::process_options options;
    CLI::App app;
    options.add_to(app, 0);
    bool taken = true;
    try {
        app.parse(std::vector<std::string>{"--leader-elect-lease-duration=" + std::string(text)});
    } catch (const CLI::ParseError&) {
        taken = false;
    }
    const auto expected = duration(text);
    require(taken == expected.has_value(), "\"{}\" is {}", text, taken ? "taken" : "refused");
    if (taken) {
        require(options.lease_duration.count() == *expected, "\"{}\" is {} s", text,
                options.lease_duration.count());
    }
}

void times_and_durations(std::string_view text) {
    times(text);
    // The flags are slow to set up, and most inputs are no times at all.
    if (text.size() < 16 && !text.empty() && text.find('\0') == std::string_view::npos) {
        durations(text);
    }
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(times, esi::fuzz::times_and_durations)
