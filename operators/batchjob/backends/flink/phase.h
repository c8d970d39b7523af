// Reads a FlinkDeployment's states. Source: status of flink-kubernetes-operator 1.7 to 1.15
// (CommonStatus.getLifecycleState, JobStatusObserver, AbstractFlinkService.cancelJob). Pure.
#pragma once

#include "batchjob/backends/backend.h"
#include "model/flink_deployment.h"

namespace esi::batchjob::flink {

phase phase_of(const model::flink_deployment& object);
application facts_of(const model::flink_deployment& object);
/// The message in status.error and that of its innermost cause; the text itself if it is no JSON.
std::string message_of(std::string_view error);
/// The role of a pod by the labels that Flink puts on pods.
pod_role role_of(const model::pod& pod, std::string_view name);
/// A pod belongs to a ReplicaSet of the Deployment that Flink's operator makes for its role.
std::string foreign(const model::pod& pod, const application& app);

}  // namespace esi::batchjob::flink
