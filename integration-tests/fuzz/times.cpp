// Times (RFC 3339) and the durations of flags. Oracles: days counted by hand, what is written reads
// as the same, and a duration is a whole number with s, m or no unit.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <regex>

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

/// Microseconds since 1970 of the plain form, whose fraction has a point; nothing for any other.
std::optional<std::int64_t> plain(const std::string& text) {
    static const std::regex form(
        R"((\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d)))");
    std::smatch part;
    if (text.size() > 60 || !std::regex_match(text, part, form)) return std::nullopt;
    const auto number = [&](std::size_t i) { return std::stoi(part[i].str()); };
    const int year = number(1), month = number(2), day = number(3);
    static constexpr int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1 || day > days[month - 1]) return std::nullopt;
    if (month == 2 && day == 29 && days_of(year, 3, 1) - days_of(year, 2, 1) == 28) {
        return std::nullopt;
    }
    if (number(4) > 23 || number(5) > 59 || number(6) > 59) return std::nullopt;
    std::int64_t out =
        days_of(year, month, day) * 86400 + number(4) * 3600 + number(5) * 60 + number(6);
    if (part[8].matched) {
        out -= (part[8].str() == "-" ? -60 : 60) * (number(9) * 60 + number(10));
    }
    auto fraction = part[7].str().substr(0, 6);
    fraction.resize(6, '0');
    return out * 1'000'000 + std::stoi(fraction);
}

void times(std::string_view text) {
    const auto got = model::timestamp::parse(text);
    const auto expected = plain(std::string(text));
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
    static const std::regex form(R"((\d{1,18})(s|m|))");
    std::cmatch part;
    if (!std::regex_match(text.data(), text.data() + text.size(), part, form)) return std::nullopt;
    const auto count = std::stoll(part[1].str());
    if (count > INT32_MAX) return std::nullopt;
    return count * (part[2].str() == "m" ? 60 : 1);
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
