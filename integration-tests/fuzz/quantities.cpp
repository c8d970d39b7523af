// Quantities of Kubernetes. Oracles: a second reading with long arithmetic on digits, the order of
// two of them, and that what is shown reads as the same amount. Input: two texts, one a line.
#include <algorithm>
#include <compare>
#include <optional>

#include "model/quantity.h"
#include "target.h"

namespace esi::fuzz {
namespace {

constexpr std::int64_t most = INT64_MAX;

bool all_digits(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Decimal digits times a small number.
std::string times(const std::string& digits, unsigned by) {
    std::string out;
    unsigned carry = 0;
    for (auto at = digits.rbegin(); at != digits.rend(); ++at) {
        carry += static_cast<unsigned>(*at - '0') * by;
        out += static_cast<char>('0' + carry % 10);
        carry /= 10;
    }
    for (; carry != 0; carry /= 10) out += static_cast<char>('0' + carry % 10);
    std::ranges::reverse(out);
    return out;
}

/// Thousandths, by the grammar of k8s.io/apimachinery/pkg/api/resource: exact digits and a power of
/// ten, rounded away from zero at the end. Nothing: not a quantity.
std::optional<std::int64_t> read(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
    auto digits = std::string(text.substr(0, end));
    auto suffix = text.substr(end);
    if (std::ranges::count(digits, '.') > 1) return std::nullopt;
    std::int64_t power = 3;
    if (const auto point = digits.find('.'); point != std::string::npos) {
        power -= static_cast<std::int64_t>(digits.size() - point - 1);
        digits.erase(point, 1);
    }
    if (digits.empty()) return std::nullopt;
    static const std::string decimal = "num kMGTPE";
    static const std::string binary = "KMGTPE";
    if (suffix.size() == 1 && suffix != " " && decimal.find(suffix) != std::string::npos) {
        power += 3 * (static_cast<int>(decimal.find(suffix)) - 3);
    } else if (suffix.size() == 2 && suffix[1] == 'i' &&
               binary.find(suffix[0]) != std::string::npos) {
        for (std::size_t i = 0; i <= binary.find(suffix[0]); ++i) digits = times(digits, 1024);
    } else if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) {
        suffix.remove_prefix(1);
        const bool down = suffix.starts_with('-');
        if (down || suffix.starts_with('+')) suffix.remove_prefix(1);
        if (suffix.empty() || !all_digits(suffix)) return std::nullopt;
        std::int64_t exponent = 0;
        for (char c : suffix) exponent = std::min<std::int64_t>(exponent * 10 + (c - '0'), 100000);
        power += down ? -exponent : exponent;
    } else if (!suffix.empty()) {
        return std::nullopt;
    }
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.empty()) return 0;
    bool rest = false;
    if (power > 0) {
        digits.append(static_cast<std::size_t>(std::min<std::int64_t>(power, 40)), '0');
    } else if (power < 0) {
        const auto cut = std::min(static_cast<std::size_t>(-power), digits.size());
        rest = digits.find_first_not_of('0', digits.size() - cut) != std::string::npos;
        digits.resize(digits.size() - cut);
    }
    if (digits.size() > 19) return negative ? -most : most;
    std::uint64_t value = rest ? 1 : 0;
    std::uint64_t whole = 0;
    for (char c : digits) whole = whole * 10 + static_cast<std::uint64_t>(c - '0');
    value += whole;
    const auto out =
        value > static_cast<std::uint64_t>(most) ? most : static_cast<std::int64_t>(value);
    return negative ? -out : out;
}

std::optional<model::quantity> check_one(std::string_view text) {
    const auto got = model::quantity::parse(text);
    const auto expected = read(text);
    require(got.has_value() == expected.has_value(), "\"{}\" is {}", text,
            got ? "taken" : "refused");
    if (!got) {
        require(got.error().code == errc::decode, "refused as {}", to_string(got.error().code));
        return std::nullopt;
    }
    require(got->text == text, "the text is not kept");
    // Digits behind the 19th count as one more: above 8Pi some thousandths of a byte.
    const bool long_one =
        std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) > 19;
    const auto apart = static_cast<__int128>(got->milli) - *expected;
    require(apart == 0 || (long_one && apart < 10 && apart > -10),
            "\"{}\" is {} thousandths, not {}", text, *expected, got->milli);
    const auto units = got->units();
    const auto whole = got->milli / 1000;
    require(units == whole || (got->milli % 1000 != 0 && std::abs(units) == std::abs(whole) + 1),
            "{} units of {}", units, got->milli);
    require((units == whole) == (got->milli % 1000 == 0), "units are not rounded away from zero");
    for (std::string_view resource : {"cpu", "memory", "pods"}) {
        const auto shown = model::show(resource, got->milli);
        const auto again = model::quantity::parse(shown);
        require(again && again->milli == got->milli, "{} {} is shown as {}", resource, got->milli,
                shown);
        require(model::show(resource, again->milli) == shown, "{} is not stable", shown);
    }
    return *got;
}

/// Ends at the largest number; below zero one further is as good.
bool same(std::int64_t got, __int128 exact) {
    const auto last = static_cast<__int128>(most);
    return got == std::clamp(exact, -last, last) || (got == -most - 1 && exact <= -last - 1);
}

void quantities(std::string_view text) {
    const auto line = std::min(text.find('\n'), text.size());
    const auto a = check_one(text.substr(0, line));
    const auto b = check_one(text.substr(std::min(line + 1, text.size())));
    if (!a || !b) return;
    require((*a <=> *b) == (a->milli <=> b->milli) && (*a == *b) == (a->milli == b->milli),
            "the order is not that of the amounts");
    require(same(model::plus(a->milli, b->milli), static_cast<__int128>(a->milli) + b->milli),
            "{} + {} is {}", a->milli, b->milli, model::plus(a->milli, b->milli));
    model::amounts left{{"x", a->milli}};
    model::take(left, {{"x", b->milli}});
    require(same(left.at("x"), static_cast<__int128>(a->milli) - b->milli), "{} - {} is {}",
            a->milli, b->milli, left.at("x"));
    const int count = static_cast<int>(static_cast<std::uint64_t>(b->milli) % 111);
    require(same(model::times(a->milli, count), static_cast<__int128>(a->milli) * count),
            "{} times {}", a->milli, count);
}

}  // namespace
}  // namespace esi::fuzz

ESI_FUZZ_TARGET(quantities, esi::fuzz::quantities)
