#include "placement/node_rules.h"

#include <algorithm>
#include <charconv>

#include "base/contains.h"
#include "placement/json_members.h"

namespace esi::placement {

using nlohmann::json;

namespace {

std::optional<std::int64_t> number(const std::string& text) {
    std::int64_t value = 0;
    auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool tolerated_by(const model::toleration& toleration, const model::taint& taint) {
    if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
    if (toleration.operator_ == "Exists") {
        return toleration.key.empty() || toleration.key == taint.key;
    }
    if (!toleration.operator_.empty() && toleration.operator_ != "Equal") return false;
    return toleration.key == taint.key && toleration.value == taint.value;
}

}  // namespace

std::vector<match_requirement> requirements_in(const json& of, const char* name) {
    std::vector<match_requirement> out;
    const auto* list = list_in(of, name);
    if (!list) return out;
    for (const auto& entry : *list) {
        match_requirement one{text_in(entry, "key"), text_in(entry, "operator"),
                              texts_in(entry, "values")};
        if (one.values.size() == 1) one.limit = number(one.values.front());
        out.push_back(std::move(one));
    }
    return out;
}

bool match_requirement::holds(const std::string* value) const {
    const bool listed = value && contains(values, *value);
    if (operator_ == "In") return listed;
    if (operator_ == "NotIn") return !listed;
    if (operator_ == "Exists") return value != nullptr;
    if (operator_ == "DoesNotExist") return value == nullptr;
    if (operator_ == "Gt" || operator_ == "Lt") {
        if (!value || !limit) return false;
        const auto have = number(*value);
        if (!have) return false;
        return operator_ == "Gt" ? *have > *limit : *have < *limit;
    }
    return false;
}

bool node_term::matches(const model::node& node) const {
    for (const auto& each : labels) {
        const auto label = node.metadata.labels.find(each.key);
        if (!each.holds(label == node.metadata.labels.end() ? nullptr : &label->second)) {
            return false;
        }
    }
    for (const auto& each : fields) {
        if (!each.holds(each.key == "metadata.name" ? &node.metadata.name : nullptr)) return false;
    }
    return !labels.empty() || !fields.empty();
}

std::vector<node_term> node_terms_of(const json& terms) {
    std::vector<node_term> out;
    if (!terms.is_array()) return out;
    for (const auto& term : terms) {
        out.push_back(
            {requirements_in(term, "matchExpressions"), requirements_in(term, "matchFields")});
    }
    return out;
}

bool any_matches(const std::vector<node_term>& terms, const model::node& node) {
    return std::ranges::any_of(terms, [&](const auto& term) { return term.matches(node); });
}

const json* required_node_terms(const json& affinity) {
    const auto* of_node = member(affinity, "nodeAffinity");
    if (!of_node) return nullptr;
    const auto* required = member(*of_node, "requiredDuringSchedulingIgnoredDuringExecution");
    return required ? list_in(*required, "nodeSelectorTerms") : nullptr;
}

node_rules::node_rules(const model::pod& pod)
    : tolerations_(pod.tolerations), selector_(pod.node_selector) {
    if (pod.affinity.text.empty()) return;
    const auto affinity = json::parse(pod.affinity.text, nullptr, false);
    if (const auto* terms = required_node_terms(affinity)) terms_ = node_terms_of(*terms);
}

bool node_rules::tolerates(const model::taint& taint) const {
    return std::ranges::any_of(tolerations_,
                               [&](const auto& each) { return tolerated_by(each, taint); });
}

const model::taint* node_rules::untolerated_taint(const model::node& node) const {
    for (const auto& taint : node.taints) {
        if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
        if (!tolerates(taint)) return &taint;
    }
    return nullptr;
}

const std::pair<const std::string, std::string>* node_rules::unmet_selector(
    const model::node& node) const {
    for (const auto& wanted : selector_) {
        const auto label = node.metadata.labels.find(wanted.first);
        if (label == node.metadata.labels.end() || label->second != wanted.second) return &wanted;
    }
    return nullptr;
}

bool node_rules::affinity_holds(const model::node& node) const {
    return !terms_ || any_matches(*terms_, node);
}

}  // namespace esi::placement
