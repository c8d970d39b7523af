// Finds the fields of this release that an older CustomResourceDefinition lacks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace esi::kubectl::doctor {

/// Paths of properties that the first served version of `own` has and that of `served` lacks, such
/// as "spec.suspend"; both arguments are whole objects. Only the first of each branch: properties
/// below a missing one are not listed. Pure.
std::vector<std::string> missing_fields(const nlohmann::json& own, const nlohmann::json& served);

}  // namespace esi::kubectl::doctor
