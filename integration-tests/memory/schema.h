// OpenAPI v3 documents of an API server: where in an object of a kind its author decides how much
// there is, and an object that has as much as fits there. Pure.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace esi::memory {

using json = nlohmann::json;

/// One list, map or text of a kind.
struct place {
    /// Members from the object down; "[]" is an item of a list, "{}" a value of a map.
    std::vector<std::string> path;
    json schema;
    /// ".spec.slotBased.jobs[].slotIds"
    std::string text() const;
};

class schemas {
public:
    /// Reads all *.json of the folder. Throws where one is no JSON.
    explicit schemas(const std::filesystem::path& folder);

    /// "/apis/esi.tu-berlin.de/v1alpha1/batchjobs" -> its schema; null where it is not described.
    json kind_at(const std::string& path_of_list) const;
    std::vector<place> places_of(const json& kind) const;
    /// `base` with as much at `where` as makes `bytes` of JSON, or as the schema allows. With
    /// `filled`, items of lists and values of maps have each of their members; else they are as
    /// small as can be.
    json stuffed(json base, const place& where, std::size_t bytes, bool filled) const;

private:
    json resolved(json schema) const;
    void walk(const json& schema, std::vector<std::string>& path, std::vector<std::string>& above,
              std::vector<place>& into) const;
    json smallest(const json& schema, bool filled, int depth = 0) const;

    std::map<std::string, json> components_;
    std::map<std::string, json> lists_;
};

}  // namespace esi::memory
