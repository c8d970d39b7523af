// FlinkClusters: the record read a second time.
#pragma once

#include <tuple>

#include "model/flink_cluster.h"
#include "second_opinion.h"

namespace esi::fuzz {

namespace op = opinion;

inline bool read(const json& from, model::flink_cluster& out) {
    out.cluster_state = op::text(from, {"status", "state"});
    out.job_state = op::text(from, {"status", "components", "job", "state"});
    out.job_started = op::time(from, {"status", "components", "job", "startTime"});
    out.job_completed = op::time(from, {"status", "components", "job", "completionTime"});
    const auto& reasons = op::at(from, {"status", "components", "job", "failureReasons"});
    if (reasons.is_array()) {
        for (const auto& each : reasons) {
            if (!each.is_string() || each == "") continue;
            out.failure += (out.failure.empty() ? "" : "; ") + each.get<std::string>();
        }
    }
    return op::member(from, {"metadata"}, out.metadata);
}
inline bool same(const model::flink_cluster& a, const model::flink_cluster& b) {
    const auto rest = [](const model::flink_cluster& f) {
        return std::tie(f.cluster_state, f.job_state, f.failure, f.job_started, f.job_completed);
    };
    return op::same(a.metadata, b.metadata) && rest(a) == rest(b);
}

}  // namespace esi::fuzz
