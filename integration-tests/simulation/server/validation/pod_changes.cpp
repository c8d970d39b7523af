#include <algorithm>

#include "server/validation/metadata_rules.h"
#include "server/validation/pod_parts.h"

namespace esi::simulation::pods {

namespace {

const json nothing;

void only_added_tolerations(const json& spec, const json& old, faults& out) {
    const auto* before = list_member(old, "tolerations");
    if (!before) return;
    const auto* now = list_member(spec, "tolerations");
    for (const auto& each : *before) {
        const bool kept = now && std::ranges::any_of(*now, [&each](const json& other) {
                              auto one = each;
                              auto two = other;
                              if (one.is_object()) one.erase("tolerationSeconds");
                              if (two.is_object()) two.erase("tolerationSeconds");
                              return one == two;
                          });
        if (kept) continue;
        out.push_back(
            forbidden("spec.tolerations",
                      "existing toleration can not be modified except its tolerationSeconds"));
        return;
    }
}

void only_deleted_gates(const json& spec, const json& old, faults& out) {
    const auto* now = list_member(spec, "schedulingGates");
    const auto* before = list_member(old, "schedulingGates");
    for (std::size_t i = 0; now && i < now->size(); ++i) {
        const auto name = text_member((*now)[i], "name");
        const bool known = before && std::ranges::any_of(*before, [name](const json& each) {
                               return text_member(each, "name") == name;
                           });
        if (known) continue;
        out.push_back(forbidden(
            item("spec.schedulingGates", i) + ".name",
            "only deletion is allowed, but found new scheduling gate '" + std::string(name) + "'"));
    }
}

void only_added_selectors(const json& spec, const json& old, faults& out) {
    const auto* before = find_member(old, "nodeSelector");
    if (!before) return;
    const auto* now = find_member(spec, "nodeSelector");
    for (const auto& each : before->items()) {
        const auto* value = now ? find_member(*now, each.key()) : nullptr;
        if (value && *value == each.value()) continue;
        out.push_back(invalid("spec.nodeSelector", now ? *now : nothing,
                              "only additions to spec.nodeSelector are allowed (no mutations or "
                              "deletions)"));
        return;
    }
}

bool begins_with(const json* now, const json* before) {
    if (!before || before->empty()) return true;
    return now && now->size() >= before->size() &&
           std::equal(before->begin(), before->end(), now->begin());
}

/// Terms are alternatives: a further one would widen. Within a term more is narrower.
void only_tightened(const json* now, const json* before, faults& out) {
    const auto* old_terms = required_terms(before);
    if (!old_terms || old_terms->empty()) return;
    const auto* terms = required_terms(now);
    if (!terms || terms->size() != old_terms->size()) {
        out.push_back(
            invalid(terms_path, terms ? *terms : nothing,
                    "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
        return;
    }
    for (std::size_t i = 0; i < terms->size(); ++i) {
        bool narrower = true;
        bool empty = true;
        for (const char* name : {"matchExpressions", "matchFields"}) {
            const auto* old_list = list_member((*old_terms)[i], name);
            empty &= !old_list || old_list->empty();
            narrower &= begins_with(list_member((*terms)[i], name), old_list);
        }
        if (empty) {
            // An empty term matches nothing: anything in it would widen.
            for (const char* name : {"matchExpressions", "matchFields"}) {
                const auto* list = list_member((*terms)[i], name);
                narrower &= !list || list->empty();
            }
        }
        if (!narrower) {
            out.push_back(invalid(item(terms_path, i), (*terms)[i],
                                  "only additions are allowed (no mutations or deletions)"));
        }
    }
}

bool same_containers(const json* now, const json* before, const std::string& path, faults& out) {
    const auto count = [](const json* list) { return list ? list->size() : 0; };
    if (count(now) != count(before)) {
        out.push_back(forbidden(path, "pod updates may not add or remove containers"));
        return true;
    }
    for (std::size_t i = 0; i < count(now); ++i) {
        const auto& mine = (*now)[i];
        const auto& old = (*before)[i];
        if (mine == old) continue;
        auto munged = mine;
        if (munged.is_object() && old.is_object()) munged["image"] = old.value("image", json());
        if (munged != old) return false;
    }
    return true;
}

void check_deadline(const json* now, const json* before, faults& out) {
    const std::string path = "spec.activeDeadlineSeconds";
    if (!now) {
        if (before)
            out.push_back(
                invalid(path, nullptr, "must not update from a positive integer to nil value"));
    } else if (before && now->is_number_integer() && before->is_number_integer() &&
               before->get<std::int64_t>() < now->get<std::int64_t>()) {
        out.push_back(invalid(path, *now, "must be less than or equal to previous value"));
    }
}

/// Whether the affinity differs in more than its node affinity.
bool other_affinity_changed(const json* now, const json* before) {
    static const json none = json::object();
    for (const char* name : {"podAffinity", "podAntiAffinity"}) {
        const auto* mine = find_member(now ? *now : none, name);
        const auto* old = find_member(before ? *before : none, name);
        if (!mine != !old || (mine && *mine != *old)) return true;
    }
    return false;
}

void check_container_states(const json& status, const json& old, const json& spec, const char* list,
                            faults& out) {
    const auto* before = list_member(old, list);
    const auto* now = list_member(status, list);
    const auto policy = text_member(spec, "restartPolicy");
    if (!before || !now || policy == "Always") return;
    const auto terminated = [](const json& each) -> const json* {
        const auto* state = find_member(each, "state");
        return state ? find_member(*state, "terminated") : nullptr;
    };
    for (std::size_t i = 0; i < before->size(); ++i) {
        const auto* ended = terminated((*before)[i]);
        if (!ended) continue;
        if (policy == "OnFailure" && ended->value("exitCode", 0) != 0) continue;
        const auto name = text_member((*before)[i], "name");
        for (const auto& each : *now) {
            if (text_member(each, "name") != name || terminated(each)) continue;
            out.push_back(forbidden(item(std::string("status.") + list, i) + ".state",
                                    "may not be transitioned to non-terminated state"));
        }
    }
}

}  // namespace

void check_spec_change(const json& spec, const json& old, faults& out) {
    const auto* gates = list_member(old, "schedulingGates");
    const bool gated = gates && !gates->empty();
    only_added_tolerations(spec, old, out);
    only_deleted_gates(spec, old, out);
    bool other = false;
    const auto changed = [&](const std::string& name, const json* now, const json* before) {
        if (name == "tolerations" || name == "schedulingGates") return;
        if (name == "containers" || name == "initContainers") {
            other |= !same_containers(now, before, "spec." + name, out);
        } else if (name == "activeDeadlineSeconds") {
            check_deadline(now, before, out);
        } else if (name == "nodeSelector" && gated) {
            only_added_selectors(spec, old, out);
        } else if (name == "affinity" && gated) {
            const auto* node = node_affinity(spec);
            const auto* old_node = node_affinity(old);
            if (!node != !old_node || (node && *node != *old_node))
                only_tightened(node, old_node, out);
            other |= other_affinity_changed(now, before);
        } else {
            other = true;
        }
    };
    for (const auto& each : spec.items()) {
        const auto* before = find_member(old, each.key());
        if (!before || *before != each.value()) changed(each.key(), &each.value(), before);
    }
    for (const auto& each : old.items()) {
        if (!find_member(spec, each.key())) changed(each.key(), nullptr, &each.value());
    }
    if (!other) return;
    out.push_back(
        forbidden("spec",
                  "pod updates may not change fields other than `spec.containers[*].image`,"
                  "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` "
                  "(only additions "
                  "to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be "
                  "set to 1 if it "
                  "was previously negative)"));
}

void check_status(const json& body, const json& before, faults& out) {
    static const json none = json::object();
    const auto* found = find_member(body, "status");
    const auto* found_old = find_member(before, "status");
    const auto& status = found ? *found : none;
    const auto& old = found_old ? *found_old : none;
    const auto* found_spec = find_member(before, "spec");
    const auto& spec = found_spec ? *found_spec : none;
    const std::string nominated(text_member(status, "nominatedNodeName"));
    if (!nominated.empty() && nominated != text_member(old, "nominatedNodeName")) {
        if (auto why = wrong_dns_subdomain(nominated); !why.empty()) {
            out.push_back(invalid("status.nominatedNodeName", nominated, why));
        }
        if (!text_member(spec, "nodeName").empty()) {
            out.push_back(forbidden("status.nominatedNodeName",
                                    "may not be set on pods that are already bound to a node"));
        }
    }
    if (text_member(status, "qosClass") != text_member(old, "qosClass")) {
        out.push_back(invalid("status.qosClass", std::string(text_member(status, "qosClass")),
                              "field is immutable"));
    }
    check_container_states(status, old, spec, "containerStatuses", out);
    check_container_states(status, old, spec, "initContainerStatuses", out);
}

}  // namespace esi::simulation::pods
