// What the state machine of a BatchJob looks at: one consistent view out of the caches, plus what
// was read live because a decision needed it. Values and shared, read-only records; made anew for
// each pass and thrown away after it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batchjob/backends/backend.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/testbed.h"

namespace esi::batchjob {

/// What the API server itself has answered in this pass; empty until a decision asks for it.
struct live_facts {
    /// The application was read: `application` is what is there, null for nothing.
    bool application_read = false;
    std::shared_ptr<const batchjob::application> application;
    /// The Scheduling that the order names was read, and whether it has given this order.
    bool assignment_read = false;
    bool assigned = false;
    /// The create was refused.
    std::optional<error> create_error;
    /// Pods by uid. Gone: 404, another uid under the name, Succeeded or Failed.
    std::set<std::string, std::less<>> gone_pods;
    std::set<std::string, std::less<>> living_pods;
};

/// Answer of the dry run for the present spec.
struct check_answer {
    bool accepted = false;
    /// Where not accepted: whether the same may be accepted later (5xx, 429, a silent webhook).
    bool transient = false;
    std::string text;
};

/// A pod of a run that ended badly while the run went on; its object may have gone since.
struct death {
    std::string run;
    std::optional<model::timestamp> made;  ///< when the pod was created
    std::string died_of;                   ///< see model::pod
};

struct view {
    std::shared_ptr<const model::batchjob> job;
    /// Null where this operator has no backend for the job's kind of spec.
    const backend* kind = nullptr;
    /// The backend's CustomResourceDefinition is established.
    bool served = false;
    /// The one named by creationRequest; null when it is not (yet) in the cache.
    std::shared_ptr<const model::testbed> testbed;
    /// The application of the job's name as the cache has it, whoever owns it.
    std::shared_ptr<const batchjob::application> application;
    /// The job's that ended last, as it was shown last; it may have gone since.
    std::shared_ptr<const batchjob::application> told;
    /// Pods made for this job (label job, and of the application's name), of whatever run.
    std::vector<pod_pointer> pods;
    /// Pods on record in the job's placements that live, by uid, whatever they say of themselves.
    std::set<std::string, std::less<>> standing;
    /// Pods on record that have died, as far as this process has seen it.
    std::vector<death> deaths;
    /// Testbeds that Schedulings of the job's namespace may use, by key.
    std::vector<std::shared_ptr<const model::testbed>> usable;
    /// Bound job pods of other jobs.
    std::vector<pod_pointer> neighbours;
    /// When this process first saw a pod without its gate, by uid; the API has no such time.
    std::map<std::string, wall_time, std::less<>> ungated_since;
    /// Objects whose deletion was answered already, by uid: not asked for twice.
    std::set<std::string, std::less<>> asked_to_go;
    /// Acquired a moment ago: the order to start usually follows at once.
    bool just_acquired = false;
    /// A pod without a slot was first seen a moment ago: others of its run usually follow at once.
    bool pods_coming = false;
    /// The dry run's answer for the present spec.
    std::optional<check_answer> check;
    /// A dry run that failed for now may be tried again.
    bool check_due = true;
    live_facts live;
};

}  // namespace esi::batchjob
