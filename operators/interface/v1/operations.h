// The table of operations: the one list of all of /api/v1. The routes, the rights that are checked
// and the OpenAPI document are made from it.
#pragma once

#include <vector>

#include "interface/v1/wire/operation.h"

namespace esi::interface::v1 {

class reads;
class questions;
class writes;
class nodes;
namespace events {
class hub;
}

/// The parts that answer. Null: the table is read and not served (the OpenAPI document).
struct parts {
    reads* read = nullptr;
    questions* ask = nullptr;
    writes* write = nullptr;
    nodes* label = nullptr;
    events::hub* tell = nullptr;
};

std::vector<operation> operations(const parts& by);

}  // namespace esi::interface::v1
