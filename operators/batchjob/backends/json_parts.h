// Reads members of a user's JSON, whatever types they have. Nothing here throws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace esi::batchjob {

using json = nlohmann::json;

/// The member; null if it is absent or null, or if `parent` is no object.
const json* member(const json& parent, const std::string& key);
/// The member, of the type of `empty`; `empty` is inserted if it is absent or null. Null if it has
/// another type. `parent` is an object.
json* typed_in(json& parent, const std::string& key, json empty);
/// The text `name` of a list's item; empty if there is none.
std::string name_of(const json& item);
/// A scalar in the form of configuration: a text as it is, all else as JSON.
std::string conf_text(const json& value);

}  // namespace esi::batchjob
