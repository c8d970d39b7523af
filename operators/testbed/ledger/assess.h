// What each slot of one node is, has and needs, worked out from a view of that node (or of the
// whole Testbed). Pure. The decision (decide.h) and the report (status.h) are both made from this
// one assessment, so that what is done and what is reported never differ.
#pragma once

#include "testbed/ledger/assessment.h"
#include "testbed/view/hints.h"

namespace esi::testbed {

/// `layout` and `places`: the one that the Testbed has, or is about to have.
assessment assess(const view& seen, const std::string& node, const model::testbed_layout& layout,
                  const grid::places& places, const hints& known, steady_time now, wall_time wall);

using grid::has_right;
bool has_right(const model::batchjob& job, const view& seen);

/// A ghost's node, index, name and size are what `layout` has.
bool fits_layout(const model::pod& ghost, const model::testbed& testbed,
                 const model::testbed_layout& layout, const grid::places& places);

/// The pod carries the run of the job's present order, and is of that job.
bool is_current(const model::pod& pod, const model::batchjob& job);

}  // namespace esi::testbed
