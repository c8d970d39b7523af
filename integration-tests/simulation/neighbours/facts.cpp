#include "neighbours/facts.h"

#include <algorithm>
#include <charconv>

#include "base/fields.h"
#include "model/meta.h"

namespace esi::simulation {

namespace {

const json& nothing() {
    static const json empty = json::array();
    return empty;
}

/// The list at `path`, or an empty one.
const json& list(const json& from, std::initializer_list<std::string_view> path) {
    const auto* found = fields::find(from, path);
    return found && found->is_array() ? *found : nothing();
}

model::amounts amounts_at(const json& from, std::initializer_list<std::string_view> path) {
    model::amounts out;
    const auto* found = fields::find(from, path);
    if (!found || !found->is_object()) return out;
    for (const auto& [name, value] : found->items()) {
        const auto parsed = model::quantity::parse(
            value.is_string() ? value.get_ref<const std::string&>() : value.dump());
        if (parsed) out.emplace(name, parsed->milli);
    }
    return out;
}

/// KEP-753: a sidecar counts for all that starts after it, an ordinary init container beside the
/// sidecars before it.
model::amounts effective_requests(const json& body) {
    model::amounts sidecars;
    model::amounts most;
    for (const auto& container : list(body, {"spec", "initContainers"})) {
        auto own = amounts_at(container, {"resources", "requests"});
        if (fields::text(container, {"restartPolicy"}) == "Always") {
            model::add(sidecars, own);
            model::raise(most, sidecars);
        } else {
            model::add(own, sidecars);
            model::raise(most, own);
        }
    }
    model::amounts total = std::move(sidecars);
    for (const auto& container : list(body, {"spec", "containers"})) {
        model::add(total, amounts_at(container, {"resources", "requests"}));
    }
    model::raise(total, most);
    model::add(total, amounts_at(body, {"spec", "overhead"}));
    return total;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return out;
}

/// One requirement of a selector against a value; null: there is no such label.
bool matches(const json& requirement, const std::string* value) {
    const auto how = fields::text(requirement, {"operator"});
    const auto& values = list(requirement, {"values"});
    const auto listed = [&] {
        return value && std::any_of(values.begin(), values.end(), [&](const json& one) {
                   return one.is_string() && one.get_ref<const std::string&>() == *value;
               });
    };
    if (how == "In") return listed();
    if (how == "NotIn") return !listed();
    if (how == "Exists") return value != nullptr;
    if (how == "DoesNotExist") return value == nullptr;
    if (how != "Gt" && how != "Lt") return false;
    if (!value || values.size() != 1 || !values[0].is_string()) return false;
    const auto have = whole_number(*value);
    const auto limit = whole_number(values[0].get_ref<const std::string&>());
    if (!have || !limit) return false;
    return how == "Gt" ? *have > *limit : *have < *limit;
}

const std::string* label(const json& node, std::string_view key) {
    const auto* found = fields::find(node, {"metadata", "labels", key});
    return found ? found->get_ptr<const std::string*>() : nullptr;
}

/// A term without requirements matches nothing (core/v1, NodeSelectorTerm).
bool term_matches(const json& term, const node_facts& node) {
    const auto& labels = list(term, {"matchExpressions"});
    const auto& own = list(term, {"matchFields"});
    if (labels.empty() && own.empty()) return false;
    const std::string name(node.name);
    return std::all_of(labels.begin(), labels.end(),
                       [&](const json& one) {
                           return matches(one, label(node.body(), fields::text(one, {"key"})));
                       }) &&
           std::all_of(own.begin(), own.end(), [&](const json& one) {
               return fields::text(one, {"key"}) == "metadata.name" && matches(one, &name);
           });
}

const json* required_affinity(const pod_facts& pod) {
    return fields::find(pod.body(), {"spec", "affinity", "nodeAffinity",
                                     "requiredDuringSchedulingIgnoredDuringExecution"});
}

}  // namespace

pod_pointer read_pod(object_pointer object) {
    auto out = std::make_shared<pod_facts>();
    const auto& body = object->body();
    out->uid = object->uid();
    out->ns = object->ns();
    out->name = object->name();
    out->node = fields::text(body, {"spec", "nodeName"});
    out->phase = fields::phase(body);
    out->nominated = fields::text(body, {"status", "nominatedNodeName"});
    out->scheduler = fields::text(body, {"spec", "schedulerName"});
    if (out->scheduler.empty()) out->scheduler = "default-scheduler";
    out->created = fields::text(body, {"metadata", "creationTimestamp"});
    out->priority = fields::number(body, {"spec", "priority"});
    out->never_preempts = fields::text(body, {"spec", "preemptionPolicy"}) == "Never";
    out->gated = !list(body, {"spec", "schedulingGates"}).empty();
    out->deleting = fields::deleting(body);
    out->requests = effective_requests(body);
    out->object = std::move(object);
    return out;
}

std::int64_t node_facts::most_pods() const {
    const auto found = allocatable.find("pods");
    return found == allocatable.end() ? 0 : found->second / 1000;
}

node_pointer read_node(object_pointer object) {
    auto out = std::make_shared<node_facts>();
    const auto& body = object->body();
    out->name = object->name();
    out->allocatable = amounts_at(body, {"status", "allocatable"});
    const auto* cordoned = fields::find(body, {"spec", "unschedulable"});
    out->unschedulable = cordoned && *cordoned == true;
    out->object = std::move(object);
    return out;
}

bool selects(const pod_facts& pod, const node_facts& node) {
    if (const auto* wanted = fields::find(pod.body(), {"spec", "nodeSelector"})) {
        for (const auto& [key, value] : wanted->items()) {
            const auto* have = label(node.body(), key);
            if (!have || !value.is_string() || *have != value.get_ref<const std::string&>()) {
                return false;
            }
        }
    }
    const auto* required = required_affinity(pod);
    if (!required) return true;
    const auto& terms = list(*required, {"nodeSelectorTerms"});
    return std::any_of(terms.begin(), terms.end(),
                       [&](const json& term) { return term_matches(term, node); });
}

std::optional<std::set<std::string, std::less<>>> pinned_to(const pod_facts& pod) {
    const auto* required = required_affinity(pod);
    if (!required) return std::nullopt;
    std::set<std::string, std::less<>> out;
    for (const auto& term : list(*required, {"nodeSelectorTerms"})) {
        std::optional<std::set<std::string, std::less<>>> of_term;
        for (const auto& one : list(term, {"matchFields"})) {
            if (fields::text(one, {"key"}) != "metadata.name" ||
                fields::text(one, {"operator"}) != "In") {
                continue;
            }
            std::set<std::string, std::less<>> names;
            for (const auto& value : list(one, {"values"})) {
                if (value.is_string()) names.insert(value.get_ref<const std::string&>());
            }
            if (of_term) {
                std::erase_if(names, [&](const auto& name) { return !of_term->contains(name); });
            }
            of_term = std::move(names);
        }
        if (!of_term) return std::nullopt;
        out.merge(*of_term);
    }
    return out;
}

bool tolerates(const json& toleration, const json& taint) {
    const auto effect = fields::text(toleration, {"effect"});
    const auto key = fields::text(toleration, {"key"});
    const bool same_key = key == fields::text(taint, {"key"});
    if (!effect.empty() && effect != fields::text(taint, {"effect"})) return false;
    if (fields::text(toleration, {"operator"}) == "Exists") return key.empty() || same_key;
    return same_key && fields::text(toleration, {"value"}) == fields::text(taint, {"value"});
}

bool tolerates(const pod_facts& pod, const json& taint) {
    const auto& all = tolerations_of(pod);
    return std::any_of(all.begin(), all.end(),
                       [&](const json& one) { return tolerates(one, taint); });
}

const json& tolerations_of(const pod_facts& pod) {
    return list(pod.body(), {"spec", "tolerations"});
}

const json& taints_of(const json& node) { return list(node, {"spec", "taints"}); }

const json* untolerated(const pod_facts& pod, const node_facts& node,
                        std::initializer_list<std::string_view> effects) {
    for (const auto& taint : taints_of(node.body())) {
        const auto effect = fields::text(taint, {"effect"});
        if (std::find(effects.begin(), effects.end(), effect) == effects.end()) continue;
        if (!tolerates(pod, taint)) return &taint;
    }
    return nullptr;
}

json with_condition(const json& object, std::string_view type, std::string_view status,
                    std::string_view reason, std::string_view message, wall_time now) {
    json out = list(object, {"status", "conditions"});
    json* found = nullptr;
    for (auto& one : out) {
        if (fields::text(one, {"type"}) == type) found = &one;
    }
    if (found && fields::text(*found, {"status"}) == status &&
        fields::text(*found, {"reason"}) == reason &&
        fields::text(*found, {"message"}) == message) {
        return nullptr;
    }
    if (!found) {
        out.push_back({{"type", type}});
        found = &out.back();
    }
    if (fields::text(*found, {"status"}) != status) {
        (*found)["lastTransitionTime"] = stamp(now);
    }
    (*found)["status"] = status;
    if (reason.empty()) {
        found->erase("reason");
    } else {
        (*found)["reason"] = reason;
    }
    if (message.empty()) {
        found->erase("message");
    } else {
        (*found)["message"] = message;
    }
    return out;
}

std::string stamp(wall_time when) { return model::timestamp{when}.whole_seconds(); }

}  // namespace esi::simulation
