// Reads a FlinkCluster's states from its job, because the cluster itself knows no failure. Source:
// api v1beta1 of spotify/flink-on-k8s-operator v0.6. Pure.
#pragma once

#include "batchjob/backends/backend.h"
#include "model/flink_cluster.h"

namespace esi::batchjob::flink_cluster {

phase phase_of(const model::flink_cluster& object);
application facts_of(const model::flink_cluster& object);
/// The role of a pod by the operator's labels. The pod that submits the job has neither role.
pod_role role_of(const model::pod& pod, std::string_view name);
/// A pod belongs to the StatefulSet, or a ReplicaSet of the Deployment, that the operator makes for
/// its role.
std::string foreign(const model::pod& pod, const application& app);

}  // namespace esi::batchjob::flink_cluster
