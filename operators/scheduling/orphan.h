// Rights whose holder is gone: a Testbed's hold, or a BatchJob's activeScheduling, that belongs to
// a Scheduling that no longer exists or has another uid (a finalizer removed by hand). Pure.
#pragma once

#include <string>
#include <vector>

#include "scheduling/view.h"

namespace esi::scheduling {

/// The cache has no Scheduling with the uid of the hold. A live read has to prove it.
bool may_be_orphan(const model::testbed& testbed, const objects<model::scheduling>& schedulings);
/// The cache knows no Scheduling that activeScheduling names, or a creationRequest was left behind.
bool may_be_orphan(const model::batchjob& job, const objects<model::scheduling>& schedulings);

/// Whether `found` (null: 404) is the Scheduling that `uid` or, without uid, the name refers to.
bool is_holder(const model::scheduling* found, std::string_view uid);

/// What has to end before the hold of `testbed` may be removed: the same as in an orderly release.
/// `jobs`: those of its holder, and those whose placements are in the Testbed, at least; `slices`:
/// the trusted ones.
std::vector<std::string> orphan_waits(const model::testbed& testbed,
                                      const objects<model::batchjob>& jobs,
                                      const std::vector<grid::pod_pointer>& pods,
                                      const grid::slice_list& slices = {});

}  // namespace esi::scheduling
