// Releases rights whose holder is gone (scheduling/orphan.h): one reconcile for Testbeds, one for
// BatchJobs. Owned by the operator; started when the process leads. A live read always proves that
// the holder is gone, and another one shows what a Testbed's pods still carry.
#pragma once

#include "controller/controller.h"
#include "scheduling/act.h"
#include "scheduling/caches.h"

namespace esi::scheduling {

class orphan_releaser {
public:
    /// All of them outlive it.
    orphan_releaser(controller::environment& env, const caches& from, actor& acts);

    void start();
    asio::awaitable<void> stop(steady_time deadline);

    void enqueue_testbed(const model::object_key& key) { testbeds_.enqueue(key); }
    void enqueue_job(const model::object_key& key) { jobs_.enqueue(key); }

private:
    asio::awaitable<result<controller::outcome>> reconcile_testbed(model::object_key key);
    asio::awaitable<result<controller::outcome>> reconcile_job(model::object_key key);
    /// Whether this installation (with --namespace) is responsible for Schedulings of that
    /// namespace; those of other namespaces belong to another installation, which judges whether
    /// they are gone.
    bool watches(const model::object_key& scheduling) const;
    /// Jobs for which the release of its hold may have to wait: those of the holder, and those
    /// whose placements are in the Testbed.
    objects<model::batchjob> jobs_of(const model::testbed& testbed) const;

    controller::environment& env_;
    const caches& caches_;
    actor& actor_;
    live_reader reads_;
    controller::controller testbeds_;
    controller::controller jobs_;
};

}  // namespace esi::scheduling
