// The metrics that Prometheus expects of every process, and its version.
#pragma once

#include "controller/metrics.h"

namespace esi::controller {

/// Brings process_cpu_seconds_total, process_open_fds, process_max_fds, process_start_time_seconds,
/// process_resident_memory_bytes and esi_build_info up to date. Values that /proc does not have are
/// left out.
void show_process(metrics& numbers);

}  // namespace esi::controller
