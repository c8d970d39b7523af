#include "kubectl-esi/doctor/facts.h"

#include <nlohmann/json.hpp>

namespace esi::kubectl::doctor {

namespace {

using json = nlohmann::json;

/// The account of Flink's pods if flinkSpec names none (docs/user-guide.md).
constexpr const char* flink_account = "flink";

std::string text_at(const std::optional<model::raw_json>& spec, const char* path) {
    if (!spec) return {};
    const auto body = json::parse(spec->text, nullptr, false);
    const json::json_pointer at(path);
    if (!body.is_object() || !body.contains(at) || !body[at].is_string()) return {};
    return body[at].get<std::string>();
}

}  // namespace

std::string operator_fact::argument(std::string_view flag) const {
    const auto start = std::string(flag) + "=";
    for (const auto& each : arguments) {
        if (each.starts_with(start)) return each.substr(start.size());
    }
    return {};
}

const operator_fact* facts::find_operator(std::string_view name) const {
    for (const auto& each : operators) {
        if (each.name == name) return &each;
    }
    return nullptr;
}

model::object_key account_of(const model::batchjob& job) {
    model::object_key out{job.metadata.namespace_, {}};
    if (job.spec.spark_spec) {
        out.name = text_at(job.spec.spark_spec, "/driver/serviceAccount");
    } else if (job.spec.flink_spec) {
        out.name = text_at(job.spec.flink_spec, "/serviceAccount");
        if (out.name.empty()) out.name = flink_account;
    }
    return out;
}

}  // namespace esi::kubectl::doctor
