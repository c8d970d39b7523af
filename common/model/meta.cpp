#include "model/meta.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/text.h"

namespace esi::model {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads exactly `count` digits at `at` and moves behind them; nothing when there are fewer.
std::optional<int> digits(std::string_view text, std::size_t& at, std::size_t count) {
    if (text.size() - at < count) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const char c = text[at + i];
        if (!is_digit(c)) return std::nullopt;
        value = value * 10 + (c - '0');
    }
    at += count;
    return value;
}

bool literal(std::string_view text, std::size_t& at, char wanted) {
    if (at >= text.size() || text[at] != wanted) return false;
    ++at;
    return true;
}

/// "Z", "+02:00", "-07:30" as minutes east of Greenwich.
std::optional<int> offset_minutes(std::string_view text, std::size_t& at) {
    if (literal(text, at, 'Z') || literal(text, at, 'z')) return 0;
    if (at >= text.size() || (text[at] != '+' && text[at] != '-')) return std::nullopt;
    const int sign = text[at++] == '-' ? -1 : 1;
    const auto hours = digits(text, at, 2);
    if (!hours || !literal(text, at, ':')) return std::nullopt;
    const auto minutes = digits(text, at, 2);
    if (!minutes) return std::nullopt;
    return sign * (*hours * 60 + *minutes);
}

/// ".149160123" -> microseconds, cut. No fraction is zero. The API server's format date-time takes
/// any one character for the point; an object with such a time in its status must stay readable.
std::optional<std::int64_t> fraction(std::string_view text, std::size_t& at) {
    auto ahead = at;
    if (offset_minutes(text, ahead) && ahead == text.size()) return 0;
    if (at >= text.size()) return 0;
    do {
        ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
    std::int64_t micros = 0;
    std::size_t count = 0;
    for (; at < text.size() && is_digit(text[at]); ++at, ++count) {
        if (count < 6) micros = micros * 10 + (text[at] - '0');
    }
    if (count == 0) return std::nullopt;
    for (std::size_t i = count; i < 6; ++i) micros *= 10;
    return micros;
}

struct parts {
    std::chrono::sys_days day;
    std::chrono::seconds in_day;
    std::int64_t micros;
};

/// "2026-11-21T09:34:07" with an optional fraction.
std::optional<parts> date_and_time(std::string_view text, std::size_t& at) {
    const auto year = digits(text, at, 4);
    if (!year || !literal(text, at, '-')) return std::nullopt;
    const auto month = digits(text, at, 2);
    if (!month || !literal(text, at, '-')) return std::nullopt;
    const auto day = digits(text, at, 2);
    if (!day || !(literal(text, at, 'T') || literal(text, at, 't'))) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    const auto hour = digits(text, at, 2);
    if (!hour || *hour > 23 || !literal(text, at, ':')) return std::nullopt;
    const auto minute = digits(text, at, 2);
    if (!minute || *minute > 59 || !literal(text, at, ':')) return std::nullopt;
    const auto second = digits(text, at, 2);
    if (!second || *second > 59) return std::nullopt;
    const auto micros = fraction(text, at);
    if (!micros) return std::nullopt;
    return parts{std::chrono::sys_days(date),
                 std::chrono::seconds(*hour * 3600 + *minute * 60 + *second), *micros};
}

std::string show(wall_time value, bool with_micros) {
    const auto day = std::chrono::floor<std::chrono::days>(value);
    const std::chrono::year_month_day date(day);
    const auto rest = (value - day).count();
    const auto in_day = rest / 1'000'000;
    auto text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                            static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                            in_day / 3600, in_day / 60 % 60, in_day % 60);
    if (with_micros) text += fmt::format(".{:06}", rest % 1'000'000);
    return text + "Z";
}

std::string_view value_of(const string_map& map, std::string_view key) {
    const auto found = map.find(key);
    return found == map.end() ? std::string_view() : std::string_view(found->second);
}

bool is_version(std::string_view text) {
    return !text.empty() && text.front() != '0' && std::ranges::all_of(text, is_digit);
}

}  // namespace

result<timestamp> timestamp::parse(std::string_view text) {
    std::size_t at = 0;
    const auto when = date_and_time(text, at);
    const auto offset = when ? offset_minutes(text, at) : std::nullopt;
    if (!offset || at != text.size()) {
        return fail(errc::decode,
                    "\"" + cut(text, 40) + "\" is not a time like 2026-11-21T09:34:07Z");
    }
    using namespace std::chrono;
    constexpr wall_time first = sys_days(year(0) / January / 1);
    constexpr wall_time last = sys_days(year(10000) / January / 1) - microseconds(1);
    const auto value =
        wall_time(when->day) + when->in_day + microseconds(when->micros) - minutes(*offset);
    return timestamp{std::clamp(value, first, last)};
}

std::string timestamp::micro() const { return show(value, true); }

std::string timestamp::whole_seconds() const { return show(value, false); }

std::string object_key::text() const { return namespace_.empty() ? name : namespace_ + "/" + name; }

object_key object_key::from_text(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return {"", std::string(text)};
    return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

std::string_view object_meta::label(std::string_view key) const { return value_of(labels, key); }

std::string_view object_meta::annotation(std::string_view key) const {
    return value_of(annotations, key);
}

const owner_reference* object_meta::controller_owner() const {
    const auto found = std::ranges::find_if(owner_references, &owner_reference::controller);
    return found == owner_references.end() ? nullptr : &*found;
}

bool object_meta::has_finalizer(std::string_view wanted) const {
    return std::ranges::find(finalizers, wanted) != finalizers.end();
}

void set_condition(std::vector<condition>& list, std::string_view type, std::string_view status,
                   std::string_view reason, std::string_view message, std::int64_t generation,
                   wall_time now) {
    // A condition without a type has no owner (a status edited by hand, or of the Java original):
    // if it were kept, the API server would refuse every later write of the status.
    std::erase_if(list, [](const condition& each) { return each.type.empty(); });
    auto found = std::ranges::find(list, type, &condition::type);
    if (found == list.end()) {
        list.emplace_back().type = type;
        found = std::prev(list.end());
    }
    if (found->status != status || !found->last_transition_time) {
        found->status = status;
        found->last_transition_time = timestamp{std::chrono::floor<std::chrono::seconds>(now)};
    }
    found->observed_generation = generation;
    // The API server refuses a condition without reason; the write of a status must not fail for
    // it.
    found->reason = reason.empty() ? std::string_view("Unspecified") : reason;
    found->message = cut(message);
}

void remove_condition(std::vector<condition>& list, std::string_view type) {
    std::erase_if(list, [&](const condition& each) { return each.type == type; });
}

const condition* find_condition(const std::vector<condition>& list, std::string_view type) {
    const auto found = std::ranges::find(list, type, &condition::type);
    return found == list.end() ? nullptr : &*found;
}

bool may_exist(const object_key& key) {
    auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    auto good = [&](const std::string& text) {
        return !text.empty() && text.size() <= 253 && alnum(text.front()) && alnum(text.back()) &&
               std::ranges::all_of(text, [&](char c) { return alnum(c) || c == '-' || c == '.'; });
    };
    return good(key.name) && good(key.namespace_);
}

bool older(const object_meta& a, const object_meta& b) {
    if (a.creation_timestamp != b.creation_timestamp) {
        if (!a.creation_timestamp || !b.creation_timestamp) return a.creation_timestamp.has_value();
        return *a.creation_timestamp < *b.creation_timestamp;
    }
    return a.uid < b.uid;
}

bool version_at_least(std::string_view have, std::string_view want) {
    if (!is_version(have) || !is_version(want)) return false;
    if (have.size() != want.size()) return have.size() > want.size();
    return have >= want;
}

}  // namespace esi::model
