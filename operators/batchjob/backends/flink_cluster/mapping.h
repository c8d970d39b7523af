// Maps a flinkSpec and slots to a FlinkCluster (flinkoperator.k8s.io/v1beta1). Pure. The flinkSpec
// is that kind's own job section: it is passed on as it is; the keys that ESI adds to it (image,
// flinkVersion, taskSlots, flinkConfiguration) go where this kind has them.
#pragma once

#include "batchjob/backends/backend.h"
#include "batchjob/backends/flink/configuration.h"
#include "batchjob/backends/flink/defaults.h"

namespace esi::batchjob::flink_cluster {

inline constexpr kube::resource_type resource{"flinkoperator.k8s.io", "v1beta1", "flinkclusters",
                                              "FlinkCluster"};

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options,
                                       const flink::defaults& otherwise, flink::size_from size);

}  // namespace esi::batchjob::flink_cluster
