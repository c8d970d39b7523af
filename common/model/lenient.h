// Reads objects that others write for themselves: a field of another form than expected reads as
// absent, never as an error, so that no object can stall a cache. Pure.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "model/meta.h"
#include "model/parse.h"

namespace esi::model::lenient {

/// The text at a path of member names, its first 32 KiB; empty if there is none.
std::string_view text_at(const simdjson::dom::element& from,
                         std::initializer_list<std::string_view> path);
/// RFC 3339.
std::optional<timestamp> time_at(const simdjson::dom::element& from,
                                 std::initializer_list<std::string_view> path);
/// Milliseconds since 1970 as a text; nothing for 0 and below, which Flink writes for "not yet".
std::optional<timestamp> milliseconds_at(const simdjson::dom::element& from,
                                         std::initializer_list<std::string_view> path);

}  // namespace esi::model::lenient
