// What one decision looks at: the caches of the process, and on top of them what is newer than they
// are (answers to own writes, live reads). Read-only; lives for one look and owns nothing of the
// caches.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "grid/grid.h"
#include "grid/rights.h"
#include "model/batchjob.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::scheduling {

template <class T>
using objects = std::map<model::object_key, std::shared_ptr<const T>>;

/// After as many refusals in one reconcile the API server is asked for no further job.
inline constexpr std::size_t most_refused = 10;

/// Newer than the caches, gathered within one reconcile and dropped with it. A null pointer means
/// that the object is known to be gone.
struct newer {
    std::shared_ptr<const model::scheduling> self;
    objects<model::testbed> testbeds;
    objects<model::batchjob> jobs;
    /// Jobs that the API server refuses to have changed, each with the kind of the refusal: the
    /// others are gone on with.
    std::map<model::object_key, std::string> refused;
    /// Job pods of the Testbed, read live; ghosts left out.
    std::optional<std::vector<grid::pod_pointer>> job_pods;
    /// The API server refuses to have the Scheduling deleted at its time.
    bool deletion_refused = false;

    // Live reads since the last write: what is in this view of these objects was on the server
    // after everything that was decided before.
    bool testbed_read = false;
    std::set<model::object_key> jobs_read;
    /// The pods in slots of the Testbed.
    std::optional<std::vector<grid::pod_pointer>> pods_read;
    /// All jobs of the release and all job pods of the Testbed were read live.
    bool release_read = false;
    void forget_release() {
        release_read = false;
        job_pods.reset();
    }
};

struct view {
    std::shared_ptr<const model::scheduling> self;
    const objects<model::scheduling>* schedulings = nullptr;
    const objects<model::testbed>* testbeds = nullptr;
    const objects<model::batchjob>* jobs = nullptr;
    /// Keys of the jobs whose activeScheduling has the name of `self`, as the cache files them.
    std::vector<model::object_key> named;
    /// Every pod with the labels of the Testbed of `self`: ghosts and job pods.
    std::vector<grid::pod_pointer> pods;
    const newer* fresh = nullptr;
    /// The only ones that are watched; none: all are.
    std::vector<std::string> namespaces;
    /// --cross-namespace-jobs
    bool cross_namespace_jobs = false;

    bool watches(const std::string& ns) const;
    /// Schedulings of that namespace may start the BatchJob: it is of their own, or the flag lets
    /// them.
    bool may_start(std::string_view scheduling_ns, const model::object_key& job) const;
    /// Why an object that is not found there may be missing, for people: "does not exist".
    std::string absence(const model::object_key& key) const;
    /// Null where there is none.
    std::shared_ptr<const model::testbed> find_testbed(const model::object_key& key) const;
    std::shared_ptr<const model::batchjob> find_job(const model::object_key& key) const;
    std::shared_ptr<const model::scheduling> find_scheduling(const model::object_key& key) const;
    /// Jobs that name `self` now, in key order.
    std::vector<std::shared_ptr<const model::batchjob>> jobs_of_self() const;
    /// Job pods that ESI has on record, the live ones where they were read.
    std::vector<grid::pod_pointer> job_pods() const;
    /// Of these pods those that ESI has on record for a slot of the Testbed of `self`. Labels tell
    /// in which job to look, and no more.
    std::vector<grid::pod_pointer> on_record(const std::vector<grid::pod_pointer>& of) const;
    /// What stands in the slots of the Testbed of `self`: its own ghosts, and job pods on record.
    std::vector<grid::pod_pointer> members() const;

private:
    grid::records records_of(const std::vector<grid::pod_pointer>& of) const;
};

/// True where the job's activeScheduling is this very Scheduling (a reference without uid is judged
/// by the name, as the original wrote it).
bool names(const model::batchjob& job, const model::scheduling& whom);
/// True where the job's creationRequest carries a run of this very Scheduling.
bool requested_by(const model::batchjob& job, std::string_view scheduling_uid);
/// True where the Testbed shows a hold of this very Scheduling.
bool held_by(const model::testbed& testbed, std::string_view scheduling_uid);
using grid::owner_of_run;
/// Positions that the Testbed shows as ERROR. It may be behind, so it only takes slots away: free
/// is what the pods show as free and this does not name. The ghosts of a node that is cordoned, not
/// ready or going stand all the same: of a Testbed so large that its status lists no slots, those
/// of nodesOutOfUse are meant. Where an older testbed operator does not tell them either, each node
/// with a problem is left alone.
std::set<int> slots_in_error(const model::testbed& testbed);
/// Who holds the Testbed, for people.
std::string holder_text(const model::testbed& testbed);

}  // namespace esi::scheduling
