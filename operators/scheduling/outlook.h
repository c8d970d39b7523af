// The next steps of a Scheduling, as values: which jobs it would acquire, which it would start and
// in which slots, and what blocks the others. It is the result of decide(), decision after
// decision, if each write is accepted, each live read shows what the view shows, and nothing else
// changes. The same parts of the state machine as in decide() compute it, so there is no second
// planner. Pure; nothing is written. `preview` and `explain` (scheduling/answers) are made of it.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "scheduling/acquire.h"
#include "scheduling/plan.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// The stage of a Scheduling; decide() branches by it first.
enum class stage {
    entering,   ///< it acquires what it needs, or waits until it can
    running,    ///< it has its Testbed and its jobs
    releasing,  ///< a release is under way (status.releasing)
    leaving,    ///< it is being deleted
    over,       ///< it is finished, or has lost its hold
};
stage stage_of(const model::scheduling& self);

/// A job of the plan that was not started and shall not be.
struct skipped_job {
    model::object_key name;
    problem why;  ///< it cannot start in this layout, was cancelled, or the plan's time is over
};

struct skipped_jobs {
    /// In the order in which they are reported.
    std::vector<skipped_job> list;
    std::set<model::object_key> keys;
    /// The plan's activeDeadlineSeconds have passed.
    bool late = false;
    /// Something was not started because of the deadline.
    bool cut_short = false;

    void add(const model::object_key& name, problem why);
    /// Why, one sentence for each.
    std::vector<std::string> texts() const;
};

/// The reason why the end of a job's run is not recorded yet.
struct awaited_end {
    model::object_key job;
    std::string text;
};

struct outlook {
    /// The Scheduling to which all else refers: `view::self`, with the ends of runs that can be
    /// recorded now.
    std::shared_ptr<const model::scheduling> self;
    plan wants;
    stage at = stage::entering;
    /// Why nothing of the plan can be started at all.
    std::optional<problem> wrong;
    /// Entering: what keeps it from beginning. Running: what keeps jobs of it from starting, apart
    /// from slots that are not free.
    std::vector<blocker> blockers;
    /// The jobs that it would acquire now, in the order in which it would.
    std::vector<model::object_key> acquires;
    skipped_jobs skipped;
    std::vector<awaited_end> ends;
    /// Jobs by their progress once those of `acquires` are acquired.
    plan_progress progress;
    /// The starts of its next assignment, and which jobs get no slots for now.
    next_starts next;
    /// How many slots of workers are free.
    std::size_t free = 0;
};

/// `v.self` must be set; it need not exist on the server.
outlook outlook_of(const view& v, wall_time now);

}  // namespace esi::scheduling
