#include <algorithm>
#include <set>

#include "server/validation/metadata_rules.h"
#include "server/validation/pod_parts.h"
#include "server/validation/pod_rules.h"

namespace esi::simulation::pods {

namespace {

bool is_native(std::string_view resource) {
    return resource.find('/') == std::string_view::npos ||
           resource.find("kubernetes.io/") != std::string_view::npos;
}

void check_resource_name(const std::string& name, const std::string& path, faults& out) {
    if (auto why = wrong_qualified_name(name); !why.empty()) {
        out.push_back(invalid(path, name, why));
        return;
    }
    static const std::set<std::string_view> standard{"cpu", "memory", "ephemeral-storage"};
    if (name.find('/') != std::string::npos || standard.contains(name) ||
        name.starts_with("hugepages-")) {
        return;
    }
    out.push_back(invalid(path, name, "must be a standard resource type or fully qualified"));
    out.push_back(invalid(path, name, "must be a standard resource for containers"));
}

void check_resources(const json& resources, const std::string& path, faults& out) {
    static const json none = json::object();
    const auto* found_limits = find_member(resources, "limits");
    const auto* found_requests = find_member(resources, "requests");
    const auto& limits = found_limits ? *found_limits : none;
    const auto& requests = found_requests ? *found_requests : none;
    for (const auto& [name, map] :
         {std::pair{"limits", &limits}, std::pair{"requests", &requests}}) {
        for (const auto& each : map->items()) {
            const auto own = path + "." + name + "[" + each.key() + "]";
            check_resource_name(each.key(), own, out);
            if (quantity_of(&each.value()).milli < 0) {
                out.push_back(invalid(own, each.value(), "must be greater than or equal to 0"));
            }
        }
    }
    bool limit_missing = false;
    for (const auto& each : requests.items()) {
        const bool overcommits = is_native(each.key()) && !each.key().starts_with("hugepages-");
        const auto* limit = find_member(limits, each.key());
        if (!limit) {
            limit_missing |= !overcommits;
            continue;
        }
        const auto requested = quantity_of(&each.value());
        const auto limited = quantity_of(limit);
        if (!overcommits && requested != limited) {
            out.push_back(invalid(path + ".requests", each.value(),
                                  "must be equal to " + each.key() + " limit of " + limited.text));
        } else if (requested > limited) {
            out.push_back(invalid(
                path + ".requests", each.value(),
                "must be less than or equal to " + each.key() + " limit of " + limited.text));
        }
    }
    if (limit_missing) {
        out.push_back(
            required(path + ".limits", "Limit must be set for non overcommitable resources"));
    }
}

void check_containers(const json& spec, faults& out) {
    std::set<std::string_view> names;
    for (const char* list : container_lists) {
        const std::string path = std::string("spec.") + list;
        const auto* containers = list_member(spec, list);
        if (!containers || containers->empty()) {
            if (std::string_view(list) == container_lists[0]) out.push_back(required(path));
            continue;
        }
        for (std::size_t i = 0; i < containers->size(); ++i) {
            const auto& each = (*containers)[i];
            const auto own = item(path, i);
            const auto name = text_member(each, "name");
            if (name.empty()) {
                out.push_back(required(own + ".name"));
            } else if (auto why = wrong_dns_label(name); !why.empty()) {
                out.push_back(invalid(own + ".name", std::string(name), why));
            } else if (!names.insert(name).second) {
                out.push_back(duplicate(own + ".name", std::string(name)));
            }
            if (text_member(each, "image").empty()) out.push_back(required(own + ".image"));
            if (const auto* resources = find_member(each, "resources")) {
                check_resources(*resources, own + ".resources", out);
            }
        }
    }
}

void check_requirement(const json& requirement, const std::string& path, bool of_fields,
                       faults& out) {
    const auto what = text_member(requirement, "operator");
    const auto* values = list_member(requirement, "values");
    const auto count = values ? values->size() : 0;
    const bool in = what == "In" || what == "NotIn";
    const auto wrong_operator = [&] {
        out.push_back(
            invalid(path + ".operator", std::string(what), "not a valid selector operator"));
    };
    const std::string key(text_member(requirement, "key"));
    if (of_fields) {
        if (!in) {
            wrong_operator();
        } else if (count != 1) {
            out.push_back(required(path + ".values",
                                   "must be only one value when `operator` is 'In' or "
                                   "'NotIn' for node field selector"));
        }
        if (key != "metadata.name") {
            out.push_back(invalid(path + ".key", key, "not a valid field selector key"));
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            auto why = wrong_dns_subdomain(text_of(&(*values)[i]));
            if (!why.empty()) out.push_back(invalid(item(path + ".values", i), (*values)[i], why));
        }
        return;
    }
    if (in) {
        if (count == 0) {
            out.push_back(
                required(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
        }
    } else if (what == "Exists" || what == "DoesNotExist") {
        if (count != 0) {
            out.push_back(
                forbidden(path + ".values",
                          "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        }
    } else if (what == "Gt" || what == "Lt") {
        if (count != 1) {
            out.push_back(
                required(path + ".values",
                         "must be specified single value when `operator` is 'Lt' or 'Gt'"));
        }
    } else {
        wrong_operator();
    }
    if (auto why = wrong_qualified_name(key); !why.empty())
        out.push_back(invalid(path + ".key", key, why));
    for (std::size_t i = 0; i < count; ++i) {
        auto why = wrong_label_value(text_of(&(*values)[i]));
        if (!why.empty()) out.push_back(invalid(item(path + ".values", i), (*values)[i], why));
    }
}

void check_affinity(const json& spec, faults& out) {
    const auto* node = node_affinity(spec);
    if (!node || !find_member(*node, "requiredDuringSchedulingIgnoredDuringExecution")) return;
    const auto* terms = required_terms(node);
    if (!terms || terms->empty()) {
        out.push_back(required(terms_path, "must have at least one node selector term"));
        return;
    }
    for (std::size_t i = 0; i < terms->size(); ++i) {
        for (const auto& [name, of_fields] :
             {std::pair{"matchExpressions", false}, std::pair{"matchFields", true}}) {
            const auto* list = list_member((*terms)[i], name);
            for (std::size_t j = 0; list && j < list->size(); ++j) {
                check_requirement((*list)[j], item(item(terms_path, i) + "." + name, j), of_fields,
                                  out);
            }
        }
    }
}

void check_tolerations(const json& spec, faults& out) {
    const auto* tolerations = list_member(spec, "tolerations");
    for (std::size_t i = 0; tolerations && i < tolerations->size(); ++i) {
        const auto& each = (*tolerations)[i];
        const auto path = item("spec.tolerations", i);
        const std::string key(text_member(each, "key"));
        const std::string value(text_member(each, "value"));
        const std::string what(text_member(each, "operator"));
        if (!key.empty()) {
            if (auto why = wrong_qualified_name(key); !why.empty())
                out.push_back(invalid(path + ".key", key, why));
        } else if (what != "Exists") {
            out.push_back(
                invalid(path + ".operator", what,
                        "operator must be Exists when `key` is empty, which means \"match all "
                        "values and all keys\""));
        }
        const std::string effect(text_member(each, "effect"));
        if (find_member(each, "tolerationSeconds") && effect != "NoExecute") {
            out.push_back(invalid(path + ".effect", effect,
                                  "effect must be 'NoExecute' when `tolerationSeconds` is set"));
        }
        if (what.empty() || what == "Equal") {
            if (auto why = wrong_label_value(value); !why.empty())
                out.push_back(invalid(path + ".operator", value, why));
        } else if (what == "Exists") {
            if (!value.empty()) {
                out.push_back(invalid(path + ".operator", value,
                                      "value must be empty when `operator` is 'Exists'"));
            }
        } else {
            out.push_back(not_supported(path + ".operator", what, {"Equal", "Exists"}));
        }
        check_taint_effect(each, path, true, out);
    }
}

void check_gates(const json& spec, faults& out) {
    const auto* gates = list_member(spec, "schedulingGates");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; gates && i < gates->size(); ++i) {
        const auto name = text_member((*gates)[i], "name");
        const auto path = item("spec.schedulingGates", i);
        if (auto why = wrong_qualified_name(name); !why.empty()) {
            out.push_back(invalid(path, std::string(name), why));
        }
        if (!seen.insert(name).second) out.push_back(duplicate(path, std::string(name)));
    }
}

}  // namespace

std::string item(const std::string& path, std::size_t i) {
    return path + "[" + std::to_string(i) + "]";
}

model::quantity quantity_of(const json* value) {
    if (!value) return {};
    auto parsed =
        model::quantity::parse(value->is_string() ? value->get<std::string>() : value->dump());
    return parsed ? *parsed : model::quantity{};
}

const json* node_affinity(const json& spec) {
    const auto* affinity = find_member(spec, "affinity");
    return affinity ? find_member(*affinity, "nodeAffinity") : nullptr;
}

const json* required_terms(const json* node_affinity) {
    const auto* wanted =
        node_affinity
            ? find_member(*node_affinity, "requiredDuringSchedulingIgnoredDuringExecution")
            : nullptr;
    return wanted ? list_member(*wanted, "nodeSelectorTerms") : nullptr;
}

void check_spec(const json& spec, faults& out) {
    check_containers(spec, out);
    static const std::vector<std::string> policies{"Always", "OnFailure", "Never"};
    const std::string policy(text_member(spec, "restartPolicy"));
    if (std::ranges::find(policies, policy) == policies.end()) {
        out.push_back(not_supported("spec.restartPolicy", policy, policies));
    }
    if (const auto* selector = find_member(spec, "nodeSelector")) {
        for (const auto& each : selector->items()) {
            if (auto why = wrong_qualified_name(each.key()); !why.empty()) {
                out.push_back(invalid("spec.nodeSelector", each.key(), why));
            }
            if (auto why = wrong_label_value(text_of(&each.value())); !why.empty()) {
                out.push_back(invalid("spec.nodeSelector", each.value(), why));
            }
        }
    }
    check_affinity(spec, out);
    check_gates(spec, out);
    check_tolerations(spec, out);
    for (const char* name : {"nodeName", "priorityClassName", "serviceAccountName"}) {
        const std::string text(text_member(spec, name));
        if (text.empty()) continue;
        if (auto why = wrong_dns_subdomain(text); !why.empty()) {
            out.push_back(invalid(std::string("spec.") + name, text, why));
        }
    }
    const auto* deadline = find_member(spec, "activeDeadlineSeconds");
    if (deadline && deadline->is_number_integer() && deadline->get<std::int64_t>() < 1) {
        out.push_back(invalid("spec.activeDeadlineSeconds", *deadline,
                              "must be between 1 and 2147483647, inclusive"));
    }
}

}  // namespace esi::simulation::pods
