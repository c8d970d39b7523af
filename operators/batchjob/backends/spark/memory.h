// Divides the memory of a slot into heap and overhead of an executor or a driver. Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "batchjob/backends/backend.h"

namespace esi::batchjob::spark {

/// Spark's own floors: BasicDriverFeatureStep/KubernetesConf MEMORY_OVERHEAD_MIN_MIB, and 1.5 times
/// the 300 MiB that UnifiedMemoryManager reserves.
inline constexpr std::int64_t least_overhead_mib = 384;
inline constexpr std::int64_t least_heap_mib = 450;
inline constexpr std::int64_t least_slot_mib = least_overhead_mib + least_heap_mib;

struct memory_split {
    std::int64_t heap_mib = 0;
    std::int64_t overhead_mib = 0;
    bool operator==(const memory_split&) const = default;
};

/// Overhead in thousandths of the heap, of a program in the JVM, and outside of it (Python and R).
inline constexpr std::int64_t overhead_in_jvm = 100;
inline constexpr std::int64_t overhead_outside_jvm = 400;

/// heap + overhead = `bytes` rounded down to MiB; overhead is so many thousandths of the heap, at
/// least 384 MiB. Refused below 834 MiB. Spark has the same rule for both kinds of pod; `pod` is
/// the usual name of this one.
std::expected<memory_split, spec_problem> split_memory(std::int64_t bytes, std::int64_t thousandths,
                                                       std::string_view pod = "executor");

/// The same for the memory of a slot, which must also have cpu.
std::expected<memory_split, spec_problem> split_slot(const model::resource_list& slot,
                                                     std::int64_t thousandths,
                                                     std::string_view pod = "executor");

}  // namespace esi::batchjob::spark
