// Operator new that counts, for benchmarks: what an event allocates does not depend on the machine.
// Included by exactly one source of a benchmark program; the others ask by base/allocations.h.
#pragma once

#include <cstdlib>
#include <new>

#include "base/allocations.h"

namespace esi {

namespace {
std::uint64_t counted = 0;
}

std::uint64_t allocations_so_far() { return counted; }

}  // namespace esi

// Benchmarks have one thread: no atomics.
void* operator new(std::size_t size) {
    ++esi::counted;
    if (void* out = std::malloc(size == 0 ? 1 : size)) return out;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    ++esi::counted;
    const auto unit = static_cast<std::size_t>(alignment);
    if (void* out = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return out;
    throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, std::size_t) noexcept { std::free(at); }
void operator delete(void* at, std::align_val_t) noexcept { std::free(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { std::free(at); }
