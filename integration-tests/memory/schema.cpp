#include "schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace esi::memory {

namespace {

/// What nests deeper (affinity in a template in a spec) is of a type that has been seen above.
constexpr std::size_t deepest = 14;

constexpr std::string_view reference = "#/components/schemas/";

std::string type_of(const json& schema) { return schema.value("type", std::string()); }

bool holds_anything(const json& schema) {
    return schema.value("x-kubernetes-preserve-unknown-fields", false) ||
           (type_of(schema) == "object" && !schema.contains("properties") &&
            !schema.contains("additionalProperties"));
}

bool is_map(const json& schema) {
    const auto more = schema.find("additionalProperties");
    return more != schema.end() && more->is_object();
}

json* member_at(json& from, const std::vector<std::string>& path) {
    auto* here = &from;
    for (const auto& step : path) {
        if (step == "[]") {
            if (!here->is_array()) *here = json::array({nullptr});
            here = &here->at(0);
        } else {
            if (!here->is_object()) *here = json::object();
            here = &(*here)[step == "{}" ? "k" : step];
        }
    }
    return here;
}

std::size_t most_of(const json& schema, const char* bound) {
    return schema.value(bound, std::size_t{1} << 30);
}

}  // namespace

std::string place::text() const {
    std::string out;
    for (const auto& step : path) out += step == "[]" || step == "{}" ? step : "." + step;
    return out;
}

schemas::schemas(const std::filesystem::path& folder) {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
        if (file.path().extension() != ".json") continue;
        std::ifstream in(file.path());
        const auto document = json::parse(in);
        for (const auto& [name, schema] : document.at("components").at("schemas").items()) {
            components_.emplace(name, schema);
        }
        for (const auto& [name, schema] : document.at("components").at("schemas").items()) {
            const auto kinds = schema.find("x-kubernetes-group-version-kind");
            if (kinds == schema.end() || !schema.value("properties", json()).contains("metadata")) {
                continue;
            }
            for (const auto& [path, operations] : document.at("paths").items()) {
                // Of a list of all namespaces: it has the kind of its items.
                if (path.contains('{') || !operations.contains("get")) continue;
                const auto& get = operations.at("get");
                if (get.value("x-kubernetes-group-version-kind", json()) != kinds->at(0)) continue;
                if (schema.at("properties").contains("items")) continue;
                lists_[path] = schema;
            }
        }
    }
}

json schemas::kind_at(const std::string& path_of_list) const {
    const auto found = lists_.find(path_of_list);
    return found == lists_.end() ? json() : found->second;
}

json schemas::resolved(json schema) const {
    for (int links = 0; links < 8; ++links) {
        if (const auto all = schema.find("allOf"); all != schema.end() && all->size() == 1) {
            schema = json(all->at(0));
        }
        const auto link = schema.find("$ref");
        if (link == schema.end()) break;
        const auto name = link->get<std::string>().substr(reference.size());
        const auto found = components_.find(name);
        if (found == components_.end()) return json::object();
        schema = found->second;
    }
    return schema;
}

std::vector<place> schemas::places_of(const json& kind) const {
    std::vector<place> out;
    std::vector<std::string> path;
    std::vector<std::string> above;
    walk(kind, path, above, out);
    return out;
}

void schemas::walk(const json& schema, std::vector<std::string>& path,
                   std::vector<std::string>& above, std::vector<place>& into) const {
    const auto name = schema.contains("$ref") ? schema.at("$ref").get<std::string>()
                      : schema.contains("allOf") && schema.at("allOf").at(0).contains("$ref")
                          ? schema.at("allOf").at(0).at("$ref").get<std::string>()
                          : std::string();
    // A type in itself, and what identifies the object.
    if (!name.empty() && std::ranges::find(above, name) != above.end()) return;
    if (path.size() > deepest) return;
    if (path.size() == 2 && path[0] == "metadata" &&
        (path[1] == "name" || path[1] == "namespace" || path[1] == "uid" ||
         path[1] == "resourceVersion")) {
        return;
    }
    const auto here = resolved(schema);
    const auto type = type_of(here);
    if (!name.empty()) above.push_back(name);
    const auto down = [&](const std::string& step, const json& to) {
        path.push_back(step);
        walk(to, path, above, into);
        path.pop_back();
    };
    if (type == "array") {
        into.push_back({path, here});
        if (here.contains("items")) down("[]", here.at("items"));
    } else if (is_map(here)) {
        into.push_back({path, here});
        down("{}", here.at("additionalProperties"));
    } else if (type == "string") {
        if (!here.contains("enum") && here.value("format", "") != "date-time") {
            into.push_back({path, here});
        }
    } else if (holds_anything(here) && !path.empty()) {
        into.push_back({path, here});
    }
    for (const auto& [member, to] : here.value("properties", json::object()).items()) {
        down(member, to);
    }
    if (!name.empty()) above.pop_back();
}

json schemas::smallest(const json& schema, bool filled, int depth) const {
    const auto here = resolved(schema);
    const auto type = type_of(here);
    if (here.contains("enum")) return here.at("enum").at(0);
    if (type == "array") {
        if (!filled || depth > 3 || !here.contains("items")) return json::array();
        return json::array({smallest(here.at("items"), filled, depth + 1)});
    }
    if (type == "integer" || type == "number") return here.value("minimum", 1);
    if (type == "boolean") return true;
    if (type == "string") {
        return here.value("format", "") == "date-time" ? "2026-01-01T00:00:00Z" : "1";
    }
    auto out = json::object();
    if (depth > 3) return out;
    if (is_map(here) && filled) out["k"] = smallest(here.at("additionalProperties"), filled, 4);
    const auto required = here.value("required", json::array());
    for (const auto& [member, to] : here.value("properties", json::object()).items()) {
        const bool needed = std::ranges::find(required, json(member)) != required.end();
        if (filled || needed) out[member] = smallest(to, filled, depth + 1);
    }
    return out;
}

json schemas::stuffed(json base, const place& where, std::size_t bytes, bool filled) const {
    auto& to = *member_at(base, where.path);
    const auto type = type_of(where.schema);
    if (type == "string") {
        to = std::string(std::min(bytes, most_of(where.schema, "maxLength")), 'a');
        return base;
    }
    const bool list = type == "array";
    const auto item = list ? smallest(where.schema.value("items", json::object()), filled)
                      : is_map(where.schema)
                          ? smallest(where.schema.at("additionalProperties"), filled)
                          : json::object();
    const auto each = item.dump().size() + (list ? 1 : 12);
    const auto count =
        std::min(bytes / each, most_of(where.schema, list ? "maxItems" : "maxProperties"));
    if (list) {
        to = json::array();
        for (std::size_t i = 0; i < count; ++i) to.push_back(item);
    } else {
        if (!to.is_object()) to = json::object();
        for (std::size_t i = 0; i < count; ++i) to[fmt::format("k{:07}", i)] = item;
    }
    return base;
}

}  // namespace esi::memory
