// The OpenAPI 3.1 document of the interface v1, made from the table of operations and the schemas.
#pragma once

#include <span>
#include <string>

#include "interface/v1/schemas.h"
#include "interface/v1/wire/operation.h"

namespace esi::interface::v1 {

ordered_json openapi_document(std::span<const operation> all);

/// The document of the whole table as text, indented, with a line break at its end.
std::string openapi_text();

}  // namespace esi::interface::v1
