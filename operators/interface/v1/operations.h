// The table of operations: the one place that lists all of /api/v1. The routes, the rights that are
// asked and the OpenAPI document are made of it.
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

/// Who answers. Null: the table is read and not served (the OpenAPI document).
struct parts {
    reads* read = nullptr;
    questions* ask = nullptr;
    writes* write = nullptr;
    nodes* label = nullptr;
    events::hub* tell = nullptr;
};

std::vector<operation> operations(const parts& by);

}  // namespace esi::interface::v1
