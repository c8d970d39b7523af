// Parts of schemas: references, and the words and bounds of the CRDs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace esi::interface::v1 {

using ordered_json = nlohmann::ordered_json;

/// {"$ref": "#/components/schemas/NAME"}
ordered_json reference_to(std::string_view name);

/// The keyword of a schema that lists the words known today: values are open, and readers must
/// accept others.
inline constexpr const char* known_words = "x-extensible-enum";

/// The OpenAPI schema of a CRD by its kind: "Testbed", "BatchJob", "Scheduling".
ordered_json crd_schema(std::string_view kind);

}  // namespace esi::interface::v1
