// Whether a Scheduling could take its Testbed and all its jobs now, and who is in its way. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduling/plan.h"
#include "scheduling/view.h"

namespace esi::scheduling {

/// One thing that has to change first.
struct obstacle {
    std::string reason;  ///< CamelCase, for the condition Acquired
    std::string text;    ///< names who, what and where possible what to do
    /// The Scheduling to wait for; empty name where it is nobody.
    model::object_key holder;
};

struct claim {
    /// The plan cannot be carried out on this layout.
    std::optional<fault> wrong;
    std::vector<obstacle> obstacles;
    /// Something is ours already.
    bool holds_something = false;

    bool possible() const { return !wrong && obstacles.empty(); }
};

claim claim_of(const view& v, const model::scheduling& who, const plan& wants);

/// Why one job cannot be acquired by `who` now; nothing when it can, or is acquired.
std::optional<obstacle> obstacle_of(const view& v, const model::scheduling& who,
                                    const model::object_key& job);

/// The oldest waiting Scheduling that could start now, wants something of what `v.self` wants, and
/// is older than it. Null when `v.self` may go ahead.
std::shared_ptr<const model::scheduling> older_claimant(const view& v, const plan& wants);

/// True once a Scheduling had its Testbed and its jobs, and has not let go of them.
bool is_running(const model::scheduling_status& status);
/// Finished, or has lost its hold: nothing is acquired any more.
bool is_over(const model::scheduling_status& status);

}  // namespace esi::scheduling
