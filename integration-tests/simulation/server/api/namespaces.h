// What is special in objects of kind Namespace: their own finalizers in spec, a phase that the
// server sets, and a sub-resource of which each may change one part only. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace esi::simulation {

using json = nlohmann::json;

/// What a new Namespace gets.
void begin_namespace(json& body);
/// Undoes what `subresource` ("", "status", "finalize") may not change.
void keep_namespace_parts(std::string_view subresource, json& body, const json& before);
/// It has no finalizers left: no controller has to clean up in it any more.
bool is_finalized(const json& body);

}  // namespace esi::simulation
