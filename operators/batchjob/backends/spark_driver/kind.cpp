#include "batchjob/backends/spark_driver/kind.h"

#include <CLI/CLI.hpp>

#include "batchjob/backends/spark_driver/backend.h"

namespace esi::batchjob::spark_driver {

namespace {

/// The drivers, out of the operator's cache of pods.
class driver_source final : public application_source {
public:
    driver_source(std::unique_ptr<backend> kind, bool served, kube::informer<model::pod>* pods)
        : kind_(std::move(kind)), served_(served && pods != nullptr), pods_(pods) {}

    const backend& kind() const override { return *kind_; }
    bool served() const override { return served_; }
    bool synced() const override { return served_ && pods_->synced(); }
    std::shared_ptr<const application> find(const model::object_key& key) const override {
        const auto pod = served_ ? pods_->items().find(key) : nullptr;
        return pod ? application_of(*pod) : nullptr;
    }
    std::optional<std::string> version(std::string_view ns) const override {
        return served_ ? pods_->items().version(ns) : std::nullopt;
    }
    std::vector<controller::operator_part::cache> caches() override { return {}; }
    void on_change(std::function<void(const model::object_key&)> application,
                   std::function<void()>) override {
        if (!served_) return;
        pods_->items().on_change([application](const kube::change<model::pod>& what) {
            const bool is_one =
                (what.before && is_driver(*what.before)) || (what.after && is_driver(*what.after));
            if (is_one) application((what.after ? what.after : what.before)->metadata.key());
        });
    }

private:
    std::unique_ptr<backend> kind_;
    bool served_;
    kube::informer<model::pod>* pods_;
};

}  // namespace

void driver_kind::add_flags(CLI::App& app) {
    app.add_flag("--spark-drivers", enabled_,
                 "Start Spark drivers that no operator has made together with places for their "
                 "executors, in namespaces with the label esi.tu-berlin.de/gangs=enabled; by the "
                 "scheduling gate only")
        ->envname("ESI_SPARK_DRIVERS");
}

std::unique_ptr<backend> driver_kind::make_backend(const placement_options& placement) const {
    return std::make_unique<driver_backend>(placement);
}

std::unique_ptr<application_source> driver_kind::make_source(std::unique_ptr<backend> of,
                                                             source_context with) const {
    const bool served = enabled_ && static_cast<const driver_backend&>(*of).uses_gate();
    return std::make_unique<driver_source>(std::move(of), served, with.pods);
}

}  // namespace esi::batchjob::spark_driver
