// The least memory of a TaskManager and of a JobManager. Pure.
#pragma once

#include <cstdint>

namespace esi::batchjob::flink {

/// Below it Flink's own defaults leave a TaskManager no heap for tasks, and it ends at its start:
/// 256 MiB of the process are metaspace and at least 192 MiB JVM overhead; of the rest 40 % are
/// managed memory, at least 64 MiB network, 128 MiB framework heap and 128 MiB framework off-heap.
/// 0.6 x (slot - 448) >= 320 holds from 982 MiB on. Source: Flink documentation, "Set up
/// TaskManager Memory", the defaults of taskmanager.memory.*.
inline constexpr std::int64_t least_slot_mib = 982;

/// Below it Flink's own defaults leave a JobManager less than the required 128 MiB of heap: 256 MiB
/// of the process are metaspace, at least 192 MiB JVM overhead, 128 MiB off-heap. Source: "Set up
/// JobManager Memory", the defaults of jobmanager.memory.*.
inline constexpr std::int64_t least_coordinator_mib = 704;

}  // namespace esi::batchjob::flink
