#include "batchjob/backends/all.h"

#include "batchjob/backends/spark/backend.h"
#include "batchjob/backends/spark/phase.h"

namespace esi::batchjob {

std::vector<std::unique_ptr<application_source>> make_sources(const placement_options& options,
                                                              kube::client& api, clock& time,
                                                              asio::any_io_executor executor,
                                                              const std::string& ns) {
    std::vector<std::unique_ptr<application_source>> out;
    out.push_back(std::make_unique<typed_source<model::spark_application>>(
        std::make_unique<spark::spark_backend>(options), spark::facts_of, api, time, executor, ns));
    return out;
}

}  // namespace esi::batchjob
