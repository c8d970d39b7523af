// Reads a SparkApplication's states. Source: api/v1beta2 of kubeflow/spark-operator v2.5, where
// only COMPLETED and FAILED are final: the retry policy may turn all others into PENDING_RERUN.
#pragma once

#include "batchjob/backends/backend.h"
#include "model/cluster.h"

namespace esi::batchjob::spark {

phase phase_of(std::string_view state);
application facts_of(const model::spark_application& object);
/// The role of a pod by the labels that the Spark operator and Spark itself put on pods.
pod_role role_of(const model::pod& pod, std::string_view name);
/// An executor belongs to the driver pod and to the submission that the application's status names.
/// A driver that takes a slot is the one that the status names; before that no driver takes a slot.
std::string foreign(const model::pod& pod, const application& app,
                    std::span<const pod_pointer> beside);

}  // namespace esi::batchjob::spark
