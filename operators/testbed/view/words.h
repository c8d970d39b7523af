// Texts for people that more than one file of this folder uses.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace esi::testbed {

/// "1 slot", "2 slots".
inline std::string count_of(std::int64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Why a ghost is removed that has the name of one and no longer is one.
inline constexpr std::string_view damage_words =
    "its labels, its annotations or its owner were taken away by hand";

}  // namespace esi::testbed
