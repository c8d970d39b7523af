// Releases rights whose holder is gone (scheduling/orphan.h): one reconcile for Testbeds, one for
// BatchJobs. Owned by the operator; started when the process leads. That the holder is gone is
// always proved by a live read, and what a Testbed's pods still carry by another.
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
    /// Whether an installation with --namespace has Schedulings of there in its care; those of
    /// other namespaces are another installation's, which judges whether they are gone.
    bool watches(const model::object_key& scheduling) const;
    /// What the release of its hold may have to wait for: jobs of the holder, and jobs whose
    /// placements are in the Testbed.
    objects<model::batchjob> jobs_of(const model::testbed& testbed) const;

    controller::environment& env_;
    const caches& caches_;
    actor& actor_;
    live_reader reads_;
    controller::controller testbeds_;
    controller::controller jobs_;
};

}  // namespace esi::scheduling
