// Problems that several operations answer, with the same text. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/problem.h"
#include "model/meta.h"

namespace esi::interface::v1 {

/// Codes that programs use, beside those of a status (http::code_of_status).
namespace problem_code {
// Codes of a whole request.
inline constexpr std::string_view namespace_not_watched = "NamespaceNotWatched";
inline constexpr std::string_view caches_not_synced = "CachesNotSynced";
inline constexpr std::string_view stopping = "Stopping";
inline constexpr std::string_view already_exists = "AlreadyExists";
inline constexpr std::string_view nodes_not_enabled = "NodesNotEnabled";
inline constexpr std::string_view too_few_nodes = "TooFewNodes";
inline constexpr std::string_view nodes_of_claim = "NodesOfClaim";
inline constexpr std::string_view idempotency_key_reused = "IdempotencyKeyReused";
inline constexpr std::string_view api_server = "ApiServer";
// Codes of one fault.
inline constexpr std::string_view field_unknown = "FieldUnknown";
inline constexpr std::string_view field_missing = "FieldMissing";
inline constexpr std::string_view field_type = "FieldType";
inline constexpr std::string_view field_value = "FieldValue";
inline constexpr std::string_view field_immutable = "FieldImmutable";
inline constexpr std::string_view field_twice = "FieldTwice";
inline constexpr std::string_view too_long = "TooLong";
inline constexpr std::string_view too_deep = "TooDeep";
inline constexpr std::string_view not_json = "NotJson";
inline constexpr std::string_view parameter_unknown = "ParameterUnknown";
inline constexpr std::string_view parameter_twice = "ParameterTwice";
inline constexpr std::string_view parameter_value = "ParameterValue";
inline constexpr std::string_view queue_and_slots = "QueueAndSlots";
inline constexpr std::string_view testbed_and_claim = "TestbedAndClaim";
inline constexpr std::string_view too_many_slots = "TooManySlots";
inline constexpr std::string_view too_many_places = "TooManyPlaces";
inline constexpr std::string_view too_many_jobs = "TooManyJobs";
inline constexpr std::string_view slot_outside_layout = "SlotOutsideLayout";
inline constexpr std::string_view slot_of_coordinator = "SlotOfCoordinator";
inline constexpr std::string_view slot_twice = "SlotTwice";
inline constexpr std::string_view job_unknown = "JobUnknown";
inline constexpr std::string_view refused_by_api_server = "RefusedByApiServer";
}  // namespace problem_code

http::problem_details problem_of(int status, std::string_view code, std::string detail);
/// "BatchJob ns/a does not exist".
http::problem_details not_found(std::string_view kind, const model::object_key& key);
/// The problem for an error answer of the API server; never a 500.
http::problem_details problem_of(const error& why);
/// 503 with Retry-After.
http::problem_details unavailable(std::string_view code, std::string detail);
/// 503: other answers use the memory.
http::problem_details no_room();
/// A problem with its faults: the text has the first one, and how many more there are.
http::problem_details with_faults(int status, std::vector<http::problem_fault> faults);

}  // namespace esi::interface::v1
