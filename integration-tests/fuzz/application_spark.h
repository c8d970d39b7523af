// SparkApplications: the record read a second time, and what becomes of a sparkSpec.
#pragma once

#include <tuple>

#include "application_mapping.h"
#include "batchjob/backends/spark/mapping.h"
#include "model/cluster.h"
#include "second_opinion.h"

namespace esi::fuzz {

namespace op = opinion;

inline bool read(const json& from, model::spark_application& out) {
    out.state = op::text(from, {"status", "applicationState", "state"});
    out.error_message = op::text(from, {"status", "applicationState", "errorMessage"});
    out.submission_id = op::text(from, {"status", "submissionID"});
    out.driver_pod_name = op::text(from, {"status", "driverInfo", "podName"});
    out.last_submission_attempt = op::time(from, {"status", "lastSubmissionAttemptTime"});
    out.termination_time = op::time(from, {"status", "terminationTime"});
    return op::member(from, {"metadata"}, out.metadata) &&
           op::member(from, {"status", "executionAttempts"}, out.execution_attempts) &&
           op::member(from, {"status", "submissionAttempts"}, out.submission_attempts);
}
inline bool same(const model::spark_application& a, const model::spark_application& b) {
    const auto rest = [](const model::spark_application& s) {
        return std::tie(s.state, s.error_message, s.submission_id, s.driver_pod_name,
                        s.execution_attempts, s.submission_attempts, s.last_submission_attempt,
                        s.termination_time);
    };
    return op::same(a.metadata, b.metadata) && rest(a) == rest(b);
}

inline int mebibytes(const json& size) { return std::stoi(size.get<std::string>()); }

inline void check_application(const json& object, const batchjob::placement_options& options) {
    const auto& spec = object.at("spec");
    const auto& executor = spec.at("executor");
    require(
        executor.at("instances") == 2 && executor.at("coreRequest") == "600m" &&
            mebibytes(executor.at("memory")) + mebibytes(executor.at("memoryOverhead")) == 1792 &&
            !executor.contains("memoryLimit"),
        "another size: {}", executor.dump());
    require(executor.at("schedulerName") == options.scheduler() &&
                executor.at("priorityClassName") == options.priority_class(),
            "another scheduler: {}", executor.dump());
    require(executor.at("labels").at(std::string(keys::testbed)) == "bed" &&
                executor.at("annotations").at(std::string(keys::slots)) == "3,5" &&
                executor.at("annotations").at(std::string(keys::run)) == "s.7.1",
            "other marks: {}", executor.dump());
    check_slot_pod(executor.at("template").at("spec"), options);
    for (const char* role : {"driver", "executor"}) {
        const auto& whole = spec.at(role).at("template");
        for (const char* map : {"labels", "annotations"}) {
            const auto metadata = whole.value("metadata", json::object());
            const auto marks = metadata.is_object() ? metadata.value(map, json()) : json();
            if (!marks.is_object()) continue;
            for (const auto& [key, unused] : marks.items()) {
                require(!key.starts_with(keys::prefix), "{} is the user's", key);
            }
        }
    }
    require(spec.at("sparkConf").at("spark.kubernetes.allocation.batch.size") == "2" &&
                !spec.at("sparkConf").contains("spark.executor.instances") &&
                !spec.contains("dynamicAllocation"),
            "another number: {}", spec.at("sparkConf").dump());
    require(object.at("metadata").at("name") == "a", "another name");
}

inline void map_spark(std::string_view text, bool extender) {
    check_mapping(
        text, extender,
        [](const auto& request, const auto& options) {
            return batchjob::spark::map(request, options, batchjob::spark::size_from::slot);
        },
        check_application);
}

}  // namespace esi::fuzz
