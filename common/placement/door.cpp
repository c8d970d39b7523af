#include "placement/door.h"

#include <algorithm>

#include "kube/patch.h"
#include "model/names.h"
#include "placement/json_members.h"
#include "placement/node_rules.h"

namespace esi::placement {

using nlohmann::json;
namespace names = model::names;

namespace {

bool has_requirements(const json& term) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
        const auto* entries = list_in(term, list);
        if (entries && !entries->empty()) return true;
    }
    return false;
}

}  // namespace

json nomination_patch(const model::pod& pod, const std::string& node) {
    return kube::guarded(
        {{"status", {{"nominatedNodeName", node.empty() ? json(nullptr) : json(node)}}}},
        pod.metadata.uid, pod.metadata.resource_version);
}

json shown_nomination_patch(const model::pod& pod) {
    return kube::guarded(
        {{"metadata",
          {{"annotations", {{names::nomination_shown, pod.metadata.resource_version}}}}}},
        pod.metadata.uid, pod.metadata.resource_version);
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

}  // namespace esi::placement
