// The schemas of the interface v1 (JSON Schema 2020-12, as OpenAPI 3.1 has it), made from the
// structs that are printed and parsed. Descriptions, bounds and known words of ESI's own kinds come
// from their CRDs (crds/*.yaml, compiled in); those of the answers stand in schema_texts.cpp.
#pragma once

#include "interface/v1/crd_schema.h"

namespace esi::interface::v1 {

/// Name -> schema: components.schemas of the OpenAPI document. Made once.
const ordered_json& schemas();

}  // namespace esi::interface::v1
