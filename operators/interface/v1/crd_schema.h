// What schemas are made of: references, and the words and bounds of the CRDs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace esi::interface::v1 {

using ordered_json = nlohmann::ordered_json;

/// {"$ref": "#/components/schemas/NAME"}
ordered_json reference_to(std::string_view name);

/// What the keyword of a schema is called that lists the words known today: values are open, and
/// readers must take others.
inline constexpr const char* known_words = "x-extensible-enum";

/// The OpenAPI schema of a CRD by its kind: "Testbed", "BatchJob", "Scheduling".
ordered_json crd_schema(std::string_view kind);

}  // namespace esi::interface::v1
