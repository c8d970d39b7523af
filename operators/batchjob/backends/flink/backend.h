// The backend for Apache's Flink operator (flink.apache.org/v1beta1), standalone mode: one
// Deployment of exactly as many TaskManagers as the job has slots.
#pragma once

#include "batchjob/backends/backend.h"
#include "batchjob/backends/flink/defaults.h"

namespace esi::batchjob::flink {

class flink_backend final : public backend {
public:
    flink_backend(placement_options options, defaults otherwise)
        : options_(std::move(options)), otherwise_(std::move(otherwise)) {}

    std::string_view type() const override { return "Flink"; }
    const kube::resource_type& resource() const override { return kube::types::flink_deployment; }
    std::expected<built, spec_problem> build(const build_request& request) const override;
    std::expected<built, spec_problem> probe(const model::object_meta& job,
                                             const model::raw_json& spec,
                                             bool by_slot) const override;
    result<application> read(std::string_view text) const override;
    pod_role role_of(const model::pod& pod, std::string_view name) const override;
    std::string foreign(const model::pod& pod, const application& app,
                        std::span<const pod_pointer> beside) const override;
    std::string_view coordinator() const override { return "JobManager"; }
    std::string_view worker() const override { return "TaskManager"; }
    std::string where_to_look(const model::object_key& app, std::string_view) const override;
    const std::string& priority_class() const override { return options_.priority_class(); }
    std::optional<spec_problem> too_small(const model::raw_json& spec,
                                          const model::resource_list& slot) const override;
    std::optional<spec_problem> coordinator_too_small(
        const model::raw_json& spec, const model::resource_list& slot) const override;
    model::amounts least_size(const model::raw_json& spec, pod_role of,
                              bool by_slot) const override;
    bool keeps_pods() const override { return true; }

private:
    placement_options options_;
    defaults otherwise_;
};

}  // namespace esi::batchjob::flink
