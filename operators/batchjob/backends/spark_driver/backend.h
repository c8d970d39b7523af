// The backend for a Spark driver without an operator of its own: its application is the driver pod,
// which exists before the BatchJob and waits at the gate of job pods. It is not created but taken
// over: marked as the application of a run, and let into the coordinator place of that run.
#pragma once

#include "batchjob/backends/backend.h"

namespace esi::batchjob::spark_driver {

/// The value that spark-submit and Spark's operator write into the label spark-role.
inline constexpr std::string_view role_label = "spark-role";

/// True: a driver pod that no SparkApplication has made, whether it was taken over or not.
bool is_driver(const model::pod& pod);

/// The driver pod as an application; null if no BatchJob has taken it over.
std::shared_ptr<const application> application_of(const model::pod& pod);

class driver_backend final : public backend {
public:
    explicit driver_backend(placement_options options) : options_(std::move(options)) {}

    std::string_view type() const override { return "SparkDriver"; }
    const kube::resource_type& resource() const override { return kube::types::pod; }
    /// The merge patch that takes the driver over.
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
    std::optional<spec_problem> too_small(const model::raw_json&,
                                          const model::resource_list&) const override {
        return std::nullopt;
    }
    bool adopts() const override { return true; }
    std::string unfit_for_adoption(const model::pod& pod,
                                   const model::batchjob& job) const override;
    bool is_named(const application& app, const model::batchjob_spec& spec) const override;
    json marks(const build_request& request, pod_role role) const override;
    std::string served_text() const override { return "drivers that exist are taken over"; }
    std::string not_served() const override;
    bool uses_gate() const { return !options_.extender; }

private:
    placement_options options_;
};

}  // namespace esi::batchjob::spark_driver
