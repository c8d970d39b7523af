// The caches of the batchjob operator, and which BatchJobs a change of each object concerns. Owned
// by the operator; read by its reconcile. Coroutines that the process runs and cancels fill the
// caches; nothing is written here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "batchjob/registry.h"
#include "controller/process.h"
#include "controller/write_gate.h"
#include "kube/watch/informer.h"
#include "model/batchjob.h"
#include "model/cluster.h"
#include "model/scheduling.h"
#include "model/testbed.h"

namespace esi::batchjob {

/// Drops where a pod may run, except for a driver that waits for its claim.
void keep_of_job_pod(model::pod& pod);
/// Keeps of a Scheduling what an order is compared with: its identity and the assignments that have
/// not ended; and if it was made for a driver, its owner and its condition Acquired.
void keep_assignments(model::scheduling& of);

/// The job that a pod's label names; it may not exist.
model::object_key job_of(const model::pod& pod);

class caches {
public:
    using listener = std::function<void(const model::object_key&)>;
    using application_listener =
        std::function<void(const model::object_key&, const application_source&)>;

    /// Caches of BatchJobs, Testbeds, Schedulings, job pods and the applications of `kinds`, in the
    /// namespaces of --namespace (none: all). Keeps a reference: `kinds` must outlive the caches.
    caches(controller::environment& env, const application_kinds& kinds,
           const placement_options& placement);

    std::vector<controller::operator_part::cache> list();
    /// Reports to `gate` what the caches show of each kind that this operator writes.
    void feed(controller::write_gate& gate) const;

    /// The stores that the watches fill; tests fill them instead.
    struct filled {
        kube::store<model::batchjob>& jobs;
        kube::store<model::pod>& pods;
    };
    filled fill() { return {jobs_.items(), pods_.items()}; }

    // Listeners are called after the caches show the change, in the order of their registration.
    // Register these four before on_change, so that the hints have the change when a reconcile
    // begins.
    void on_job_change(std::function<void(const kube::change<model::batchjob>&)> called);
    void on_pod_change(std::function<void(const kube::change<model::pod>&)> called);
    void on_scheduling_change(std::function<void(const kube::change<model::scheduling>&)> called);
    /// Calls `called` with the key of a changed application and the source of its kind. Once.
    void on_application_change(application_listener called);
    /// Calls `enqueue` with the key of each BatchJob that a change concerns. Once, last.
    void on_change(listener enqueue);

    /// Null if there is none, like the other find functions.
    std::shared_ptr<const model::batchjob> find_job(const model::object_key& key) const;
    const std::map<model::object_key, std::shared_ptr<const model::batchjob>>& jobs() const;
    std::shared_ptr<const model::pod> find_pod(const model::object_key& key) const;
    std::vector<pod_pointer> pods_of_job(const model::object_key& job) const;
    /// Calls `use` with each job pod.
    void each_pod(const std::function<void(const model::pod&)>& use) const;
    /// Jobs that have a live pod on record (status.placements) that is bound to this node.
    std::set<model::object_key> jobs_placed_on(std::string_view node) const;
    std::shared_ptr<const model::testbed> find_testbed(const model::object_key& key) const;
    /// With only its metadata's identity and its assignments that have not ended.
    std::shared_ptr<const model::scheduling> find_scheduling(const model::object_key& key) const;
    const std::map<model::object_key, std::shared_ptr<const model::testbed>>& testbeds() const;

    /// The kind of application that a spec describes; null if no row of the table knows it.
    const application_kind* kind_of(const model::batchjob_spec& spec) const;
    /// One source for each kind, in the order of the table.
    const std::vector<std::unique_ptr<application_source>>& sources() const { return sources_; }
    /// The source that has, or will have, the job's application; null if its kind is unknown.
    const application_source* source_of(const model::batchjob& job) const;

private:
    void pod_changed(const kube::change<model::pod>& what) const;
    /// Enqueues the jobs that have pods on the nodes on which the job has new pods.
    void placements_changed(const kube::change<model::batchjob>& what) const;
    void enqueue_placed_on(std::string_view node) const;
    void testbed_changed(const kube::change<model::testbed>& what) const;
    void enqueue_all() const;

    const application_kinds& kinds_;
    kube::informer<model::batchjob> jobs_;
    kube::informer<model::testbed> testbeds_;
    kube::informer<model::scheduling> schedulings_;
    kube::informer<model::pod> pods_;
    std::vector<std::unique_ptr<application_source>> sources_;
    listener enqueue_;
    application_listener application_changed_;
};

}  // namespace esi::batchjob
