// The pods that Spark on Kubernetes makes of a SparkApplication, as the operator's spark-submit and
// Spark's own executor allocator make them: the role's template, with Spark's names, labels, owner
// and resources over it. Pure functions. Without the operator's webhook, so executor.affinity,
// tolerations, priorityClassName and the like count only where the template or sparkConf has them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace esi::simulation::spark {

using json = nlohmann::json;

/// Hexadecimal digits that depend on the text only.
std::string digits_of(std::string_view text, std::size_t count);

/// What spark-submit fixes for one attempt of an application.
struct submission {
    std::string id;              ///< sparkoperator.k8s.io/submission-id, a uuid
    std::string application_id;  ///< spark-...
    std::string driver_pod;      ///< NAME-driver
};
submission submission_of(const json& application);

/// MiB of a size as the JVM writes it: "512m", "2g", "1048576k", "1408" (MiB). Nothing: malformed.
std::optional<std::int64_t> mebibytes(std::string_view text);

int executors_of(const json& application);
json driver_pod(const json& application, const submission& as);
/// `number` counts from 1 over the life of the driver.
json executor_pod(const json& application, const json& driver, int number);

}  // namespace esi::simulation::spark
