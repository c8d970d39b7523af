// flink.apache.org/v1beta1 FlinkDeployment, trimmed to the fields ESI decides by. Apache's operator
// writes its status for itself: a field of another form than here reads as absent, never as an
// error, so that no deployment can stall the cache.
#pragma once

#include "model/json.h"

namespace esi::model {

struct flink_deployment {
    object_meta metadata;
    std::string wanted_state;       ///< spec.job.state: running, suspended
    std::string upgrade_mode;       ///< spec.job.upgradeMode
    std::string job_state;          ///< status.jobStatus.state
    std::string lifecycle_state;    ///< status.lifecycleState
    std::string job_manager_state;  ///< status.jobManagerDeploymentStatus
    std::string error;              ///< status.error: JSON as a text, or plain words
    /// When Flink began the job; by Flink's clock.
    std::optional<timestamp> job_started;
    /// When its operator saw the present job state for the first time; by the operator's clock.
    std::optional<timestamp> job_changed;
};

template <>
struct codec<flink_deployment> {
    static result<void> decode(const element& from, flink_deployment& out);
    static json encode(const flink_deployment& value);
};

}  // namespace esi::model
