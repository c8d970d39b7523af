#include "base/random.h"

#include "base/hash.h"

namespace esi::simulation {

random_source random_source::fork(std::string_view name) const {
    return random_source(fnv1a(name, fnv1a_basis ^ seed_));
}

std::uint64_t random_source::below(std::uint64_t bound) {
    return bound == 0 ? 0 : engine_() % bound;
}

int random_source::between(int least, int most) {
    if (most <= least) return least;
    return least + static_cast<int>(below(static_cast<std::uint64_t>(most - least) + 1));
}

steady_time::duration random_source::between(steady_time::duration least,
                                             steady_time::duration most) {
    if (most <= least) return least;
    return least + steady_time::duration(static_cast<steady_time::duration::rep>(
                       below(static_cast<std::uint64_t>((most - least).count()) + 1)));
}

bool random_source::chance(int permille) {
    return below(1000) < static_cast<std::uint64_t>(permille);
}

}  // namespace esi::simulation
