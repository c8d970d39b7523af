// The pods of a FlinkDeployment in standalone mode, as the Apache operator and Flink's own
// decorators make them: the common template, the role's over it, then Flink's names, labels and
// resources. Pure functions. Facts: flink-kubernetes-operator 1.7 and its recorded pods.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace esi::simulation::flink {

using json = nlohmann::json;

/// MiB of a size as Flink writes it: "1600m", "2g", "2048 mb", "1g"; as its operator does also of a
/// Kubernetes quantity: "2Gi". Nothing: malformed.
std::optional<std::int64_t> mebibytes(std::string_view text);
/// A time as Flink writes it: "300 s", "5 min", "600000" (ms).
std::optional<milliseconds> duration(std::string_view text);

/// taskManager.replicas, else as many as the parallelism needs.
int task_managers_of(const json& deployment);
/// A lost TaskManager fails the job.
bool never_restarts(const json& deployment);
/// For how long a job waits for its TaskManagers (slot.request.timeout).
milliseconds patience_of(const json& deployment);
/// What the operator's validator objects to; empty: nothing.
std::string fault_in(const json& deployment);

/// metadata and spec for a Deployment.
json job_manager_pod(const json& deployment);
json task_manager_pod(const json& deployment);

}  // namespace esi::simulation::flink
