// What an older CustomResourceDefinition lacks of that of this release.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace esi::kubectl::doctor {

/// Paths of properties that the first served version of `own` has and that of `served` lacks, such
/// as "spec.suspend"; the whole objects are given. The first of each branch: what is below a
/// missing property is not listed. Pure.
std::vector<std::string> missing_fields(const nlohmann::json& own, const nlohmann::json& served);

}  // namespace esi::kubectl::doctor
