// The slots of a Testbed for people and external schedulers, also of one that has too many for its
// status. Shared by the interfaces. Pure functions of the caches.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "grid/slot_table.h"
#include "kube/watch/store.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::scheduling::answers {

/// The sources of the slots; all of it outlives the calls.
struct slot_sources {
    const kube::store<model::batchjob>& jobs;
    const kube::store<model::scheduling>& schedulings;
    const kube::store<model::pod>& pods;
    /// The contents of the slots of a Testbed (caches::slots_of).
    std::function<std::shared_ptr<const grid::slot_table>(const model::object_key&)> slots_of;
};

/// The Testbed has slots, and its status lists none of them.
bool leaves_slots_out(const model::testbed& of);

/// The rows of a Testbed with a layout, made from the pods and jobs, in the order of positions.
/// Pods and jobs of other namespaces appear without their names, as in the Testbed's status.
std::vector<model::slot_status> rows_by_pods(const model::testbed& of, const slot_sources& from);

/// The rows as the testbed operator has written them, in the status or in slices; made from the
/// pods if slices lack some. In the order of positions; none without a layout.
std::vector<model::slot_status> slot_rows(const model::testbed& of, const slot_sources& from);

}  // namespace esi::scheduling::answers
