// The input of one decision: the caches of the process, and beyond them the live facts of this
// reconcile. Read-only; lives for one decision and owns nothing of the caches.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "grid/rights.h"
#include "grid/slot_table.h"
#include "scheduling/live_facts.h"
#include "scheduling/policies.h"

namespace esi::scheduling {

struct view {
    std::shared_ptr<const model::scheduling> self;
    const objects<model::scheduling>* schedulings = nullptr;
    const objects<model::testbed>* testbeds = nullptr;
    const objects<model::batchjob>* jobs = nullptr;
    /// Keys of the jobs whose activeScheduling has the name of `self`, as the cache files them.
    std::vector<model::object_key> named;
    /// The contents of the slots of the Testbed of `self`, by the caches. Never null once `self` is
    /// set.
    std::shared_ptr<const grid::slot_table> slots;
    /// Waiting Schedulings that may want something that a plan wants; null: all are asked.
    std::function<std::vector<std::shared_ptr<const model::scheduling>>(const plan&)> rivals_of;
    /// Null: nothing is known beyond the caches.
    const live_facts* live = nullptr;
    /// The watched namespaces; none: all.
    std::vector<std::string> namespaces;
    /// --cross-namespace-jobs
    bool cross_namespace_jobs = false;
    /// How plans may be written and started.
    policy_table policies = known_policies();

    const proofs& proven() const;
    const refusals& refused() const;

    bool watches(const std::string& ns) const;
    /// Whether Schedulings of that namespace may start the BatchJob: it is of their own, or the
    /// flag allows it.
    bool may_start(std::string_view scheduling_ns, const model::object_key& job) const;
    /// Why an object that is not found there may be missing, for people: "does not exist".
    std::string absence(const model::object_key& key) const;
    /// Null where there is none.
    std::shared_ptr<const model::testbed> find_testbed(const model::object_key& key) const;
    std::shared_ptr<const model::batchjob> find_job(const model::object_key& key) const;
    std::shared_ptr<const model::scheduling> find_scheduling(const model::object_key& key) const;
    /// Jobs that name `self` now, in key order.
    std::vector<std::shared_ptr<const model::batchjob>> jobs_of_self() const;
    /// Job pods on record that carry a run of `self` and may run (model::pod::may_run), from live
    /// reads if there are any.
    std::vector<grid::pod_pointer> pods_of_self() const;
    /// A job pod on record carries this run and may run, by the caches or by a live read.
    bool has_pods(std::string_view run) const;
    /// The pods among these that ESI has on record for a slot of the Testbed of `self`. A pod's
    /// label job says in which BatchJob the record is to be found, and nothing more.
    std::vector<grid::pod_pointer> on_record(const std::vector<grid::pod_pointer>& of) const;
    /// Positions in error, by the newest version of the Testbed of `self`.
    std::set<int> in_error() const;
    /// Slots that are free by the caches, and that nothing newer takes: neither an assignment of
    /// `self` nor a newer version of the Testbed or of a job. Refers to `slots`.
    scheduling::free_slots free_slots() const;
};

/// True where the job's activeScheduling is this very Scheduling (a reference without uid is judged
/// by the name, as the original wrote it).
bool acquired_by(const model::batchjob& job, const model::scheduling& whom);
/// True where the job's creationRequest carries a run of this very Scheduling.
bool requested_by(const model::batchjob& job, std::string_view scheduling_uid);
/// True where the Testbed shows a hold of this very Scheduling.
bool held_by(const model::testbed& testbed, std::string_view scheduling_uid);
using grid::owner_of_run;
/// The Scheduling that holds the Testbed, for people.
std::string holder_text(const model::testbed& testbed);

}  // namespace esi::scheduling
