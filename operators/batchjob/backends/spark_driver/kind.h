// Drivers without an operator in the table of application kinds: a sparkDriver names a pod that
// exists already. Off unless --spark-drivers is given.
#pragma once

#include "batchjob/backends/kind.h"

namespace esi::batchjob::spark_driver {

class driver_kind final : public application_kind {
public:
    std::string_view type() const override { return "SparkDriver"; }
    std::string_view spec_field() const override { return "sparkDriver"; }
    const model::raw_json* spec_in(const model::batchjob_spec& spec) const override {
        return spec.spark_driver ? &*spec.spark_driver : nullptr;
    }
    void add_flags(CLI::App& app) override;
    std::unique_ptr<backend> make_backend(const placement_options& placement) const override;
    /// Its applications are pods: the cache of pods of `with` has them.
    std::unique_ptr<application_source> make_source(std::unique_ptr<backend> of,
                                                    source_context with) const override;

private:
    bool enabled_ = false;
};

}  // namespace esi::batchjob::spark_driver
