#include "interface/v1/wire/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "interface/v1/wire/problems.h"
#include "model/text.h"

namespace esi::interface::v1 {

namespace {

using std::chrono::milliseconds;

/// A resourceVersion is a number of 63 bits.
constexpr std::size_t longest_version = 19;
constexpr milliseconds longest_duration = std::chrono::hours(24);

struct unit {
    std::string_view name;
    milliseconds length;
};
/// The largest unit first; "ms" before "m" and "s", which are its first and last letter.
constexpr unit units[] = {{"h", std::chrono::hours(1)},
                          {"m", std::chrono::minutes(1)},
                          {"s", std::chrono::seconds(1)},
                          {"ms", milliseconds(1)}};

std::string shown(std::string_view text) { return model::cut(std::string(text), 100); }

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text) {
    if (text.empty() || text.size() > 20 || (text.size() > 1 && text.front() == '0')) {
        return std::nullopt;
    }
    std::uint64_t out = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, out);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return out;
}

std::optional<milliseconds> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    milliseconds out{0};
    milliseconds before = longest_duration + milliseconds(1);
    while (!text.empty()) {
        const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
        const auto count = parse_number(text.substr(0, digits));
        if (!count || *count > 100'000'000) return std::nullopt;
        text.remove_prefix(digits);
        const auto letters =
            text.substr(0, std::min(text.find_first_of("0123456789"), text.size()));
        const auto* const found = std::ranges::find(units, letters, &unit::name);
        if (found == std::end(units) || found->length >= before) return std::nullopt;
        before = found->length;
        out += found->length * static_cast<std::int64_t>(*count);
        text.remove_prefix(letters.size());
    }
    return out > longest_duration ? std::nullopt : std::optional(out);
}

std::optional<std::string> parameters::text(std::string_view name) {
    known_.emplace(name);
    std::optional<std::string> out;
    for (const auto& [key, value] : from_.query) {
        if (key != name) continue;
        if (out) {
            fault(name, std::string(problem_code::parameter_twice),
                  fmt::format("{} is given more than once", name));
            return out;
        }
        out = value;
    }
    return out;
}

std::optional<int> parameters::number(std::string_view name, int least, int most) {
    const auto given = text(name);
    if (!given) return std::nullopt;
    const auto read = parse_number(*given);
    if (!read || *read < static_cast<std::uint64_t>(least) ||
        *read > static_cast<std::uint64_t>(most)) {
        fault(name, std::string(problem_code::parameter_value),
              fmt::format("{} is a whole number from {} to {}, not {}", name, least, most,
                          shown(*given)));
        return std::nullopt;
    }
    return static_cast<int>(*read);
}

std::optional<std::uint64_t> parameters::version(std::string_view name) {
    const auto given = text(name);
    if (!given) return std::nullopt;
    const auto read = given->size() <= longest_version ? parse_number(*given) : std::nullopt;
    if (!read) {
        fault(name, std::string(problem_code::parameter_value),
              fmt::format("{} is a resourceVersion as the header X-ESI-Index has it, not {}", name,
                          shown(*given)));
    }
    return read;
}

bool parameters::flag(std::string_view name) {
    const auto given = text(name);
    if (!given || *given == "false") return false;
    if (*given != "true") {
        fault(name, std::string(problem_code::parameter_value),
              fmt::format("{} is true or false", name));
    }
    return true;
}

std::optional<milliseconds> parameters::duration(std::string_view name) {
    const auto given = text(name);
    if (!given) return std::nullopt;
    const auto read = parse_duration(*given);
    if (!read) {
        fault(name, std::string(problem_code::parameter_value),
              fmt::format("{} is a time such as 60s, 1m30s or 500ms, to 24h, not {}", name,
                          shown(*given)));
    }
    return read;
}

std::set<std::string, std::less<>> parameters::words(std::string_view name) {
    std::set<std::string, std::less<>> out;
    const auto given = text(name);
    if (!given) return out;
    std::string_view rest = *given;
    for (;;) {
        const auto end = std::min(rest.find(','), rest.size());
        const auto word = rest.substr(0, end);
        if (word.empty()) {
            fault(name, std::string(problem_code::parameter_value),
                  fmt::format("{} is a list of words with commas between them", name));
            return out;
        }
        out.emplace(word);
        if (end == rest.size()) return out;
        rest.remove_prefix(end + 1);
    }
}

void parameters::fault(std::string_view name, std::string code, std::string detail) {
    faults_.push_back({"?" + std::string(name), std::move(code), std::move(detail)});
}

std::vector<http::problem_fault> parameters::take_faults() {
    std::set<std::string_view> told;
    for (const auto& [key, unused] : from_.query) {
        if (known_.contains(key) || !told.insert(key).second) continue;
        fault(shown(key), std::string(problem_code::parameter_unknown),
              fmt::format("{} is not a parameter of this operation{}", shown(key),
                          known_.empty() ? ", which has none"
                                         : fmt::format("; it has {}", fmt::join(known_, ", "))));
    }
    return std::exchange(faults_, {});
}

http::problem_details bad_parameters(std::vector<http::problem_fault> faults) {
    return with_faults(400, std::move(faults));
}

}  // namespace esi::interface::v1
