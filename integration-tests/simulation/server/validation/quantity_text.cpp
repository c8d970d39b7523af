#include "server/validation/quantity_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/quantity.h"

namespace esi::simulation {

namespace {

__extension__ using wide = unsigned __int128;

constexpr std::array<std::string_view, 10> decimal_suffixes{"n", "u", "m", "",  "k",
                                                            "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 6> binary_suffixes{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr int lowest_exponent = -9;
constexpr int highest_exponent = 18;

std::string digits_of(wide number) {
    std::string out;
    do {
        out += static_cast<char>('0' + static_cast<int>(number % 10));
        number /= 10;
    } while (number != 0);
    std::ranges::reverse(out);
    return out;
}

/// mantissa * 10^exponent with the largest suffix that needs no fraction.
std::string decimal_text(wide mantissa, int exponent, bool with_exponent) {
    if (mantissa == 0) return "0";
    while (mantissa % 10 == 0) {
        mantissa /= 10;
        ++exponent;
    }
    while (exponent < lowest_exponent) {
        mantissa = (mantissa + 9) / 10;
        ++exponent;
    }
    while (exponent % 3 != 0 || exponent > highest_exponent) {
        mantissa *= 10;
        --exponent;
    }
    auto out = digits_of(mantissa);
    if (with_exponent) return exponent == 0 ? out : out + "e" + std::to_string(exponent);
    out += decimal_suffixes[static_cast<std::size_t>((exponent - lowest_exponent) / 3)];
    return out;
}

}  // namespace

std::optional<std::string> canonical_quantity(std::string_view text) {
    if (!model::quantity::parse(text)) return std::nullopt;
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    wide mantissa = 0;
    int exponent = 0;
    bool fraction = false;
    std::size_t at = 0;
    for (int taken = 0; at < text.size(); ++at) {
        if (text[at] == '.') {
            fraction = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9') break;
        // More digits than any quantity has: cut, as the server rounds.
        if (taken >= 24) continue;
        mantissa = mantissa * 10 + static_cast<unsigned>(text[at] - '0');
        if (mantissa != 0) ++taken;
        if (fraction) --exponent;
    }
    const auto suffix = text.substr(at);
    const std::string sign = negative && mantissa != 0 ? "-" : "";
    if (const auto binary = std::ranges::find(binary_suffixes, suffix);
        binary != binary_suffixes.end()) {
        mantissa <<= 10 * (binary - binary_suffixes.begin() + 1);
        while (exponent < 0 && mantissa % 10 == 0) {
            mantissa /= 10;
            ++exponent;
        }
        if (exponent < 0 || mantissa < 1024) return sign + decimal_text(mantissa, exponent, false);
        std::size_t power = 0;
        while (power < binary_suffixes.size() && mantissa % 1024 == 0) {
            mantissa /= 1024;
            ++power;
        }
        return sign + digits_of(mantissa) +
               std::string(power == 0 ? "" : binary_suffixes[power - 1]);
    }
    if (const auto decimal = std::ranges::find(decimal_suffixes, suffix);
        decimal != decimal_suffixes.end()) {
        exponent += static_cast<int>(decimal - decimal_suffixes.begin()) * 3 + lowest_exponent;
        return sign + decimal_text(mantissa, exponent, false);
    }
    int more = 0;
    auto number = suffix.substr(1);
    if (number.starts_with('+')) number.remove_prefix(1);
    std::from_chars(number.data(), number.data() + number.size(), more);
    return sign + decimal_text(mantissa, exponent + more, true);
}

void canonicalize_quantities(nlohmann::json& resources) {
    if (!resources.is_object()) return;
    for (auto& each : resources) {
        auto canonical =
            canonical_quantity(each.is_string() ? each.get<std::string>() : each.dump());
        if (canonical) each = std::move(*canonical);
    }
}

}  // namespace esi::simulation
