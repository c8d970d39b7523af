#include "testbed/room/admission.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbed/room/json_members.h"
#include "testbed/room/node_rules.h"

namespace esi::testbed {

using nlohmann::json;

namespace {

bool has_requirements(const json& term) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
        const auto* entries = list_in(term, list);
        if (entries && !entries->empty()) return true;
    }
    return false;
}

}  // namespace

std::optional<std::string> admission_refusal(const model::pod& pod, const model::node& node) {
    const node_rules rules(pod);
    if (const auto* taint = rules.untolerated_taint(node)) {
        return fmt::format("does not tolerate the taint {}{}{}:{} of {}", taint->key,
                           taint->value.empty() ? "" : "=", taint->value, taint->effect,
                           node.metadata.name);
    }
    if (const auto* wanted = rules.unmet_selector(node)) {
        return fmt::format("its nodeSelector {}={} does not match {}", wanted->first,
                           wanted->second, node.metadata.name);
    }
    if (rules.affinity_holds(node)) return std::nullopt;
    return fmt::format("its required node affinity does not match {}", node.metadata.name);
}

json pinned_affinity(const model::raw_json& affinity, const std::string& node) {
    const json pin = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
    auto out = json::parse(affinity.text.empty() ? "{}" : affinity.text, nullptr, false);
    if (!out.is_object()) out = json::object();
    json terms = json::array();
    if (const auto* present = required_node_terms(out)) terms = *present;
    if (terms.empty()) terms.push_back({{"matchFields", json::array({pin})}});
    for (auto& term : terms) {
        if (!has_requirements(term)) continue;
        auto& fields = term["matchFields"];
        if (!fields.is_array()) fields = json::array();
        if (std::find(fields.begin(), fields.end(), pin) == fields.end()) fields.push_back(pin);
    }
    auto& of_node = out["nodeAffinity"];
    if (!of_node.is_object()) of_node = json::object();
    auto& required = of_node["requiredDuringSchedulingIgnoredDuringExecution"];
    if (!required.is_object()) required = json::object();
    required["nodeSelectorTerms"] = std::move(terms);
    return out;
}

}  // namespace esi::testbed
