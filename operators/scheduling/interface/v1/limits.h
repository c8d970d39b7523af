// What the flags of /api/v1 say.
#pragma once

#include <cstddef>

#include "base/clock.h"

namespace CLI {
class App;
}

namespace esi::scheduling::v1 {

struct limits {
    /// A wait for longer is cut to it (--api-max-wait).
    seconds longest_wait{300};
    /// Requests that wait, at most.
    std::size_t most_waits = 2000;
    /// Labels of nodes may be written (--api-nodes).
    bool nodes = false;

    void add_to(CLI::App& app);
};

}  // namespace esi::scheduling::v1
