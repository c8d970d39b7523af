// The backend for the kubeflow Spark operator (sparkoperator.k8s.io/v1beta2).
#pragma once

#include "batchjob/backends/backend.h"

namespace esi::batchjob::spark {

class spark_backend final : public backend {
public:
    explicit spark_backend(placement_options options) : options_(std::move(options)) {}

    std::string_view type() const override { return "Spark"; }
    const kube::resource_type& resource() const override { return kube::types::spark_application; }
    std::expected<built, spec_problem> build(const build_request& request) const override;
    std::expected<built, spec_problem> probe(const model::object_meta& job,
                                             const model::raw_json& spec,
                                             bool by_slot) const override;
    result<application> read(std::string_view text) const override;
    pod_role role_of(const model::pod& pod, std::string_view name) const override;
    std::string foreign(const model::pod& pod, const application& app,
                        std::span<const pod_pointer> beside) const override;
    std::string_view coordinator() const override { return "driver"; }
    std::string_view worker() const override { return "executor"; }
    const std::string& priority_class() const override { return options_.priority_class(); }
    std::optional<spec_problem> too_small(const model::raw_json& spec,
                                          const model::resource_list& slot) const override;
    std::optional<spec_problem> coordinator_too_small(
        const model::raw_json& spec, const model::resource_list& slot) const override;
    model::amounts least_size(const model::raw_json& spec, pod_role of,
                              bool by_slot) const override;

private:
    placement_options options_;
};

}  // namespace esi::batchjob::spark
