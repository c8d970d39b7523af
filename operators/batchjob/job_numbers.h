// The metrics of the batchjob operator (docs/operations.md): how many jobs are in which state, how
// long runs wait and last, what was created and deleted. Owned by the operator.
#pragma once

#include <string>
#include <string_view>

#include "controller/metrics.h"
#include "kube/watch/store.h"
#include "model/batchjob.h"

namespace esi::batchjob {

class job_numbers {
public:
    /// `numbers` must outlive this.
    explicit job_numbers(controller::metrics& numbers);

    /// This process leads from now on: only the leader counts the jobs. Call it once, before `add`
    /// with each job that the cache has by then.
    void lead() { leads_ = true; }
    void add(const model::batchjob& job) { count_state(job, 1); }
    void job_changed(const kube::change<model::batchjob>& what);
    /// A status was written: counts what ended, began or was placed by it.
    void status_written(const model::batchjob_status& before, const model::batchjob_status& after);
    void application_created(std::string_view type);
    void leftover_pod_deleted();
    void unknown_state_seen();

private:
    void count_state(const model::batchjob& job, double by);
    void measure_runs(const model::batchjob_status& before, const model::batchjob_status& after);

    controller::metrics& numbers_;
    bool leads_ = false;
};

}  // namespace esi::batchjob
