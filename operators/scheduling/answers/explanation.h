// Why a Scheduling, or a job of it, does not start: every blocker, since when it is there, what
// would free it, and when that is likely. Pure.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduling/answers/blocking.h"
#include "scheduling/answers/waiting_pod.h"

namespace esi::scheduling::answers {

/// A job of the plan, or one that was started and is no longer in the plan.
struct explained_job {
    std::string namespace_;
    std::string name;
    int place = 0;          ///< in the order of the plan, from 1; 0: it is not in the plan
    int jobs_before = 0;    ///< of those before it in the plan, how many have not started
    int slots_wanted = 0;   ///< 0: it is not in the plan
    std::string state;      ///< of model::job_progress_state
    std::string job_state;  ///< the BatchJob's own; empty where there is none
    /// It gets slots in the next assignment.
    bool starts_now = false;
    /// Assigned, or where `starts_now` those that it gets.
    std::vector<int> slots;
    std::int64_t slots_left_out = 0;
    std::string run;                        ///< token of its run, the last one where it has ended
    std::optional<model::timestamp> since;  ///< of its assignment
    std::optional<model::timestamp> ended;
    std::string ending;   ///< why its run is being ended; empty while it may go on
    std::string outcome;  ///< of model::assignment_outcome; empty before its end
    int attempt = 0;      ///< retries before this run
    /// Why it is never started in this plan; the text of previewed_refusal.
    std::string refused;
    std::string last_error;
    std::vector<blocking> blockers;
    std::int64_t blockers_left_out = 0;
    std::optional<estimated_time> start;  ///< of a job that waits for slots
    std::optional<estimated_time> end;    ///< of its run
};
BOOST_DESCRIBE_STRUCT(explained_job, (),
                      (namespace_, name, place, jobs_before, slots_wanted, state, job_state,
                       starts_now, slots, slots_left_out, run, since, ended, ending, outcome,
                       attempt, refused, last_error, blockers, blockers_left_out, start, end))

struct explanation {
    std::string namespace_;
    std::string name;
    model::object_key testbed;
    std::string mode;    ///< queue, strict, relaxed
    std::string state;   ///< status.state
    std::string reason;  ///< status.reason
    /// Since when the condition Acquired is False: something blocks it since then.
    std::optional<model::timestamp> waits_since;
    /// Why nothing of the plan can be started, or what is wrong with the Scheduling; otherwise
    /// empty.
    std::string problem;
    /// Blockers of the whole plan, of its release, or of jobs of it that wait for each other's
    /// Schedulings. Blockers of one job are with that job.
    std::vector<blocking> blockers;
    std::int64_t blockers_left_out = 0;
    /// Schedulings that wait for each other, from the smallest on, if this is one of them.
    std::vector<model::object_key> cycle;
    std::int64_t cycle_left_out = 0;
    std::vector<explained_job> jobs;  ///< in the order of the plan
    std::int64_t jobs_left_out = 0;
    std::vector<waiting_pod> pods;  ///< of its jobs, those that wait
    std::int64_t pods_left_out = 0;
    /// When all jobs are likely to have ended.
    std::optional<estimated_time> end;
};
BOOST_DESCRIBE_STRUCT(explanation, (),
                      (namespace_, name, testbed, mode, state, reason, waits_since, problem,
                       blockers, blockers_left_out, cycle, cycle_left_out, jobs, jobs_left_out,
                       pods, pods_left_out, end))

/// Explains `v.self`. `pods`: the pods of its jobs as far as the caller knows them; others are
/// ignored. `only`: returns this job and its pods alone, so that one of more than 1,000 can be
/// requested.
explanation explain(const view& v, wall_time now, std::span<const grid::pod_pointer> pods = {},
                    const std::optional<model::object_key>& only = {});

}  // namespace esi::scheduling::answers
