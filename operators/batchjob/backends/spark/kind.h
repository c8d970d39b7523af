// Spark in the table of application kinds: a sparkSpec becomes a SparkApplication.
#pragma once

#include "batchjob/backends/kind.h"

namespace esi::batchjob::spark {

class spark_kind final : public application_kind {
public:
    std::string_view type() const override { return "Spark"; }
    std::string_view spec_field() const override { return "sparkSpec"; }
    const model::raw_json* spec_in(const model::batchjob_spec& spec) const override {
        return spec.spark_spec ? &*spec.spark_spec : nullptr;
    }
    std::unique_ptr<backend> make_backend(const placement_options& placement) const override;
    std::unique_ptr<application_source> make_source(std::unique_ptr<backend> of,
                                                    source_context with) const override;
};

}  // namespace esi::batchjob::spark
