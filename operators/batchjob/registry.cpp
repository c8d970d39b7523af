#include "batchjob/registry.h"

#include "batchjob/backends/spark/kind.h"
#include "batchjob/backends/spark_driver/kind.h"
#include "batchjob/flink_kind.h"

namespace esi::batchjob {

application_kinds known_kinds() {
    return {std::make_shared<spark::spark_kind>(), std::make_shared<flink_kind>(),
            std::make_shared<spark_driver::driver_kind>()};
}

const application_kind* kind_of(const application_kinds& kinds, const model::batchjob_spec& spec) {
    for (const auto& kind : kinds) {
        if (kind->spec_in(spec)) return kind.get();
    }
    return nullptr;
}

std::vector<std::unique_ptr<application_source>> make_sources(const application_kinds& kinds,
                                                              const placement_options& placement,
                                                              const source_context& with) {
    std::vector<std::unique_ptr<application_source>> out;
    for (const auto& kind : kinds) {
        out.push_back(kind->make_source(kind->make_backend(placement), with));
    }
    return out;
}

}  // namespace esi::batchjob
