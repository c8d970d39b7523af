// Everything is held: one round over the plan. Ends are recorded before anything new begins, and
// each part of the round takes the findings of the parts before it.
#include <fmt/format.h>

#include <algorithm>

#include "scheduling/decider.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using model::object_key;
namespace condition_type = model::condition_type;
namespace states = model::scheduling_state;

}  // namespace

decision decider::drive() {
    if (!hold_is_kept()) {
        if (!v_.proven().testbed) return {read_testbed{testbed_of(self_)}, status_};
        return begin_release(model::release_reason::hold_lost);
    }
    if (auto read = give_up_retries()) return {std::move(*read), self_.status};
    // Both go into the next write, whatever it is: no report may come before the release.
    report_spec();
    const auto offered = offer_of_testbed();
    set(condition_type::allowed, offered.allowed, offered.reason, offered.text);

    const auto skipped = jobs_to_skip();
    if (auto job = job_to_end()) return release_of(*job);
    const auto ended = runs_that_ended();
    if (ended.read_first) return {*ended.read_first, self_.status};
    if (!ended.ends.empty()) return end_assignments(ended, skipped);
    if (!self_.metadata.undecodable.empty()) return settle_unread();
    if (auto ending = begin_endings(skipped.late)) return std::move(*ending);
    if (auto stray = job_outside_plan(skipped.keys)) return release_of(*stray);
    auto orders = orders_to_give();
    if (orders.next) return {std::move(*orders.next), self_.status};
    if (auto step = keep_up_claim(is_suspended(), {})) return std::move(*step);

    const auto jobs = sort_jobs(skipped, offered.withdrawn);
    if (jobs.reset) return {*jobs.reset, status_};
    if (!jobs.free.empty()) {
        return {acquire_of(*v_.find_job(*jobs.free.begin())), self_.status};
    }
    const auto free = v_.free_slots();
    const auto next = plan_.chosen->next(plan_, jobs.progress, free);
    if (!next.starts.empty()) return assign(next.starts, skipped);
    std::vector<std::string> waits;
    for (const auto& each : ended.waits) waits.push_back(each.text);
    waits.insert(waits.end(), orders.waits.begin(), orders.waits.end());
    return settle_running({skipped, jobs, next.waits, std::move(waits), free.size()});
}

/// The Testbed shows our hold, under which the assignments were made.
bool decider::hold_is_kept() const {
    if (!testbed_ || !held_by(*testbed_, self_.metadata.uid)) return false;
    return std::ranges::all_of(self_.status.assignments, [&](const auto& a) {
        return grid::is_under_hold(a.run, *testbed_);
    });
}

std::string decider::hold_lost_text() const {
    return testbed_text(testbed_of(self_)) +
           " no longer shows the hold of this Scheduling; delete it and create another";
}

/// A failed job whose BatchJob was deleted is not tried again. A cache may be behind, so the job is
/// read live first.
std::optional<action> decider::give_up_retries() {
    for (const auto& a : self_.status.assignments) {
        if (!plan_.retries(a)) continue;
        const auto key = a.job.key();
        const auto job = v_.find_job(key);
        if (job && job->metadata.uid == a.job.uid) continue;
        if (!v_.proven().jobs.contains(key)) return read_job{key};
        plan_.given_up.insert(key);
    }
    return std::nullopt;
}

/// The condition Allowed of the last status says whether that was ever checked: what was held and
/// acquired by a version that did not check it goes on to its end.
offer decider::offer_of_testbed() const {
    const auto& ns = self_.metadata.namespace_;
    std::vector<std::string> texts;
    std::vector<std::string> foreign;
    for (const auto& job : plan_.jobs) {
        if (v_.may_start(ns, job.name)) continue;
        auto found = v_.find_job(job.name);
        if (found && acquired_by(*found, self_)) foreign.push_back(job_text(job.name));
    }
    if (!foreign.empty()) {
        texts.push_back(
            "acquired before this was asked, BatchJobs of other namespaces go on "
            "to their end: " +
            enumerate(foreign));
    }
    if (auto refused = testbed_not_allowed(v_, self_)) {
        const auto* last = model::find_condition(self_.status.conditions, condition_type::allowed);
        const auto testbed = testbed_text(testbed_of(self_));
        if (last != nullptr && last->reason != reasons::held_before) {
            offer out{false,
                      reasons::not_allowed,
                      fmt::format("{} is no longer offered to namespace {}: what runs goes on, "
                                  "nothing else starts until its spec.allowedNamespaces names {} "
                                  "again",
                                  testbed, ns, ns),
                      {}};
            out.withdrawn = blocker{
                reasons::not_allowed, out.text, {}, {object_kind::testbed, testbed_of(self_)}};
            return out;
        }
        texts.push_back(
            fmt::format("{} is not offered to namespace {} (spec.allowedNamespaces): it was held "
                        "before that was asked, and this Scheduling goes on to its end",
                        testbed, ns));
    }
    if (texts.empty()) return {true, reasons::allowed, "", {}};
    return {true, reasons::held_before, enumerate(texts, 10, "; "), {}};
}

skipped_jobs decider::jobs_to_skip() {
    skipped_jobs out;
    std::set<object_key> gone;
    const auto dropped = [&](const object_key& key) {
        const auto job = v_.find_job(key);
        return job && started_and_dropped(*job, self_);
    };
    for (const auto& job : plan_.jobs) {
        const auto* a = assignment_of(job.name);
        if ((a != nullptr && !plan_.retries(*a)) || dropped(job.name) ||
            plan_.cancelled.contains(job.name)) {
            gone.insert(job.name);
        }
    }
    const auto problems = problems_by_job(plan_, places(), gone);
    for (const auto& job : plan_.jobs) {
        const auto found = problems.find(job.name);
        if (found == problems.end() || gone.contains(job.name)) continue;
        out.add(job.name, found->second);
    }

    const auto& limit = self_.spec.active_deadline_seconds;
    const auto started = first_start();
    out.late = limit && started && is_past(started->value + seconds(*limit));
    for (const auto& job : plan_.jobs) {
        const auto* a = assignment_of(job.name);
        const bool waits = a == nullptr || plan_.retries(*a);
        if (!waits || out.keys.contains(job.name)) continue;
        if (a == nullptr && dropped(job.name)) continue;
        if (plan_.cancelled.contains(job.name)) {
            out.add(job.name, cancelled_before_start(job.name));
        } else if (out.late) {
            out.cut_short = true;
            out.add(job.name,
                    {reasons::deadline_exceeded,
                     fmt::format(
                         "{} was not started{}: the plan's activeDeadlineSeconds ({}) were over",
                         job_text(job.name), a == nullptr ? "" : " again", *limit)});
        }
    }
    return out;
}

/// An assignment is recorded before its order is given, so that after a crash the order follows.
missing_orders decider::orders_to_give() const {
    missing_orders out;
    for (const auto& a : self_.status.assignments) {
        if (a.ended || !a.ending.empty()) continue;
        const auto job = v_.find_job(a.job.key());
        if (!job || job->metadata.uid != a.job.uid || !acquired_by(*job, self_)) continue;
        if (model::is_final(job->status.state)) continue;
        model::creation_request request;
        request.testbed_name = testbed_of(self_);
        request.slot_ids = a.slot_ids;
        request.replication = places().workers_among(a.slot_ids);
        request.run = a.run;
        request.submit_timeout_seconds = plan_.submit_timeout_seconds;
        request.schedule_timeout_seconds = plan_.schedule_timeout_seconds;
        // Also an order whose slots were changed by hand: it belongs to the assignment.
        const auto& now = job->spec.creation_request;
        if (now && now->run == request.run && now->slot_ids == request.slot_ids &&
            now->testbed_name == request.testbed_name) {
            continue;
        }
        if (const auto* refusal = refusal_of(a.job.key())) {
            out.waits.push_back(fmt::format(
                "the start of {}, which the API server refuses ({}; see the operator's log)",
                job_text(a.job.key()), *refusal));
            continue;
        }
        const auto& meta = job->metadata;
        out.next =
            request_creation{meta.key(), meta.uid, meta.resource_version, std::move(request)};
        return out;
    }
    return out;
}

decision decider::assign(const std::vector<start>& starts, const skipped_jobs& skipped) {
    if (!v_.proven().testbed) return {read_testbed{testbed_of(self_)}, status_};
    commit note{event_reason::assigned, "", {}, false};
    for (const auto& each : starts) {
        auto job = v_.find_job(each.job);
        auto k = ++status_.last_run;
        model::assignment a;
        a.job = {each.job.namespace_, each.job.name, job->metadata.uid};
        a.slot_ids = each.slot_ids;
        a.run = fmt::format("{}.{}", testbed_->hold(), k);
        a.since = model::timestamp{now_};
        if (const auto* failed = assignment_of(each.job)) {
            a.attempt = failed->attempt.value_or(0) + 1;
            std::erase_if(status_.assignments,
                          [&](const auto& old) { return old.job.key() == each.job; });
        }
        note.jobs.push_back(note_of(a,
                                    fmt::format("{} of {}, run {}", slots_text(each.slot_ids),
                                                testbed_text(testbed_of(self_)), a.run),
                                    false));
        status_.assignments.push_back(std::move(a));
    }
    if (!status_.plan) status_.plan = frozen_spec(self_, v_.policies);
    if (!status_.started) status_.started = first_start().value_or(model::timestamp{now_});
    status_.ended.reset();
    status_.state = states::submission;
    status_.mode = plan_.chosen->mode();
    status_.observed_generation = self_.metadata.generation;
    status_.waiting_for.clear();
    status_.problems = skipped.texts();
    report_jobs(v_, plan_, skipped.keys, status_);
    set_acquired(true, reasons::acquired, "");
    set(condition_type::progressing, true, reasons::starting, "");
    set(condition_type::completed, false, reasons::running, "");
    return {std::move(note), status_};
}

}  // namespace esi::scheduling
