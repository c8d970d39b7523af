// The state machine behind decide(): lives for one decision, and owns nothing of the view. Its
// parts, one file each:
//
//   decide.cpp          which part it is in; the end of a Scheduling's life
//   decider_enter.cpp   the way in: everything is free -> finalizer, hold, jobs
//   decider_drive.cpp   everything is held: one round over ends, orders, new starts
//   decider_ends.cpp    which runs have ended, which are to be ended
//   decider_jobs.cpp    what comes next for each job of the plan
//   decider_report.cpp  the status that is written when there is nothing to do
//   decider_claim.cpp   the Testbed of its own claim: made, kept up, given back
//   decider_leave.cpp   the way back
//   outlook.cpp         what the parts above come to when all that they ask for is done
//
// Each part returns its findings as a value; the next one takes it as an argument. The members are
// the input, the wanted status, and the time at which to decide again.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduling/acquire.h"
#include "scheduling/decide.h"
#include "scheduling/outlook.h"
#include "scheduling/plan.h"

namespace esi::scheduling {

/// Whether the Scheduling may still use what it holds.
struct offer {
    bool allowed = true;
    std::string_view reason;
    std::string text;
    /// The Testbed is not offered any more: what runs continues, and nothing else starts.
    std::optional<blocker> withdrawn;
};

/// The known ends of runs.
struct ended_runs {
    /// The live read that must come before an end can be written.
    std::optional<action> read_first;
    struct end {
        std::size_t index;         ///< in status.assignments
        std::string_view outcome;  ///< of model::assignment_outcome
    };
    std::vector<end> ends;
    /// The causes for which other ends wait.
    std::vector<awaited_end> waits;
};

/// Orders to start that assignments still need.
struct missing_orders {
    std::optional<request_creation> next;
    /// Orders that the API server refuses, for people.
    std::vector<std::string> waits;
};

/// The jobs of the plan by the next step of each.
struct sorted_jobs {
    plan_progress progress;
    std::vector<blocker> blockers;
    /// A failed job that is to be reset for its next attempt.
    std::optional<reset_job> reset;
    /// Jobs that are free and are to be acquired, in this order.
    std::set<model::object_key> free;
};

/// Whether a Scheduling that does not run may begin.
struct way_to_begin {
    acquisition wanted;
    /// The Scheduling that goes first; without it, and but for its claim, this one could begin.
    std::shared_ptr<const model::scheduling> first;
    /// What keeps it from beginning, if anything does.
    std::vector<blocker> blockers;

    bool in_the_way() const { return !wanted.is_free() || first; }
};

class decider {
public:
    decider(const view& v, wall_time now);
    decision run();

    // outlook.cpp
    std::optional<model::scheduling> after_ends();
    outlook foresee();

private:
    using job_pointer = std::shared_ptr<const model::batchjob>;

    // decide.cpp
    decision next();
    decision after_the_end();
    std::optional<decision> delete_when_expired();
    bool is_past(wall_time when);

    // decider_enter.cpp
    decision enter();
    way_to_begin way_in() const;
    job_pointer job_to_acquire() const;
    decision settle_waiting(const std::vector<blocker>& blockers);
    decision settle_wrong(const problem& wrong);
    void report_refused(const std::vector<blocker>& blockers);

    // decider_claim.cpp
    bool is_own_testbed() const;
    bool has_places() const;
    std::optional<decision> keep_claim(bool in_the_way);
    std::optional<decision> keep_up_claim(bool suspend, std::string unused_since);
    decision return_claim(std::string why) const;

    // decider_drive.cpp
    decision drive();
    std::string hold_lost_text() const;
    bool hold_is_kept() const;
    std::optional<action> give_up_retries();
    offer offer_of_testbed() const;
    skipped_jobs jobs_to_skip();
    missing_orders orders_to_give() const;
    decision assign(const std::vector<start>& starts, const skipped_jobs& skipped);

    // decider_ends.cpp
    struct run_end {
        std::string_view outcome{};  ///< empty while the run goes on
        bool needs_read = false;     ///< the BatchJob has to be read live first
        std::string waits_for{};     ///< why the end is not known yet
    };
    run_end end_of(const model::assignment& a) const;
    ended_runs runs_that_ended() const;
    decision end_assignments(const ended_runs& ended, const skipped_jobs& skipped);
    void drop_old_assignments();
    std::string_view reason_to_end(const model::assignment& a, bool late) const;
    std::optional<decision> begin_endings(bool late);
    job_pointer job_to_end() const;

    // decider_jobs.cpp
    sorted_jobs sort_jobs(const skipped_jobs& skipped, const std::optional<blocker>& withdrawn);
    std::optional<blocker> before_retry(const model::assignment& failed, const model::batchjob* job,
                                        sorted_jobs& jobs);
    job_pointer job_outside_plan(const std::set<model::object_key>& skipped) const;

    // decider_report.cpp
    struct round {
        const skipped_jobs& skipped;
        const sorted_jobs& jobs;
        const std::vector<slot_blocker>& slot_blockers;
        std::vector<std::string> waits;
        std::size_t free = 0;
    };
    decision settle_running(round seen);
    decision settle_unread();
    decision settle();
    void report_spec();
    void report_acquired(const std::vector<blocker>& blockers);
    std::string_view how_completed(const model::progress_counts& counts, bool cut_short) const;

    // decider_leave.cpp
    decision leave();
    decision release();
    decision release_again(std::string_view reason);
    decision begin_release(std::string_view reason);
    decision end_release();
    decision read_release_first() const;

    // outlook.cpp
    void foresee_entry(outlook& out);
    void foresee_hold(outlook& out);
    void foresee_starts(outlook& out);

    // Shared.
    const model::assignment* assignment_of(const model::object_key& job) const;
    const std::string* refusal_of(const model::object_key& job) const;
    std::optional<model::timestamp> first_start() const;
    bool is_suspended() const { return self_.spec.suspend.value_or(false); }
    plan_places places() const;
    decision release_of(const model::batchjob& job) const;
    static acquire_job acquire_of(const model::batchjob& job);
    job_note note_of(const model::assignment& a, std::string text, bool bad) const;
    /// The condition Acquired, and the Schedulings that have to let go or to start first.
    void set_acquired(bool holds, std::string_view reason, std::string_view message,
                      std::vector<model::object_key> others = {});
    void set(std::string_view type, bool holds, std::string_view reason, std::string_view message);

    const view& v_;
    const model::scheduling& self_;
    plan plan_;
    const wall_time now_;
    std::shared_ptr<const model::testbed> testbed_;
    std::map<model::object_key, const model::assignment*> assigned_;

    /// The status that is wanted.
    model::scheduling_status status_;
    /// Until the first of the times on which the decision depends.
    std::optional<steady_time::duration> again_in_;
};

}  // namespace esi::scheduling
