#include "scheduling/acquire.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace condition_type = model::condition_type;
namespace job_state = model::job_state;
namespace states = model::scheduling_state;

subject about(const model::scheduling& who) {
    return {object_kind::scheduling, who.metadata.key()};
}

subject about_testbed(const object_key& key) { return {object_kind::testbed, key}; }

subject about_job(const object_key& key) { return {object_kind::batchjob, key}; }

blocker plan_empty(const model::scheduling& who, const plan& wants) {
    return {reasons::plan_empty,
            wants.jobs.empty() ? "spec.queueBased, spec.slotBased.jobs or spec.poolBased.jobs "
                                 "names no BatchJob: add one"
                               : "spec.cancelledJobs names all BatchJobs of the plan: add another "
                                 "one, or delete the Scheduling",
            {},
            about(who)};
}

/// The Testbed that has the name of the claim's Testbed is not the claim's own.
blocker name_taken(const model::scheduling& who, const model::testbed& by) {
    const auto key = testbed_of(who);
    const auto* maker = grid::maker_of(by);
    const bool left = maker != nullptr && maker->name == who.metadata.name;
    return {reasons::name_taken,
            left ? fmt::format("{} is left from an earlier Scheduling of this name; once the "
                               "garbage collector has deleted it, ESI creates a new one",
                               testbed_text(key))
                 : fmt::format("{} exists and is not the one of this claim: delete it, or create "
                               "the Scheduling under another name",
                               testbed_text(key)),
            {},
            about_testbed(key)};
}

blocker testbed_owned(const object_key& key, const model::owner_reference& maker) {
    const object_key owner{key.namespace_, maker.name};
    return {
        reasons::testbed_owned,
        fmt::format("{} belongs to {}; no other Scheduling can hold it: delete this Scheduling, "
                    "and create it with another Testbed or with a claim of its own (spec.claim)",
                    testbed_text(key), scheduling_text(owner)),
        {},
        about_testbed(key)};
}

bool has_all_places(const model::testbed& of) {
    const auto& layout = of.status.layout;
    if (!of.spec.claim || !layout || !grid::is_of_claim(*layout)) return false;
    std::int64_t wanted = 0;
    for (const auto& shape : of.spec.claim->shapes) wanted += shape.count;
    return grid::count_of_slots(*layout) == wanted;
}

/// A person has to mend something first.
bool is_refused(const model::condition& formed) {
    static constexpr std::string_view all[] = {reasons::claim_never_fits,
                                               reasons::claim_class_missing,
                                               reasons::claim_disabled, reasons::spec_invalid};
    return std::ranges::find(all, formed.reason) != std::end(all);
}

/// Adds why the Testbed of a claim cannot be held yet: it has to be formed, and all its ghosts
/// bound.
void check_places(acquisition& out, const model::testbed& of) {
    const auto key = of.metadata.key();
    const auto& status = of.status;
    const auto say = [&](std::string_view reason, std::string text) {
        out.claim = blocker{reason, testbed_text(key) + text, {}, about_testbed(key)};
    };
    if (status.observed_generation < of.metadata.generation) {
        out.claim_under_way = true;
        return say(reasons::waits_for_claim, " has a claim that esi-testbed has not observed yet");
    }
    const auto* formed = model::find_condition(status.conditions, condition_type::formed);
    if (formed != nullptr && formed->status == "False") {
        out.claim_under_way = formed->reason == reasons::claim_waiting;
        return say(is_refused(*formed) ? reasons::claim_refused : reasons::waits_for_claim,
                   fmt::format(" is not formed ({}): {}", formed->reason, formed->message));
    }
    if (!has_all_places(of)) {
        return say(reasons::testbed_not_ready, " has no layout with all places of its claim");
    }
    const auto* ready = model::find_condition(status.conditions, condition_type::ready);
    if (ready != nullptr && ready->status == "True" && ready->reason == reasons::all_slots_usable) {
        return;
    }
    out.claim_under_way = ready == nullptr || ready->reason == reasons::ghosts_under_way;
    say(reasons::waits_for_claim,
        ready == nullptr ? std::string(" is formed, and not all its places are held yet")
                         : fmt::format(" is formed, and not all its places are held yet ({}): {}",
                                       ready->reason, ready->message));
}

void check_plan(acquisition& out, const model::testbed_layout& layout, const model::scheduling& who,
                const plan& wants) {
    out.wrong = problem_of(wants, plan_places(layout));
    if (!out.wrong && wants.empty()) out.blockers.push_back(plan_empty(who, wants));
}

/// Adds the holder of the Testbed. False: the Testbed is being deleted, and what follows does not
/// matter.
bool may_be_held_next(acquisition& out, const model::testbed& of) {
    const auto key = of.metadata.key();
    if (!of.hold().empty()) {
        out.blockers.push_back({reasons::testbed_held,
                                testbed_text(key) + " is held by " + holder_text(of), of.holder(),
                                about_testbed(key)});
    }
    if (!of.metadata.deleting()) return true;
    out.blockers.push_back({reasons::testbed_deleting,
                            testbed_text(key) + " is being deleted",
                            {},
                            about_testbed(key)});
    return false;
}

/// Adds what blocks the own Testbed of a Scheduling with a claim.
void check_own_testbed(acquisition& out, const view& v, const model::scheduling& who,
                       const plan& wants) {
    const auto key = testbed_of(who);
    const auto testbed = v.find_testbed(key);
    out.wrong = problem_of(*who.spec.claim);
    if (!out.wrong) check_plan(out, grid::shape_of(*who.spec.claim), who, wants);
    if (!testbed) {
        const auto* acquired =
            model::find_condition(who.status.conditions, condition_type::acquired);
        out.claim_under_way = acquired == nullptr || acquired->reason != reasons::claim_refused;
        out.claim = blocker{reasons::waits_for_claim,
                            testbed_text(key) + " has to be made for the claim first",
                            {},
                            about_testbed(key)};
        return;
    }
    if (held_by(*testbed, who.metadata.uid)) {
        out.holds_something = true;
        return;
    }
    if (auto taken = testbed_of_another(v, who)) {
        out.blockers.push_back(std::move(*taken));
        return;
    }
    if (!may_be_held_next(out, *testbed)) return;
    check_places(out, *testbed);
}

void check_testbed(acquisition& out, const view& v, const model::scheduling& who,
                   const plan& wants) {
    if (who.spec.claim) return check_own_testbed(out, v, who, wants);
    auto key = testbed_of(who);
    auto testbed = v.find_testbed(key);
    if (auto refused = testbed_not_allowed(v, who)) {
        out.holds_something = testbed && held_by(*testbed, who.metadata.uid);
        out.blockers.push_back(std::move(*refused));
        return;
    }
    if (!testbed) {
        out.blockers.push_back(
            {reasons::testbed_missing, testbed_text(key) + v.absence(key), {}, about_testbed(key)});
        return;
    }
    const auto& status = testbed->status;
    if (held_by(*testbed, who.metadata.uid)) {
        out.holds_something = true;
    } else {
        if (auto owned = testbed_of_another(v, who)) {
            out.blockers.push_back(std::move(*owned));
            return;
        }
        if (!may_be_held_next(out, *testbed)) return;
        // If it were held before all places are there, some of them would wait for the rest without
        // end.
        if (testbed->spec.claim && testbed->hold().empty()) {
            check_places(out, *testbed);
            out.claim_under_way = false;
            if (auto waits = std::exchange(out.claim, std::nullopt)) {
                out.blockers.push_back(std::move(*waits));
                return;
            }
        }
        const auto* current =
            model::find_condition(status.conditions, condition_type::layout_current);
        if (!status.layout || status.observed_generation < testbed->metadata.generation) {
            out.blockers.push_back({reasons::testbed_not_ready,
                                    testbed_text(key) + " has no layout for its spec yet",
                                    {},
                                    about_testbed(key)});
            return;
        }
        if (current != nullptr && current->status == "False" && testbed->hold().empty()) {
            out.blockers.push_back({reasons::testbed_not_ready,
                                    testbed_text(key) + " has a layout that is not current",
                                    {},
                                    about_testbed(key)});
            return;
        }
    }
    if (!status.layout || status.layout->nodes.empty()) {
        out.blockers.push_back(
            {reasons::testbed_empty, testbed_text(key) + " has no nodes", {}, about_testbed(key)});
        return;
    }
    check_plan(out, *status.layout, who, wants);
}

/// Keeps the order of insertion, but NotAllowed comes before all else.
void insert(std::vector<blocker>& list, blocker what) {
    auto at = list.end();
    if (what.reason == reasons::not_allowed) {
        at = std::ranges::find_if(list,
                                  [](auto& each) { return each.reason != reasons::not_allowed; });
    }
    list.insert(at, std::move(what));
}

bool shares(const plan& a, const plan& b, const object_key& testbed_a,
            const object_key& testbed_b) {
    if (testbed_a == testbed_b) return true;
    std::set<object_key> names;
    for (const auto& job : a.jobs) {
        if (!a.cancelled.contains(job.name)) names.insert(job.name);
    }
    return std::ranges::any_of(b.jobs, [&](const auto& job) {
        return names.contains(job.name) && !b.cancelled.contains(job.name);
    });
}

/// Its priority among those that wait.
int priority_of(const model::scheduling& who) {
    const auto own = who.spec.priority.value_or(0);
    return testbed_of(who).namespace_ == who.metadata.namespace_ ? own : std::min(own, 0);
}

bool waits_for_a_rival(const model::condition& acquired) {
    return acquired.reason == reasons::older_first || acquired.reason == reasons::priority_first;
}

blocker job_not_allowed(const model::scheduling& who, const object_key& job) {
    return {reasons::not_allowed,
            fmt::format("{} is of another namespace: a Scheduling of {} starts BatchJobs of {} "
                        "only; create the Scheduling in {} (--cross-namespace-jobs of "
                        "esi-scheduling is for clusters whose namespaces trust each other)",
                        job_text(job), who.metadata.namespace_, who.metadata.namespace_,
                        job.namespace_),
            {},
            about_job(job)};
}

}  // namespace

std::optional<blocker> testbed_not_allowed(const view& v, const model::scheduling& who) {
    const auto key = testbed_of(who);
    const auto& ns = who.metadata.namespace_;
    // Objects in namespaces that are not watched are unknown; the text about the missing Testbed
    // says that.
    if (key.namespace_ == ns || !v.watches(key.namespace_)) return std::nullopt;
    auto testbed = v.find_testbed(key);
    if (testbed && testbed->is_offered_to(ns)) return std::nullopt;
    return blocker{reasons::not_allowed,
                   fmt::format("{} does not exist, or is not offered to namespace {}: its "
                               "spec.allowedNamespaces has to name {}",
                               testbed_text(key), ns, ns),
                   {},
                   about_testbed(key)};
}

std::optional<blocker> testbed_of_another(const view& v, const model::scheduling& who) {
    const auto key = testbed_of(who);
    const auto testbed = v.find_testbed(key);
    if (!testbed || held_by(*testbed, who.metadata.uid)) return std::nullopt;
    const auto* maker = grid::maker_of(*testbed);
    if (who.spec.claim) {
        if (grid::is_made_for(*testbed, who)) return std::nullopt;
        return name_taken(who, *testbed);
    }
    if (maker == nullptr) return std::nullopt;
    return testbed_owned(key, *maker);
}

bool goes_before(const model::scheduling& a, const model::scheduling& b) {
    const auto of_a = priority_of(a);
    const auto of_b = priority_of(b);
    return of_a != of_b ? of_a > of_b : model::older(a.metadata, b.metadata);
}

blocker rival_goes_first(const model::scheduling& first, const model::scheduling& who) {
    const auto key = first.metadata.key();
    const auto theirs = priority_of(first);
    if (theirs == priority_of(who)) {
        return {reasons::older_first, scheduling_text(key) + " is older and goes first", key,
                about(first)};
    }
    return {reasons::priority_first,
            fmt::format("{} has priority {}, this one {}, and goes first", scheduling_text(key),
                        theirs, priority_of(who)),
            key, about(first)};
}

blocker suspended(const model::scheduling& who) {
    return {reasons::suspended,
            "spec.suspend is true: nothing is acquired or started until it is false",
            {},
            about(who)};
}

bool is_blocked(const model::scheduling_status& status) {
    const auto* acquired = model::find_condition(status.conditions, condition_type::acquired);
    return !is_running(status) && acquired != nullptr && acquired->status == "False" &&
           !waits_for_a_rival(*acquired);
}

bool waits_for_rival(const model::scheduling& who, const object_key& other) {
    const auto* acquired = model::find_condition(who.status.conditions, condition_type::acquired);
    return acquired != nullptr && waits_for_a_rival(*acquired) &&
           std::ranges::find(who.status.waiting_for_schedulings, other) !=
               who.status.waiting_for_schedulings.end();
}

std::vector<object_key> holders_of(const std::vector<blocker>& blockers) {
    std::vector<object_key> out;
    for (const auto& each : blockers) {
        const bool known = std::ranges::find(out, each.holder) != out.end();
        if (!each.holder.name.empty() && !known) out.push_back(each.holder);
    }
    return out;
}

bool cycle_changed(const model::scheduling_status& before, const model::scheduling_status& after) {
    auto reported = [](const model::scheduling_status& status) {
        const auto* acquired = model::find_condition(status.conditions, condition_type::acquired);
        return acquired && acquired->reason == reasons::wait_cycle ? status.waiting_for_schedulings
                                                                   : std::vector<object_key>();
    };
    return reported(before) != reported(after);
}

bool is_running(const model::scheduling_status& status) {
    return !status.assignments.empty() || status.state == states::confirmation ||
           status.state == states::submission || status.state == states::awaiting_completion ||
           status.state == states::completed;
}

bool is_over(const model::scheduling_status& status) {
    if (status.state == states::finished) return true;
    if (status.state != states::error) return false;
    const auto* acquired = model::find_condition(status.conditions, condition_type::acquired);
    return acquired != nullptr && acquired->reason == reasons::hold_lost;
}

std::optional<blocker> blocker_of(const view& v, const model::scheduling& who,
                                  const object_key& key) {
    auto job = v.find_job(key);
    // A job that was acquired by a version that did not check this is kept.
    if (!v.may_start(who.metadata.namespace_, key) && !(job && acquired_by(*job, who))) {
        return job_not_allowed(who, key);
    }
    if (!job) {
        return blocker{reasons::job_missing, job_text(key) + v.absence(key), {}, about_job(key)};
    }
    const auto& state = job->status.state;
    if (state == job_state::failed || state == job_state::failed_submission) {
        return blocker{reasons::job_failed,
                       job_text(key) + " is in " + state + "; reset it or take it out",
                       {},
                       about_job(key)};
    }
    const bool ours = acquired_by(*job, who);
    if (const auto& active = job->spec.active_scheduling; active && !ours) {
        return blocker{reasons::job_held,
                       job_text(key) + " is held by " + scheduling_text(active->key()),
                       active->key(), about_job(key)};
    }
    if (job->metadata.deleting()) {
        return blocker{
            reasons::job_deleting, job_text(key) + " is being deleted", {}, about_job(key)};
    }
    if (ours) return std::nullopt;
    if (state != job_state::ready) {
        return blocker{reasons::job_not_ready,
                       job_text(key) + " is in " + (state.empty() ? "no state yet" : state),
                       {},
                       about_job(key)};
    }
    if (job->status.observed_generation != job->metadata.generation) {
        return blocker{reasons::job_not_ready,
                       job_text(key) + " has a change that esi-batchjob has not observed yet",
                       {},
                       about_job(key)};
    }
    return std::nullopt;
}

acquisition acquisition_of(const view& v, const model::scheduling& who, const plan& wants) {
    acquisition out;
    check_testbed(out, v, who, wants);
    if (wants.wrong) out.wrong = wants.wrong;
    if (who.spec.suspend.value_or(false)) out.blockers.insert(out.blockers.begin(), suspended(who));
    for (const auto& job : wants.jobs) {
        auto known = v.find_job(job.name);
        if (known && acquired_by(*known, who)) out.holds_something = true;
        if (wants.cancelled.contains(job.name)) continue;
        if (auto found = blocker_of(v, who, job.name)) insert(out.blockers, std::move(*found));
    }
    return out;
}

std::shared_ptr<const model::scheduling> first_rival(const view& v, const plan& wants) {
    std::vector<std::shared_ptr<const model::scheduling>> others;
    if (v.rivals_of) {
        others = v.rivals_of(wants);
    } else if (v.schedulings != nullptr) {
        for (const auto& [key, each] : *v.schedulings) others.push_back(each);
    }
    std::shared_ptr<const model::scheduling> first;
    const auto testbed = testbed_of(*v.self);
    for (const auto& other : others) {
        if (other->metadata.uid == v.self->metadata.uid || other->metadata.deleting()) continue;
        // A Scheduling that cannot be read begins nothing.
        if (!other->metadata.undecodable.empty() || !goes_before(*other, *v.self)) continue;
        if (first && goes_before(*first, *other)) continue;
        const auto& status = other->status;
        if (!status.releasing.empty() || is_running(status) || is_over(status)) continue;
        // Checked before its plan is read: a plan may have thousands of entries.
        const auto of_other = v.find_testbed(testbed_of(*other));
        const bool held = of_other && !of_other->hold().empty();
        if (held && !held_by(*of_other, other->metadata.uid)) continue;
        auto theirs = plan_of(*other, v.policies);
        if (!shares(wants, theirs, testbed, testbed_of(*other))) continue;
        if (acquisition_of(v, *other, theirs).goes_first()) first = other;
    }
    return first;
}

}  // namespace esi::scheduling
