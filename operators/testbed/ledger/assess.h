// Works out what each slot of one node is, has and needs, from a view of that node (or of the whole
// Testbed). Pure. The decision (decide.h) and the report (status.h) both use this one assessment,
// so that actions and report never differ.
#pragma once

#include "testbed/ledger/assessment.h"
#include "testbed/view/hints.h"

namespace esi::testbed {

/// `layout` and `places`: those that the Testbed has, or is about to have.
assessment assess(const view& seen, const std::string& node, const model::testbed_layout& layout,
                  const grid::places& places, const hints& known, steady_time now, wall_time wall);

using grid::has_right;
bool has_right(const model::batchjob& job, const view& seen);

/// True: the ghost's node, index, name and size are what `layout` has.
bool fits_layout(const model::pod& ghost, const model::testbed& testbed,
                 const model::testbed_layout& layout, const grid::places& places);

/// True: the pod carries the run of the job's present order, and belongs to that job.
bool is_current(const model::pod& pod, const model::batchjob& job);

}  // namespace esi::testbed
