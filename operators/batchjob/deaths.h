// How the pods of runs under way have died, kept beyond their deletion: Spark, for one, deletes an
// executor as soon as it has failed. Filled from the cache of pods, also in a process that does not
// lead; a death that a restarted process has not seen is not reported. Bounded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/batchjob.h"
#include "model/cluster.h"

namespace esi::batchjob {

/// A pod of a run that ended badly while the run went on; its object may have been deleted since.
struct death {
    std::string run;
    std::optional<model::timestamp> made;  ///< when the pod was created
    std::string died_of;                   ///< see model::pod
    int slot = -1;                         ///< position of its slot
};

class death_register {
public:
    /// Notes the death of `pod`, as it is now; `job` is the one that its label names. Ignores a pod
    /// that is not in the job's placements (it is not of the run), and one that is being deleted
    /// (it ends badly because it was told to end).
    void note(const model::batchjob& job, const model::pod& pod);
    /// The job has changed: forgets its deaths unless a run is under way.
    void job_changed(const model::batchjob& job);
    void forget(const model::object_key& job) { by_job_.erase(job); }
    std::vector<death> of(const model::object_key& job) const;

private:
    /// By uid of the pod.
    std::map<model::object_key, std::map<std::string, death>> by_job_;
};

}  // namespace esi::batchjob
