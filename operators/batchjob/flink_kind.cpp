#include "batchjob/flink_kind.h"

#include <CLI/CLI.hpp>

#include "batchjob/backends/flink/backend.h"
#include "batchjob/backends/flink/phase.h"
#include "batchjob/backends/flink/spec.h"
#include "batchjob/backends/flink_cluster/backend.h"
#include "batchjob/backends/flink_cluster/phase.h"

namespace esi::batchjob {

namespace {

// A check for CLI11: empty if the flag's text is good.

std::string quantity_problem(const std::string& text) {
    const auto parsed = model::quantity::parse(text);
    return parsed && parsed->milli > 0 ? std::string() : "must be a quantity above 0: " + text;
}

std::string version_problem(const std::string& text) {
    return flink::version_number(text) ? std::string() : "must be of the form v1_20: " + text;
}

}  // namespace

void flink_kind::add_flags(CLI::App& app) {
    app.add_option("--flink-backend", backend_,
                   "What a flinkSpec becomes: a FlinkDeployment of Apache's operator, or a "
                   "FlinkCluster of spotify's, which needs helm/manifests/flinkcluster")
        ->check(CLI::IsMember({"FlinkDeployment", "FlinkCluster"}))
        ->envname("ESI_FLINK_BACKEND")
        ->capture_default_str();
    app.add_option("--flink-image", otherwise_.image,
                   "Image of Flink jobs whose flinkSpec names none; of the version of "
                   "--flink-version")
        ->envname("ESI_FLINK_IMAGE")
        ->capture_default_str();
    app.add_option(
           "--flink-version", otherwise_.version,
           "Version of Flink jobs whose flinkSpec names none, as Flink's operator writes it")
        ->check(version_problem)
        ->envname("ESI_FLINK_VERSION")
        ->capture_default_str();
    app.add_option("--flink-job-manager-cpu", otherwise_.job_manager_cpu,
                   "CPU of JobManagers whose flinkSpec says nothing of resources")
        ->check(quantity_problem)
        ->envname("ESI_FLINK_JOB_MANAGER_CPU")
        ->capture_default_str();
    app.add_option("--flink-job-manager-memory", otherwise_.job_manager_memory,
                   "Memory of JobManagers whose flinkSpec says nothing of resources")
        ->check(quantity_problem)
        ->envname("ESI_FLINK_JOB_MANAGER_MEMORY")
        ->capture_default_str();
}

std::unique_ptr<backend> flink_kind::make_backend(const placement_options& placement) const {
    if (makes_clusters()) {
        return std::make_unique<flink_cluster::flink_cluster_backend>(placement, otherwise_);
    }
    return std::make_unique<flink::flink_backend>(placement, otherwise_);
}

std::unique_ptr<application_source> flink_kind::make_source(std::unique_ptr<backend> of,
                                                            source_context with) const {
    if (makes_clusters()) {
        return std::make_unique<typed_source<model::flink_cluster>>(
            std::move(of), flink_cluster::facts_of, std::move(with));
    }
    return std::make_unique<typed_source<model::flink_deployment>>(std::move(of), flink::facts_of,
                                                                   std::move(with));
}

}  // namespace esi::batchjob
