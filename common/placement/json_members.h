// Access to members of an object that ESI passes on and seldom reads (model::raw_json). A member of
// another form than expected reads as absent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace esi::placement {

/// Null where it is absent, null, or `of` is no object.
inline const nlohmann::json* member(const nlohmann::json& of, const char* name) {
    if (!of.is_object()) return nullptr;
    const auto found = of.find(name);
    return found == of.end() || found->is_null() ? nullptr : &*found;
}

/// Null where it is no list.
inline const nlohmann::json* list_in(const nlohmann::json& of, const char* name) {
    const auto* found = member(of, name);
    return found && found->is_array() ? found : nullptr;
}

inline std::string text_in(const nlohmann::json& of, const char* name) {
    const auto* found = member(of, name);
    return found && found->is_string() ? found->get<std::string>() : std::string{};
}

inline std::vector<std::string> texts_in(const nlohmann::json& of, const char* name) {
    std::vector<std::string> out;
    if (const auto* list = list_in(of, name)) {
        for (const auto& item : *list) {
            if (item.is_string()) out.push_back(item.get<std::string>());
        }
    }
    return out;
}

}  // namespace esi::placement
