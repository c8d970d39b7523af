// The batchjob operator: observes, decides and acts for one job at a time, until nothing is left to
// do. All rules are in decide.h. Owned by the process.
#pragma once

#include <vector>

#include "batchjob/act.h"
#include "batchjob/caches.h"
#include "batchjob/driver_jobs.h"
#include "batchjob/hints.h"
#include "batchjob/job_numbers.h"
#include "batchjob/options.h"
#include "controller/controller.h"
#include "controller/process.h"
#include "controller/write_gate.h"

namespace esi::batchjob {

class batchjob_operator final : public controller::operator_part {
public:
    /// `env` must outlive the operator. `flags` has its final values.
    batchjob_operator(controller::environment& env, options flags);

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    void listen();
    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
    controller::outcome next_reconcile(const view& seen, const decision& last) const;

    controller::environment& env_;
    const options options_;
    batchjob::caches caches_;
    hints hints_;
    controller::write_gate gate_;
    job_numbers numbers_;
    actor actor_;
    controller::controller loop_;
    /// Null if --spark-drivers is not given.
    std::unique_ptr<drivers::driver_jobs> drivers_;
};

}  // namespace esi::batchjob
