#include "batchjob/backends/flink_cluster/backend.h"

#include <fmt/format.h>

#include "batchjob/backends/flink/configuration.h"
#include "batchjob/backends/flink/memory.h"
#include "batchjob/backends/flink_cluster/phase.h"

namespace esi::batchjob::flink_cluster {

std::expected<built, spec_problem> flink_cluster_backend::build(
    const build_request& request) const {
    return map(request, options_, otherwise_, flink::size_from::slot);
}

std::expected<built, spec_problem> flink_cluster_backend::probe(const model::object_meta& job,
                                                                const model::raw_json& spec,
                                                                bool) const {
    return map(probe_request(job, spec, flink::least_slot_mib), options_, otherwise_,
               flink::size_from::probe);
}

result<application> flink_cluster_backend::read(std::string_view text) const {
    auto object = model::decode<model::flink_cluster>(text, "FlinkCluster");
    if (!object) return std::unexpected(object.error());
    return facts_of(*object);
}

pod_role flink_cluster_backend::role_of(const model::pod& pod, std::string_view name) const {
    return flink_cluster::role_of(pod, name);
}

std::string flink_cluster_backend::foreign(const model::pod& pod, const application& app,
                                           std::span<const pod_pointer>) const {
    return flink_cluster::foreign(pod, app);
}

std::string_view flink_cluster_backend::limits() const {
    return "a FlinkCluster cannot set scheduling gate, scheduler and priority class of its "
           "TaskManagers: the MutatingAdmissionPolicy esi-flinkcluster has to (Kubernetes 1.36, "
           "helm/manifests/flinkcluster), or use --flink-backend=FlinkDeployment";
}

std::string flink_cluster_backend::pod_problem(const model::pod& pod) const {
    // One mutation sets all three, and the testbed operator removes the gate later: so the other
    // two prove that the policy was applied.
    if (pod.scheduler_name == options_.scheduler() &&
        pod.priority_class_name == options_.priority_class()) {
        return {};
    }
    return fmt::format("pod {} has scheduler {} and priority class {} instead of {} and {}: {}",
                       pod.metadata.name, pod.scheduler_name,
                       pod.priority_class_name.empty() ? "none" : pod.priority_class_name,
                       options_.scheduler(), options_.priority_class(), limits());
}

std::string flink_cluster_backend::where_to_look(const model::object_key& app,
                                                 std::string_view) const {
    return fmt::format("kubectl events -n {} | grep {}-taskmanager", app.namespace_, app.name);
}

std::optional<spec_problem> flink_cluster_backend::too_small(
    const model::raw_json& spec, const model::resource_list& slot) const {
    return flink::judge_slot(spec, slot);
}

std::optional<spec_problem> flink_cluster_backend::coordinator_too_small(
    const model::raw_json& spec, const model::resource_list& slot) const {
    return flink::judge_coordinator_slot(spec, slot);
}

model::amounts flink_cluster_backend::least_size(const model::raw_json& spec, pod_role of,
                                                 bool by_slot) const {
    return flink::least_size(spec, of, by_slot, flink::templates::ignored);
}

}  // namespace esi::batchjob::flink_cluster
