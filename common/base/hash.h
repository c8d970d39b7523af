// FNV-1a, 64 bits: a hash that is the same on every machine and in every version, so that it may be
// part of objects and names. Not for secrets, and not safe against chosen input.
// Source: G. Fowler, L. C. Noll, K.-P. Vo, "FNV Hash".
#pragma once

#include <cstdint>
#include <string_view>

namespace esi {

inline constexpr std::uint64_t fnv1a_basis = 0xcbf29ce484222325u;

inline constexpr std::uint64_t fnv1a_prime = 0x100000001b3u;

/// Continues `hash` by the bytes of `text`.
constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = fnv1a_basis) {
    for (const char each : text) {
        hash ^= static_cast<unsigned char>(each);
        hash *= fnv1a_prime;
    }
    return hash;
}

}  // namespace esi
