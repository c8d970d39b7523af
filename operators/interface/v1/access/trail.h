// The record of a write and its caller: an annotation of the object, and one line of the log.
// Neither contains any part of a token.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "http/message.h"
#include "model/meta.h"

namespace esi::interface::v1 {

/// The last caller that changed the object by the interface. For people; nothing is decided by it.
inline constexpr std::string_view requested_by = "esi.tu-berlin.de/requested-by";

/// The caller's name as it may stand in an annotation: UTF-8 without control characters, at most
/// 256 bytes; longer ones are cut and end with "...".
std::string shown_name(const http::identity& who);

/// Adds the annotation to an object that is to be created, or to a merge patch. A present value is
/// replaced.
void note_requester(nlohmann::json& object, const http::identity& who);
/// The same as operations of a JSON patch. `has_annotations`: the object has some already.
nlohmann::json requester_operations(const http::identity& who, bool has_annotations);

/// One write, done or refused.
struct audited_write {
    std::string_view verb;  ///< create, update, patch, delete, or the action's name: reset, cancel
    std::string_view kind;  ///< Scheduling
    model::object_key object;
    int status = 0;
    /// The code of the problem; empty: it was done.
    std::string_view code = {};
    bool dry_run = false;
};
/// Writes "api write" with caller, peer, verb, kind, object, status and code.
void audit(const http::server_request& from, const audited_write& what);

}  // namespace esi::interface::v1
