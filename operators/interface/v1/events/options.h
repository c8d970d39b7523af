// Bounds and times of the events. Plain values.
#pragma once

#include <cstddef>

#include "base/clock.h"

namespace esi::interface::v1::events {

struct replay_bounds {
    /// Bytes that are read; if more lies between, a snapshot is shorter.
    std::size_t bytes = 4u << 20;
    std::size_t changes = 4096;
    /// Time of a replay in total.
    seconds time{12};
};

struct hub_options {
    /// Bytes of the log, for all clients together.
    std::size_t log_bytes = 16u << 20;
    std::size_t log_changes = 16'384;
    /// Bytes of objects as text, for snapshots.
    std::size_t cached_bytes = 8u << 20;
    /// Streams of this replica, with those that have lost their place and are about to end
    /// (quota.h).
    std::size_t most_streams = 2200;
    /// How long the log is kept after the last stream: clients come again.
    seconds linger{300};
    seconds heartbeat{15};
    /// How often rights are checked again.
    seconds rights{60};
    /// How long a check may stay unanswered.
    seconds rights_patience{300};
    /// The time in which a snapshot has to be read.
    seconds snapshot{120};
    /// How often in a row a stream may restart without reaching the present.
    int most_resets = 3;
    /// How long a client may be ahead of this replica before the API server is asked.
    seconds ahead{3};
    replay_bounds replay;
};

}  // namespace esi::interface::v1::events
