// The scheduling operator: drives Schedulings to the end, releases orphans, serves the original's
// REST and STOMP. Owned by the process (controller/process.h); observes through four caches,
// decides with scheduling/decide.h, acts through scheduling/act.h. Memory is never the truth:
// everything is read anew from the objects.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "scheduling/act.h"
#include "scheduling/interface/legacy/stomp.h"

namespace esi::scheduling {

/// Flags of this operator alone.
struct operator_options {
    /// Who may use /external and /scheduler.
    http::local_access access;
    /// A Scheduling may name BatchJobs of any namespace, as in the original.
    bool cross_namespace_jobs = false;
    /// The one namespace that the original's interface speaks of.
    std::string legacy_namespace = "default";
    legacy::stomp_options stomp;

    void add_to(CLI::App& app);
};

class scheduling_operator final : public controller::operator_part {
public:
    scheduling_operator(controller::environment& in, operator_options options);
    ~scheduling_operator() override;

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    bool leading_ = false;
    using outcome = controller::outcome;

    void wire_wake_ups();
    void scheduling_changed(const kube::change<model::scheduling>& what);
    void testbed_changed(const kube::change<model::testbed>& what);
    void job_changed(const kube::change<model::batchjob>& what);
    void pod_changed(const kube::change<model::pod>& what);
    /// All Schedulings that want something of what this one wants.
    void wake_rivals(const model::scheduling& of);
    void wake_by(std::string_view index, const model::object_key& key);
    /// Those who let this one go first.
    void wake_younger(const model::object_key& than);

    view observe(const model::object_key& key, newer& fresh) const;
    asio::awaitable<result<outcome>> reconcile(model::object_key key);
    asio::awaitable<result<outcome>> reconcile_testbed(model::object_key key);
    /// Whether an installation with --namespace has Schedulings of there in its care; those of
    /// other namespaces are another installation's, which judges whether they are gone.
    bool watches(const model::object_key& scheduling) const;
    asio::awaitable<result<outcome>> reconcile_job(model::object_key key);
    void count_states();

    controller::environment& in_;
    operator_options options_;
    kube::informer<model::scheduling> schedulings_;
    kube::informer<model::testbed> testbeds_;
    kube::informer<model::batchjob> jobs_;
    kube::informer<model::pod> pods_;
    controller::write_gate gate_;
    executor act_;
    controller::controller reconciler_;
    controller::controller testbed_orphans_;
    controller::controller job_orphans_;

    struct interfaces;
    std::unique_ptr<interfaces> interfaces_;
};

}  // namespace esi::scheduling
