#include "scheduling/answers/blocking.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.h"
#include "scheduling/answers/lists.h"
#include "scheduling/words.h"

namespace esi::scheduling::answers {

namespace {

using model::object_key;
namespace condition_type = model::condition_type;

/// The most jobs with slots that are listed for one waiting job when too few slots are free.
constexpr std::size_t most_owners = 100;

reference refer(std::string_view kind, const object_key& key) {
    return {std::string(kind), key.namespace_, key.name};
}

/// The Scheduling as it is once the starts of its outlook are assigned.
std::shared_ptr<const model::scheduling> after_starts(const outlook& ahead, const view& v,
                                                      wall_time now) {
    if (ahead.next.starts.empty()) return ahead.self;
    auto out = *ahead.self;
    for (const auto& each : ahead.next.starts) {
        auto& list = out.status.assignments;
        std::erase_if(list, [&](const auto& old) { return old.job.key() == each.job; });
        auto& added = list.emplace_back();
        const auto job = v.find_job(each.job);
        added.job = {each.job.namespace_, each.job.name, job ? job->metadata.uid : ""};
        added.slot_ids = each.slot_ids;
        added.since = model::timestamp{now};
    }
    return std::make_shared<const model::scheduling>(std::move(out));
}

/// Places of workers that the starts take.
std::size_t given_in(const next_starts& next, const model::testbed& testbed) {
    const auto& layout = testbed.status.layout;
    const auto places = layout ? plan_places(*layout) : plan_places(0);
    int out = 0;
    for (const auto& each : next.starts) out += places.workers_among(each.slot_ids);
    return static_cast<std::size_t>(out);
}

/// Since when the condition has this status.
std::optional<model::timestamp> transition_of(const std::vector<model::condition>& list,
                                              std::string_view type, std::string_view status) {
    const auto* found = model::find_condition(list, type);
    if (found == nullptr || found->status != status) return std::nullopt;
    return found->last_transition_time;
}

std::string end_of_holder(const object_key& holder) {
    return fmt::format(
        "the release of {}: by its deletion, or at the end of its jobs where it has "
        "releaseOnCompletion or ttlSecondsAfterFinished",
        scheduling_text(holder));
}

}  // namespace

std::string end_of_error(const model::testbed* testbed) {
    std::string out = "what status.nodeProblems of the Testbed names is mended";
    if (testbed == nullptr) return out;
    const auto* current =
        model::find_condition(testbed->status.conditions, condition_type::layout_current);
    if (current != nullptr && current->reason == reasons::waits_for_release) {
        out +=
            ", or its hold is released: only then does it get a layout of its nodes and spec as "
            "they are now (condition LayoutCurrent)";
    }
    return out;
}

blocking_reader::blocking_reader(const view& v, const outlook& ahead, wall_time now)
    : v_(v),
      now_(now),
      times_(forecast_of(v, ahead, now)),
      testbed_(v.find_testbed(testbed_of(*v.self))) {
    v_.self = after_starts(ahead, v, now);
    for (const auto& each : ahead.blockers) {
        const bool about_job = each.about.kind == object_kind::batchjob;
        (about_job ? of_jobs_[each.about.key] : of_plan_).push_back(&each);
        if (about_job && ahead.at == stage::entering) of_entry_.push_back(&each);
    }
    for (const auto& each : ahead.next.waits) waits_.emplace(each.job, &each);
    for (const auto& a : v_.self->status.assignments) {
        if (a.ended) continue;
        for (int id : a.slot_ids) owners_.emplace(id, &a);
    }
    if (!testbed_ || ahead.next.waits.empty()) return;
    broken_ = v_.in_error();
    const auto given = given_in(ahead.next, *testbed_);
    texts_.emplace(v_, *testbed_, ahead.free - std::min(ahead.free, given));
}

blocking blocking_reader::of(const blocker& what) {
    blocking out;
    out.reason = what.reason;
    out.what = refer(what.about.kind, what.about.key);
    if (!what.holder.name.empty() && what.holder != what.about.key) {
        out.holder = refer(object_kind::scheduling, what.holder);
    }
    out.since = since(what);
    out.text = what.text;
    out.freed_by = freed_by(what);
    if (what.until) {
        out.estimate = estimate_of(what.until->value, 0, now_);
    } else if (out.holder) {
        out.estimate = release_by(what.holder);
    }
    if (what.reason == reasons::job_failed) add_holder_of_failed(what.about.key, out);
    return out;
}

/// A job of another Scheduling cannot be reset until that one has released it.
void blocking_reader::add_holder_of_failed(const object_key& key, blocking& to) const {
    const auto job = v_.find_job(key);
    if (!job || !job->spec.active_scheduling || acquired_by(*job, *v_.self)) return;
    const auto holder = job->spec.active_scheduling->key();
    to.holder = refer(object_kind::scheduling, holder);
    to.freed_by = end_of_holder(holder) + "; after it " + to.freed_by;
}

blocking blocking_reader::of(const awaited_end& what) {
    blocking out;
    out.reason = blocking_reason::run_ending;
    out.what = refer(object_kind::batchjob, what.job);
    out.text = what.text;
    out.freed_by = what.text;
    return out;
}

void blocking_reader::add_of_plan(std::vector<blocking>& list, std::int64_t& left_out) {
    for (const auto* each : of_plan_) add(list, left_out, [&] { return of(*each); });
}

void blocking_reader::add_of_entry(std::vector<blocking>& list, std::int64_t& left_out) {
    for (const auto* each : of_entry_) add(list, left_out, [&] { return of(*each); });
}

void blocking_reader::add_other_job(const object_key& job, std::vector<blocking>& list,
                                    std::int64_t& left_out) {
    if (of_entry_.empty() || of_jobs_.contains(job)) return;
    const auto& first = *of_entry_.front();
    const auto more = of_jobs_.size() - 1;
    add(list, left_out, [&] {
        auto out = of(first);
        out.reason = blocking_reason::other_job;
        out.text = fmt::format("the plan acquires all of its jobs or none; {}", first.text);
        if (more > 0) {
            out.text += more == 1 ? std::string(" (1 more job is blocked)")
                                  : fmt::format(" ({} more jobs are blocked)", more);
            out.estimate.reset();
        }
        return out;
    });
}

void blocking_reader::add_of_job(const object_key& job, std::vector<blocking>& list,
                                 std::int64_t& left_out) {
    if (const auto own = of_jobs_.find(job); own != of_jobs_.end()) {
        for (const auto* each : own->second) add(list, left_out, [&] { return of(*each); });
    }
    if (const auto wait = waits_.find(job); wait != waits_.end()) {
        add_wait(list, left_out, *wait->second);
    }
}

void blocking_reader::add_wait(std::vector<blocking>& list, std::int64_t& left_out,
                               const slot_blocker& what) const {
    blocking first;
    const auto testbed = testbed_of(*v_.self);
    first.what = refer(object_kind::testbed, testbed);
    if (texts_) first.text = texts_->of(what);
    const auto start = times_.starts.find(what.job);
    if (start != times_.starts.end()) first.estimate = start->second;
    std::vector<blocking> causes;
    switch (what.why) {
        case slot_blocker::kind::too_few_free:
            first.reason = blocking_reason::too_few_free_slots;
            first.freed_by = "the end of runs that have slots of " + testbed_text(testbed);
            add(list, left_out, [&] { return std::move(first); });
            return add_owners(list, left_out);
        case slot_blocker::kind::slots_taken:
            first.reason = blocking_reason::slots_not_free;
            first.slots = first_of(what.slots, first.slots_left_out);
            first.freed_by = "these slots become free: " + slots_text(what.slots);
            causes = causes_of(what.slots);
            break;
        case slot_blocker::kind::coordinator_busy:
            first.reason = blocking_reason::coordinator_busy;
            first.slots = first_of(what.slots, first.slots_left_out);
            first.freed_by = "a coordinator place becomes free: " + slots_text(what.slots);
            causes = causes_of(what.slots);
            break;
        case slot_blocker::kind::job_before:
            first.reason = blocking_reason::job_before;
            first.what = refer(object_kind::batchjob, what.before);
            first.freed_by = "the start of " + job_text(what.before);
            break;
        case slot_blocker::kind::not_ready:
            // Why it is not acquired is one of the blockers of the job itself.
            first.reason = blocking_reason::not_acquired;
            first.what = refer(object_kind::batchjob, what.job);
            first.freed_by = job_text(what.job) + " is acquired";
            break;
    }
    add(list, left_out, [&] { return std::move(first); });
    for (auto& each : causes) add(list, left_out, [&] { return std::move(each); });
}

blocking blocking_reader::of_owner(const model::assignment& owner,
                                   const std::vector<int>& slots) const {
    blocking out;
    const auto job = owner.job.key();
    out.reason = blocking_reason::slot_of_job;
    out.what = refer(object_kind::testbed, testbed_of(*v_.self));
    out.holder = refer(object_kind::batchjob, job);
    out.slots = first_of(slots, out.slots_left_out);
    out.since = owner.since;
    out.text = job_text(job) + " has " + slots_text(slots);
    out.freed_by = "the end of the run of " + job_text(job);
    const auto end = times_.ends.find(job);
    if (end != times_.ends.end()) out.estimate = end->second;
    return out;
}

/// Every run under way has slots that could go to a job that waits for more free ones.
void blocking_reader::add_owners(std::vector<blocking>& list, std::int64_t& left_out) const {
    auto broken = broken_;
    std::size_t listed = 0;
    for (const auto& a : v_.self->status.assignments) {
        if (a.ended) continue;
        for (int id : a.slot_ids) broken.erase(id);
        if (++listed > most_owners) {
            ++left_out;
            continue;
        }
        add(list, left_out, [&] { return of_owner(a, a.slot_ids); });
    }
    if (broken.empty()) return;
    add(list, left_out, [&] {
        const std::vector slots(broken.begin(), broken.end());
        blocking out;
        out.reason = blocking_reason::slot_in_error;
        out.what = refer(object_kind::testbed, testbed_of(*v_.self));
        out.slots = first_of(slots, out.slots_left_out);
        out.text = "the Testbed shows ERROR for " + slots_text(slots);
        out.freed_by = end_of_error(testbed_.get());
        return out;
    });
}

/// The causes for slots that a job names, in groups of one cause each.
std::vector<blocking> blocking_reader::causes_of(const std::vector<int>& slots) const {
    std::vector<blocking> out;
    std::map<const model::assignment*, std::vector<int>> owned;
    std::map<std::string, std::vector<int>> broken;  // by node
    std::vector<int> ghosts;
    std::vector<blocking> occupied;
    const auto testbed = refer(object_kind::testbed, testbed_of(*v_.self));
    for (int id : slots) {
        if (const auto owner = owners_.find(id); owner != owners_.end()) {
            owned[owner->second].push_back(id);
            continue;
        }
        if (id < 0 || id >= v_.slots->size()) continue;
        const auto row = v_.slots->at(id);
        if (broken_.contains(id)) {
            broken[row.place.node].push_back(id);
        } else if (row.job_pods.empty()) {
            ghosts.push_back(id);
        } else {
            const auto key = row.job_pods.front()->metadata.key();
            const bool own = key.namespace_ == v_.self->metadata.namespace_;
            auto& one = occupied.emplace_back();
            one.reason = blocking_reason::slot_occupied;
            one.what = own ? refer(object_kind::pod, key) : testbed;
            one.slots = {id};
            one.text = fmt::format("{} is still in slot {}",
                                   own ? "Pod " + key.text() : std::string(grid::foreign_pod), id);
            one.freed_by = "the end of that pod";
        }
    }
    for (const auto& [owner, ids] : owned) out.push_back(of_owner(*owner, ids));
    std::ranges::sort(out, {}, [](const auto& each) { return each.slots.front(); });
    for (const auto& [node, ids] : broken) {
        auto& one = out.emplace_back();
        one.reason = blocking_reason::slot_in_error;
        one.what = {"Node", "", node};
        one.slots = first_of(ids, one.slots_left_out);
        one.text = fmt::format("{} on node {} cannot be used", slots_text(ids), node);
        one.freed_by = end_of_error(testbed_.get());
    }
    std::ranges::move(occupied, std::back_inserter(out));
    if (!ghosts.empty()) {
        auto& one = out.emplace_back();
        one.reason = blocking_reason::ghost_missing;
        one.what = testbed;
        one.slots = first_of(ghosts, one.slots_left_out);
        one.text = "no ghost runs in " + slots_text(ghosts);
        one.freed_by = "the testbed operator makes the ghost, and there is room for it";
    }
    return out;
}

std::optional<model::timestamp> blocking_reader::since(const blocker& what) const {
    const auto& own = v_.self->status.conditions;
    if (what.reason == reasons::not_allowed) {
        return transition_of(own, condition_type::allowed, "False");
    }
    if (!what.holder.name.empty() && what.about.kind != object_kind::scheduling) {
        const auto holder = v_.find_scheduling(what.holder);
        if (!holder || !may_show(what.holder.namespace_)) return std::nullopt;
        if (what.about.kind == object_kind::batchjob) {
            for (const auto& a : holder->status.assignments) {
                if (a.job.key() == what.about.key) return a.since;
            }
        }
        if (holder->status.started) return holder->status.started;
        return transition_of(holder->status.conditions, condition_type::acquired, "True");
    }
    if (what.about.kind == object_kind::testbed && testbed_) {
        if (what.reason == reasons::testbed_deleting) return testbed_->metadata.deletion_timestamp;
        if (what.reason == reasons::testbed_not_ready) {
            return transition_of(testbed_->status.conditions, condition_type::layout_current,
                                 "False");
        }
        if (what.reason == reasons::waits_for_claim || what.reason == reasons::claim_refused) {
            return transition_of(testbed_->status.conditions, condition_type::formed, "False");
        }
    }
    if (what.about.kind != object_kind::batchjob) return std::nullopt;
    const auto job = v_.find_job(what.about.key);
    if (!job) return std::nullopt;
    if (what.reason == reasons::job_deleting) return job->metadata.deletion_timestamp;
    if (what.reason == reasons::job_failed) {
        return transition_of(job->status.conditions, condition_type::failed, "True");
    }
    if (what.reason == reasons::retry_delayed || what.reason == reasons::resetting) {
        for (const auto& a : v_.self->status.assignments) {
            if (a.job.key() == what.about.key) return a.ended;
        }
    }
    return std::nullopt;
}

std::string blocking_reader::freed_by(const blocker& what) const {
    const auto& r = what.reason;
    const bool of_testbed = what.about.kind == object_kind::testbed;
    if (r == reasons::not_allowed) {
        return of_testbed ? "spec.allowedNamespaces of the Testbed names the namespace of the "
                            "Scheduling"
                          : "a Scheduling in the namespace of the BatchJob starts it";
    }
    if (r == reasons::testbed_missing) return "the Testbed is created";
    if (r == reasons::testbed_held && what.holder.name.empty()) return "the hold is removed";
    if (r == reasons::testbed_held || r == reasons::job_held) return end_of_holder(what.holder);
    if (r == reasons::testbed_deleting) return "the Testbed is created again once it is gone";
    if (r == reasons::testbed_not_ready) {
        return "the testbed operator has written a layout for the Testbed's spec";
    }
    if (r == reasons::testbed_owned) {
        return "the Scheduling is created again with another Testbed, or with a claim of its own";
    }
    if (r == reasons::name_taken) return "there is no other Testbed of that name";
    if (r == reasons::waits_for_claim) {
        return "there is room for all places of the claim, and its ghosts run";
    }
    if (r == reasons::claim_refused)
        return "what the condition Formed of the Testbed says is mended";
    if (r == reasons::testbed_empty) return "a node gets the label of the Testbed (spec.nodeLabel)";
    if (r == reasons::job_missing) return "the BatchJob is created";
    if (r == reasons::job_failed) {
        return fmt::format(
            "the BatchJob is reset (a new value of its annotation {}), or is taken "
            "out of the plan",
            model::names::reset);
    }
    if (r == reasons::job_deleting) {
        return "the BatchJob is created again once it is gone, or is taken out of the plan";
    }
    if (r == reasons::job_not_ready) return "the BatchJob comes to ReadyState";
    if (r == reasons::older_first || r == reasons::priority_first) {
        return scheduling_text(what.holder) + " has run and released what it holds, or is deleted";
    }
    if (r == reasons::suspended) return "spec.suspend is false";
    if (r == reasons::plan_empty) return "the plan names a BatchJob that is not cancelled";
    if (r == reasons::retry_delayed) return "the time until the retry is over";
    if (r == reasons::resetting) return "the batchjob operator has reset the BatchJob";
    if (r == reasons::job_refused) return "the API server no longer refuses the change";
    return {};
}

std::optional<estimated_time> blocking_reader::release_by(const object_key& holder) {
    if (!may_show(holder.namespace_)) return std::nullopt;
    const auto known = releases_.find(holder);
    if (known != releases_.end()) return known->second;
    if (releases_.size() >= most_holders_forecast) return std::nullopt;
    auto out = release_of(v_, v_.find_scheduling(holder), now_);
    releases_.emplace(holder, out);
    return out;
}

bool blocking_reader::may_show(const std::string& ns) const {
    return v_.cross_namespace_jobs || ns == v_.self->metadata.namespace_;
}

}  // namespace esi::scheduling::answers
