#include "batchjob/backends/spark/kind.h"

#include "batchjob/backends/spark/backend.h"
#include "batchjob/backends/spark/phase.h"

namespace esi::batchjob::spark {

std::unique_ptr<backend> spark_kind::make_backend(const placement_options& placement) const {
    return std::make_unique<spark_backend>(placement);
}

std::unique_ptr<application_source> spark_kind::make_source(std::unique_ptr<backend> of,
                                                            source_context with) const {
    return std::make_unique<typed_source<model::spark_application>>(std::move(of), facts_of,
                                                                    std::move(with));
}

}  // namespace esi::batchjob::spark
