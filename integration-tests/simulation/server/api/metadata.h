// What the server itself keeps in an object's metadata: names, uids, times, generations, and what
// an update may not touch. Pure functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "server/validation/validation.h"

namespace esi::simulation {

/// Empty where it is not there.
std::string_view text_in(const json& object, std::string_view key);
/// The metadata of a body that was checked (call.h).
const json& metadata_of(const json& body);
json& metadata_of(json& body);
std::string_view metadata_text(const json& body, std::string_view key);
std::optional<std::int64_t> metadata_number(const json& body, std::string_view key);
bool is_deleting(const json& body);
bool has_finalizers(const json& body);
/// Null where the body has no such object.
const json* object_in(const json& body, std::string_view key);

/// "2026-01-02T03:04:05Z"
std::string time_text(wall_time when);
/// The time in such a text; empty where it is none.
std::optional<wall_time> time_from(std::string_view text);

/// The n-th uid: a UUID that depends on n alone and looks like chance.
std::string uid_number(std::uint64_t n);
/// The five letters after a generateName.
std::string suffix_number(std::uint64_t n);

/// Takes out what is not kept: managedFields, nulls, empty maps and lists.
void tidy_metadata(json& body);
/// Faults of metadata.name. A Namespace's is a label, all others' a sub-domain.
std::vector<fault_cause> name_faults(std::string_view name, bool label);
/// Sets what an update cannot change without asking: generation, creationTimestamp, uid where left
/// out, deletionTimestamp and grace of an object that is being deleted.
void keep_system_metadata(json& body, const json& before);
/// Faults of an update that tries to change what is fixed.
std::vector<fault_cause> immutable_faults(const json& body, const json& before);
/// Everything but metadata is equal.
bool same_but_metadata(const json& a, const json& b);

}  // namespace esi::simulation
