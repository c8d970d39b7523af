// Whether a Scheduling could take its Testbed and all its jobs now, what blocks it, and which of
// several goes first. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/conditions.h"
#include "scheduling/plan.h"
#include "scheduling/subject.h"
#include "scheduling/view.h"

namespace esi::scheduling {

namespace reasons = model::condition_reason;

/// One thing that has to change first.
struct blocker {
    std::string_view reason;  ///< of model::condition_reason, for the condition Acquired
    std::string text;         ///< names the objects, and where possible what to do
    /// The Scheduling to wait for; an empty name where there is none.
    model::object_key holder;
    /// The object that is not as it has to be.
    subject about{};
    /// When it goes away by itself, if that is known exactly.
    std::optional<model::timestamp> until{};
};

/// Why `who` may not hold its Testbed: it belongs to another namespace and is not offered to that
/// of `who`. The text does not say then whether it exists.
std::optional<blocker> testbed_not_allowed(const view& v, const model::scheduling& who);

/// Why the Testbed of this name is not for `who`, if it is not: it is the claim of another
/// Scheduling, or, where `who` has a claim, another Testbed that has its name. One that `who` holds
/// is for it.
std::optional<blocker> testbed_of_another(const view& v, const model::scheduling& who);

struct acquisition {
    /// The plan cannot be carried out on this layout.
    std::optional<problem> wrong;
    /// Blockers with the reason NotAllowed come first.
    std::vector<blocker> blockers;
    /// The Scheduling holds something already.
    bool holds_something = false;
    /// For a Scheduling with a claim: its own Testbed does not exist yet, or lacks places.
    std::optional<blocker> claim{};
    /// No status has reported yet that the claim has to wait for them.
    bool claim_under_way = false;

    /// Nothing else blocks the plan, the claim aside.
    bool is_free() const { return !wrong && blockers.empty(); }
    bool possible() const { return is_free() && !claim; }
    /// It goes before those that come after it in the order.
    bool goes_first() const { return is_free() && (!claim || claim_under_way); }
};

acquisition acquisition_of(const view& v, const model::scheduling& who, const plan& wants);

/// Why `who` cannot acquire the job now, or start it once acquired; nothing if it can.
std::optional<blocker> blocker_of(const view& v, const model::scheduling& who,
                                  const model::object_key& job);

/// The order among Schedulings that wait: the higher priority first, within one the older. On a
/// Testbed of another namespace a priority above 0 counts as 0, so that none passes its owner's.
bool goes_before(const model::scheduling& a, const model::scheduling& b);

/// The first Scheduling in this order that waits, could start now, wants something that `v.self`
/// wants, too, and goes before it. Null if `v.self` may go ahead.
std::shared_ptr<const model::scheduling> first_rival(const view& v, const plan& wants);

/// Why `who` waits for `first`, which could start now.
blocker rival_goes_first(const model::scheduling& first, const model::scheduling& who);
/// The Scheduling holds nothing and cannot acquire now, so it does not block younger ones.
bool is_blocked(const model::scheduling_status& status);
/// `who` waits for `other` to go first, and has to be reconciled when that one is blocked after
/// all.
bool waits_for_rival(const model::scheduling& who, const model::object_key& other);
/// The blocker of `who`, which is suspended.
blocker suspended(const model::scheduling& who);
/// The Schedulings that the blockers name: each once, in their order.
std::vector<model::object_key> holders_of(const std::vector<blocker>& blockers);

/// The reported wait cycle differs between the two statuses: the other members of it have to be
/// reconciled.
bool cycle_changed(const model::scheduling_status& before, const model::scheduling_status& after);

/// True once a Scheduling had its Testbed and its jobs, and has not let go of them.
bool is_running(const model::scheduling_status& status);
/// The Scheduling is finished, or has lost its hold: nothing is acquired any more.
bool is_over(const model::scheduling_status& status);

}  // namespace esi::scheduling
