// How often a benchmark has allocated, and how many bytes it holds (base/counting_new.h); not a
// part of any operator.
#pragma once

#include <cstdint>

namespace esi {

/// Calls of operator new since the start of the program.
std::uint64_t allocations_so_far();

/// Bytes that operator new has returned and delete has not freed, as rounded up by the allocator
/// and with its own word for each.
std::int64_t bytes_held();
/// The maximum at any moment since the start, or since it was reset.
std::int64_t most_bytes_held();
void forget_most_bytes_held();

/// Counts from its construction; per() is what one of `times` repetitions allocated.
class allocation_count {
public:
    double per(std::int64_t times) const {
        return times == 0 ? 0
                          : static_cast<double>(allocations_so_far() - begin_) /
                                static_cast<double>(times);
    }

private:
    std::uint64_t begin_ = allocations_so_far();
};

}  // namespace esi
