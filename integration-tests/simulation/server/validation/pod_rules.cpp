#include "server/validation/pod_rules.h"

#include <algorithm>

#include "server/validation/built_in.h"
#include "server/validation/pod_parts.h"
#include "server/validation/quantity_text.h"

namespace esi::simulation {

using pods::container_lists;
using pods::item;
using pods::quantity_of;

namespace {

constexpr std::string_view pod_members[] = {"activeDeadlineSeconds",
                                            "affinity",
                                            "automountServiceAccountToken",
                                            "containers",
                                            "dnsConfig",
                                            "dnsPolicy",
                                            "enableServiceLinks",
                                            "ephemeralContainers",
                                            "hostAliases",
                                            "hostIPC",
                                            "hostNetwork",
                                            "hostPID",
                                            "hostUsers",
                                            "hostname",
                                            "hostnameOverride",
                                            "imagePullSecrets",
                                            "initContainers",
                                            "nodeName",
                                            "nodeSelector",
                                            "os",
                                            "overhead",
                                            "preemptionPolicy",
                                            "priority",
                                            "priorityClassName",
                                            "readinessGates",
                                            "resourceClaims",
                                            "resources",
                                            "restartPolicy",
                                            "runtimeClassName",
                                            "schedulerName",
                                            "schedulingGates",
                                            "schedulingGroup",
                                            "securityContext",
                                            "serviceAccount",
                                            "serviceAccountName",
                                            "setHostnameAsFQDN",
                                            "shareProcessNamespace",
                                            "subdomain",
                                            "terminationGracePeriodSeconds",
                                            "tolerations",
                                            "topologySpreadConstraints",
                                            "volumes"};
constexpr std::string_view container_members[] = {"args",
                                                  "command",
                                                  "env",
                                                  "envFrom",
                                                  "image",
                                                  "imagePullPolicy",
                                                  "lifecycle",
                                                  "livenessProbe",
                                                  "name",
                                                  "ports",
                                                  "readinessProbe",
                                                  "resizePolicy",
                                                  "resources",
                                                  "restartPolicy",
                                                  "restartPolicyRules",
                                                  "securityContext",
                                                  "startupProbe",
                                                  "stdin",
                                                  "stdinOnce",
                                                  "terminationMessagePath",
                                                  "terminationMessagePolicy",
                                                  "tty",
                                                  "volumeDevices",
                                                  "volumeMounts",
                                                  "workingDir"};

json& member_or(json& object, const char* name, json otherwise) {
    auto at = object.find(name);
    if (at == object.end() || at->is_null()) {
        object[name] = std::move(otherwise);
        at = object.find(name);
    }
    return *at;
}

/// Drops unknown and empty members, as an encoder of typed objects does.
template <class Names>
void keep_members(json& object, const Names& names) {
    for (auto each = object.begin(); each != object.end();) {
        const bool known = std::ranges::binary_search(names, std::string_view(each.key()));
        const bool empty = each->is_null() || (each->is_array() && each->empty()) ||
                           (each->is_string() && each->get_ref<const std::string&>().empty());
        each = known && !empty ? std::next(each) : object.erase(each);
    }
}

void prepare_container(json& container) {
    if (!container.is_object()) return;
    keep_members(container, container_members);
    const std::string image(text_member(container, "image"));
    const auto tag = image.find(':', image.rfind('/') == std::string::npos ? 0 : image.rfind('/'));
    const bool latest = tag == std::string::npos ? image.find('@') == std::string::npos
                                                 : image.substr(tag) == ":latest";
    member_or(container, "imagePullPolicy", latest ? "Always" : "IfNotPresent");
    member_or(container, "terminationMessagePath", "/dev/termination-log");
    member_or(container, "terminationMessagePolicy", "File");
    if (auto ports = container.find("ports"); ports != container.end() && ports->is_array()) {
        for (auto& each : *ports) {
            if (each.is_object()) member_or(each, "protocol", "TCP");
        }
    }
    auto& resources = member_or(container, "resources", json::object());
    if (!resources.is_object()) return;
    for (const char* name : {"limits", "requests"}) {
        if (auto at = resources.find(name); at != resources.end()) canonicalize_quantities(*at);
    }
    // What is limited and not requested is requested.
    const auto limits = resources.find("limits");
    if (limits == resources.end() || !limits->is_object()) return;
    const json limited = *limits;
    auto& requests = member_or(resources, "requests", json::object());
    for (const auto& each : limited.items()) {
        if (!requests.contains(each.key())) requests[each.key()] = each.value();
    }
}

void prepare_new_pod(json& body) {
    json& spec = member_or(body, "spec", json::object());
    if (!spec.is_object()) return;
    keep_members(spec, pod_members);
    if (const auto* selector = find_member(spec, "nodeSelector"); selector && selector->empty()) {
        spec.erase("nodeSelector");
    }
    member_or(spec, "restartPolicy", "Always");
    member_or(spec, "terminationGracePeriodSeconds", 30);
    member_or(spec, "dnsPolicy", "ClusterFirst");
    member_or(spec, "securityContext", json::object());
    member_or(spec, "schedulerName", "default-scheduler");
    member_or(spec, "enableServiceLinks", true);
    const json account = member_or(spec, "serviceAccountName", "default");
    spec["serviceAccount"] = account;
    for (const char* list : container_lists) {
        auto at = spec.find(list);
        if (at == spec.end() || !at->is_array()) continue;
        for (auto& each : *at) prepare_container(each);
    }
    if (auto overhead = spec.find("overhead"); overhead != spec.end())
        canonicalize_quantities(*overhead);
    body["status"] = {{"phase", "Pending"}, {"qosClass", quality_of_service(spec)}};
}

void prepare_status(json& body, const json& before) {
    keep_member(body, before, "spec");
    if (auto metadata = body.find("metadata"); metadata != body.end() && metadata->is_object()) {
        if (const auto* old = find_member(before, "metadata"))
            keep_member(*metadata, *old, "ownerReferences");
    }
    json& status = member_or(body, "status", json::object());
    if (!status.is_object()) return;
    for (auto each = status.begin(); each != status.end();) {
        const bool empty = each->is_null() || (each->is_array() && each->empty()) ||
                           (each->is_string() && each->get_ref<const std::string&>().empty());
        each = empty ? status.erase(each) : std::next(each);
    }
    for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
        auto at = status.find(list);
        if (at == status.end() || !at->is_array()) continue;
        for (auto& each : *at) {
            if (!each.is_object()) continue;
            member_or(each, "state", json::object());
            member_or(each, "lastState", json::object());
        }
    }
    const auto* old = find_member(before, "status");
    if (!old) return;
    for (const char* name : {"qosClass", "observedGeneration"}) {
        const auto* known = find_member(*old, name);
        if (known && !status.contains(name)) status[name] = *known;
    }
}

}  // namespace

void check_taint_effect(const json& holder, const std::string& path, bool may_be_empty,
                        faults& out) {
    static const std::vector<std::string> effects{"NoSchedule", "PreferNoSchedule", "NoExecute"};
    const std::string effect(text_member(holder, "effect"));
    if (effect.empty()) {
        if (!may_be_empty) out.push_back(required(path + ".effect"));
    } else if (std::ranges::find(effects, effect) == effects.end()) {
        out.push_back(not_supported(path + ".effect", effect, effects));
    }
}

std::string quality_of_service(const json& pod_spec) {
    bool any = false;
    bool guaranteed = true;
    for (const char* list : container_lists) {
        const auto* containers = list_member(pod_spec, list);
        for (std::size_t i = 0; containers && i < containers->size(); ++i) {
            const auto* resources = find_member((*containers)[i], "resources");
            const auto* limits = resources ? find_member(*resources, "limits") : nullptr;
            const auto* requests = resources ? find_member(*resources, "requests") : nullptr;
            for (const char* name : {"cpu", "memory"}) {
                const auto limit = quantity_of(limits ? find_member(*limits, name) : nullptr);
                const auto request = quantity_of(requests ? find_member(*requests, name) : nullptr);
                any |= limit.milli > 0 || request.milli > 0;
                guaranteed &= limit.milli > 0 && limit == request;
            }
        }
    }
    return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void prepare_pod(std::string_view subresource, json& body, const json* before) {
    if (!body.is_object()) return;
    if (!before) {
        prepare_new_pod(body);
    } else if (subresource == "status") {
        prepare_status(body, *before);
    } else {
        keep_member(body, *before, "status");
        auto spec = body.find("spec");
        if (spec != body.end() && spec->is_object()) keep_members(*spec, pod_members);
    }
}

void check_pod(std::string_view subresource, const json& body, const json* before, faults& out) {
    static const json none = json::object();
    if (before && subresource == "status") {
        pods::check_status(body, *before, out);
        return;
    }
    const auto* found = find_member(body, "spec");
    const auto& spec = found && found->is_object() ? *found : none;
    if (!before) {
        pods::check_spec(spec, out);
        const auto* gates = list_member(spec, "schedulingGates");
        if (gates && !gates->empty() && !text_member(spec, "nodeName").empty()) {
            out.push_back(forbidden("spec.nodeName",
                                    "cannot be set until all schedulingGates have been cleared"));
        }
        return;
    }
    const auto* old = find_member(*before, "spec");
    if (!old || *old == spec) return;
    pods::check_spec(spec, out);
    pods::check_spec_change(spec, *old, out);
}

void find_unknown_in_pod(const json& body, std::vector<std::string>& out) {
    const auto* spec = find_member(body, "spec");
    if (!spec || !spec->is_object()) return;
    for (const auto& each : spec->items()) {
        if (!std::ranges::binary_search(pod_members, std::string_view(each.key()))) {
            out.push_back("spec." + each.key());
        }
    }
    for (const char* list : container_lists) {
        const auto* containers = list_member(*spec, list);
        for (std::size_t i = 0; containers && i < containers->size(); ++i) {
            if (!(*containers)[i].is_object()) continue;
            for (const auto& each : (*containers)[i].items()) {
                if (!std::ranges::binary_search(container_members, std::string_view(each.key()))) {
                    out.push_back(item(std::string("spec.") + list, i) + "." + each.key());
                }
            }
        }
    }
}

}  // namespace esi::simulation
