// What a cluster has from its first moment: namespaces, the system's priority classes, and a
// CustomResourceDefinition for each installed kind.
#include <fmt/format.h>

#include "base/group_kinds.h"
#include "base/text.h"
#include "server/api/state.h"

namespace esi::simulation {

namespace {

json new_object(const kube::resource_type& type, std::string_view name, std::string uid,
                std::string created) {
    json body = json::object();
    body["apiVersion"] = type.api_version();
    body["kind"] = type.kind;
    body["metadata"] = {{"name", name}};
    body["metadata"]["uid"] = std::move(uid);
    body["metadata"]["creationTimestamp"] = std::move(created);
    return body;
}

json condition(std::string_view type, std::string_view reason, const std::string& when) {
    json out = json::object();
    out["type"] = type;
    out["status"] = "True";
    out["reason"] = reason;
    out["lastTransitionTime"] = when;
    return out;
}

}  // namespace

std::optional<kube::response> api_server::state::resources_of(const kube::request& what) const {
    constexpr std::string_view head = "/apis/";
    std::string_view path = what.target;
    if (what.method != "GET" || !path.starts_with(head)) return std::nullopt;
    path.remove_prefix(head.size());
    const auto slash = path.find('/');
    if (slash == path.npos || path.find('/', slash + 1) != path.npos) return std::nullopt;
    json list = json::array();
    for (const auto* type : all_kinds()) {
        if (type->group != path.substr(0, slash) || type->version != path.substr(slash + 1) ||
            !serves(*type)) {
            continue;
        }
        json one{{"name", type->plural},
                 {"singularName", lower(type->kind)},
                 {"namespaced", type->namespaced},
                 {"kind", type->kind}};
        list.push_back(one);
        if (!rules.has_status(*type)) continue;
        one["name"] = fmt::format("{}/status", type->plural);
        one["singularName"] = "";
        list.push_back(std::move(one));
    }
    if (list.empty()) return std::nullopt;
    const json out{{"kind", "APIResourceList"},
                   {"apiVersion", "v1"},
                   {"groupVersion", path},
                   {"resources", std::move(list)}};
    return answer_with(200, out.dump());
}

void api_server::state::put_definition(const kube::resource_type& type) {
    installed.emplace(std::string(known_as(type)), std::make_shared<bool>(true));
    auto body = new_object(kinds::custom_resource_definition, qualified(type), uid_number(++made),
                           now_text());
    body["metadata"]["generation"] = 1;
    json names = json::object();
    names["plural"] = type.plural;
    names["singular"] = lower(type.kind);
    names["kind"] = type.kind;
    names["listKind"] = fmt::format("{}List", type.kind);
    json version = json::object();
    version["name"] = type.version;
    version["served"] = true;
    version["storage"] = true;
    if (rules.has_status(type)) version["subresources"] = {{"status", json::object()}};
    json spec = json::object();
    spec["group"] = type.group;
    spec["names"] = names;
    spec["scope"] = type.namespaced ? "Namespaced" : "Cluster";
    spec["versions"] = json::array();
    spec["versions"].push_back(std::move(version));
    body["spec"] = std::move(spec);
    json status = json::object();
    status["acceptedNames"] = std::move(names);
    status["storedVersions"] = json::array();
    status["storedVersions"].push_back(type.version);
    status["conditions"] = json::array();
    status["conditions"].push_back(condition("NamesAccepted", "NoConflicts", now_text()));
    status["conditions"].push_back(condition("Established", "InitialNamesAccepted", now_text()));
    body["status"] = std::move(status);
    store.put(kinds::custom_resource_definition, std::move(body));
}

void api_server::state::put_first_objects() {
    for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
        auto body = new_object(kinds::name_space, name, uid_number(++made), now_text());
        body["metadata"]["labels"] = {{"kubernetes.io/metadata.name", name}};
        body["spec"]["finalizers"] = json::array();
        body["spec"]["finalizers"].push_back("kubernetes");
        body["status"] = {{"phase", "Active"}};
        store.put(kinds::name_space, std::move(body));
    }
    for (const auto& [name, value] : {std::pair("system-cluster-critical", 2000000000),
                                      std::pair("system-node-critical", 2000001000)}) {
        auto body = new_object(kinds::priority_class, name, uid_number(++made), now_text());
        body["value"] = value;
        body["preemptionPolicy"] = "PreemptLowerPriority";
        store.put(kinds::priority_class, std::move(body));
    }
    put_definition(kinds::testbed);
    put_definition(kinds::batchjob);
    put_definition(kinds::scheduling);
    put_definition(kinds::slot_slice);
    for (const auto& kind : settings.applications) put_definition(*kind.type);
    if (!settings.gangs) return;
    for (const auto& kind : group_kinds()) {
        if (kind.type) put_definition(*kind.type);
    }
}

}  // namespace esi::simulation
