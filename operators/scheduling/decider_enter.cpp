// The way in: nothing is held until everything can be; then finalizer, hold, jobs, in that order,
// but for the first job, which is acquired side by side with the hold.
#include <set>

#include "model/names.h"
#include "scheduling/decider.h"
#include "scheduling/release.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace condition_type = model::condition_type;
namespace release_reason = model::release_reason;
namespace states = model::scheduling_state;

std::vector<std::string> texts_of(const std::vector<blocker>& blockers) {
    std::vector<std::string> out;
    for (const auto& each : blockers) out.push_back(each.text);
    return out;
}

}  // namespace

decision decider::enter() {
    if (auto stray = job_outside_plan({})) return release_of(*stray);
    if (!self_.metadata.undecodable.empty()) {
        if (owns_anything(v_, plan_)) return release_again(release_reason::rolled_back);
        if (auto step = keep_claim(true)) return std::move(*step);
        return settle_wrong({reasons::undecodable, self_.metadata.undecodable_text()});
    }
    const auto way = way_in();
    const auto& wanted = way.wanted;
    report_refused(wanted.blockers);
    if (!wanted.holds_something) {
        if (auto step = keep_claim(way.in_the_way())) return std::move(*step);
    }
    if (!wanted.possible()) {
        if (wanted.holds_something) return release_again(release_reason::rolled_back);
        return wanted.wrong ? settle_wrong(*wanted.wrong) : settle_waiting(way.blockers);
    }
    if (way.first) return settle_waiting(way.blockers);
    // After a rollback our cache may still show the jobs as free. Without a live read we would
    // acquire and roll back in a loop.
    if (!wanted.holds_something && self_.status.epoch > 0 && !v_.proven().release) {
        return read_release_first();
    }
    if (!self_.metadata.has_finalizer(model::names::scheduling_finalizer)) {
        return {add_finalizer{}, status_};
    }
    const auto job = job_to_acquire();
    const auto& meta = testbed_->metadata;
    if (!held_by(*testbed_, self_.metadata.uid)) {
        // A hold that the API server refuses for good must not keep a job from other Schedulings.
        if (v_.refused().hold && wanted.holds_something) {
            return release_again(release_reason::rolled_back);
        }
        hold_testbed hold{meta.key(), meta.uid, meta.resource_version,
                          self_.metadata.uid + "." + meta.resource_version};
        // Only the first time: after a rollback another Scheduling may want the same, and a job
        // that is acquired before the hold stands would keep both from starting.
        if (job && self_.status.epoch == 0 && !v_.refused().hold) hold.beside = acquire_of(*job);
        return {std::move(hold), status_};
    }
    if (job) return {acquire_of(*job), self_.status};
    return drive();
}

way_to_begin decider::way_in() const {
    way_to_begin out{acquisition_of(v_, self_, plan_), nullptr, {}};
    auto& wanted = out.wanted;
    if (wanted.claim && !v_.refused().claim.empty() && !testbed_) {
        wanted.claim = blocker{reasons::claim_refused,
                               testbed_text(testbed_of(self_)) +
                                   " cannot be made for the claim: the API server refuses it (" +
                                   v_.refused().claim + "; see the operator's log)",
                               {},
                               {object_kind::testbed, testbed_of(self_)}};
    }
    if (wanted.is_free() && !wanted.holds_something) out.first = first_rival(v_, plan_);
    out.blockers = wanted.blockers;
    if (out.first) out.blockers = {rival_goes_first(*out.first, self_)};
    // A Scheduling that could not use the places does not wait for them.
    if (out.blockers.empty() && wanted.claim) out.blockers = {*wanted.claim};
    return out;
}

/// The next job of the plan that is not acquired yet, in sorted order.
decider::job_pointer decider::job_to_acquire() const {
    std::set<object_key> sorted;
    for (const auto& job : plan_.jobs) {
        if (!plan_.cancelled.contains(job.name)) sorted.insert(job.name);
    }
    for (const auto& key : sorted) {
        auto job = v_.find_job(key);
        if (job && !acquired_by(*job, self_)) return job;
    }
    return nullptr;
}

/// The Scheduling waits and holds nothing.
decision decider::settle_waiting(const std::vector<blocker>& blockers) {
    auto text = enumerate(texts_of(blockers), 10, "; ");
    status_.state = states::acquire;
    status_.waiting_for = text;
    status_.problems.clear();
    set_acquired(false, blockers.front().reason, text, holders_of(blockers));
    set(condition_type::progressing, false, reasons::waiting, text);
    set(condition_type::completed, false, reasons::not_started, "");
    report_jobs(v_, plan_, {}, status_);
    return settle();
}

decision decider::settle_wrong(const problem& wrong) {
    status_.state = states::error;
    status_.waiting_for.clear();
    status_.problems = {wrong.text};
    set_acquired(false, wrong.reason, wrong.text);
    set(condition_type::progressing, false, wrong.reason, wrong.text);
    set(condition_type::completed, false, reasons::not_started, "");
    report_jobs(v_, plan_, {}, status_);
    return settle();
}

/// Reports whether a Scheduling that holds nothing yet may use the objects that it names.
void decider::report_refused(const std::vector<blocker>& blockers) {
    std::vector<std::string> texts;
    for (const auto& each : blockers) {
        if (each.reason == reasons::not_allowed) texts.push_back(each.text);
    }
    if (texts.empty()) {
        set(condition_type::allowed, true, reasons::allowed, "");
    } else {
        set(condition_type::allowed, false, reasons::not_allowed, enumerate(texts, 10, "; "));
    }
}

}  // namespace esi::scheduling
