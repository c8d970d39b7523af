#include "kubectl-esi/doctor/definitions.h"

namespace esi::kubectl::doctor {

namespace {

using json = nlohmann::json;

/// The schema of one version; null if it has none.
const json* schema_of(const json& definition, const std::string& version) {
    const json::json_pointer versions("/spec/versions");
    if (!definition.contains(versions)) return nullptr;
    for (const auto& each : definition[versions]) {
        const json::json_pointer schema("/schema/openAPIV3Schema");
        if (each.value("name", "") == version && each.contains(schema)) return &each[schema];
    }
    return nullptr;
}

void compare(const json& own, const json& served, const std::string& path,
             std::vector<std::string>& missing) {
    if (const auto items = own.find("items"); items != own.end() && items->is_object()) {
        const auto there = served.find("items");
        if (there != served.end() && there->is_object())
            compare(*items, *there, path + "[]", missing);
    }
    const auto properties = own.find("properties");
    if (properties == own.end() || !properties->is_object()) return;
    const auto there = served.find("properties");
    for (const auto& [name, schema] : properties->items()) {
        const auto below = path.empty() ? name : path + "." + name;
        if (there == served.end() || !there->contains(name)) {
            missing.push_back(below);
        } else {
            compare(schema, (*there)[name], below, missing);
        }
    }
}

}  // namespace

std::vector<std::string> missing_fields(const json& own, const json& served) {
    std::vector<std::string> out;
    const json::json_pointer first("/spec/versions/0/name");
    if (!own.contains(first)) return out;
    const auto version = own[first].get<std::string>();
    const auto* mine = schema_of(own, version);
    if (mine == nullptr) return out;
    const auto* theirs = schema_of(served, version);
    if (theirs == nullptr) return {"the version " + version};
    compare(*mine, *theirs, {}, out);
    return out;
}

}  // namespace esi::kubectl::doctor
