// A view made from plain objects, as a client has listed them: for a program beside the operator
// that uses the same planner. Pure.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grid/slot_slices.h"
#include "scheduling/view.h"

namespace esi::scheduling::answers {

struct snapshot {
    objects<model::scheduling> schedulings;
    objects<model::testbed> testbeds;
    objects<model::batchjob> jobs;
    /// Pods of the Testbed in question: its ghosts and job pods; others are ignored.
    std::vector<grid::pod_pointer> pods;
    std::vector<grid::slice_pointer> slices;
    /// The operator's flag.
    bool cross_namespace_jobs = false;
    policy_table policies = known_policies();
};

/// The view of `self`, which need not be one of the objects. `of` outlives the view.
view view_of(const snapshot& of, std::shared_ptr<const model::scheduling> self);

}  // namespace esi::scheduling::answers
