// Checks bodies against the schemas of the interface: all faults at once, each with its place.
// Pure.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "http/problem.h"
#include "interface/v1/schemas.h"

namespace esi::interface::v1 {

/// The deepest body that is read.
inline constexpr int deepest_body = 64;
/// The most faults that are reported for one body.
inline constexpr std::size_t most_faults = 100;

using faults = std::vector<http::problem_fault>;

/// JSON text in UTF-8 without repeated members. A number without a fraction is a whole one, however
/// it is written.
std::expected<nlohmann::json, faults> parse_body(std::string_view body);

/// Adds the faults of `value`, which is at `pointer`. Members that the schema marks readOnly are
/// skipped. Known keywords: those that schemas() uses, except pattern, propertyNames and allOf: the
/// reader of the body checks names and exclusive members, with its own message. anyOf is a schema
/// or null.
void validate(const ordered_json& schema, const nlohmann::json& value, const std::string& pointer,
              faults& wrong);

/// `pointer` and a member below it, escaped (RFC 6901).
std::string pointer_to(const std::string& pointer, std::string_view member);
std::string pointer_to(const std::string& pointer, std::size_t index);

/// Adds it while there are fewer than most_faults.
void add_fault(faults& wrong, std::string pointer, std::string_view code, std::string detail);

}  // namespace esi::interface::v1
