#include "batchjob/backends/flink/spec.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

#include "batchjob/backends/json_parts.h"
#include "batchjob/backends/pod_size.h"

namespace esi::batchjob::flink {

namespace {

/// Takes the members of a flinkSpec one by one; remembers the first that has a wrong type.
class reader {
public:
    explicit reader(json& from) : from_(from) {}

    /// Takes the member out and returns it; nothing if it is absent or null.
    std::optional<json> take(const std::string& key) {
        const auto at = from_.find(key);
        if (at == from_.end()) return std::nullopt;
        json value = std::move(*at);
        from_.erase(at);
        return value.is_null() ? std::nullopt : std::optional(std::move(value));
    }
    void text(const std::string& key, std::string& out) {
        const auto value = take(key);
        if (!value) return;
        if (!value->is_string()) return wrong(key, "a text");
        out = value->get<std::string>();
    }
    void texts(const std::string& key, std::vector<std::string>& out) {
        const auto value = take(key);
        if (!value) return;
        if (!value->is_array()) return wrong(key, "a list of texts");
        for (const auto& item : *value) {
            if (!item.is_string()) return wrong(key, "a list of texts");
            out.push_back(item.get<std::string>());
        }
    }
    std::optional<std::int64_t> count(const std::string& key) {
        const auto value = take(key);
        if (!value) return std::nullopt;
        // The bound is far above any cluster's size; a product of two such numbers still fits.
        constexpr std::int64_t most = 1'000'000;
        if (!value->is_number_integer() || *value < 1 || *value > most) {
            wrong(key, fmt::format("a whole number from 1 to {}", most));
            return std::nullopt;
        }
        return value->get<std::int64_t>();
    }
    std::optional<bool> truth(const std::string& key) {
        const auto value = take(key);
        if (!value) return std::nullopt;
        if (!value->is_boolean()) {
            wrong(key, "true or false");
            return std::nullopt;
        }
        return value->get<bool>();
    }
    /// Empty if the member is absent.
    json of_type(const std::string& key, json empty, std::string_view what) {
        auto value = take(key);
        if (!value) return empty;
        if (value->type() == empty.type()) return std::move(*value);
        wrong(key, what);
        return empty;
    }
    json object(const std::string& key) { return of_type(key, json::object(), "an object"); }
    json list(const std::string& key) { return of_type(key, json::array(), "a list"); }

    void wrong(std::string_view key, std::string_view what) {
        if (problem_) return;
        problem_ = spec_problem{"SpecMalformed", fmt::format("flinkSpec.{} must be {}", key, what)};
    }
    void refuse(std::string reason, std::string text) {
        if (!problem_) problem_ = spec_problem{std::move(reason), std::move(text)};
    }
    const std::optional<spec_problem>& problem() const { return problem_; }

private:
    json& from_;
    std::optional<spec_problem> problem_;
};

void read_configuration(reader& in, spec& out) {
    for (const auto& [key, value] : in.object("flinkConfiguration").items()) {
        if (value.is_null()) continue;
        if (value.is_structured()) {
            return in.wrong("flinkConfiguration." + key, "a text, a number or a truth value");
        }
        out.configuration[key] = conf_text(value);
    }
}

void read_restart(reader& in, spec& out) {
    std::string policy;
    in.text("restartPolicy", policy);
    out.restart_from_savepoint = policy == "FromSavepointOnFailure";
    if (!policy.empty() && policy != "Never" && !out.restart_from_savepoint) {
        in.wrong("restartPolicy", "Never or FromSavepointOnFailure");
    }
    if (out.savepoints_dir.empty() && out.restart_from_savepoint) {
        in.refuse("SavepointsDirMissing",
                  "flinkSpec.restartPolicy FromSavepointOnFailure needs flinkSpec.savepointsDir: "
                  "without it there is nothing to begin again from");
    }
    if (out.savepoints_dir.empty() && out.auto_savepoint_seconds > 0) {
        in.refuse("SavepointsDirMissing",
                  "flinkSpec.autoSavepointSeconds needs flinkSpec.savepointsDir");
    }
}

/// The value of a quantity; 0 if the text is none.
std::int64_t milli_of(std::string_view text) {
    const auto parsed = model::quantity::parse(text);
    return parsed ? parsed->milli : 0;
}

/// Adds cpu and memory of a container's `resources`: its requests, else its limits, as Kubernetes
/// takes them. `path`: of the resources, for messages.
void read_requests(reader& in, const json& resources, std::string_view path, model::amounts& out) {
    for (const std::string name : {"cpu", "memory"}) {
        for (const std::string from : {"requests", "limits"}) {
            const auto* list = member(resources, from);
            const auto* value = list ? member(*list, name) : nullptr;
            if (!value) continue;
            out[name] = milli_of(conf_text(*value));
            if (out[name] <= 0) {
                return in.wrong(fmt::format("{}.{}.{}", path, from, name), "a quantity above 0");
            }
            break;
        }
    }
}

/// The same of a FlinkDeployment's `resource`, whose memory is written as Flink does ("1600m").
void read_resource(reader& in, const json& resource, model::amounts& out) {
    if (const auto* cpu = member(resource, "cpu")) {
        out["cpu"] = milli_of(conf_text(*cpu));
        if (out["cpu"] <= 0) return in.wrong("taskManager.resource.cpu", "a number above 0");
    }
    if (const auto* memory = member(resource, "memory")) {
        const auto text = conf_text(*memory);
        const auto mib = mebibytes_in(text, 1);
        const auto amount = mib ? amount_of_mebibytes(*mib) : milli_of(text);
        if (amount <= 0) {
            return in.wrong("taskManager.resource.memory", "an amount of memory such as 1600m");
        }
        out["memory"] = amount;
    }
}

void read_job_manager(reader& in, spec& out) {
    read_requests(in, in.object("resources"), "resources", out.job_manager_size);
    out.pod_labels = in.object("podLabels");
    out.pod_annotations = in.object("podAnnotations");
    for (const std::string key : {"volumes", "initContainers", "tolerations", "hostAliases"}) {
        auto list = in.list(key);
        if (!list.empty()) out.pod_lists[key] = std::move(list);
    }
    for (const std::string key : {"affinity", "nodeSelector", "securityContext"}) {
        auto value = in.object(key);
        if (!value.empty()) out.pod_values[key] = std::move(value);
    }
    out.volume_mounts = in.list("volumeMounts");
}

/// {"podTemplate": ...}; ESI sets number and size, other keys have no counterpart.
json read_role(reader& in, const std::string& role, spec& out) {
    json whole = in.object(role);
    json kept = json::object();
    for (auto& [key, value] : whole.items()) {
        if (role == "taskManager" && key == "resource") {
            read_resource(in, value, out.task_manager_size);
        } else if (role == "taskManager" && key == "resources") {
            read_requests(in, value, "taskManager.resources", out.task_manager_size);
        }
        if (key == "podTemplate") {
            kept[key] = std::move(value);
        } else if (key == "replicas" || key == "resource" || key == "resources") {
            out.overridden.push_back(role + "." + key);
        } else {
            out.ignored.push_back(role + "." + key);
        }
    }
    return kept;
}

std::string nothing_to_run() {
    return "flinkSpec names no program: give jarFile, pyFile, pyModule, or className for a class "
           "that the image has on its class path";
}

}  // namespace

std::expected<spec, spec_problem> read_spec(const model::raw_json& text) {
    json whole = json::parse(text.text, nullptr, false);
    if (!whole.is_object()) {
        return std::unexpected(spec_problem{"SpecMalformed", "flinkSpec must be an object"});
    }
    reader in(whole);
    spec out;
    in.text("image", out.image);
    in.text("imagePullPolicy", out.image_pull_policy);
    in.text("flinkVersion", out.version);
    in.text("serviceAccount", out.service_account);
    out.task_slots = in.count("taskSlots").value_or(1);
    read_configuration(in, out);
    in.text("jarFile", out.jar_file);
    in.text("className", out.class_name);
    in.texts("args", out.args);
    out.parallelism = in.count("parallelism");
    in.text("pyFile", out.py_file);
    in.text("pyModule", out.py_module);
    in.text("pyFiles", out.py_files);
    in.text("fromSavepoint", out.from_savepoint);
    out.allow_non_restored_state = in.truth("allowNonRestoredState");
    in.text("savepointsDir", out.savepoints_dir);
    out.auto_savepoint_seconds = in.count("autoSavepointSeconds").value_or(0);
    read_restart(in, out);
    read_job_manager(in, out);
    out.job_manager = read_role(in, "jobManager", out);
    out.task_manager = read_role(in, "taskManager", out);

    if (!out.py_file.empty() && !out.py_module.empty()) {
        in.refuse("SpecMalformed", "flinkSpec has pyFile and pyModule: only one can be run");
    }
    if (out.jar_file.empty() && out.class_name.empty() && out.py_file.empty() &&
        out.py_module.empty()) {
        in.refuse("SpecMalformed", nothing_to_run());
    }
    if (!out.version.empty() && !version_number(out.version)) {
        in.wrong("flinkVersion", "of the form v1_20");
    }
    if (const auto& problem = in.problem()) return std::unexpected(*problem);
    for (const auto& [key, value] : whole.items()) {
        if (!value.is_null()) out.ignored.push_back(key);
    }
    return out;
}

std::optional<std::pair<int, int>> version_number(std::string_view version) {
    const auto bar = version.find('_');
    if (!version.starts_with('v') || bar == std::string_view::npos) return std::nullopt;
    const auto number = [](std::string_view text) -> std::optional<int> {
        int out = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), out);
        const bool whole = failed == std::errc() && end == text.data() + text.size();
        return whole && out >= 0 ? std::optional(out) : std::nullopt;
    };
    const auto major = number(version.substr(1, bar - 1));
    const auto minor = number(version.substr(bar + 1));
    if (!major || !minor) return std::nullopt;
    return std::pair(*major, *minor);
}

double cores_of(std::int64_t cpu) { return static_cast<double>(cpu) / 1000; }

std::int64_t mebibytes_of(std::int64_t memory) { return memory / 1000 / (1024 * 1024); }

}  // namespace esi::batchjob::flink
