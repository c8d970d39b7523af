// From a flinkSpec and slots to a FlinkDeployment. Pure. The contract is the Flink table of the
// user guide: what the slots decide (number, size, scheduler, priority, place of the TaskManagers)
// is ESI's; the job section of the original's FlinkCluster is understood key by key, and keys
// without a counterpart are named. Everything that describes a pod there describes the JobManager:
// the program's main() runs in it.
#pragma once

#include "batchjob/backends/backend.h"
#include "batchjob/backends/flink/configuration.h"
#include "batchjob/backends/flink/defaults.h"

namespace esi::batchjob::flink {

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options, const defaults& otherwise,
                                       size_from size);

/// jarFile as Flink's operator wants it: "./x.jar" is below /opt/flink, "/x.jar" in the image; what
/// has a scheme stays as it is.
std::string jar_uri(const std::string& file);

}  // namespace esi::batchjob::flink
