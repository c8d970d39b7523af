#include "neighbours/spark/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/fields.h"
#include "base/hash.h"

namespace esi::simulation::spark {

namespace {

constexpr std::int64_t least_overhead_mib = 384;

std::uint64_t hash_of(std::string_view text, std::uint64_t start) {
    const auto hash = fnv1a(text, fnv1a_basis ^ start);
    return hash ^ (hash >> 29);
}

std::string_view conf(const json& application, std::string_view key) {
    return fields::text(application, {"spec", "sparkConf", key});
}

/// Heap and overhead together. Source: KubernetesConf, BasicDriverFeatureStep,
/// ResourceProfile.calculateOverHeadMemory.
std::int64_t memory_of(const json& application, std::string_view role) {
    const auto heap = mebibytes(fields::text(application, {"spec", role, "memory"})).value_or(1024);
    if (const auto given = mebibytes(fields::text(application, {"spec", role, "memoryOverhead"}))) {
        return heap + *given;
    }
    const auto type = fields::text(application, {"spec", "type"});
    const auto percent = type == "Python" || type == "R" ? 40 : 10;
    return heap + std::max(least_overhead_mib, heap * percent / 100);
}

std::string cpu_of(const json& application, std::string_view role) {
    const auto request = fields::text(application, {"spec", role, "coreRequest"});
    if (!request.empty()) return std::string(request);
    return std::to_string(fields::number(application, {"spec", role, "cores"}, 1));
}

json& object_in(json& parent, const char* key) {
    auto& at = parent[key];
    if (!at.is_object()) at = json::object();
    return at;
}

/// The container with Spark's name, or the first, or a new one.
json& container_of(json& spec, const std::string& name) {
    auto& all = spec["containers"];
    if (!all.is_array()) all = json::array();
    for (auto& one : all) {
        if (fields::text(one, {"name"}) == name) return one;
    }
    if (all.empty()) all.push_back(json::object());
    auto& first = all.front();
    first["name"] = name;
    return first;
}

/// Template, then the role's labels and annotations, then Spark's.
json pod_of(const json& application, const char* role, json labels) {
    json pod = json::object();
    if (const auto* given = fields::find(application, {"spec", role, "template"});
        given && given->is_object()) {
        pod = *given;
    }
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    auto& metadata = object_in(pod, "metadata");
    metadata["namespace"] = fields::text(application, {"metadata", "namespace"});
    auto& all_labels = object_in(metadata, "labels");
    auto& annotations = object_in(metadata, "annotations");
    if (const auto* own = fields::find(application, {"spec", role, "labels"})) {
        all_labels.update(*own);
    }
    if (const auto* own = fields::find(application, {"spec", role, "annotations"})) {
        annotations.update(*own);
    }
    labels["spark-role"] = role;
    labels["spark-app-name"] = fields::text(application, {"metadata", "name"});
    labels["spark-version"] = fields::text(application, {"spec", "sparkVersion"});
    labels["sparkoperator.k8s.io/app-name"] = fields::text(application, {"metadata", "name"});
    labels["sparkoperator.k8s.io/launched-by-spark-operator"] = "true";
    all_labels.update(labels);
    if (annotations.empty()) metadata.erase("annotations");

    auto& spec = object_in(pod, "spec");
    spec["restartPolicy"] = "Never";
    auto& container = container_of(spec, fmt::format("spark-kubernetes-{}", role));
    const auto image = fields::text(application, {"spec", "image"});
    container["image"] = image.empty() ? std::string_view("apache/spark:4.0.1") : image;
    container["args"] = json::array({role});
    auto& resources = object_in(container, "resources");
    const auto memory = fmt::format("{}Mi", memory_of(application, role));
    auto& requests = object_in(resources, "requests");
    auto& limits = object_in(resources, "limits");
    requests["cpu"] = cpu_of(application, role);
    requests["memory"] = memory;
    limits["memory"] = memory;
    const auto cpu_limit = fields::text(application, {"spec", role, "coreLimit"});
    if (!cpu_limit.empty()) limits["cpu"] = cpu_limit;

    const auto account = fields::text(application, {"spec", role, "serviceAccount"});
    if (!account.empty()) spec["serviceAccountName"] = account;
    const auto scheduler =
        conf(application, fmt::format("spark.kubernetes.{}.scheduler.name", role));
    if (!scheduler.empty()) spec["schedulerName"] = scheduler;
    return pod;
}

}  // namespace

std::string digits_of(std::string_view text, std::size_t count) {
    std::string out;
    for (std::uint64_t part = 0; out.size() < count; ++part) {
        out += fmt::format("{:016x}", hash_of(text, part * 0x9e3779b97f4a7c15ULL));
    }
    out.resize(count);
    return out;
}

submission submission_of(const json& application) {
    const auto uid = fields::text(application, {"metadata", "uid"});
    const auto attempt = fields::number(application, {"status", "submissionAttempts"}) + 1;
    const auto digits = digits_of(fmt::format("{} {}", uid, attempt), 64);
    const std::string_view d = digits;
    return {fmt::format("{}-{}-4{}-8{}-{}", d.substr(0, 8), d.substr(8, 4), d.substr(12, 3),
                        d.substr(15, 3), d.substr(18, 12)),
            fmt::format("spark-{}", d.substr(32, 32)),
            fmt::format("{}-driver", fields::text(application, {"metadata", "name"}))};
}

std::optional<std::int64_t> mebibytes(std::string_view text) {
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || value <= 0) return std::nullopt;
    const std::string_view unit(at, static_cast<std::size_t>(end - at));
    if (unit.empty() || unit == "m" || unit == "M" || unit == "mb") return value;
    if (unit == "g" || unit == "G" || unit == "gb") return value * 1024;
    if (unit == "k" || unit == "K" || unit == "kb") return value / 1024;
    return std::nullopt;
}

int executors_of(const json& application) {
    return static_cast<int>(fields::number(application, {"spec", "executor", "instances"}, 1));
}

json driver_pod(const json& application, const submission& as) {
    json pod = pod_of(
        application, "driver",
        {{"sparkoperator.k8s.io/submission-id", as.id}, {"spark-app-selector", as.application_id}});
    auto& metadata = pod["metadata"];
    metadata["name"] = as.driver_pod;
    metadata["ownerReferences"] =
        json::array({{{"apiVersion", application.at("apiVersion")},
                      {"kind", application.at("kind")},
                      {"name", fields::text(application, {"metadata", "name"})},
                      {"uid", fields::text(application, {"metadata", "uid"})},
                      {"controller", true},
                      {"blockOwnerDeletion", true}}});
    return pod;
}

json executor_pod(const json& application, const json& driver, int number) {
    const auto selector = fields::label(driver, "spark-app-selector");
    json pod = pod_of(application, "executor",
                      {{"sparkoperator.k8s.io/submission-id",
                        fields::label(driver, "sparkoperator.k8s.io/submission-id")},
                       {"spark-app-selector", selector},
                       {"spark-exec-id", std::to_string(number)},
                       {"spark-exec-resourceprofile-id", "0"}});
    auto& metadata = pod["metadata"];
    metadata["name"] =
        fmt::format("{}-{}-exec-{}", fields::text(application, {"metadata", "name"}),
                    digits_of(fields::text(driver, {"metadata", "uid"}), 16), number);
    metadata["ownerReferences"] =
        json::array({{{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"name", fields::text(driver, {"metadata", "name"})},
                      {"uid", fields::text(driver, {"metadata", "uid"})},
                      {"controller", true}}});
    return pod;
}

}  // namespace esi::simulation::spark
