// The Testbed of the Scheduling's own claim (spec.claim): it is created while nothing else blocks
// the plan, carries the fields that it takes from the Scheduling, and is deleted when its places
// are of no use. It is touched only while it is shown as made for this very Scheduling.
#include "model/names.h"
#include "scheduling/decider.h"

namespace esi::scheduling {

namespace {

namespace names = model::names;

/// How long places may be held that the Scheduling cannot use.
constexpr seconds most_unused{60};

}  // namespace

/// It exists, and may be changed.
bool decider::is_own_testbed() const {
    return self_.spec.claim && testbed_ && grid::is_made_for(*testbed_, self_) &&
           !testbed_->metadata.deleting();
}

bool decider::has_places() const {
    const auto& layout = testbed_->status.layout;
    return layout && grid::count_of_slots(*layout) > 0;
}

/// The action that the claim needs before the Scheduling can begin. `in_the_way`: something else
/// blocks that; meanwhile the claim is in no order for places, and holds them for a minute only.
std::optional<decision> decider::keep_claim(bool in_the_way) {
    if (!self_.spec.claim || !v_.refused().claim.empty()) return std::nullopt;
    if (!testbed_ && !in_the_way) {
        const auto& own = *self_.spec.claim;
        model::testbed_claim claim;
        claim.shapes = own.shapes;
        claim.packing = own.packing;
        claim.timeout_seconds = own.timeout_seconds;
        claim.priority = self_.spec.priority.value_or(0);
        return decision{make_testbed{testbed_of(self_), std::move(claim)}, status_};
    }
    if (!is_own_testbed() || !testbed_->hold().empty()) return std::nullopt;
    if (!in_the_way) return keep_up_claim(false, {});
    std::string noted(testbed_->metadata.annotation(names::unused_since));
    const auto since = model::timestamp::parse(noted);
    if (!since || since->value > now_) {
        return keep_up_claim(true, model::timestamp{now_}.whole_seconds());
    }
    if (has_places() && is_past(since->value + most_unused)) {
        return return_claim(
            "its places were not used for a minute, as something else was in the "
            "way; it is made anew when that has changed");
    }
    return keep_up_claim(true, std::move(noted));
}

std::optional<decision> decider::keep_up_claim(bool suspend, std::string unused_since) {
    if (!is_own_testbed() || !v_.refused().claim.empty()) return std::nullopt;
    const auto& meta = testbed_->metadata;
    const auto& claim = testbed_->spec.claim;
    if (!claim) return std::nullopt;
    // Ghosts that replace others need the class that the others have: a class of another priority
    // may be missing, and that is not checked before the places are there.
    const int priority = has_places() ? claim->priority : self_.spec.priority.value_or(0);
    if (claim->priority == priority && claim->suspend == suspend &&
        meta.annotation(names::unused_since) == unused_since) {
        return std::nullopt;
    }
    return decision{steer_claim{meta.key(), meta.uid, meta.resource_version, priority, suspend,
                                std::move(unused_since)},
                    status_};
}

decision decider::return_claim(std::string why) const {
    const auto& meta = testbed_->metadata;
    return {remove_testbed{meta.key(), meta.uid, meta.resource_version, std::move(why)}, status_};
}

}  // namespace esi::scheduling
