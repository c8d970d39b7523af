// Bodies against the schemas of the interface: every fault at once, with its place. Pure.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "http/problem.h"
#include "interface/v1/schemas.h"

namespace esi::interface::v1 {

/// Deeper bodies are not read.
inline constexpr int deepest_body = 64;
/// Of one body so many are told.
inline constexpr std::size_t most_faults = 100;

using faults = std::vector<http::problem_fault>;

/// JSON text in UTF-8 without repeated members. A number without a fraction is a whole one, however
/// it is written.
std::expected<nlohmann::json, faults> parse_body(std::string_view body);

/// Adds what is wrong with `value`, which is at `pointer`. Members that the schema marks readOnly
/// are passed over. Known keywords: those that schemas() uses, but for pattern, propertyNames and
/// allOf: who reads the body checks names and what excludes each other, and tells it in words.
/// anyOf is a schema or null.
void validate(const ordered_json& schema, const nlohmann::json& value, const std::string& pointer,
              faults& wrong);

/// `pointer` and a member below it, escaped (RFC 6901).
std::string pointer_to(const std::string& pointer, std::string_view member);
std::string pointer_to(const std::string& pointer, std::size_t index);

/// While fewer than most_faults are there.
void add_fault(faults& wrong, std::string pointer, std::string_view code, std::string detail);

}  // namespace esi::interface::v1
