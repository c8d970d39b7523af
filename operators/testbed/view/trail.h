// The log's lines about a pod's way into a slot and out of it. They all have the same keys, by
// which one job is followed through the logs of the three operators.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "grid/grid.h"

namespace esi::testbed {

/// The objects that a step is about, as "namespace/name"; an empty member is left out of the line.
struct trail {
    /// The Scheduling that holds the Testbed, of a pod whose run is under that hold.
    std::string scheduling;
    std::string testbed;
    std::string job;
    std::string run;
    std::string pod;
    std::optional<int> slot;
    std::string node;
};

/// The trail of a pod of the Testbed, a job's or a ghost; `place`: the slot, if there is one.
trail trail_of(const model::testbed& testbed, const model::pod& pod,
               const grid::slot* place = nullptr);

/// `note`: more about the step; `error`: why it did not work.
void log_step(log::level at, std::string_view event, const trail& of, std::string_view note = {},
              std::string_view error = {});

}  // namespace esi::testbed
