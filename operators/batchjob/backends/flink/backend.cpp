#include "batchjob/backends/flink/backend.h"

#include <fmt/format.h>

#include "batchjob/backends/flink/configuration.h"
#include "batchjob/backends/flink/mapping.h"
#include "batchjob/backends/flink/memory.h"
#include "batchjob/backends/flink/phase.h"

namespace esi::batchjob::flink {

std::expected<built, spec_problem> flink_backend::build(const build_request& request) const {
    return map(request, options_, otherwise_, size_from::slot);
}

std::expected<built, spec_problem> flink_backend::probe(const model::object_meta& job,
                                                        const model::raw_json& spec, bool) const {
    return map(probe_request(job, spec, least_slot_mib), options_, otherwise_, size_from::probe);
}

result<application> flink_backend::read(std::string_view text) const {
    auto object = model::decode<model::flink_deployment>(text, "FlinkDeployment");
    if (!object) return std::unexpected(object.error());
    return facts_of(*object);
}

pod_role flink_backend::role_of(const model::pod& pod, std::string_view name) const {
    return flink::role_of(pod, name);
}

std::string flink_backend::foreign(const model::pod& pod, const application& app,
                                   std::span<const pod_pointer>) const {
    return flink::foreign(pod, app);
}

std::string flink_backend::where_to_look(const model::object_key& app, std::string_view) const {
    return fmt::format("kubectl describe -n {} replicaset -l app={},component=taskmanager",
                       app.namespace_, app.name);
}

std::optional<spec_problem> flink_backend::too_small(const model::raw_json& spec,
                                                     const model::resource_list& slot) const {
    return flink::judge_slot(spec, slot);
}

std::optional<spec_problem> flink_backend::coordinator_too_small(
    const model::raw_json& spec, const model::resource_list& slot) const {
    return flink::judge_coordinator_slot(spec, slot);
}

model::amounts flink_backend::least_size(const model::raw_json& spec, pod_role of,
                                         bool by_slot) const {
    return flink::least_size(spec, of, by_slot, templates::used);
}

}  // namespace esi::batchjob::flink
