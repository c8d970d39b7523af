// The flags of /api/v1 that concern its operations.
#pragma once

#include "base/clock.h"

namespace esi::interface::v1 {

struct limits {
    /// A wait for longer is cut to it (--api-max-wait).
    seconds longest_wait{300};
    /// Labels of nodes may be written (--api-nodes).
    bool nodes = false;
};

}  // namespace esi::interface::v1
