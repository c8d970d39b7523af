// Reads and writes objects as YAML and JSON. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kubectl-esi/shown/flags.h"
#include "model/json.h"

namespace esi::kubectl::shown {

using json = nlohmann::json;

/// The documents of a YAML stream, or of a JSON text, which is YAML; empty ones are left out.
/// `from` names the text in errors (errc::config). YAML's core schema is supported; a plain scalar
/// is null, true, false or a number if it reads so, else a text.
result<std::vector<json>> read_documents(std::string_view text, const std::string& from);

/// A value as a YAML document, in which every text that reads as another type is quoted.
std::string yaml_text(const json& of);
/// A list that is written even if it is empty, which model::encode would leave out.
template <class T>
json items_of(const std::vector<T>& of) {
    json out = json::array();
    for (const auto& each : of) out.push_back(model::encode(each));
    return out;
}
/// The text of -o json or -o yaml, with a line break at its end.
std::string object_text(const json& of, form as);

}  // namespace esi::kubectl::shown
