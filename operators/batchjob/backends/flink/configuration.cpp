#include "batchjob/backends/flink/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "batchjob/backends/flink/memory.h"
#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/pod_size.h"

namespace esi::batchjob::flink {

namespace {

/// Configuration that decides number, size or place of the TaskManagers, or that makes the operator
/// restart a run on its own. ESI's own values are added afterwards.
constexpr std::array<std::string_view, 20> own_conf{
    "taskmanager.numberOfTaskSlots",
    "taskmanager.memory.process.size",
    "taskmanager.memory.flink.size",
    "parallelism.default",
    "scheduler-mode",
    "restart-strategy",
    "kubernetes.taskmanager.",
    // podLabels and podAnnotations exist for these; ESI's own marks are removed from them.
    "kubernetes.jobmanager.annotations",
    "kubernetes.jobmanager.labels",
    "kubernetes.pod-template-file",
    "kubernetes.internal.",
    "kubernetes.namespace",
    "kubernetes.cluster-id",
    "kubernetes.operator.pod-template.",
    "kubernetes.operator.job.restart.",
    "kubernetes.operator.jm-deployment-recovery.",
    "kubernetes.operator.cluster.health-check.",
    "kubernetes.operator.deployment.rollback.",
    "kubernetes.operator.job.autoscaler.",
    "job.autoscaler.",
};

/// The same keys of a JobManager that takes a slot.
constexpr std::array<std::string_view, 3> own_coordinator_conf{
    "jobmanager.memory.process.size",
    "jobmanager.memory.flink.size",
    "kubernetes.jobmanager.",
};

bool has_prefix(const configuration& conf, std::string_view prefix) {
    const auto at = conf.lower_bound(std::string(prefix));
    return at != conf.end() && at->first.starts_with(prefix);
}

/// The memory that Flink's defaults need of a slot, and the configuration that changes them.
struct kind_of_pod {
    std::string_view name;
    std::int64_t least_mib;
    std::string_view memory_keys;
};
constexpr kind_of_pod task_manager{"TaskManager", least_slot_mib, "taskmanager.memory."};
constexpr kind_of_pod job_manager{"JobManager", least_coordinator_mib, "jobmanager.memory."};

/// True: the user divides the memory, so Flink's defaults do not apply.
bool divides_memory(const spec& from, const kind_of_pod& pod) {
    return has_prefix(from.configuration, pod.memory_keys);
}

/// Why a slot of this size has no cpu or no memory, or too little memory for Flink's defaults.
std::optional<spec_problem> judge_size(const model::resource_list& slot, const kind_of_pod& pod,
                                       const std::function<bool()>& divided) {
    const auto memory = slot.find("memory");
    if (memory == slot.end() || !slot.contains("cpu")) {
        return spec_problem{"SlotTooSmall", "the slots have no cpu or no memory"};
    }
    const auto mebibytes = mebibytes_of(memory->second.milli);
    if (mebibytes >= pod.least_mib || divided()) return std::nullopt;
    return spec_problem{"SlotTooSmall",
                        fmt::format("a slot has {} MiB, a {} needs at least {} MiB with Flink's "
                                    "defaults; set {}* in flinkSpec.flinkConfiguration "
                                    "to divide less",
                                    mebibytes, pod.name, pod.least_mib, pod.memory_keys)};
}

std::optional<spec_problem> judge_parallelism(const spec& from, std::int64_t slots) {
    const auto fits = slots * from.task_slots;
    if (!from.parallelism || *from.parallelism == fits) return std::nullopt;
    const auto needed = (*from.parallelism + from.task_slots - 1) / from.task_slots;
    return spec_problem{
        "ParallelismMismatch",
        fmt::format("flinkSpec.parallelism is {}, which needs {} slots of {} task slots each; the "
                    "job has {} slots, which are filled by {}: leave parallelism out, or give the "
                    "job that number of slots",
                    *from.parallelism, needed, from.task_slots, slots, fits)};
}

}  // namespace

void take_own_configuration(configuration& conf, bool coordinator_in_slot,
                            std::vector<std::string>& overridden) {
    for (auto at = conf.begin(); at != conf.end();) {
        const auto is_it = [&](std::string_view key) { return at->first.starts_with(key); };
        const bool ours = std::ranges::any_of(own_conf, is_it) ||
                          (coordinator_in_slot && std::ranges::any_of(own_coordinator_conf, is_it));
        if (ours) overridden.push_back(fmt::format("flinkConfiguration[{}]", at->first));
        at = ours ? conf.erase(at) : std::next(at);
    }
}

std::string_view restart_strategy_key(std::pair<int, int> version) {
    return version >= std::pair(1, 19) ? "restart-strategy.type" : "restart-strategy";
}

std::optional<spec_problem> judge(const spec& from, const build_request& request, size_from size) {
    if (request.job.name.size() > longest_name) {
        return spec_problem{"NameTooLong",
                            fmt::format("the job's name has {} characters, a Flink job "
                                        "may have {}: rename the BatchJob",
                                        request.job.name.size(), longest_name)};
    }
    if (size == size_from::slot) {
        const auto slots = static_cast<std::int64_t>(request.slot_ids.size());
        if (auto why = judge_parallelism(from, slots)) return why;
    }
    if (const auto& place = request.coordinator) {
        auto why =
            judge_size(place->size, job_manager, [&] { return divides_memory(from, job_manager); });
        if (why) return why;
    }
    return judge_size(request.slot_size, task_manager,
                      [&] { return divides_memory(from, task_manager); });
}

namespace {

std::optional<spec_problem> judge_slot_of(const kind_of_pod& pod, const model::raw_json& text,
                                          const model::resource_list& slot) {
    return judge_size(slot, pod, [&] {
        const auto from = read_spec(text);
        // The check of the spec reports the error.
        return !from || divides_memory(*from, pod);
    });
}

}  // namespace

std::optional<spec_problem> judge_slot(const model::raw_json& text,
                                       const model::resource_list& slot) {
    return judge_slot_of(task_manager, text, slot);
}

std::optional<spec_problem> judge_coordinator_slot(const model::raw_json& text,
                                                   const model::resource_list& slot) {
    return judge_slot_of(job_manager, text, slot);
}

const json& pod_in_template(const json& role) {
    static const json none = json::object();
    const auto* whole = member(role, "podTemplate");
    const auto* pod = whole ? member(*whole, "spec") : nullptr;
    return pod && pod->is_object() ? *pod : none;
}

model::amounts least_size(const model::raw_json& text, pod_role of, bool by_slot, templates has) {
    const auto from = read_spec(text);
    if (!from) return {};
    const bool worker = of != pod_role::coordinator;
    model::amounts main;
    if (!by_slot) {
        const auto memory_key = [&](const char* which) {
            return fmt::format("{}.memory.{}.size", worker ? "taskmanager" : "jobmanager", which);
        };
        main = worker ? from->task_manager_size : from->job_manager_size;
        for (const char* which : {"process", "flink"}) {
            const auto given = from->configuration.find(memory_key(which));
            if (given == from->configuration.end()) continue;
            if (const auto mib = mebibytes_in(given->second, 1)) {
                model::raise(main, {{"memory", amount_of_mebibytes(*mib)}});
            }
        }
    }
    if (has == templates::ignored) return main;
    const auto& pod = pod_in_template(worker ? from->task_manager : from->job_manager);
    return requests_of(pod, main_container, main, init_containers::all);
}

}  // namespace esi::batchjob::flink
