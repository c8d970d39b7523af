#include "batchjob/backends/flink_cluster/mapping.h"

#include <fmt/format.h>

#include <array>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/marks.h"
#include "kube/resource.h"
#include "model/names.h"

namespace esi::batchjob::flink_cluster {

namespace {

/// Keys of a flinkSpec that are not part of this kind's job section.
constexpr std::array<const char*, 8> beside_the_job{
    "image",     "imagePullPolicy",    "flinkVersion", "serviceAccount",
    "taskSlots", "flinkConfiguration", "jobManager",   "taskManager"};

json affinity_of(const std::string& label, std::string_view operator_) {
    const json requirement{{"key", label}, {"operator", operator_}};
    const json term{{"matchExpressions", json::array({requirement})}};
    return {{"nodeAffinity",
             {{"requiredDuringSchedulingIgnoredDuringExecution",
               {{"nodeSelectorTerms", json::array({term})}}}}}};
}

json resources_of(const json& amounts) { return {{"requests", amounts}, {"limits", amounts}}; }

/// The values of a slot that flink::judge() has accepted.
json resources_of_slot(const model::resource_list& slot) {
    return resources_of(
        {{"cpu", slot.find("cpu")->second.text}, {"memory", slot.find("memory")->second.text}});
}

/// Adds what sends the pods of a role into slots, as far as this kind has fields for it.
void take_slots(json& role, const build_request& request, const placement_options& options,
                pod_role of) {
    role["podLabels"] = slot_labels(request);
    role["podAnnotations"] = slot_annotations(request, of);
    role["tolerations"] = json::array({{{"key", model::names::taint}, {"operator", "Exists"}}});
    if (options.extender && !request.node_label.empty()) {
        role["affinity"] = affinity_of(request.node_label, "Exists");
    }
}

/// "v1_20" -> "1.20"
std::string dotted(std::pair<int, int> version) {
    return fmt::format("{}.{}", version.first, version.second);
}

json job_of(json job, const build_request& request, const flink::spec& from, std::int64_t slots,
            std::vector<std::string>& overridden) {
    for (const char* key : beside_the_job) job.erase(key);
    for (auto at = job.begin(); at != job.end();)
        at = at->is_null() ? job.erase(at) : std::next(at);
    job["parallelism"] = slots * from.task_slots;
    // Its operator writes Failed before a restart; for ESI the run ends there.
    if (from.restart_from_savepoint) overridden.push_back("restartPolicy");
    job["restartPolicy"] = "Never";
    for (const auto& [key, marks] : {std::pair<std::string, json>{"podLabels", job_labels(request)},
                                     {"podAnnotations", run_annotations(request)}}) {
        auto& map = *typed_in(job, key, json::object());
        take_own_prefix(map, key, overridden);
        map.update(marks);
    }
    if (!request.node_label.empty()) {
        auto& affinity = *typed_in(job, "affinity", json::object());
        if (!member(affinity, "nodeAffinity")) {
            affinity.update(affinity_of(request.node_label, "DoesNotExist"));
        }
    }
    return job;
}

json job_manager_of(const build_request& request, const flink::spec& from,
                    const placement_options& options, const flink::defaults& otherwise,
                    std::vector<std::string>& overridden) {
    if (const auto& place = request.coordinator) {
        if (!from.job_manager_size.empty()) overridden.push_back("resources");
        json out{{"replicas", 1}, {"resources", resources_of_slot(place->size)}};
        take_slots(out, request, options, pod_role::coordinator);
        return out;
    }
    const auto asked = [&](const char* name, const std::string& usual) {
        const auto at = from.job_manager_size.find(name);
        return at == from.job_manager_size.end() ? usual : model::show(name, at->second);
    };
    const auto cpu = asked("cpu", otherwise.job_manager_cpu);
    const auto memory = asked("memory", otherwise.job_manager_memory);
    json out{{"replicas", 1},
             {"resources", resources_of({{"cpu", cpu}, {"memory", memory}})},
             {"podLabels", job_labels(request)},
             {"podAnnotations", run_annotations(request)}};
    if (!request.node_label.empty()) {
        out["affinity"] = affinity_of(request.node_label, "DoesNotExist");
    }
    return out;
}

json task_manager_of(const build_request& request, const placement_options& options) {
    json out{{"deploymentType", "Deployment"},
             {"replicas", request.slot_ids.size()},
             {"resources", resources_of_slot(request.slot_size)}};
    take_slots(out, request, options, pod_role::slot);
    return out;
}

}  // namespace

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options,
                                       const flink::defaults& otherwise, flink::size_from size) {
    auto from = flink::read_spec(request.spec);
    if (!from) return std::unexpected(from.error());
    if (auto why = flink::judge(*from, request, size)) return std::unexpected(std::move(*why));

    built out;
    out.overridden = std::move(from->overridden);
    for (const auto& key : from->ignored) {
        // All other keys are passed on, and the API server checks them.
        if (key.starts_with("jobManager.") || key.starts_with("taskManager.")) {
            out.ignored.push_back(key);
        }
    }
    for (const auto& [role, whole] :
         {std::pair<std::string_view, const json&>{"jobManager", from->job_manager},
          {"taskManager", from->task_manager}}) {
        if (!whole.empty()) out.ignored.push_back(fmt::format("{}.podTemplate", role));
    }
    auto conf = std::move(from->configuration);
    flink::take_own_configuration(conf, request.coordinator.has_value(), out.overridden);
    const auto version =
        flink::version_number(from->version.empty() ? otherwise.version : from->version)
            .value_or(std::pair(1, 20));
    conf["taskmanager.numberOfTaskSlots"] = std::to_string(from->task_slots);
    conf[std::string(flink::restart_strategy_key(version))] = "none";

    const auto slots = static_cast<std::int64_t>(request.slot_ids.size());
    json image{{"name", from->image.empty() ? otherwise.image : from->image}};
    if (!from->image_pull_policy.empty()) image["pullPolicy"] = from->image_pull_policy;
    json spec{
        {"flinkVersion", dotted(version)},
        {"image", std::move(image)},
        {"flinkProperties", std::move(conf)},
        {"jobManager", job_manager_of(request, *from, options, otherwise, out.overridden)},
        {"taskManager", task_manager_of(request, options)},
        {"job", job_of(json::parse(request.spec.text), request, *from, slots, out.overridden)}};
    if (!from->service_account.empty()) spec["serviceAccountName"] = from->service_account;
    out.object = {{"apiVersion", resource.api_version()},
                  {"kind", resource.kind},
                  {"metadata", application_metadata(request)},
                  {"spec", std::move(spec)}};
    return out;
}

}  // namespace esi::batchjob::flink_cluster
