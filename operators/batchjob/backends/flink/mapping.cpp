#include "batchjob/backends/flink/mapping.h"

#include <fmt/format.h>

#include "batchjob/backends/flink/configuration.h"
#include "batchjob/backends/flink/memory.h"
#include "batchjob/backends/flink/spec.h"
#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/marks.h"
#include "batchjob/backends/pod_size.h"
#include "batchjob/backends/pod_template.h"
#include "kube/resource.h"

namespace esi::batchjob::flink {

namespace {

constexpr const char* python_driver = "org.apache.flink.client.python.PythonDriver";
/// The folder of Flink in Flink's images; relative paths of a program begin there.
constexpr std::string_view home = "/opt/flink/";

/// The user's own value stays unless flinkSpec's key sets another.
constexpr std::string_view savepoint_interval = "kubernetes.operator.periodic.savepoint.interval";

void set(configuration& conf, std::string_view key, std::string value,
         std::vector<std::string>& overridden) {
    const auto [at, fresh] = conf.try_emplace(std::string(key), value);
    if (fresh) return;
    if (at->second != value) overridden.push_back(fmt::format("flinkConfiguration[{}]", key));
    at->second = std::move(value);
}

configuration configuration_of(const spec& from, std::pair<int, int> version,
                               bool coordinator_in_slot, std::vector<std::string>& overridden) {
    auto out = from.configuration;
    take_own_configuration(out, coordinator_in_slot, overridden);
    const bool second_age = version.first >= 2;
    if (!from.savepoints_dir.empty()) {
        set(out, second_age ? "execution.checkpointing.savepoint-dir" : "state.savepoints.dir",
            from.savepoints_dir, overridden);
    }
    if (from.auto_savepoint_seconds > 0) {
        set(out, savepoint_interval, fmt::format("{} s", from.auto_savepoint_seconds), overridden);
    }
    if (from.restart_from_savepoint) {
        // The operator requires a place for checkpoints; the user's own one stays.
        out.try_emplace(second_age ? "execution.checkpointing.dir" : "state.checkpoints.dir",
                        from.savepoints_dir);
    }
    out["taskmanager.numberOfTaskSlots"] = std::to_string(from.task_slots);
    // A run is one execution: its time is measured, its end is final.
    out[std::string(restart_strategy_key(version))] = "none";
    out["kubernetes.operator.job.restart.failed"] = from.restart_from_savepoint ? "true" : "false";
    // Otherwise a finished deployment is deployed again once its time to live has passed.
    out["kubernetes.operator.jm-deployment-recovery.enabled"] = "false";
    // In milliseconds. Flink gives up after 5 minutes without all TaskManagers, the time that their
    // way into the slots may take; ESI's own time-outs shall end it first.
    out.try_emplace("slot.request.timeout", "600000");
    return out;
}

json job_of(const spec& from, std::int64_t parallelism, std::vector<std::string>& overridden) {
    json out{{"parallelism", parallelism},
             {"state", "running"},
             {"upgradeMode", from.restart_from_savepoint ? "savepoint" : "stateless"}};
    auto args = from.args;
    auto entry = from.class_name;
    if (const bool python = !from.py_file.empty() || !from.py_module.empty(); python) {
        if (!entry.empty() && entry != python_driver) overridden.push_back("className");
        entry = python_driver;
        std::vector<std::string> first;
        if (!from.py_file.empty()) {
            first = {"-py", from.py_file};
        } else {
            first = {"-pym", from.py_module};
        }
        if (!from.py_files.empty()) first.insert(first.end(), {"-pyfs", from.py_files});
        args.insert(args.begin(), first.begin(), first.end());
    }
    if (!from.jar_file.empty()) out["jarURI"] = jar_uri(from.jar_file);
    if (!entry.empty()) out["entryClass"] = entry;
    if (!args.empty()) out["args"] = args;
    if (!from.from_savepoint.empty()) out["initialSavepointPath"] = from.from_savepoint;
    if (from.allow_non_restored_state) {
        out["allowNonRestoredState"] = *from.allow_non_restored_state;
    }
    return out;
}

json size_of(double cores, std::int64_t mebibytes) {
    // Flink reads "1792m" as MiB; as a Kubernetes quantity only if that fails.
    return {{"cpu", cores}, {"memory", fmt::format("{}m", mebibytes)}};
}

/// The values of a slot that judge() has accepted.
json size_of(const model::resource_list& slot) {
    return size_of(cores_of(slot.find("cpu")->second.milli),
                   mebibytes_of(slot.find("memory")->second.milli));
}

std::expected<json, spec_problem> job_manager_of(const spec& from, const build_request& request,
                                                 const placement_options& options,
                                                 const defaults& otherwise,
                                                 std::vector<std::string>& overridden) {
    const auto cpu = model::quantity::parse(otherwise.job_manager_cpu);
    const auto memory = model::quantity::parse(otherwise.job_manager_memory);
    if (!cpu || !memory) {
        return std::unexpected(
            spec_problem{"FlagsMalformed",
                         "--flink-job-manager-cpu and --flink-job-manager-memory of the "
                         "operator must be quantities"});
    }
    json out = from.job_manager;
    out["replicas"] = 1;
    const auto& place = request.coordinator;
    const auto& asked = from.job_manager_size;
    if (place) {
        if (!asked.empty()) overridden.push_back("resources");
        out["resource"] =
            size_of(room_for_main(place->size, pod_in_template(from.job_manager), main_container));
    } else {
        const auto or_else = [&](const char* name, const model::quantity& usual) {
            const auto at = asked.find(name);
            return at == asked.end() ? usual.milli : at->second;
        };
        out["resource"] =
            size_of(cores_of(or_else("cpu", *cpu)), mebibytes_of(or_else("memory", *memory)));
    }
    pod_template pods(out, "podTemplate", "flinkSpec", "jobManager", main_container);
    if (!pods.open() || !pods.clean_metadata(overridden)) return std::unexpected(pods.problem());
    for (const auto& [key, list] : from.pod_lists) {
        for (const auto& item : list) {
            if (!pods.append(key, item)) return std::unexpected(pods.problem());
        }
    }
    for (const auto& [key, value] : from.pod_values) pods.override_pod(key, value, overridden);
    pods.limit_grace(options.max_termination_grace, overridden);
    if (!from.volume_mounts.empty()) {
        auto* mounts = typed_in(pods.container(), "volumeMounts", json::array());
        if (!mounts) {
            return std::unexpected(
                spec_problem{"SpecMalformed",
                             "flinkSpec.jobManager.podTemplate.spec.containers: volumeMounts "
                             "must be a list"});
        }
        mounts->insert(mounts->end(), from.volume_mounts.begin(), from.volume_mounts.end());
    }
    auto labels = from.pod_labels;
    auto annotations = from.pod_annotations;
    take_own_prefix(labels, "podLabels", overridden);
    take_own_prefix(annotations, "podAnnotations", overridden);
    labels.update(place ? slot_labels(request) : job_labels(request));
    annotations.update(place ? slot_annotations(request, pod_role::coordinator)
                             : run_annotations(request));
    if (!pods.mark(labels, annotations) || !(place ? pods.take_slots(request, options, overridden)
                                                   : pods.stay_off(request, overridden))) {
        return std::unexpected(pods.problem());
    }
    return out;
}

std::expected<json, spec_problem> task_manager_of(const spec& from, const build_request& request,
                                                  const placement_options& options, json size,
                                                  std::vector<std::string>& overridden) {
    json out = from.task_manager;
    out["replicas"] = request.slot_ids.size();
    out["resource"] = std::move(size);
    pod_template pods(out, "podTemplate", "flinkSpec", "taskManager", main_container);
    if (!pods.open() || !pods.clean_metadata(overridden) ||
        !pods.mark(slot_labels(request), slot_annotations(request)) ||
        !pods.take_slots(request, options, overridden)) {
        return std::unexpected(pods.problem());
    }
    pods.limit_grace(options.max_termination_grace, overridden);
    return out;
}

}  // namespace

std::string jar_uri(const std::string& file) {
    if (file.contains("://")) return file;
    if (file.starts_with('/')) return "local://" + file;
    std::string_view rest = file;
    while (rest.starts_with("./")) rest.remove_prefix(2);
    return fmt::format("local://{}{}", home, rest);
}

std::expected<built, spec_problem> map(const build_request& request,
                                       const placement_options& options, const defaults& otherwise,
                                       size_from size) {
    auto from = read_spec(request.spec);
    if (!from) return std::unexpected(from.error());
    if (auto why = judge(*from, request, size)) return std::unexpected(std::move(*why));
    const auto slots = static_cast<std::int64_t>(request.slot_ids.size());
    auto worker_size = size_of(
        room_for_main(request.slot_size, pod_in_template(from->task_manager), main_container));

    built out;
    out.overridden = std::move(from->overridden);
    out.ignored = std::move(from->ignored);
    const auto version = from->version.empty() ? otherwise.version : from->version;
    auto conf = configuration_of(*from, version_number(version).value_or(std::pair(1, 20)),
                                 request.coordinator.has_value(), out.overridden);
    auto job = job_of(*from, slots * from->task_slots, out.overridden);
    auto manager = job_manager_of(*from, request, options, otherwise, out.overridden);
    if (!manager) return std::unexpected(manager.error());
    auto workers = task_manager_of(*from, request, options, std::move(worker_size), out.overridden);
    if (!workers) return std::unexpected(workers.error());

    json spec{{"image", from->image.empty() ? otherwise.image : from->image},
              {"flinkVersion", version},
              {"mode", "standalone"},
              {"serviceAccount", from->service_account.empty() ? "flink" : from->service_account},
              {"flinkConfiguration", std::move(conf)},
              {"job", std::move(job)},
              {"jobManager", std::move(*manager)},
              {"taskManager", std::move(*workers)}};
    if (!from->image_pull_policy.empty()) spec["imagePullPolicy"] = from->image_pull_policy;
    out.object = {{"apiVersion", kube::types::flink_deployment.api_version()},
                  {"kind", kube::types::flink_deployment.kind},
                  {"metadata", application_metadata(request)},
                  {"spec", std::move(spec)}};
    return out;
}

}  // namespace esi::batchjob::flink
