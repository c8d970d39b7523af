// Operator new that counts, for benchmarks and tests of memory: the allocations of an event, and
// the size of an object, do not depend on the machine. Included by exactly one source of a program;
// the others read the counts by base/allocations.h.
#pragma once

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/allocations.h"

namespace esi {

namespace {

// Tests may have threads.
std::atomic<std::uint64_t> counted = 0;
std::atomic<std::int64_t> held = 0;
std::atomic<std::int64_t> most = 0;

std::int64_t size_of(void* at) {
    return static_cast<std::int64_t>(malloc_usable_size(at) + sizeof(std::size_t));
}

void* count_in(void* at) {
    if (at == nullptr) throw std::bad_alloc();
    counted.fetch_add(1, std::memory_order_relaxed);
    const auto size = size_of(at);
    const auto now = held.fetch_add(size, std::memory_order_relaxed) + size;
    for (auto known = most.load(); known < now && !most.compare_exchange_weak(known, now);) {
    }
    return at;
}

void give_back(void* at) {
    if (at != nullptr) held.fetch_sub(size_of(at), std::memory_order_relaxed);
    std::free(at);
}

}  // namespace

std::uint64_t allocations_so_far() { return counted; }
std::int64_t bytes_held() { return held; }
std::int64_t most_bytes_held() { return most; }
void forget_most_bytes_held() { most = held.load(); }

}  // namespace esi

void* operator new(std::size_t size) { return esi::count_in(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<std::size_t>(alignment);
    return esi::count_in(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* at) noexcept { esi::give_back(at); }
void operator delete(void* at, std::size_t) noexcept { esi::give_back(at); }
void operator delete(void* at, std::align_val_t) noexcept { esi::give_back(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { esi::give_back(at); }
