// Reads of objects of which any part may be missing or of another type: they give what is there, or
// nothing. They never throw and never change what they read.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace esi::simulation {

using json = nlohmann::json;

namespace fields {

/// Null: there is nothing.
inline const json* find(const json& from, std::span<const std::string_view> path) {
    const json* at = &from;
    for (const auto key : path) {
        if (!at->is_object()) return nullptr;
        const auto next = at->find(key);
        if (next == at->end()) return nullptr;
        at = &*next;
    }
    return at->is_null() ? nullptr : at;
}
inline const json* find(const json& from, std::initializer_list<std::string_view> path) {
    return find(from, std::span(path.begin(), path.size()));
}

/// Empty: no such text.
inline std::string_view text(const json& from, std::initializer_list<std::string_view> path) {
    const auto* at = find(from, path);
    return at && at->is_string() ? std::string_view(at->get_ref<const std::string&>())
                                 : std::string_view();
}

inline std::int64_t number(const json& from, std::initializer_list<std::string_view> path,
                           std::int64_t otherwise = 0) {
    const auto* at = find(from, path);
    return at && at->is_number() ? at->get<std::int64_t>() : otherwise;
}

inline std::string_view label(const json& object, std::string_view key) {
    return text(object, {"metadata", "labels", key});
}
inline std::string_view annotation(const json& object, std::string_view key) {
    return text(object, {"metadata", "annotations", key});
}
inline bool deleting(const json& object) {
    return find(object, {"metadata", "deletionTimestamp"}) != nullptr;
}
inline std::string_view phase(const json& pod) { return text(pod, {"status", "phase"}); }
inline bool terminal(const json& pod) {
    return phase(pod) == "Succeeded" || phase(pod) == "Failed";
}
/// The uid of the owner that is the controller; empty without one.
inline std::string_view controller(const json& object) {
    const auto* owners = find(object, {"metadata", "ownerReferences"});
    if (!owners || !owners->is_array()) return {};
    for (const auto& owner : *owners) {
        const auto* flag = find(owner, {"controller"});
        if (flag && *flag == true) return text(owner, {"uid"});
    }
    return {};
}

}  // namespace fields

}  // namespace esi::simulation
