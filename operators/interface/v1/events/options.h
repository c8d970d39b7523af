// Bounds and times of the events. Plain values.
#pragma once

#include <cstddef>

#include "base/clock.h"

namespace esi::interface::v1::events {

struct replay_bounds {
    /// Of what is read; where more lies between, a snapshot is shorter.
    std::size_t bytes = 4u << 20;
    std::size_t changes = 4096;
    /// In all.
    seconds time{12};
};

struct hub_options {
    /// Of the log, for all clients together.
    std::size_t log_bytes = 16u << 20;
    std::size_t log_changes = 16'384;
    /// Of objects as text, for snapshots.
    std::size_t cached_bytes = 8u << 20;
    /// Of this replica, with those that have lost their place and are about to end (quota.h).
    std::size_t most_streams = 2200;
    /// The log is kept so long behind the last stream: clients come again.
    seconds linger{300};
    seconds heartbeat{15};
    /// Rights are asked again so often.
    seconds rights{60};
    /// So long they may stay unanswered.
    seconds rights_patience{300};
    /// A snapshot has to be read within.
    seconds snapshot{120};
    /// So often in a row a stream begins anew without coming to the present.
    int most_resets = 3;
    /// So long a client may know more than this replica before the API server is asked.
    seconds ahead{3};
    replay_bounds replay;
};

}  // namespace esi::interface::v1::events
