// Rules of rights that more than one operator applies, each written once: which Testbed is meant,
// whether an order counts, how long it may take. Pure.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "grid/grid.h"
#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::grid {

/// The Testbed whose slots a Scheduling uses: the one that it names, or, if it has a claim, the one
/// of its own name in its own namespace.
model::object_key testbed_of(const model::scheduling& of);
/// The Scheduling that has made the Testbed for its claim and is its controller; null for any other
/// Testbed. Lives as long as `testbed`.
const model::owner_reference* maker_of(const model::testbed& testbed);
/// The Testbed is that of the Scheduling's own claim.
bool is_made_for(const model::testbed& testbed, const model::scheduling& of);
/// A layout with the places of a claim, all on one node without a name: as many of them, of the
/// same sizes and roles as the one that the claim gets.
model::testbed_layout shape_of(const model::scheduling_claim& claim);
/// The Testbed that a job's order names; an empty name without an order.
model::object_key testbed_of(const model::batchjob& job);

/// The uid of the Scheduling that a run belongs to.
std::string_view owner_of_run(std::string_view run);
/// The run was given under the hold that the Testbed shows now.
bool is_under_hold(std::string_view run, const model::testbed& testbed);
/// The order of `job` is for this Testbed, and under the hold that it shows now.
bool is_under_hold(const model::batchjob& job, const model::testbed& testbed);
/// The order to start that `job` carries was given by `by`: an assignment of that job, those slots
/// and that run exists.
bool is_assigned(const model::batchjob& job, const model::scheduling& by);
/// The job is at work under the Testbed's present hold, and the holder has assigned it the slots of
/// its order: its orders count. `holder` may be null.
bool has_right(const model::batchjob& job, const model::testbed& testbed,
               const model::scheduling* holder);

/// The default of a Scheduling or an order that states no time.
inline constexpr int default_submit_timeout_seconds = 600;
inline constexpr int default_schedule_timeout_seconds = 300;
seconds submit_timeout(const model::creation_request& order);
seconds schedule_timeout(const model::creation_request& order);
/// The time by which all pods of an order have to be bound. `submitted`: when its application was
/// made; `newest`: when the newest of the pods was created, as all exist since then. A pod that
/// dies and is replaced again and again does not move the deadline for ever.
wall_time binding_deadline(const model::creation_request& order, wall_time submitted,
                           wall_time newest);

}  // namespace esi::grid
