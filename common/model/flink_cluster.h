// flinkoperator.k8s.io/v1beta1 FlinkCluster (spotify's operator), trimmed to the fields ESI decides
// by. A field of another form than here reads as absent.
#pragma once

#include "model/json.h"

namespace esi::model {

struct flink_cluster {
    object_meta metadata;
    std::string cluster_state;  ///< status.state
    std::string job_state;      ///< status.components.job.state
    std::string failure;        ///< status.components.job.failureReasons, joined
    std::optional<timestamp> job_started;
    std::optional<timestamp> job_completed;
};

template <>
struct codec<flink_cluster> {
    static result<void> decode(const element& from, flink_cluster& out);
    static json encode(const flink_cluster& value);
};

}  // namespace esi::model
