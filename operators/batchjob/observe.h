// The input of a BatchJob's state machine: one consistent view out of the caches and the hints,
// plus live reads that a decision needed. Values and shared, read-only records; made for one
// reconcile and thrown away after it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batchjob/backends/backend.h"
#include "batchjob/deaths.h"
#include "batchjob/hints.h"
#include "batchjob/neighbours.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::batchjob {

class application_kind;
class application_source;
class caches;

/// The API server's own answers in this reconcile; empty until a decision asks for one.
struct live_facts {
    /// The application was read: `application` is the result, null if it does not exist.
    bool application_read = false;
    std::shared_ptr<const batchjob::application> application;
    /// The Scheduling that the order names was read; `assigned`: its status has the assignment.
    bool assignment_read = false;
    bool assigned = false;
    /// The API server refused the create.
    std::optional<error> create_error;
    /// Pods by uid. Gone: 404, another uid under the name, Succeeded or Failed.
    std::set<std::string, std::less<>> gone_pods;
    std::set<std::string, std::less<>> living_pods;
};

struct view {
    std::shared_ptr<const model::batchjob> job;
    /// The kind of application that the job's spec describes; null if this operator does not know
    /// the spec. Outlives the view.
    const application_kind* spec_kind = nullptr;
    /// The backend of the application that exists or is to be created: that of `spec_kind`, unless
    /// a run began as another kind before the spec was edited. Null if there is none. Outlives the
    /// view.
    const backend* kind = nullptr;
    /// The CustomResourceDefinition of `kind` is established.
    bool served = false;
    /// The Testbed that creationRequest names; null if it is not (yet) in the cache.
    std::shared_ptr<const model::testbed> testbed;
    /// The Scheduling that activeScheduling names, as the cache has it (caches::find_scheduling);
    /// null if it is not (yet) there.
    std::shared_ptr<const model::scheduling> scheduling;
    /// The application of the job's name as the cache has it, whichever object owns it.
    std::shared_ptr<const batchjob::application> application;
    /// The last final state that the watch has shown of the job's application, which may have been
    /// deleted since.
    std::shared_ptr<const batchjob::application> last_final;
    /// Pods made for this job (label job, and of the application's name), of any run.
    std::vector<pod_pointer> pods;
    /// Uids of the pods in status.placements in which a container may run, whatever their present
    /// labels, annotations and finalizers are.
    std::set<std::string, std::less<>> placed_alive;
    /// Pods in status.placements that have died, as far as this process has seen it.
    std::vector<death> deaths;
    /// Testbeds that Schedulings of the job's namespace may use, by key.
    std::vector<std::shared_ptr<const model::testbed>> usable;
    /// Other jobs that have a pod on record on the nodes on which this job's pods run.
    jobs_by_node neighbours;
    /// --cross-namespace-jobs: the status may name jobs of other namespaces.
    bool names_all_jobs = false;
    /// When this process first saw a pod without its gate, by uid; the API has no such time.
    std::map<std::string, wall_time, std::less<>> ungated_since;
    /// Uids of the job's objects whose deletion the API server has accepted: it is not asked for
    /// again.
    std::set<std::string, std::less<>> deletion_answered;
    /// Pods that could not be marked a moment ago, by uid, and why; empty text: tried again soon.
    std::map<std::string, std::string, std::less<>> unmarked;
    /// The job was acquired a moment ago: the order to start usually follows at once.
    bool just_acquired = false;
    /// A pod without a slot was first seen a moment ago: others of its run usually follow at once.
    bool pods_coming = false;
    /// The dry run's answer for the present spec.
    std::optional<check_answer> check;
    /// A dry run that failed for now may be tried again.
    bool check_due = true;
    live_facts live;
};

/// The view of one job out of the caches; `live` is empty.
view observe(std::shared_ptr<const model::batchjob> job, const caches& from, const hints& known,
             steady_time now);

/// Replaces the application, the pods and their neighbours in the view by those of the kind of
/// `source`.
void observe_as(view& seen, const application_source& source, const caches& from,
                const hints& known);

}  // namespace esi::batchjob
