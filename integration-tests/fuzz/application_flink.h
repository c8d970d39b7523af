// FlinkDeployments: the record read a second time, and what becomes of a flinkSpec.
#pragma once

#include <algorithm>
#include <tuple>

#include "application_mapping.h"
#include "batchjob/backends/flink/mapping.h"
#include "batchjob/backends/flink/phase.h"
#include "model/flink_deployment.h"
#include "second_opinion.h"

namespace esi::fuzz {

namespace op = opinion;

/// A text of digits, milliseconds since 1970, in years that can be written.
inline std::optional<model::timestamp> milliseconds_at(const json& from,
                                                       std::initializer_list<const char*> path) {
    const auto text = op::text(from, path);
    const bool digits =
        !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return std::nullopt;
    const auto first = text.find_first_not_of('0');
    if (first == std::string::npos || text.size() - first > 15) return std::nullopt;
    const auto count = std::stoll(text);
    if (count / 1000 > 253402300799) return std::nullopt;
    return model::timestamp{wall_time(std::chrono::milliseconds(count))};
}

inline bool read(const json& from, model::flink_deployment& out) {
    out.wanted_state = op::text(from, {"spec", "job", "state"});
    out.upgrade_mode = op::text(from, {"spec", "job", "upgradeMode"});
    out.job_state = op::text(from, {"status", "jobStatus", "state"});
    out.lifecycle_state = op::text(from, {"status", "lifecycleState"});
    out.job_manager_state = op::text(from, {"status", "jobManagerDeploymentStatus"});
    out.error = op::text(from, {"status", "error"});
    out.job_started = milliseconds_at(from, {"status", "jobStatus", "startTime"});
    out.job_changed = milliseconds_at(from, {"status", "jobStatus", "updateTime"});
    return op::member(from, {"metadata"}, out.metadata);
}
inline bool same(const model::flink_deployment& a, const model::flink_deployment& b) {
    const auto rest = [](const model::flink_deployment& f) {
        return std::tie(f.wanted_state, f.upgrade_mode, f.job_state, f.lifecycle_state,
                        f.job_manager_state, f.error, f.job_started, f.job_changed);
    };
    return op::same(a.metadata, b.metadata) && rest(a) == rest(b);
}

inline void check_deployment(const json& object, const batchjob::placement_options& options) {
    const auto& spec = object.at("spec");
    const auto& workers = spec.at("taskManager");
    require(workers.at("replicas") == 2 &&
                workers.at("resource") == json{{"cpu", 0.6}, {"memory", "1792m"}} &&
                !workers.contains("resources") && spec.at("mode") == "standalone",
            "another size: {}", workers.dump());
    const auto& conf = spec.at("flinkConfiguration");
    const auto task_slots = std::stoll(conf.at("taskmanager.numberOfTaskSlots").get<std::string>());
    require(spec.at("job").at("parallelism") == 2 * task_slots, "another parallelism");
    for (const auto& [key, value] : conf.items()) {
        require(value.is_string() && !key.starts_with("kubernetes.taskmanager."),
                "configuration {} past ESI", key);
    }
    const auto& made = workers.at("podTemplate");
    const auto& marks = made.at("metadata");
    require(marks.at("labels").at(std::string(keys::testbed)) == "bed" &&
                marks.at("annotations").at(std::string(keys::slots)) == "3,5" &&
                marks.at("annotations").at(std::string(keys::run)) == "s.7.1",
            "other marks: {}", marks.dump());
    check_slot_pod(made.at("spec"), options);
    const auto& manager = spec.at("jobManager");
    require(manager.at("replicas") == 1, "another number of JobManagers");
    const auto& labels = manager.at("podTemplate").at("metadata").at("labels");
    for (const auto& [key, unused] : labels.items()) {
        require(!key.starts_with(keys::prefix) || key == keys::job, "{} is the user's", key);
    }
    require(object.at("metadata").at("name") == "a", "another name");
}

inline void map_flink(std::string_view text, bool extender) {
    check_mapping(
        text, extender,
        [](const auto& request, const auto& options) {
            return batchjob::flink::map(request, options, {}, batchjob::flink::size_from::slot);
        },
        check_deployment);
    // Flink's errors are JSON too.
    require(batchjob::flink::message_of(text).size() <= 2 * text.size() + 2, "words from nowhere");
}

}  // namespace esi::fuzz
