// The plan of a Scheduling, read from its spec and from what has been committed already. Pure; made
// for every decision, owned by the caller.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grid/rights.h"
#include "model/scheduling.h"
#include "scheduling/policies.h"

namespace esi::scheduling {

/// One BatchJob of the plan. Queue: as many slots as it has entries; otherwise exactly `slot_ids`.
/// All of them are places of workers.
struct planned_job {
    model::object_key name;
    int slots_wanted = 0;
    std::vector<int> slot_ids;
    bool operator==(const planned_job&) const = default;
};

struct plan {
    /// The policy by which its jobs take slots.
    const policy* chosen = &queue_policy();
    /// Different jobs, in the order of their first appearance.
    std::vector<planned_job> jobs;
    /// Queue only: every entry, in order.
    std::vector<model::object_key> entries;
    /// Jobs that are not wanted any more (spec.cancelledJobs); they stay in `jobs`.
    std::set<model::object_key> cancelled;
    /// Policies of jobs that are started again when their run fails.
    std::map<model::object_key, model::job_policy> policies;
    /// Jobs whose BatchJob was deleted after its run had failed; one of the same name that was
    /// created since is another job. Not in the spec: the decider adds the results of live reads.
    std::set<model::object_key> given_up;
    bool release_on_completion = false;
    int submit_timeout_seconds = grid::default_submit_timeout_seconds;
    int schedule_timeout_seconds = grid::default_schedule_timeout_seconds;
    /// Changes of the spec that have no effect, one sentence each.
    std::vector<std::string> ignored;
    /// Set when the spec is wrong whatever the layout of the Testbed is.
    std::optional<problem> wrong;

    /// By name, the place in `jobs`.
    std::map<model::object_key, std::size_t> numbers;

    const planned_job* find(const model::object_key& name) const;
    void add(planned_job job);
    /// The same for a job of `field`, which may name it once; `wrong` if it is there. `all_in_one`:
    /// what the one entry has to say.
    void add_once(planned_job job, std::string_view field, std::string_view all_in_one);
    /// There is no job to start, and was none: the queue is empty, or all its jobs are cancelled.
    bool empty() const;
    /// The run has failed, and the job has retries left.
    bool retries(const model::assignment& a) const;
    /// Counted from the end of a failed run.
    seconds retry_delay(const model::assignment& a) const;
};

/// More different jobs than this do not fit into one status (etcd's limit of an object).
inline constexpr std::size_t most_jobs = 1024;

/// Namespaces default to the Scheduling's own. With a claim everything is released on completion,
/// as no job could take its places any more. After the first assignment everything but the jobs and
/// the fields that may always change (cancelled jobs, job policies) is taken from status.plan, and
/// differences from it are listed in `ignored`. `layout`: layout of its Testbed, which tells
/// the slots of assignments that are not workers'; null: all are.
plan plan_of(const model::scheduling& of, policy_table policies = known_policies(),
             const model::testbed_layout* layout = nullptr);

using grid::testbed_of;

/// Why `job` can never start in a layout with these places: TooManySlots, SlotOutsideLayout or
/// SlotOfCoordinator.
std::optional<problem> problem_of(const planned_job& job, const plan_places& places);
/// The problem of a job that is in spec.cancelledJobs and has not started.
problem cancelled_before_start(const model::object_key& job);
/// All jobs that can never start: for that reason, because they come after the 1,024th, or by the
/// plan's policy, such as an entry of a queue that could never reach a slot. Those jobs and the
/// jobs of `gone` (started or cancelled) take no place in the order.
std::map<model::object_key, problem> problems_by_job(const plan& of, const plan_places& places,
                                                     const std::set<model::object_key>& gone = {});
/// The first of these that is not cancelled, in the order of the plan.
std::optional<problem> problem_of(const plan& of, const plan_places& places);

/// Why the claim of a Scheduling can never be formed: it has too many places.
std::optional<problem> problem_of(const model::scheduling_claim& claim);

/// The spec without the fields that may change after the first assignment, defaults filled in: the
/// content of status.plan.
model::scheduling_spec frozen_spec(const model::scheduling& of,
                                   policy_table policies = known_policies());

}  // namespace esi::scheduling
