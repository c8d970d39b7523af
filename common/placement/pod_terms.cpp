#include "placement/pod_terms.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/contains.h"
#include "placement/json_members.h"

namespace esi::placement {

using nlohmann::json;

namespace {

constexpr const char* required = "requiredDuringSchedulingIgnoredDuringExecution";

label_selector selector_in(const json& of, const char* name) {
    label_selector out;
    const auto* selector = member(of, name);
    if (!selector || !selector->is_object()) return out;
    out.present = true;
    if (const auto* labels = member(*selector, "matchLabels"); labels && labels->is_object()) {
        for (const auto& [key, value] : labels->items()) {
            if (!value.is_string()) continue;
            out.requirements.push_back({key, "In", {value.get<std::string>()}});
        }
    }
    auto expressions = requirements_in(*selector, "matchExpressions");
    std::ranges::move(expressions, std::back_inserter(out.requirements));
    return out;
}

pod_terms terms_of(const json& list, const std::string& own_namespace) {
    pod_terms out;
    if (!list.is_array()) return out;
    for (const auto& entry : list) {
        pod_term term;
        term.topology_key = text_in(entry, "topologyKey");
        term.pods = selector_in(entry, "labelSelector");
        for (auto& name : texts_in(entry, "namespaces")) term.namespaces.insert(std::move(name));
        term.selected_namespaces = selector_in(entry, "namespaceSelector");
        if (term.namespaces.empty() && !term.selected_namespaces.present) {
            term.namespaces.insert(own_namespace);
        }
        out.push_back(std::move(term));
    }
    return out;
}

pod_terms required_terms_in(const json& affinity, const char* kind, const std::string& own) {
    const auto* of = member(affinity, kind);
    const auto* list = of ? list_in(*of, required) : nullptr;
    return list ? terms_of(*list, own) : pod_terms();
}

int number_in(const json& of, const char* name, int otherwise) {
    const auto* found = member(of, name);
    if (!found || !found->is_number_integer()) return otherwise;
    return static_cast<int>(std::clamp<std::int64_t>(found->get<std::int64_t>(), 1, 1 << 30));
}

std::vector<spread_constraint> spread_of(const model::pod& pod) {
    std::vector<spread_constraint> out;
    if (pod.topology_spread.text.empty()) return out;
    const auto list = json::parse(pod.topology_spread.text, nullptr, false);
    if (!list.is_array()) return out;
    for (const auto& entry : list) {
        if (text_in(entry, "whenUnsatisfiable") != "DoNotSchedule") continue;
        spread_constraint one;
        one.topology_key = text_in(entry, "topologyKey");
        one.max_skew = number_in(entry, "maxSkew", 1);
        one.min_domains = number_in(entry, "minDomains", 1);
        one.pods = selector_in(entry, "labelSelector");
        for (const auto& key : texts_in(entry, "matchLabelKeys")) {
            const auto label = pod.metadata.labels.find(key);
            if (label == pod.metadata.labels.end()) continue;
            one.pods.requirements.push_back({key, "In", {label->second}});
        }
        one.honors_affinity = text_in(entry, "nodeAffinityPolicy") != "Ignore";
        one.honors_taints = text_in(entry, "nodeTaintsPolicy") == "Honor";
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

bool label_selector::matches(const model::string_map& labels) const {
    if (!present) return false;
    return std::ranges::all_of(requirements, [&](const auto& each) {
        const auto found = labels.find(each.key);
        return each.holds(found == labels.end() ? nullptr : &found->second);
    });
}

bool pod_term::means(std::string_view namespace_, const model::string_map& labels,
                     const namespace_labels* known) const {
    return means_namespace(namespace_, known) && pods.matches(labels);
}

bool pod_term::means_namespace(std::string_view namespace_, const namespace_labels* known) const {
    if (namespaces.contains(namespace_)) return true;
    if (!selected_namespaces.present) return false;
    static const model::string_map none;
    const auto found = known ? known->find(namespace_) : namespace_labels::const_iterator();
    return selected_namespaces.matches(known && found != known->end() ? found->second : none);
}

near_rules near_rules_of(const model::pod& pod) {
    near_rules out;
    out.spread = spread_of(pod);
    if (pod.affinity.text.empty()) return out;
    const auto affinity = json::parse(pod.affinity.text, nullptr, false);
    out.affinity = required_terms_in(affinity, "podAffinity", pod.metadata.namespace_);
    out.anti_affinity = required_terms_in(affinity, "podAntiAffinity", pod.metadata.namespace_);
    return out;
}

std::string repelling_text_of(const model::pod& pod) {
    if (pod.bound()) return pod.anti_affinity.text;
    if (pod.affinity.text.empty()) return {};
    const auto affinity = json::parse(pod.affinity.text, nullptr, false);
    const auto* of = member(affinity, "podAntiAffinity");
    const auto* list = of ? list_in(*of, required) : nullptr;
    return list && !list->empty() ? list->dump() : std::string();
}

repelling_terms repelling_terms_of(const std::string& text, const std::string& own_namespace) {
    repelling_terms out;
    if (text.empty()) return out;
    const auto list = json::parse(text, nullptr, false);
    if (!list.is_array()) return out;
    if (text.size() <= most_repelling_text && list.size() <= most_repelling_terms) {
        out.exact = terms_of(list, own_namespace);
        return out;
    }
    for (const auto& entry : list) out.for_all.insert(text_in(entry, "topologyKey"));
    return out;
}

}  // namespace esi::placement
