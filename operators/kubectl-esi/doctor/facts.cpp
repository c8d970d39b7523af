#include "kubectl-esi/doctor/facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace esi::kubectl::doctor {

namespace {

using json = nlohmann::json;

std::string text_at(const model::raw_json& spec, std::string_view path) {
    const auto body = json::parse(spec.text, nullptr, false);
    const json::json_pointer at{std::string(path)};
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

bool operator_fact::has(std::string_view flag) const {
    return std::ranges::find(arguments, flag) != arguments.end();
}

const operator_fact* facts::find_operator(std::string_view name) const {
    for (const auto& each : operators) {
        if (each.name == name) return &each;
    }
    return nullptr;
}

const model::testbed* facts::find_testbed(const model::object_key& key) const {
    for (const auto& each : testbeds) {
        if (each->metadata.key() == key) return each.get();
    }
    return nullptr;
}

model::object_key account_of(const model::batchjob& job) {
    model::object_key out{job.metadata.namespace_, {}};
    const auto* kind = model::kind_of(job.spec);
    if (kind == nullptr || kind->account_at.empty()) return out;
    if (const auto& spec = job.spec.*kind->spec) out.name = text_at(*spec, kind->account_at);
    if (out.name.empty()) out.name = kind->usual_account;
    return out;
}

}  // namespace esi::kubectl::doctor
