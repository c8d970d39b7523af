// Flink in the table of application kinds: by a flag of the operator, a flinkSpec becomes a
// FlinkDeployment (backends/flink) or a FlinkCluster (backends/flink_cluster). It is above both
// folders, because the second uses parts of the first.
#pragma once

#include "batchjob/backends/flink/defaults.h"
#include "batchjob/backends/kind.h"

namespace esi::batchjob {

class flink_kind final : public application_kind {
public:
    std::string_view type() const override { return "Flink"; }
    std::string_view spec_field() const override { return "flinkSpec"; }
    const model::raw_json* spec_in(const model::batchjob_spec& spec) const override {
        return spec.flink_spec ? &*spec.flink_spec : nullptr;
    }
    void add_flags(CLI::App& app) override;
    std::unique_ptr<backend> make_backend(const placement_options& placement) const override;
    std::unique_ptr<application_source> make_source(std::unique_ptr<backend> of,
                                                    source_context with) const override;

private:
    bool makes_clusters() const { return backend_ == "FlinkCluster"; }

    /// FlinkDeployment or FlinkCluster.
    std::string backend_ = "FlinkDeployment";
    flink::defaults otherwise_;
};

}  // namespace esi::batchjob
