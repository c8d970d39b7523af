#include "batchjob/options.h"

#include <CLI/CLI.hpp>

#include "controller/duration_flag.h"

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
    controller::add_duration(
        app, "--max-termination-grace", pods.max_termination_grace,
        "How long a pod of a job may take to end, whatever its template says: so long can it keep "
        "its slot after the release",
        seconds(1));
    app.add_flag("--cross-namespace-jobs", cross_namespace_jobs,
                 "As of esi-scheduling; here it lets the status of a BatchJob name jobs of other "
                 "namespaces that had pods on the same nodes")
        ->envname("ESI_CROSS_NAMESPACE_JOBS");
    for (const auto& kind : kinds) kind->add_flags(app);
}

placement_options options::placement_of_pods() const {
    auto out = pods;
    out.extender = placement == "extender";
    return out;
}

}  // namespace esi::batchjob
