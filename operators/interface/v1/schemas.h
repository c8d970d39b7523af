// The schemas of the interface v1 (JSON Schema 2020-12, as OpenAPI 3.1 has it), made from the
// structs that are printed and parsed. Descriptions, bounds and known words of ESI's own kinds come
// from their CRDs (crds/*.yaml, compiled in); those of the answers stand in schema_texts.cpp.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace esi::interface::v1 {

using ordered_json = nlohmann::ordered_json;

/// Name -> schema: components.schemas of the OpenAPI document. Made once.
const ordered_json& schemas();

/// {"$ref": "#/components/schemas/NAME"}
ordered_json reference_to(std::string_view name);

/// What the keyword of a schema is called that lists the words known today: values are open, and
/// readers must take others.
inline constexpr const char* known_words = "x-extensible-enum";

/// The OpenAPI schema of a CRD by its kind: "Testbed", "BatchJob", "Scheduling".
ordered_json crd_schema(std::string_view kind);

}  // namespace esi::interface::v1
