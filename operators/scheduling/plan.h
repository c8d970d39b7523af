// What a Scheduling wants, read from its spec and from what has been committed already. Pure; made
// anew for every look, owned by the caller.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grid/rights.h"
#include "model/scheduling.h"

namespace esi::scheduling {

enum class plan_mode { queue, strict, relaxed };

std::string_view to_string(plan_mode mode);

/// One BatchJob of the plan. Queue: as many slots as it has entries; else exactly `slot_ids`.
struct planned_job {
    model::object_key name;
    int slots_wanted = 0;
    std::vector<int> slot_ids;
    bool operator==(const planned_job&) const = default;
};

/// Why a plan cannot be started: a CamelCase reason for programs, a sentence for people.
struct fault {
    std::string_view reason;
    std::string text;
    bool operator==(const fault&) const = default;
};

struct plan {
    plan_mode mode = plan_mode::queue;
    /// Different jobs, in the order of their first appearance.
    std::vector<planned_job> jobs;
    /// Queue only: every entry, in order.
    std::vector<model::object_key> entries;
    /// Jobs that are not wanted any more (spec.cancelledJobs); they stay in `jobs`.
    std::set<model::object_key> cancelled;
    /// Of jobs that are started again when their run fails.
    std::map<model::object_key, model::job_policy> policies;
    /// Whose BatchJob has gone since it failed; one made anew under its name is another job. Set by
    /// who has looked.
    std::set<model::object_key> given_up;
    bool release_on_completion = false;
    int submit_timeout_seconds = grid::default_submit_timeout_seconds;
    int schedule_timeout_seconds = grid::default_schedule_timeout_seconds;
    /// Changes of the spec that are not acted on, one sentence each.
    std::vector<std::string> ignored;
    /// Set when the spec is wrong whatever the Testbed looks like.
    std::optional<fault> wrong;

    /// By name, the place in `jobs`.
    std::map<model::object_key, std::size_t> numbers;

    const planned_job* find(const model::object_key& name) const;
    void add(planned_job job);
    /// There is no job to start, and was none: the queue is empty, or all its jobs are cancelled.
    bool empty() const;
    /// The run has failed, and the job has retries left.
    bool retries(const model::assignment& a) const;
    /// From the end of a failed run on.
    seconds retry_delay(const model::assignment& a) const;
};

/// More different jobs than this do not fit into one status (etcd's limit of an object).
inline constexpr std::size_t most_jobs = 1024;

/// Namespaces default to the Scheduling's own. After the first assignment everything but the queue
/// and what may always change (cancelled jobs, policies) is taken from status.plan, and what
/// differs from it is listed in `ignored`.
plan plan_of(const model::scheduling& of);

using grid::testbed_of;

/// Why `job` can never start in a layout of `slots` positions: TooManySlots or SlotOutsideLayout.
std::optional<fault> misfit(const planned_job& job, int slots);
/// All jobs of which this is so; in a queue also those beyond the 1,024th, and those whose entries
/// stand so far apart that the places between them are more than the Testbed has. A misfit stands
/// in nobody's way, nor do those that have `gone` out of the queue, as they were started.
std::map<model::object_key, fault> misfits(const plan& of, int slots,
                                           const std::set<model::object_key>& gone = {});
/// The first of these that is not cancelled, in the order of the plan.
std::optional<fault> misfit(const plan& of, int slots);

/// The spec without its queue and without what may always change, defaults filled in: what
/// status.plan keeps.
model::scheduling_spec frozen_spec(const model::scheduling& of);

}  // namespace esi::scheduling
