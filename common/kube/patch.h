// Building guarded merge patches: the smallest change, refused by the server after another write.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace esi::kube {

using json = nlohmann::json;

/// The JSON merge patch (RFC 7386) that turns `from` into `to`; an empty object when nothing
/// differs. Members of `from` that are absent in `to` become null.
json merge_difference(const json& from, const json& to);

/// Adds metadata.uid and/or metadata.resourceVersion to a merge patch: the API server refuses it
/// when the object has another one (409 for the version, 422 for the uid; errc::conflict both).
/// Empty texts are left out.
json guarded(json patch, std::string_view uid, std::string_view resource_version);

}  // namespace esi::kube
