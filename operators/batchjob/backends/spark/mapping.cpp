#include "batchjob/backends/spark/mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/marks.h"
#include "batchjob/backends/pod_size.h"
#include "batchjob/backends/spark/pod_template.h"
#include "batchjob/backends/spark/sizes.h"
#include "kube/resource.h"
#include "model/names.h"

namespace esi::batchjob::spark {

namespace {

namespace names = model::names;

/// Keys of sparkConf that decide number, scheduler or template of the executors, or whether their
/// pods are seen at all. ESI's own values are added afterwards. The overhead gets what the rest
/// leaves of a slot.
constexpr std::array<std::string_view, 18> own_conf{
    "spark.kubernetes.namespace",
    "spark.executor.instances",
    "spark.executor.memoryOverhead",
    "spark.executor.memoryOverheadFactor",
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
/// Those of their size, for a job whose pods get the numbers of their slots.
constexpr std::array<std::string_view, 5> size_conf{
    "spark.executor.cores", "spark.executor.memory", "spark.executor.pyspark.memory",
    "spark.memory.offHeap.size", "spark.memory.offHeap.enabled"};

/// The same keys of a driver that takes a slot.
constexpr std::array<std::string_view, 6> own_driver_conf{
    "spark.driver.memoryOverhead",
    "spark.driver.memoryOverheadFactor",
    "spark.kubernetes.driver.request.cores",
    "spark.kubernetes.driver.scheduler.name",
    "spark.kubernetes.driver.podTemplateFile",
    "spark.kubernetes.driver.podTemplateContainerName",
};
constexpr std::array<std::string_view, 2> driver_size_conf{"spark.driver.cores",
                                                           "spark.driver.memory"};

/// Keys of executor, and of a driver that takes a slot.
constexpr std::array<std::string_view, 6> own_role_keys{"instances",      "coreRequest",
                                                        "memoryOverhead", "memoryLimit",
                                                        "schedulerName",  "priorityClassName"};
constexpr std::array<std::string_view, 2> size_keys{"cores", "memory"};

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

/// "executor.memory (8g)", with "at least" where ESI only adds to it.
std::string named(std::string path, const json& value, bool at_least = false) {
    if (value.is_structured()) return path;
    const auto text = conf_text(value);
    // A longer one is no size.
    if (text.empty() || text.size() > 40) return path;
    return fmt::format("{} ({}{})", path, at_least ? "at least " : "", text);
}

void take_keys(json& from, std::string_view path, std::span<const std::string_view> keys,
               bool by_slot, std::vector<std::string>& overridden) {
    for (const auto key : keys) {
        const std::string name(key);
        const auto at = from.find(name);
        if (at == from.end()) continue;
        const bool raised = !by_slot && (name == "coreRequest" || name == "memoryOverhead");
        overridden.push_back(named(fmt::format("{}.{}", path, name), *at, raised));
        from.erase(at);
    }
}

void take_conf(json& conf, std::span<const std::string_view> keys,
               std::vector<std::string>& overridden) {
    for (const auto key : keys) {
        const std::string name(key);
        const auto at = conf.find(name);
        if (at == conf.end()) continue;
        overridden.push_back(named(fmt::format("sparkConf[{}]", key), *at));
        conf.erase(at);
    }
}

/// How a role's pods fill their slots.
struct role_size {
    model::quantity cpu;
    std::int64_t cores = 1;
    memory_split split;
};

std::expected<role_size, spec_problem> size_of(const json& spec, const spark_role& role,
                                               const model::resource_list& slot, bool by_slot,
                                               size_from from) {
    const auto asked = read_asked(spec, role);
    if (!asked && !by_slot) return std::unexpected(asked.error());
    const bool probing = from == size_from::probe;
    const auto room = probing ? slot : room_for_main(slot, pod_of(spec, role), role.container);
    const bool divides = !by_slot && !probing && room.contains("cpu") && room.contains("memory");
    const auto split = divides
                           ? split_as_asked(*asked, room.find("memory")->second.milli / 1000, role)
                           : split_slot(room, usual_overhead_share(spec), role.name);
    if (!split) return std::unexpected(split.error());
    role_size out{room.find("cpu")->second, 1, *split};
    out.cores = std::max<std::int64_t>(1, out.cpu.milli / 1000);
    if (!by_slot && asked->cores) out.cores = *asked->cores;
    return out;
}

/// Raises a limit of cpu that is below what the pod requests: the API server refuses such a pod.
void raise_limit(json& in, const std::string& key, const model::quantity& cpu, std::string path,
                 size_from from, std::vector<std::string>& overridden) {
    const auto at = in.find(key);
    if (at == in.end() || at->is_structured()) return;
    const auto given = model::quantity::parse(conf_text(*at));
    if (!given) return;
    const bool below = given->milli < cpu.milli;
    if (below || from == size_from::probe) {
        overridden.push_back(named(std::move(path), *at, true));
    }
    if (below) *at = cpu.text;
}

void raise_limits(json& spec, const spark_role& role, const model::quantity& cpu, size_from from,
                  std::vector<std::string>& overridden) {
    auto& part = spec[role.name];
    raise_limit(part, "coreLimit", cpu, role.name + ".coreLimit", from, overridden);
    const auto key = fmt::format("spark.kubernetes.{}.limit.cores", role.name);
    raise_limit(spec["sparkConf"], key, cpu, fmt::format("sparkConf[{}]", key), from, overridden);
    const json::json_pointer containers("/template/spec/containers");
    if (!part.contains(containers) || !part.at(containers).is_array()) return;
    for (auto& each : part.at(containers)) {
        const json::json_pointer limits("/resources/limits");
        if (name_of(each) != role.container || !each.contains(limits)) continue;
        if (!each.at(limits).is_object()) continue;
        raise_limit(
            each.at(limits), "cpu", cpu,
            fmt::format("{}.template, limits.cpu of container {}", role.name, role.container), from,
            overridden);
    }
}

/// Makes the pods of a role as large as their slots, and sets the scheduler of slots.
void fill_slot(json& role, const role_size& size, const placement_options& options) {
    role["cores"] = size.cores;
    role["coreRequest"] = size.cpu.text;
    role["memory"] = fmt::format("{}m", size.split.heap_mib);
    role["memoryOverhead"] = fmt::format("{}m", size.split.overhead_mib);
    role["schedulerName"] = options.scheduler();
    role["priorityClassName"] = options.priority_class();
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

    using keys = std::span<const std::string_view>;
    const auto fill = [&](json& part, const spark_role& role, const model::resource_list& slot,
                          keys own, keys of_size) -> std::optional<spec_problem> {
        const auto wanted = size_of(spec, role, slot, request.by_slot, size);
        if (!wanted) return wanted.error();
        take_keys(part, role.name, own_role_keys, request.by_slot, out.overridden);
        take_conf(*conf, own, out.overridden);
        if (request.by_slot) {
            take_keys(part, role.name, size_keys, request.by_slot, out.overridden);
            take_conf(*conf, of_size, out.overridden);
        }
        raise_limits(spec, role, wanted->cpu, size, out.overridden);
        fill_slot(part, *wanted, options);
        return std::nullopt;
    };
    if (auto why = fill(*executor, executor_role(), request.slot_size, own_conf, size_conf)) {
        return std::unexpected(std::move(*why));
    }
    const auto& place = request.coordinator;
    if (place) {
        auto why = fill(*driver, driver_role(), place->size, own_driver_conf, driver_size_conf);
        if (why) return std::unexpected(std::move(*why));
    }
    for (auto at = conf->begin(); at != conf->end();) {
        const std::string& key = at.key();
        const bool ours = key.find(names::prefix) != std::string::npos;
        if (ours) out.overridden.push_back(fmt::format("sparkConf[{}]", key));
        at = ours ? conf->erase(at) : std::next(at);
    }

    (*executor)["instances"] = slots;
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
