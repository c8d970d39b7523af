#include "model/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace esi::model {

namespace {

__extension__ using wide = unsigned __int128;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
/// As many digits as an int64 has: more cannot change the rounded result, only whether it is exact
/// (but for some thousandths of a byte above 8Pi).
constexpr int kept_digits = 19;
constexpr int exponent_limit = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// mantissa * 2^binary * 10^decimal; `inexact` when digits were dropped.
struct number {
    std::uint64_t mantissa = 0;
    int decimal = 0;
    int binary = 0;
    bool inexact = false;
};

/// "1.75" at the start of `text`, which is moved behind it.
std::optional<number> take_digits(std::string_view& text) {
    number out;
    bool any = false;
    bool fraction = false;
    int kept = 0;
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(c)) break;
        any = true;
        if (kept < kept_digits) {
            out.mantissa = out.mantissa * 10 + static_cast<std::uint64_t>(c - '0');
            if (out.mantissa != 0) ++kept;
            if (fraction) out.decimal = std::max(out.decimal - 1, -exponent_limit);
        } else {
            out.inexact = out.inexact || c != '0';
            if (!fraction) out.decimal = std::min(out.decimal + 1, exponent_limit);
        }
    }
    text.remove_prefix(at);
    if (!any) return std::nullopt;
    return out;
}

/// Adds the power of a suffix to `value`; false if there is no such suffix.
bool apply_suffix(std::string_view suffix, number& value) {
    struct entry {
        std::string_view text;
        int decimal;
        int binary;
    };
    static constexpr std::array<entry, 16> known{{{"", 0, 0},
                                                  {"n", -9, 0},
                                                  {"u", -6, 0},
                                                  {"m", -3, 0},
                                                  {"k", 3, 0},
                                                  {"M", 6, 0},
                                                  {"G", 9, 0},
                                                  {"T", 12, 0},
                                                  {"P", 15, 0},
                                                  {"E", 18, 0},
                                                  {"Ki", 0, 10},
                                                  {"Mi", 0, 20},
                                                  {"Gi", 0, 30},
                                                  {"Ti", 0, 40},
                                                  {"Pi", 0, 50},
                                                  {"Ei", 0, 60}}};
    const auto found = std::ranges::find(known, suffix, &entry::text);
    if (found != known.end()) {
        value.decimal += found->decimal;
        value.binary = found->binary;
        return true;
    }
    if (suffix.size() < 2 || (suffix.front() != 'e' && suffix.front() != 'E')) return false;
    suffix.remove_prefix(1);
    const bool negative = suffix.front() == '-';
    if (negative || suffix.front() == '+') suffix.remove_prefix(1);
    if (suffix.empty() || !std::ranges::all_of(suffix, is_digit)) return false;
    int exponent = 0;
    for (char c : suffix) exponent = std::min(exponent * 10 + (c - '0'), exponent_limit);
    value.decimal += negative ? -exponent : exponent;
    return true;
}

/// In thousandths, rounded away from zero, saturated.
std::int64_t to_milli(const number& value) {
    wide scaled = static_cast<wide>(value.mantissa) << value.binary;
    bool inexact = value.inexact;
    int exponent = value.decimal + 3;
    for (; exponent < 0 && scaled != 0; ++exponent) {
        inexact = inexact || scaled % 10 != 0;
        scaled /= 10;
    }
    for (; exponent > 0 && scaled != 0 && scaled <= static_cast<wide>(most); --exponent) {
        scaled *= 10;
    }
    if (inexact) ++scaled;
    return scaled > static_cast<wide>(most) ? most : static_cast<std::int64_t>(scaled);
}

/// "1.75" for 1750/1000, without trailing zeros.
std::string decimal_text(std::int64_t whole, std::int64_t thousandths) {
    if (thousandths == 0) return fmt::format("{}", whole);
    auto text = fmt::format("{}.{:03}", whole, thousandths);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

bool counts_bytes(std::string_view resource) {
    return resource == "memory" || resource.ends_with("storage") ||
           resource.starts_with("hugepages-");
}

/// The shortest exact text of a positive number of bytes; the binary one if both have the same
/// length.
std::string show_bytes(std::int64_t bytes) {
    struct unit {
        std::string_view suffix;
        std::int64_t size;
    };
    static constexpr std::array<unit, 10> units{{{"Pi", 1LL << 50},
                                                 {"Ti", 1LL << 40},
                                                 {"Gi", 1LL << 30},
                                                 {"Mi", 1LL << 20},
                                                 {"Ki", 1LL << 10},
                                                 {"P", 1'000'000'000'000'000LL},
                                                 {"T", 1'000'000'000'000LL},
                                                 {"G", 1'000'000'000LL},
                                                 {"M", 1'000'000LL},
                                                 {"k", 1'000LL}}};
    auto best = fmt::format("{}", bytes);
    bool plain = true;
    for (const auto& [suffix, size] : units) {
        const auto part = static_cast<wide>(bytes % size) * 1000;
        if (bytes < size || part % static_cast<wide>(size) != 0) continue;
        auto text =
            decimal_text(bytes / size, static_cast<std::int64_t>(part / static_cast<wide>(size)));
        text += suffix;
        if (text.size() < best.size() || (plain && text.size() == best.size())) {
            best = std::move(text);
            plain = false;
        }
    }
    return best;
}

}  // namespace

result<quantity> quantity::parse(std::string_view text) {
    auto rest = text;
    const bool negative = rest.starts_with('-');
    if (negative || rest.starts_with('+')) rest.remove_prefix(1);
    auto value = take_digits(rest);
    if (!value || !apply_suffix(rest, *value)) {
        return fail(errc::decode, "\"" + std::string(text.substr(0, 64)) +
                                      "\" is not a quantity like 600m, 2 or 1.75Gi");
    }
    const auto milli = to_milli(*value);
    return quantity{std::string(text), negative ? -milli : milli};
}

std::int64_t quantity::units() const {
    const auto rest = milli % 1000;
    const auto whole = milli / 1000;
    if (rest == 0) return whole;
    return rest > 0 ? whole + 1 : whole - 1;
}

amounts to_amounts(const resource_list& list) {
    amounts out;
    for (const auto& [name, value] : list) out.emplace(name, value.milli);
    return out;
}

void add(amounts& to, const amounts& what) {
    for (const auto& [name, milli] : what) {
        auto& sum = to[name];
        sum = plus(sum, milli);
    }
}

void take(amounts& from, const amounts& what) {
    for (const auto& [name, milli] : what) {
        auto& left = from[name];
        left = plus(left, milli == -most - 1 ? most : -milli);
    }
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return a > 0 ? most : -most;
}

std::int64_t times(std::int64_t amount, int count) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(amount, static_cast<std::int64_t>(count), &product)) return product;
    return amount > 0 ? most : -most;
}

void raise(amounts& to, const amounts& what) {
    for (const auto& [name, milli] : what) {
        auto [at, added] = to.try_emplace(name, milli);
        if (!added) at->second = std::max(at->second, milli);
    }
}

std::string show(std::string_view resource, std::int64_t milli) {
    if (milli < 0) return "-" + show(resource, milli == -most - 1 ? most : -milli);
    if (milli % 1000 != 0) return fmt::format("{}m", milli);
    return counts_bytes(resource) ? show_bytes(milli / 1000) : fmt::format("{}", milli / 1000);
}

}  // namespace esi::model
