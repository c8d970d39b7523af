#include "batchjob/backends/flink_cluster/phase.h"

#include <fmt/format.h>

#include <array>

#include "base/contains.h"

namespace esi::batchjob::flink_cluster {

phase phase_of(const model::flink_cluster& object) {
    static constexpr std::array<std::string_view, 5> underway{"", "Pending", "Updating",
                                                              "Deploying", "Restarting"};
    static constexpr std::array<std::string_view, 4> failed{"Failed", "DeployFailed", "Lost",
                                                            "Cancelled"};
    const std::string_view job = object.job_state;
    if (job == "Running") return phase::running;
    if (job == "Succeeded") return phase::succeeded;
    if (contains(failed, job)) return phase::failed;
    return contains(underway, job) ? phase::underway : phase::unknown;
}

application facts_of(const model::flink_cluster& object) {
    application out;
    out.metadata = object.metadata;
    out.phase = phase_of(object);
    out.word = !object.job_state.empty() ? object.job_state : object.cluster_state;
    out.attempt = object.job_state.empty() || object.job_state == "DeployFailed" ? 0 : 1;
    out.started = object.job_started;
    if (out.final()) out.ended = object.job_completed;
    if (out.phase == phase::failed) {
        out.message = object.failure.empty() ? fmt::format("the job is in state {}", out.word)
                                             : object.failure;
    }
    return out;
}

pod_role role_of(const model::pod& pod, std::string_view name) {
    if (pod.metadata.label("app") != "flink") return pod_role::none;
    if (pod.metadata.label("cluster") != name) return pod_role::none;
    const auto component = pod.metadata.label("component");
    if (component == "taskmanager") return pod_role::slot;
    return component == "jobmanager" ? pod_role::coordinator : pod_role::none;
}

std::string foreign(const model::pod& pod, const application& app) {
    const auto set = fmt::format("{}-{}", app.metadata.name, pod.metadata.label("component"));
    const auto* owner = pod.metadata.controller_owner();
    const bool stateful = owner && owner->kind == "StatefulSet" && owner->name == set;
    const bool stateless =
        owner && owner->kind == "ReplicaSet" && owner->name.starts_with(set + "-");
    if (stateful || stateless) return {};
    return fmt::format("its owner is {}, not of the set {}", show_owner(pod.metadata), set);
}

}  // namespace esi::batchjob::flink_cluster
