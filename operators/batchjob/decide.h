// The state machine of a BatchJob as one pure function: a view and the time in, the wanted status
// and the next action out. It remembers nothing: every answer follows from the view, so a new
// process continues where the last one was killed.
//
// Order of effects. The end of a run is written to status before anything is deleted, so that our
// own deletion is never taken for a deletion by someone else. An application is created before the
// status names it: if the process dies in between, the next one finds the application by its name,
// owner and run.
//
// An end that ESI gives to a run (a release, a time-out, a deletion by someone else) is written
// only after a live read of its application: the cache may not show yet that the application had a
// result.
//
// observedGeneration. The scheduling operator takes a job for released when observedGeneration =
// generation and status.application names no run of its hold; then it gives the slots to other
// jobs. So no status for a spec without run says "no application" by the cache alone. Where an
// application may have been created for a generation that no status was written for (by this
// process, whose create was not answered, or by the leader before it), it is read live first. An
// application that exists is named in the same write that moves observedGeneration. An
// application that a paused leader creates even later carries the token of an ended run: no slot is
// opened for it, and it is deleted as soon as a watch shows it.
#pragma once

#include "batchjob/decision.h"

namespace esi::batchjob {

/// `now` by the API server's clock.
decision decide(const view& seen, wall_time now);

}  // namespace esi::batchjob
