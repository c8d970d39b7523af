#include "server/api/namespaces.h"

#include <algorithm>
#include <string>

#include "server/api/metadata.h"

namespace esi::simulation {

namespace {

constexpr std::string_view own_finalizer = "kubernetes";
constexpr const char* name_label = "kubernetes.io/metadata.name";

void keep(json& body, const json& before, const char* part) {
    const auto old = before.find(part);
    if (old != before.end()) {
        body[part] = *old;
    } else {
        body.erase(part);
    }
}

json& spec_of(json& body) {
    auto& spec = body["spec"];
    if (!spec.is_object()) spec = json::object();
    return spec;
}

void set_name_label(json& body) {
    metadata_of(body)["labels"][name_label] = std::string(metadata_text(body, "name"));
}

}  // namespace

void begin_namespace(json& body) {
    set_name_label(body);
    auto& finalizers = spec_of(body)["finalizers"];
    if (!finalizers.is_array()) finalizers = json::array();
    const bool there =
        std::ranges::any_of(finalizers, [](const json& each) { return each == own_finalizer; });
    if (!there) finalizers.push_back(own_finalizer);
    body["status"] = {{"phase", "Active"}};
}

void keep_namespace_parts(std::string_view subresource, json& body, const json& before) {
    set_name_label(body);
    const auto status = body.find("status");
    const bool usable = status != body.end() && status->is_object();
    if (subresource != "status" || !usable) keep(body, before, "status");
    if (subresource != "finalize") keep(body, before, "spec");
    auto& spec = spec_of(body);
    const auto finalizers = spec.find("finalizers");
    if (finalizers == spec.end()) return;
    if (!finalizers->is_array() || finalizers->empty()) spec.erase(finalizers);
}

bool is_finalized(const json& body) {
    const auto* spec = object_in(body, "spec");
    if (spec == nullptr) return true;
    const auto left = spec->find("finalizers");
    return left == spec->end() || left->empty();
}

}  // namespace esi::simulation
