#include "batchjob/backends/all.h"

#include "batchjob/backends/flink/backend.h"
#include "batchjob/backends/flink/phase.h"
#include "batchjob/backends/flink_cluster/backend.h"
#include "batchjob/backends/flink_cluster/phase.h"
#include "batchjob/backends/spark/backend.h"
#include "batchjob/backends/spark/phase.h"

namespace esi::batchjob {

std::vector<std::unique_ptr<application_source>> make_sources(const placement_options& options,
                                                              const flink::defaults& flink,
                                                              kube::client& api, clock& time,
                                                              asio::any_io_executor executor,
                                                              const kube::watch_scope& within) {
    std::vector<std::unique_ptr<application_source>> out;
    out.push_back(std::make_unique<typed_source<model::spark_application>>(
        std::make_unique<spark::spark_backend>(options), spark::facts_of, api, time, executor,
        within));
    if (flink.backend == "FlinkCluster") {
        out.push_back(std::make_unique<typed_source<model::flink_cluster>>(
            std::make_unique<flink_cluster::flink_cluster_backend>(options, flink),
            flink_cluster::facts_of, api, time, executor, within));
    } else {
        out.push_back(std::make_unique<typed_source<model::flink_deployment>>(
            std::make_unique<flink::flink_backend>(options, flink), flink::facts_of, api, time,
            executor, within));
    }
    return out;
}

}  // namespace esi::batchjob
