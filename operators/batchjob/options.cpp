#include <CLI/CLI.hpp>

#include "batchjob/backends/flink/spec.h"
#include "batchjob/operator.h"
#include "controller/duration_flag.h"

namespace esi::batchjob {

namespace {

/// Empty where the flag's text is good, as CLI11 has it.
std::string quantity_fault(const std::string& text) {
    const auto parsed = model::quantity::parse(text);
    return parsed && parsed->milli > 0 ? std::string() : "is no quantity above 0: " + text;
}

std::string version_fault(const std::string& text) {
    return flink::version_number(text) ? std::string() : "is not of the form v1_20: " + text;
}

}  // namespace

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
    app.add_option("--flink-backend", flink.backend,
                   "What a flinkSpec becomes: a FlinkDeployment of Apache's operator, or a "
                   "FlinkCluster of spotify's, which needs helm/manifests/flinkcluster")
        ->check(CLI::IsMember({"FlinkDeployment", "FlinkCluster"}))
        ->envname("ESI_FLINK_BACKEND")
        ->capture_default_str();
    app.add_option("--flink-image", flink.image,
                   "Image of Flink jobs whose flinkSpec names none; of the version of "
                   "--flink-version")
        ->envname("ESI_FLINK_IMAGE")
        ->capture_default_str();
    app.add_option(
           "--flink-version", flink.version,
           "Version of Flink jobs whose flinkSpec names none, as Flink's operator writes it")
        ->check(version_fault)
        ->envname("ESI_FLINK_VERSION")
        ->capture_default_str();
    app.add_option("--flink-job-manager-cpu", flink.job_manager_cpu,
                   "CPU of JobManagers whose flinkSpec says nothing of resources")
        ->check(quantity_fault)
        ->envname("ESI_FLINK_JOB_MANAGER_CPU")
        ->capture_default_str();
    app.add_option("--flink-job-manager-memory", flink.job_manager_memory,
                   "Memory of JobManagers whose flinkSpec says nothing of resources")
        ->check(quantity_fault)
        ->envname("ESI_FLINK_JOB_MANAGER_MEMORY")
        ->capture_default_str();
}

}  // namespace esi::batchjob
