// Schemas of the bodies of requests. An answer may have members that come with later versions; a
// request is closed: an unknown member is a fault, so that a wrong name does not go unnoticed, and
// an enumeration has only the listed words.
#pragma once

#include "interface/v1/crd_schema.h"

namespace esi::interface::v1 {

/// Adds them to `all`, which has those of the answers with their descriptions: SchedulingInput,
/// SchedulingDraft, SchedulingPatch, with their parts. CancelRequest, SuspendRequest, NodesRequest
/// are there already, and get their bounds.
void add_request_schemas(ordered_json& all);

}  // namespace esi::interface::v1
