#include "batchjob/backends/spark/memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace esi::batchjob::spark {

std::expected<memory_split, spec_problem> split_memory(std::int64_t bytes, std::int64_t thousandths,
                                                       std::string_view pod) {
    constexpr std::int64_t mib = 1024 * 1024;
    const std::int64_t whole = bytes / mib;
    if (whole < least_slot_mib) {
        return std::unexpected(spec_problem{
            "SlotTooSmall",
            fmt::format("a Spark {} needs a slot of at least {} MiB of memory ({} MiB heap "
                        "and {} MiB overhead); the slot has {} MiB",
                        pod, least_slot_mib, least_heap_mib, least_overhead_mib, whole)});
    }
    // heap x (1 + factor) = whole
    const std::int64_t heap = whole * 1000 / (1000 + thousandths);
    const std::int64_t overhead = std::max(least_overhead_mib, whole - heap);
    return memory_split{whole - overhead, overhead};
}

std::expected<memory_split, spec_problem> split_slot(const model::resource_list& slot,
                                                     std::int64_t thousandths,
                                                     std::string_view pod) {
    const auto memory = slot.find("memory");
    if (memory == slot.end() || !slot.contains("cpu")) {
        return std::unexpected(spec_problem{"SlotTooSmall", "the slots have no cpu or no memory"});
    }
    return split_memory(memory->second.milli / 1000, thousandths, pod);
}

}  // namespace esi::batchjob::spark
