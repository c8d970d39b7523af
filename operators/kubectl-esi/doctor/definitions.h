// The CustomResourceDefinitions of this release, and what an older one lacks.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace esi::kubectl::doctor {

/// The texts of crds/*.yaml.
std::span<const char* const> definitions();

/// Paths of properties that the first served version of `own` has and that of `served` lacks, such
/// as "spec.suspend"; the whole objects are given. The first of each branch: what is below a
/// missing property is not listed. Pure.
std::vector<std::string> missing_fields(const nlohmann::json& own, const nlohmann::json& served);

}  // namespace esi::kubectl::doctor
