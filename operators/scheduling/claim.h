// Whether a Scheduling could take its Testbed and all its jobs now, and who is in its way. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/conditions.h"
#include "scheduling/plan.h"
#include "scheduling/view.h"

namespace esi::scheduling {

namespace reasons = model::condition_reason;

/// One thing that has to change first.
struct obstacle {
    std::string_view reason;  ///< of model::condition_reason, for the condition Acquired
    std::string text;         ///< names who, what and where possible what to do
    /// The Scheduling to wait for; empty name where it is nobody.
    model::object_key holder;
};

/// Why `who` may not hold its Testbed: it belongs to another namespace and is not offered to that
/// of `who`. Whether it exists is not told then.
std::optional<obstacle> testbed_not_allowed(const view& v, const model::scheduling& who);

struct claim {
    /// The plan cannot be carried out on this layout.
    std::optional<fault> wrong;
    /// Those with the reason NotAllowed first.
    std::vector<obstacle> obstacles;
    /// Something is ours already.
    bool holds_something = false;

    bool possible() const { return !wrong && obstacles.empty(); }
};

claim claim_of(const view& v, const model::scheduling& who, const plan& wants);

/// Why one job cannot be acquired by `who` now, or be started when it is; nothing where it can.
std::optional<obstacle> obstacle_of(const view& v, const model::scheduling& who,
                                    const model::object_key& job);

/// The order among those that wait: the higher priority first, within one the older. On a Testbed
/// of another namespace a priority above 0 counts as 0, so that nobody passes its owner.
bool goes_before(const model::scheduling& a, const model::scheduling& b);

/// The first in this order that waits, could start now, wants something of what `v.self` wants, and
/// goes before it. Null when `v.self` may go ahead.
std::shared_ptr<const model::scheduling> first_claimant(const view& v, const plan& wants);

/// Why `first`, which could start now, is waited for by `who`.
obstacle goes_first(const model::scheduling& first, const model::scheduling& who);
/// Holds nothing, and what it wants is not to be had: it is in nobody's way.
bool cannot_go(const model::scheduling_status& status);
/// `who` waits for `other` to go first: it has to look again when that one cannot go after all.
bool lets_go_first(const model::scheduling& who, const model::object_key& other);
/// The obstacle of a Scheduling that is suspended.
obstacle suspended();

/// One of the two tells of a cycle of waits that the other does not tell of: the others in it are
/// to look, too.
bool cycle_changed(const model::scheduling_status& before, const model::scheduling_status& after);

/// True once a Scheduling had its Testbed and its jobs, and has not let go of them.
bool is_running(const model::scheduling_status& status);
/// Finished, or has lost its hold: nothing is acquired any more.
bool is_over(const model::scheduling_status& status);

}  // namespace esi::scheduling
