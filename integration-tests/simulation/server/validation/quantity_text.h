// Quantities of built-in kinds as the API server writes them back: "1.75Gi" becomes "1792Mi", "0.5"
// becomes "500m", 1000 becomes "1k". Custom resources keep their texts.
// Source: k8s.io/apimachinery/pkg/api/resource, Quantity.CanonicalizeBytes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace esi::simulation {

/// Nothing where the text is no quantity.
std::optional<std::string> canonical_quantity(std::string_view text);

/// Each member of a map of resources.
void canonicalize_quantities(nlohmann::json& resources);

}  // namespace esi::simulation
