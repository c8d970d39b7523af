#include "batchjob/backends/json_parts.h"

namespace esi::batchjob {

const json* member(const json& parent, const std::string& key) {
    if (!parent.is_object()) return nullptr;
    const auto at = parent.find(key);
    return at == parent.end() || at->is_null() ? nullptr : &*at;
}

json* typed_in(json& parent, const std::string& key, json empty) {
    auto at = parent.find(key);
    if (at == parent.end() || at->is_null()) {
        parent[key] = std::move(empty);
        return &parent[key];
    }
    return at->type() == empty.type() ? &*at : nullptr;
}

std::string name_of(const json& item) {
    const auto* name = member(item, "name");
    return name && name->is_string() ? name->get<std::string>() : std::string();
}

std::string conf_text(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace esi::batchjob
