// Chance, the same on every machine: the standard fixes the numbers of mt19937_64 but not those of
// its distributions, so the distributions are here. Each actor has a source of its own, so that one
// more question of one does not change the answers of the others.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace esi::simulation {

class random_source {
public:
    explicit random_source(std::uint64_t seed) : seed_(seed), engine_(seed) {}

    /// A source of its own for `name`; depends on the seed and the name only, not on what was asked
    /// before.
    random_source fork(std::string_view name) const;

    /// Uniform in [0, bound); 0 when bound is 0.
    std::uint64_t below(std::uint64_t bound);
    /// Uniform in [least, most].
    int between(int least, int most);
    steady_time::duration between(steady_time::duration least, steady_time::duration most);
    /// True with probability `permille` / 1000.
    bool chance(int permille);

    template <class T>
    const T& one_of(const std::vector<T>& of) {
        return of[below(of.size())];
    }

private:
    std::uint64_t seed_;
    std::mt19937_64 engine_;
};

}  // namespace esi::simulation
