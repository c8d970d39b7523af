#include "batchjob/backends/spark/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/marks.h"
#include "batchjob/backends/spark/memory.h"
#include "batchjob/backends/spark/pod_template.h"
#include "kube/resource.h"
#include "model/names.h"

namespace esi::batchjob::spark {

namespace {

namespace names = model::names;

/// Keys of sparkConf that decide number, size, scheduler or template of the executors. ESI's own
/// values are added afterwards.
constexpr std::array<std::string_view, 22> own_conf{
    "spark.executor.instances",
    "spark.executor.cores",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
    "spark.executor.pyspark.memory",
    "spark.memory.offHeap.enabled",
    "spark.memory.offHeap.size",
    "spark.kubernetes.executor.request.cores",
    "spark.kubernetes.executor.scheduler.name",
    "spark.kubernetes.executor.podTemplateFile",
    "spark.kubernetes.executor.podTemplateContainerName",
    "spark.kubernetes.allocation.batch.size",
    "spark.scheduler.minRegisteredResourcesRatio",
    "spark.scheduler.maxRegisteredResourcesWaitingTime",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.minExecutors",
    "spark.dynamicAllocation.initialExecutors",
    "spark.dynamicAllocation.maxExecutors",
    "spark.dynamicAllocation.executorIdleTimeout",
    "spark.dynamicAllocation.shuffleTracking.enabled",
    "spark.kubernetes.executor.podNamePrefix",
};

/// The same keys of a driver that takes a slot.
constexpr std::array<std::string_view, 8> own_driver_conf{
    "spark.driver.cores",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.kubernetes.driver.request.cores",
    "spark.kubernetes.driver.scheduler.name",
    "spark.kubernetes.driver.podTemplateFile",
    "spark.kubernetes.driver.podTemplateContainerName",
};

/// Keys of executor, and of a driver that takes a slot.
constexpr std::array<std::string_view, 8> own_role_keys{
    "instances",      "cores",       "coreRequest",   "memory",
    "memoryOverhead", "memoryLimit", "schedulerName", "priorityClassName"};

spec_problem malformed(std::string_view path, std::string_view what) {
    return {"SpecMalformed", fmt::format("sparkSpec.{} must be {}", path, what)};
}

json* object_in(json& parent, const std::string& key) {
    return typed_in(parent, key, json::object());
}

std::optional<std::int64_t> number_of(const json* value) {
    if (!value) return std::nullopt;
    if (value->is_number_integer()) return value->get<std::int64_t>();
    if (!value->is_string()) return std::nullopt;
    const auto parsed = model::quantity::parse(value->get_ref<const std::string&>());
    return parsed ? std::optional(parsed->units()) : std::nullopt;
}

/// Slots are fixed: dynamic allocation is accepted (and then dropped) only if it says so.
std::optional<spec_problem> judge_allocation(const std::optional<std::int64_t>& least,
                                             const std::optional<std::int64_t>& initial,
                                             const std::optional<std::int64_t>& most,
                                             std::optional<std::int64_t> slots) {
    const bool fixed = least && initial && most && *least == *initial && *initial == *most;
    if (fixed && (!slots || *least == *slots)) return std::nullopt;
    const auto show = [](const std::optional<std::int64_t>& value) {
        return value ? std::to_string(*value) : std::string("unset");
    };
    return spec_problem{
        "DynamicAllocation",
        fmt::format("dynamic allocation is refused, because the number of slots is fixed: it has "
                    "minExecutors {}, initialExecutors {}, maxExecutors {}{}; leave it out, or set "
                    "all three to the number of slots",
                    show(least), show(initial), show(most),
                    slots ? fmt::format(", the job has {} slots", *slots) : std::string())};
}

std::optional<spec_problem> refuse_what_slots_exclude(const json& spec, const json& conf,
                                                      std::optional<std::int64_t> slots) {
    if (const auto* batch = member(spec, "batchScheduler")) {
        if (!batch->is_string() || !batch->get_ref<const std::string&>().empty()) {
            return spec_problem{
                "BatchScheduler",
                "sparkSpec.batchScheduler is refused: it would take the executors from "
                "the scheduler that places them in their slots"};
        }
    }
    if (member(spec, "batchSchedulerOptions")) {
        return spec_problem{
            "BatchScheduler",
            "sparkSpec.batchSchedulerOptions is refused: ESI decides queue, priority "
            "and resources of the executors by their slots"};
    }
    if (const auto* policy = member(spec, "restartPolicy"); policy && policy->is_object()) {
        const auto* type = member(*policy, "type");
        if (type && *type == "Always") {
            return spec_problem{"RestartAlways",
                                "sparkSpec.restartPolicy.type Always is refused: such a job never "
                                "completes and never gives its slots back; use Never or OnFailure"};
        }
    }
    if (const auto* dynamic = member(spec, "dynamicAllocation"); dynamic && dynamic->is_object()) {
        const auto* enabled = member(*dynamic, "enabled");
        if (enabled && *enabled == true) {
            if (auto why = judge_allocation(number_of(member(*dynamic, "minExecutors")),
                                            number_of(member(*dynamic, "initialExecutors")),
                                            number_of(member(*dynamic, "maxExecutors")), slots)) {
                return why;
            }
        }
    }
    const auto* enabled = member(conf, "spark.dynamicAllocation.enabled");
    if (enabled && conf_text(*enabled) == "true") {
        return judge_allocation(number_of(member(conf, "spark.dynamicAllocation.minExecutors")),
                                number_of(member(conf, "spark.dynamicAllocation.initialExecutors")),
                                number_of(member(conf, "spark.dynamicAllocation.maxExecutors")),
                                slots);
    }
    return std::nullopt;
}

std::optional<spec_problem> set_metadata(json& role, std::string_view path, const json& labels,
                                         const json& annotations,
                                         std::vector<std::string>& overridden) {
    for (const auto& [key, values] :
         {std::pair<std::string, const json&>{"labels", labels}, {"annotations", annotations}}) {
        auto* map = object_in(role, key);
        const auto where = fmt::format("{}.{}", path, key);
        if (!map) return malformed(where, "an object");
        take_own_prefix(*map, where, overridden);
        map->update(values);
        if (map->empty()) role.erase(key);
    }
    return std::nullopt;
}

void take_keys(json& from, std::string_view path, std::vector<std::string>& overridden) {
    for (const auto key : own_role_keys) {
        const std::string name(key);
        if (from.contains(name)) overridden.push_back(fmt::format("{}.{}", path, name));
        from.erase(name);
    }
}

void take_conf(json& conf, std::span<const std::string_view> keys,
               std::vector<std::string>& overridden) {
    for (const auto key : keys) {
        const std::string name(key);
        if (!conf.contains(name)) continue;
        overridden.push_back(fmt::format("sparkConf[{}]", key));
        conf.erase(name);
    }
}

/// Makes the pods of a role as large as their slots, and sets the scheduler of slots.
void fill_slot(json& role, const model::quantity& cpu, const memory_split& split,
               const placement_options& options) {
    role["cores"] = std::max<std::int64_t>(1, cpu.milli / 1000);
    role["coreRequest"] = cpu.text;
    role["memory"] = fmt::format("{}m", split.heap_mib);
    role["memoryOverhead"] = fmt::format("{}m", split.overhead_mib);
    role["schedulerName"] = options.scheduler();
    role["priorityClassName"] = options.priority_class();
}

bool runs_outside_jvm(const json& spec) {
    const auto* type = member(spec, "type");
    return type && (*type == "Python" || *type == "R");
}

}  // namespace

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options, size_from size) {
    built out;
    json spec = json::parse(request.spec.text, nullptr, false);
    if (!spec.is_object()) {
        return std::unexpected(spec_problem{"SpecMalformed", "sparkSpec must be an object"});
    }
    json* conf = object_in(spec, "sparkConf");
    if (!conf) return std::unexpected(malformed("sparkConf", "an object"));
    json* driver = object_in(spec, "driver");
    if (!driver) return std::unexpected(malformed("driver", "an object"));
    json* executor = object_in(spec, "executor");
    if (!executor) return std::unexpected(malformed("executor", "an object"));

    const auto slots = static_cast<std::int64_t>(request.slot_ids.size());
    const auto known_slots = size == size_from::slot ? std::optional(slots) : std::nullopt;
    if (auto why = refuse_what_slots_exclude(spec, *conf, known_slots)) {
        return std::unexpected(std::move(*why));
    }
    spec.erase("batchScheduler");
    spec.erase("dynamicAllocation");
    json* policy = object_in(spec, "restartPolicy");
    if (!policy) return std::unexpected(malformed("restartPolicy", "an object"));
    if (!member(*policy, "type")) (*policy)["type"] = "Never";

    const auto split = split_slot(request.slot_size, runs_outside_jvm(spec));
    if (!split) return std::unexpected(split.error());
    const auto cpu = request.slot_size.find("cpu");

    take_keys(*executor, "executor", out.overridden);
    take_conf(*conf, own_conf, out.overridden);
    const auto& place = request.coordinator;
    if (place) {
        const auto driver_split = split_slot(place->size, runs_outside_jvm(spec), "driver");
        if (!driver_split) return std::unexpected(driver_split.error());
        take_keys(*driver, "driver", out.overridden);
        take_conf(*conf, own_driver_conf, out.overridden);
        fill_slot(*driver, place->size.find("cpu")->second, *driver_split, options);
    }
    for (auto at = conf->begin(); at != conf->end();) {
        const std::string& key = at.key();
        const bool ours = key.find(names::prefix) != std::string::npos;
        if (ours) out.overridden.push_back(fmt::format("sparkConf[{}]", key));
        at = ours ? conf->erase(at) : std::next(at);
    }

    (*executor)["instances"] = slots;
    fill_slot(*executor, cpu->second, *split, options);
    (*conf)["spark.kubernetes.executor.scheduler.name"] = options.scheduler();
    if (place) (*conf)["spark.kubernetes.driver.scheduler.name"] = options.scheduler();
    (*conf)["spark.scheduler.minRegisteredResourcesRatio"] = "1.0";
    // Spark's default of 30 s is shorter than a swap on a busy node may take.
    (*conf)["spark.scheduler.maxRegisteredResourcesWaitingTime"] = "600s";
    (*conf)["spark.kubernetes.allocation.batch.size"] = std::to_string(slots);

    if (auto why = set_metadata(
            *driver, "driver", place ? slot_labels(request) : job_labels(request),
            place ? slot_annotations(request, pod_role::coordinator) : run_annotations(request),
            out.overridden)) {
        return std::unexpected(std::move(*why));
    }
    if (auto why = set_metadata(*executor, "executor", slot_labels(request),
                                slot_annotations(request), out.overridden)) {
        return std::unexpected(std::move(*why));
    }
    if (auto why = fill_templates(spec, request, options, out.overridden)) {
        return std::unexpected(std::move(*why));
    }

    out.object = {{"apiVersion", kube::types::spark_application.api_version()},
                  {"kind", kube::types::spark_application.kind},
                  {"metadata", application_metadata(request)},
                  {"spec", std::move(spec)}};
    return out;
}

}  // namespace esi::batchjob::spark
