#include "testbed/room/admission.h"

#include <fmt/format.h>

#include <charconv>

namespace esi::testbed {

using nlohmann::json;

namespace {

bool tolerates(const model::toleration& toleration, const model::taint& taint) {
    if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
    if (toleration.operator_ == "Exists") {
        return toleration.key.empty() || toleration.key == taint.key;
    }
    if (!toleration.operator_.empty() && toleration.operator_ != "Equal") return false;
    return toleration.key == taint.key && toleration.value == taint.value;
}

const json* member(const json& of, const char* name) {
    if (!of.is_object()) return nullptr;
    auto found = of.find(name);
    return found == of.end() || found->is_null() ? nullptr : &*found;
}

std::string text_in(const json& of, const char* name) {
    const auto* found = member(of, name);
    return found && found->is_string() ? found->get<std::string>() : std::string{};
}

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// One entry of matchExpressions or matchFields against a value that is there or not.
bool requirement_holds(const json& entry, const std::string* value) {
    const auto op = text_in(entry, "operator");
    std::vector<std::string> values;
    if (const auto* list = member(entry, "values"); list && list->is_array()) {
        for (const auto& item : *list) {
            if (item.is_string()) values.push_back(item.get<std::string>());
        }
    }
    const bool listed = value && std::find(values.begin(), values.end(), *value) != values.end();
    if (op == "In") return listed;
    if (op == "NotIn") return !listed;
    if (op == "Exists") return value != nullptr;
    if (op == "DoesNotExist") return value == nullptr;
    if (op == "Gt" || op == "Lt") {
        if (!value || values.size() != 1) return false;
        auto have = number(*value);
        auto limit = number(values.front());
        if (!have || !limit) return false;
        return op == "Gt" ? *have > *limit : *have < *limit;
    }
    return false;
}

bool has_requirements(const json& term) {
    for (const char* list : {"matchExpressions", "matchFields"}) {
        const auto* entries = member(term, list);
        if (entries && entries->is_array() && !entries->empty()) return true;
    }
    return false;
}

/// A term without any requirement matches nothing.
bool term_matches(const json& term, const model::node& node) {
    bool any = false;
    if (const auto* list = member(term, "matchExpressions"); list && list->is_array()) {
        for (const auto& entry : *list) {
            any = true;
            auto label = node.metadata.labels.find(text_in(entry, "key"));
            const auto* value = label == node.metadata.labels.end() ? nullptr : &label->second;
            if (!requirement_holds(entry, value)) return false;
        }
    }
    if (const auto* list = member(term, "matchFields"); list && list->is_array()) {
        for (const auto& entry : *list) {
            any = true;
            const bool by_name = text_in(entry, "key") == "metadata.name";
            if (!requirement_holds(entry, by_name ? &node.metadata.name : nullptr)) return false;
        }
    }
    return any;
}

const json* required_terms(const json& affinity) {
    const auto* of_node = member(affinity, "nodeAffinity");
    if (!of_node) return nullptr;
    const auto* required = member(*of_node, "requiredDuringSchedulingIgnoredDuringExecution");
    if (!required) return nullptr;
    const auto* terms = member(*required, "nodeSelectorTerms");
    return terms && terms->is_array() ? terms : nullptr;
}

}  // namespace

std::optional<std::string> admission_refusal(const model::pod& pod, const model::node& node) {
    for (const auto& taint : node.taints) {
        if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
        bool tolerated = false;
        for (const auto& toleration : pod.tolerations) tolerated |= tolerates(toleration, taint);
        if (tolerated) continue;
        return fmt::format("does not tolerate the taint {}{}{}:{} of {}", taint.key,
                           taint.value.empty() ? "" : "=", taint.value, taint.effect,
                           node.metadata.name);
    }
    for (const auto& [key, wanted] : pod.node_selector) {
        auto label = node.metadata.labels.find(key);
        if (label == node.metadata.labels.end() || label->second != wanted) {
            return fmt::format("its nodeSelector {}={} does not match {}", key, wanted,
                               node.metadata.name);
        }
    }
    if (pod.affinity.text.empty()) return std::nullopt;
    auto affinity = json::parse(pod.affinity.text, nullptr, false);
    const auto* terms = required_terms(affinity);
    if (!terms) return std::nullopt;
    for (const auto& term : *terms) {
        if (term_matches(term, node)) return std::nullopt;
    }
    return fmt::format("its required node affinity does not match {}", node.metadata.name);
}

json pinned_affinity(const model::raw_json& affinity, const std::string& node) {
    const json pin = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
    auto out = json::parse(affinity.text.empty() ? "{}" : affinity.text, nullptr, false);
    if (!out.is_object()) out = json::object();
    json terms = json::array();
    if (const auto* present = required_terms(out)) terms = *present;
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
