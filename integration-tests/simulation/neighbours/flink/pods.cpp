#include "neighbours/flink/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/fields.h"

namespace esi::simulation::flink {

namespace {

constexpr std::string_view main_container = "flink-main-container";
/// KubernetesConfigOptions: it is part of names of Services.
constexpr std::size_t longest_name = 45;

/// A number and what follows it, blanks aside.
std::optional<std::pair<std::int64_t, std::string_view>> split(std::string_view text) {
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || value < 0) return std::nullopt;
    std::string_view unit(at, static_cast<std::size_t>(end - at));
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    return std::pair(value, unit);
}

std::string_view conf(const json& deployment, std::string_view key) {
    return fields::text(deployment, {"spec", "flinkConfiguration", key});
}

json& object_in(json& parent, const char* key) {
    auto& at = parent[key];
    if (!at.is_object()) at = json::object();
    return at;
}

/// Members of objects one by one, elements of lists by their position.
void merge(json& into, const json& from) {
    if (into.is_object() && from.is_object()) {
        for (const auto& [key, value] : from.items()) merge(into[key], value);
        return;
    }
    if (into.is_array() && from.is_array()) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (i < into.size()) {
                merge(into[i], from[i]);
            } else {
                into.push_back(from[i]);
            }
        }
        return;
    }
    into = from;
}

json& container_of(json& spec) {
    auto& all = spec["containers"];
    if (!all.is_array()) all = json::array();
    for (auto& one : all) {
        if (fields::text(one, {"name"}) == main_container) return one;
    }
    all.push_back({{"name", main_container}});
    return all.back();
}

/// "600m" of 0.6
std::string cpu_of(const json& deployment, std::string_view role) {
    const auto* at = fields::find(deployment, {"spec", role, "resource", "cpu"});
    const double cores = at && at->is_number() ? at->get<double>() : 1.0;
    return fmt::format("{}m", std::llround(cores * 1000));
}

std::string_view memory_of(const json& deployment, std::string_view role) {
    return fields::text(deployment, {"spec", role, "resource", "memory"});
}

json pod_of(const json& deployment, const char* role, const char* component, const char* command) {
    json pod = json::object();
    for (const auto* given : {fields::find(deployment, {"spec", "podTemplate"}),
                              fields::find(deployment, {"spec", role, "podTemplate"})}) {
        if (given) merge(pod, *given);
    }
    auto& metadata = object_in(pod, "metadata");
    auto& labels = object_in(metadata, "labels");
    labels["app"] = fields::text(deployment, {"metadata", "name"});
    labels["component"] = component;
    labels["type"] = "flink-standalone-kubernetes";
    auto& spec = object_in(pod, "spec");
    auto& container = container_of(spec);
    container["image"] = fields::text(deployment, {"spec", "image"});
    container["command"] = json::array({"/docker-entrypoint.sh"});
    container["args"] = json::array({command});
    const json size{
        {"cpu", cpu_of(deployment, role)},
        {"memory", fmt::format("{}Mi", mebibytes(memory_of(deployment, role)).value_or(1024))}};
    container["resources"] = {{"requests", size}, {"limits", size}};
    const auto account = fields::text(deployment, {"spec", "serviceAccount"});
    if (!account.empty()) spec["serviceAccountName"] = account;
    return pod;
}

}  // namespace

std::optional<std::int64_t> mebibytes(std::string_view text) {
    const auto parts = split(text);
    if (!parts) return std::nullopt;
    const auto [value, unit] = *parts;
    if (unit == "m" || unit == "mb" || unit == "Mi") return value;
    if (unit == "g" || unit == "gb" || unit == "Gi") return value * 1024;
    if (unit == "k" || unit == "kb" || unit == "Ki") return value / 1024;
    if (unit.empty() || unit == "b") return value / (1024 * 1024);
    return std::nullopt;
}

std::optional<milliseconds> duration(std::string_view text) {
    const auto parts = split(text);
    if (!parts) return std::nullopt;
    const auto [value, unit] = *parts;
    if (unit.empty() || unit == "ms") return milliseconds(value);
    if (unit == "s" || unit == "sec") return seconds(value);
    if (unit == "m" || unit == "min") return std::chrono::minutes(value);
    if (unit == "h") return std::chrono::hours(value);
    return std::nullopt;
}

int task_managers_of(const json& deployment) {
    const auto replicas = fields::number(deployment, {"spec", "taskManager", "replicas"});
    if (replicas > 0) return static_cast<int>(replicas);
    const auto slots = std::max<std::int64_t>(
        1,
        split(conf(deployment, "taskmanager.numberOfTaskSlots")).value_or(std::pair(1, "")).first);
    const auto parallelism = fields::number(deployment, {"spec", "job", "parallelism"}, 1);
    return static_cast<int>((parallelism + slots - 1) / slots);
}

bool never_restarts(const json& deployment) {
    // Without checkpoints Flink's default is none as well.
    for (const char* key : {"restart-strategy.type", "restart-strategy"}) {
        const auto word = conf(deployment, key);
        if (!word.empty()) return word == "none" || word == "off" || word == "disable";
    }
    return true;
}

milliseconds patience_of(const json& deployment) {
    return duration(conf(deployment, "slot.request.timeout")).value_or(std::chrono::minutes(5));
}

std::string fault_in(const json& deployment) {
    if (fields::text(deployment, {"metadata", "name"}).size() > longest_name) {
        return "The FlinkDeployment name is too long";
    }
    for (const auto& [role, shown] :
         {std::pair("jobManager", "JobManager"), std::pair("taskManager", "TaskManager")}) {
        const auto text = memory_of(deployment, role);
        if (text.empty()) return fmt::format("{} resource memory must be defined.", shown);
        if (!mebibytes(text)) return fmt::format("{} resource memory parse error", shown);
    }
    if (fields::text(deployment, {"spec", "job", "jarURI"}).empty() &&
        fields::text(deployment, {"spec", "job", "entryClass"}).empty()) {
        return "Jar URI or entry class must be defined";
    }
    if (fields::number(deployment, {"spec", "taskManager", "replicas"}) <= 0 &&
        fields::number(deployment, {"spec", "job", "parallelism"}) <= 0) {
        return "Job parallelism must be larger than 0";
    }
    return {};
}

json job_manager_pod(const json& deployment) {
    json pod = pod_of(deployment, "jobManager", "jobmanager", "standalone-job");
    object_in(pod["metadata"], "annotations")["flinkdeployment.flink.apache.org/generation"] =
        std::to_string(fields::number(deployment, {"metadata", "generation"}));
    return pod;
}

json task_manager_pod(const json& deployment) {
    return pod_of(deployment, "taskManager", "taskmanager", "taskmanager");
}

}  // namespace esi::simulation::flink
