// Takes the view of a Testbed, or of one of its nodes, out of the caches: in one stretch without
// waiting.
#pragma once

#include "testbed/caches/caches.h"
#include "testbed/view/view.h"

namespace esi::testbed {

/// The whole view of the Testbed; walks over all nodes, for comparison and tests.
view observe(const caches& from, testbed_pointer testbed);
/// The same view without nodes, pods and jobs.
view observe_testbed(const caches& from, testbed_pointer testbed);
/// `whole` (of observe_testbed) with what concerns one node of `places`, found by indexes: its
/// pods, the ghosts that wait for it, the Testbeds that have to do with it, the pods that claim one
/// of its slots, and the jobs that order or record one.
view observe_node(const caches& from, const view& whole, const std::string& node,
                  const grid::places& places);

}  // namespace esi::testbed
