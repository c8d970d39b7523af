// What the clients of each kind of group expect to read in its status, and when it is written.
// Pure.
#pragma once

#include "gangs/memory.h"

namespace esi::gangs {

/// It has ended, and its pods were cleaned up since: its status stays.
bool is_over(const gang& of);

/// The status that the object should have; fields of other writers stay as they are.
pod_group_status wanted_status(const gang& of, const gang_memory& known, wall_time wall);

/// The merge patch {"status": {...}} of the differences; null if there is none.
nlohmann::json status_patch(const group_kind& kind, const pod_group_status& have,
                            const pod_group_status& want);

}  // namespace esi::gangs
