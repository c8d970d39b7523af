#include <CLI/CLI.hpp>

#include "batchjob/operator.h"

namespace esi::batchjob {

void options::add_to(CLI::App& app) {
    app.add_option("--placement", placement,
                   "How job pods get to their slots: by a scheduling gate and the cluster's own "
                   "scheduler, or by a second kube-scheduler with ESI's extender")
        ->check(CLI::IsMember({"gate", "extender"}))
        ->envname("ESI_PLACEMENT")
        ->capture_default_str();
    app.add_option("--job-scheduler-name", pods.job_scheduler_name,
                   "Scheduler of job pods on the gate path; must be the one of ordinary pods")
        ->envname("ESI_JOB_SCHEDULER_NAME")
        ->capture_default_str();
    app.add_option("--job-priority-class", pods.job_priority_class,
                   "Priority class of job pods on the gate path; must never preempt")
        ->envname("ESI_JOB_PRIORITY_CLASS")
        ->capture_default_str();
    app.add_option("--extender-scheduler-name", pods.extender_scheduler_name,
                   "Scheduler of job pods on the extender path")
        ->envname("ESI_EXTENDER_SCHEDULER_NAME")
        ->capture_default_str();
    app.add_option("--extender-priority-class", pods.extender_priority_class,
                   "Priority class of job pods on the extender path; may preempt")
        ->envname("ESI_EXTENDER_PRIORITY_CLASS")
        ->capture_default_str();
}

}  // namespace esi::batchjob
