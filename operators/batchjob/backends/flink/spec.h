// A flinkSpec as ESI reads it: the supported keys, typed, each read once. The remaining keys are
// not supported. Pure.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "batchjob/backends/backend.h"

namespace esi::batchjob::flink {

struct spec {
    std::string image;
    std::string image_pull_policy;
    std::string version;
    std::string service_account;
    std::int64_t task_slots = 1;
    /// flinkConfiguration, values as Flink writes them.
    std::map<std::string, std::string> configuration;

    std::string jar_file;
    std::string class_name;
    std::vector<std::string> args;
    std::optional<std::int64_t> parallelism;
    std::string py_file;
    std::string py_module;
    std::string py_files;

    std::string from_savepoint;
    std::optional<bool> allow_non_restored_state;
    std::string savepoints_dir;
    std::int64_t auto_savepoint_seconds = 0;
    /// True: restartPolicy is FromSavepointOnFailure; else Never.
    bool restart_from_savepoint = false;

    /// cpu and memory that the user asks for: of the JobManager, in which main() runs, and of a
    /// TaskManager.
    model::amounts job_manager_size;
    model::amounts task_manager_size;
    /// podLabels, podAnnotations.
    json pod_labels = json::object();
    json pod_annotations = json::object();
    /// Members of the JobManager's pod: lists that are added, values that are set.
    std::map<std::string, json> pod_lists;
    std::map<std::string, json> pod_values;
    json volume_mounts = json::array();
    /// The user's own templates: {"podTemplate": ...} each.
    json job_manager = json::object();
    json task_manager = json::object();

    /// Keys that ESI sets itself, and keys without a counterpart.
    std::vector<std::string> overridden;
    std::vector<std::string> ignored;
};

std::expected<spec, spec_problem> read_spec(const model::raw_json& text);

/// "v1_18" -> {1, 18}; nothing if the form is another.
std::optional<std::pair<int, int>> version_number(std::string_view version);

/// Cores with three digits, and whole MiB rounded down; of thousandths.
double cores_of(std::int64_t cpu);
std::int64_t mebibytes_of(std::int64_t memory);

}  // namespace esi::batchjob::flink
