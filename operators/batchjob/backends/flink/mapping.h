// Maps a flinkSpec and slots to a FlinkDeployment. Pure. The contract is the Flink table of the
// user guide: ESI sets what the slots decide (number, size, scheduler, priority, place of the
// TaskManagers); the job section of the original's FlinkCluster is read key by key, and keys
// without a counterpart are named. Its keys that describe a pod describe the JobManager, as the
// program's main() runs in it.
#pragma once

#include "batchjob/backends/backend.h"
#include "batchjob/backends/flink/configuration.h"
#include "batchjob/backends/flink/defaults.h"

namespace esi::batchjob::flink {

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options, const defaults& otherwise,
                                       size_from size);

/// jarFile in the form that Flink's operator needs: "./x.jar" is below /opt/flink, "/x.jar" in the
/// image; a path with a scheme stays as it is.
std::string jar_uri(const std::string& file);

}  // namespace esi::batchjob::flink
