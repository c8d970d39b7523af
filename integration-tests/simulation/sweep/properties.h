// The properties of a spec, read from the schema of its CustomResourceDefinition, and what a
// careless or hostile hand might write there (after Acto, SOSP'23: each property absent, set,
// changed, at and beyond its bounds, of the wrong type). Pure functions of the schema.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace esi::simulation {

using json = nlohmann::json;

/// The schema of `spec` in the file of a CustomResourceDefinition; throws std::runtime_error.
json spec_schema(const std::string& crd_file);

struct property {
    /// Below spec: {"slotBased", "jobs", "0", "slotIds"}; one member stands for all of a list.
    std::vector<std::string> path;
    json schema;
    bool required = false;

    /// "slotBased.jobs.0.slotIds"
    std::string name() const;
    /// "/slotBased/jobs/0/slotIds"
    json::json_pointer pointer() const;
};

/// All of them, parents first. A map of named values appears with the key `key_of_map`.
std::vector<property> properties(const json& spec_schema);
inline constexpr std::string_view key_of_map = "cpu";

struct trial {
    /// "absent", "null", "below minimum", ... in one word with hyphens.
    std::string label;
    /// Nothing: the property is taken away.
    std::optional<json> value;
    /// The schema itself forbids it (rules that look at several properties aside).
    bool forbidden = false;
};

/// What is tried for one property. `present`: what a good spec has there, if anything.
std::vector<trial> trials(const property& of, const std::optional<json>& present);

}  // namespace esi::simulation
