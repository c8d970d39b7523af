// Reads members of a user's JSON, whatever types they have. Nothing here throws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace esi::batchjob {

using json = nlohmann::json;

/// The member; null where it is absent or null, or `parent` is no object.
const json* member(const json& parent, const std::string& key);
/// The member of the type of `empty`, made from it where it is absent or null; null where it is
/// something else. `parent` is an object.
json* typed_in(json& parent, const std::string& key, json empty);
/// The text `name` of a list's item; empty where there is none.
std::string name_of(const json& item);
/// A scalar as configuration writes it: a text as it is, all else as JSON.
std::string conf_text(const json& value);

}  // namespace esi::batchjob
