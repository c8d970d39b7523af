#include "kube/patch.h"

namespace esi::kube {

json merge_difference(const json& from, const json& to) {
    json out = json::object();
    if (!to.is_object()) return out;
    const bool comparable = from.is_object();
    for (const auto& [key, wanted] : to.items()) {
        const auto present = comparable ? from.find(key) : from.end();
        if (!comparable || present == from.end()) {
            // null in a merge patch means absent, which it is.
            if (!wanted.is_null()) out[key] = wanted;
            continue;
        }
        if (*present == wanted) continue;
        if (present->is_object() && wanted.is_object()) {
            auto inner = merge_difference(*present, wanted);
            if (!inner.empty()) out[key] = std::move(inner);
            continue;
        }
        out[key] = wanted;
    }
    if (!comparable) return out;
    for (const auto& [key, unused] : from.items()) {
        if (!to.contains(key)) out[key] = nullptr;
    }
    return out;
}

json guarded(json patch, std::string_view uid, std::string_view resource_version) {
    if (!patch.is_object()) patch = json::object();
    if (uid.empty() && resource_version.empty()) return patch;
    auto& metadata = patch["metadata"];
    if (!metadata.is_object()) metadata = json::object();
    if (!uid.empty()) metadata["uid"] = uid;
    if (!resource_version.empty()) metadata["resourceVersion"] = resource_version;
    return patch;
}

}  // namespace esi::kube
