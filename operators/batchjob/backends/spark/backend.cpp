#include "batchjob/backends/spark/backend.h"

#include "batchjob/backends/pod_size.h"
#include "batchjob/backends/spark/mapping.h"
#include "batchjob/backends/spark/phase.h"
#include "batchjob/backends/spark/sizes.h"
#include "model/json.h"

namespace esi::batchjob::spark {

std::expected<built, spec_problem> spark_backend::build(const build_request& request) const {
    return map(request, options_, size_from::slot);
}

std::expected<built, spec_problem> spark_backend::probe(const model::object_meta& job,
                                                        const model::raw_json& spec,
                                                        bool by_slot) const {
    auto request = probe_request(job, spec, least_slot_mib);
    request.by_slot = by_slot;
    return map(request, options_, size_from::probe);
}

result<application> spark_backend::read(std::string_view text) const {
    auto object = model::decode<model::spark_application>(text, "SparkApplication");
    if (!object) return std::unexpected(object.error());
    return facts_of(*object);
}

pod_role spark_backend::role_of(const model::pod& pod, std::string_view name) const {
    return spark::role_of(pod, name);
}

std::string spark_backend::foreign(const model::pod& pod, const application& app,
                                   std::span<const pod_pointer> beside) const {
    return spark::foreign(pod, app, beside);
}

std::optional<spec_problem> spark_backend::too_small(const model::raw_json&,
                                                     const model::resource_list& slot) const {
    // The program's language moves memory between heap and overhead, but not the minimum of both.
    const auto split = split_slot(slot, overhead_in_jvm);
    return split ? std::nullopt : std::optional(split.error());
}

std::optional<spec_problem> spark_backend::coordinator_too_small(
    const model::raw_json&, const model::resource_list& slot) const {
    const auto split = split_slot(slot, overhead_in_jvm, coordinator());
    return split ? std::nullopt : std::optional(split.error());
}

model::amounts spark_backend::least_size(const model::raw_json& text, pod_role of,
                                         bool by_slot) const {
    const auto spec = json::parse(text.text, nullptr, false);
    if (!spec.is_object()) return {};
    const auto& role = of == pod_role::coordinator ? driver_role() : executor_role();
    model::amounts main;
    if (!by_slot) {
        const auto asked = read_asked(spec, role);
        if (!asked) return {};
        if (asked->cpu) main["cpu"] = asked->cpu->milli;
        main["memory"] = amount_of_mebibytes(asked->least_mib());
    }
    return requests_of(pod_of(spec, role), role.container, main, init_containers::all);
}

}  // namespace esi::batchjob::spark
