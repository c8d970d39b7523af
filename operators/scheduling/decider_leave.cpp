// The way back: one write that begins the release (epoch, `releasing`), then jobs, the wait for
// their remaining applications and pods, assignments, hold, the end of the release, finalizer.
// Every part of it can be repeated, so a crash at any point does no harm.
#include <fmt/format.h>

#include "model/names.h"
#include "scheduling/decider.h"
#include "scheduling/release.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

namespace condition_type = model::condition_type;
namespace release_reason = model::release_reason;
namespace states = model::scheduling_state;

}  // namespace

decision decider::leave() {
    const bool bound = self_.metadata.has_finalizer(model::names::scheduling_finalizer);
    const bool owns = owns_anything(v_, plan_);
    const auto* progressing =
        model::find_condition(self_.status.conditions, condition_type::progressing);
    const bool released = progressing != nullptr && progressing->reason == release_reason::deleted;
    if (owns) {
        return released ? release_again(release_reason::deleted)
                        : begin_release(release_reason::deleted);
    }
    if (!bound) return {wait{}, self_.status};
    // Nothing is acquired any more, so one complete release is enough.
    if (released) return {remove_finalizer{}, status_};
    return begin_release(release_reason::deleted);
}

/// A release that may have been done before: a cache far behind shows released objects as still
/// held, so that the release would begin again and again.
decision decider::release_again(std::string_view reason) {
    if (!v_.proven().release) return read_release_first();
    return begin_release(reason);
}

decision decider::read_release_first() const {
    // A pod of a run of ours was made with the label of its job, and the run with an assignment,
    // which exists until the release clears it. So the lists of the jobs' pods show every such pod
    // that our caches do not know yet; one whose label was taken off since is read by its name.
    return {read_release{jobs_of_release(v_, plan_), testbed_of(self_),
                         v_.slots->recorded_pods_of(self_.metadata.uid)},
            status_};
}

decision decider::begin_release(std::string_view reason) {
    ++status_.epoch;
    status_.releasing = reason;
    // A change of the spec after the end is reported when all is released.
    if (!is_over(self_.status)) {
        status_.observed_generation = self_.metadata.generation;
        report_spec();
    }
    set(condition_type::progressing, true, reasons::releasing,
        fmt::format("release, reason {}", reason));
    return {commit{event_reason::releasing,
                   fmt::format("begins its release, reason {}", reason),
                   {},
                   reason == release_reason::hold_lost},
            status_};
}

decision decider::release() {
    if (auto job = job_to_release(v_, plan_)) return release_of(*job);
    if (auto waits = release_waits(v_, plan_); !waits.empty()) {
        status_.waiting_for = enumerate(waits);
        set(condition_type::progressing, true, reasons::releasing,
            "waits for " + status_.waiting_for);
        return {wait{}, status_};
    }
    if (!v_.proven().release) return read_release_first();
    if (!self_.status.assignments.empty()) {
        status_.assignments.clear();
        status_.waiting_for.clear();
        if (self_.status.releasing != release_reason::completed) status_.started.reset();
        return {commit{event_reason::assignments_cleared,
                       "no pod carries a run of it any more",
                       {},
                       false},
                status_};
    }
    if (testbed_ && held_by(*testbed_, self_.metadata.uid)) {
        const auto& meta = testbed_->metadata;
        return {remove_hold{meta.key(), meta.uid, meta.resource_version}, status_};
    }
    return end_release();
}

decision decider::end_release() {
    const std::string reason = self_.status.releasing;
    status_.releasing.clear();
    status_.waiting_for.clear();
    auto text = "released, reason " + reason;
    if (reason == release_reason::hold_lost) {
        auto lost = hold_lost_text();
        status_.state = states::error;
        status_.problems.insert(status_.problems.begin(), lost);
        set_acquired(false, reasons::hold_lost, lost);
        set(condition_type::progressing, false, reasons::hold_lost, lost);
    } else if (reason == release_reason::completed) {
        status_.state = states::finished;
        set_acquired(false, reasons::released, text);
        set(condition_type::progressing, false, reasons::finished, text);
    } else if (reason == release_reason::left_over) {
        const bool lost = is_over(self_.status) && self_.status.state == states::error;
        set(condition_type::progressing, false, lost ? reasons::hold_lost : reasons::finished,
            text);
    } else if (reason == release_reason::deleted) {
        set_acquired(false, reasons::released, text);
        set(condition_type::progressing, false, release_reason::deleted, text);
    } else {
        status_.state = states::acquire;
        set_acquired(false, reasons::released, text);
        set(condition_type::progressing, false, reasons::released, text);
    }
    return {commit{event_reason::released, text, {}, false}, status_};
}

}  // namespace esi::scheduling
