// The operations of the events, for the table of operations.
#pragma once

#include <vector>

#include "interface/v1/wire/operation.h"

namespace esi::interface::v1::events {

class hub;

/// Null: the table is read and not served. The hub itself checks the rights, for each kind that is
/// requested.
std::vector<operation> operations(hub* by);

}  // namespace esi::interface::v1::events
