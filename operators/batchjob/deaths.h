// How the pods of runs under way have died, remembered beyond their deletion: Spark deletes an
// executor that has failed at once. Fed from the cache of pods, also in a process that does not
// lead; what a restarted process has not seen is not told. Bounded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "batchjob/view.h"

namespace esi::batchjob {

class death_register {
public:
    /// A pod as it is now, and the job that it names. Nothing is noted of a pod that is not on
    /// record in the job's placements, or that is being deleted: it ends badly because it was told
    /// to.
    void note(const model::batchjob& job, const model::pod& pod);
    /// The job has changed: without a run under way there is nothing to remember.
    void job_changed(const model::batchjob& job);
    void forget(const model::object_key& job) { by_job_.erase(job); }
    std::vector<death> of(const model::object_key& job) const;

private:
    /// By uid.
    std::map<model::object_key, std::map<std::string, death>> by_job_;
};

}  // namespace esi::batchjob
