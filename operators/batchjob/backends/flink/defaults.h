// Defaults of a flinkSpec; flags of the operator (backends/flink_kind.h).
#pragma once

#include <string>

namespace esi::batchjob::flink {

struct defaults {
    std::string image = "flink:1.19";
    std::string version = "v1_19";
    /// Kubernetes quantities.
    std::string job_manager_cpu = "500m";
    std::string job_manager_memory = "1600Mi";
};

}  // namespace esi::batchjob::flink
