// JSON text of the API server into simdjson's tree. All readers of its answers use it, so that one
// person's object never makes a whole list unreadable.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "base/result.h"

namespace esi::model {

/// The tree lives in `parser`, not in `text`. Read are also
/// - whole numbers beyond 64 bits, as floating point: Go writes a float64 below 1e21 without an
///   exponent (encoding/json), and any writer may put one where a schema leaves a sub-tree open;
/// - nesting up to the 10,000 levels that the API server takes (encoding/json, maxNestingDepth).
/// Everything else that is not JSON is errc::decode.
result<simdjson::dom::element> parse(simdjson::dom::parser& parser, std::string_view text);

}  // namespace esi::model
