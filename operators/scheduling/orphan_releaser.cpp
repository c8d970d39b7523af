#include "scheduling/orphan_releaser.h"

#include "base/log.h"
#include "scheduling/orphan.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using controller::outcome;
using model::object_key;
namespace types = kube::types;

}  // namespace

orphan_releaser::orphan_releaser(controller::environment& env, const caches& from, actor& acts)
    : env_(env),
      caches_(from),
      actor_(acts),
      reads_(env.api, env.options.namespaces),
      testbeds_(
          "orphan-testbed", env.time, env.executor, env.numbers,
          [this](object_key key) { return reconcile_testbed(std::move(key)); }, 1),
      jobs_(
          "orphan-job", env.time, env.executor, env.numbers,
          [this](object_key key) { return reconcile_job(std::move(key)); }, 2) {}

void orphan_releaser::start() {
    testbeds_.start();
    jobs_.start();
}

asio::awaitable<void> orphan_releaser::stop(steady_time deadline) {
    co_await testbeds_.stop(deadline);
    co_await jobs_.stop(deadline);
}

bool orphan_releaser::watches(const object_key& scheduling) const {
    return scheduling.namespace_.empty() ||
           caches_.schedulings().version(scheduling.namespace_).has_value();
}

asio::awaitable<result<outcome>> orphan_releaser::reconcile_job(object_key key) {
    auto job = caches_.jobs().find(key);
    if (!job || !may_be_orphan(*job, caches_.schedulings().all())) co_return outcome{};
    auto live = co_await reads_.fetch_job(key);
    if (!live) co_return tried_again(std::move(live).error());
    job = *live;
    if (!job) co_return outcome{};
    if (const auto& active = job->spec.active_scheduling) {
        if (!watches(active->key())) co_return outcome{};
        auto holder = co_await reads_.fetch_scheduling(active->key());
        if (!holder) co_return tried_again(std::move(holder).error());
        if (is_holder(holder->get(), active->uid)) co_return outcome{};
    } else if (!job->spec.creation_request ||
               job->status.observed_generation != job->metadata.generation) {
        // An order without activeScheduling shows the batchjob operator that a person took the job
        // away: that operator has to see it first. The status that it writes then enqueues the job
        // again.
        co_return outcome{};
    }
    const auto& meta = job->metadata;
    auto now = co_await actor_.clear_job(key, meta.uid, meta.resource_version);
    if (!now) co_return tried_again(std::move(now).error());
    const auto& held_by = job->spec.active_scheduling;
    env_.events.normal(controller::event_subject(types::batchjob, meta),
                       event_reason::orphan_released, "Release",
                       held_by ? "released: " + scheduling_text(held_by->key()) + " is gone"
                               : "creationRequest removed: no Scheduling holds the job");
    log::info("orphan released", {{"job", key.text()}});
    co_return outcome{};
}

objects<model::batchjob> orphan_releaser::jobs_of(const model::testbed& testbed) const {
    auto out = caches_.jobs_of_holder(grid::scheduling_uid_of_hold(testbed.hold()));
    out.merge(caches_.jobs_placed_in(testbed.metadata.key()));
    return out;
}

asio::awaitable<result<outcome>> orphan_releaser::reconcile_testbed(object_key key) {
    const auto& known = caches_.schedulings().all();
    auto testbed = caches_.testbeds().find(key);
    if (!testbed || !may_be_orphan(*testbed, known)) co_return outcome{};
    if (!watches(testbed->holder())) co_return outcome{};
    // A change of an awaited object enqueues it again.
    const auto uid = std::string(grid::scheduling_uid_of_hold(testbed->hold()));
    const auto cached = caches_.slots_of(key)->recorded_pods_of(uid);
    auto rows = caches_.slots_of(key)->slices_of(*testbed);
    if (!orphan_waits(*testbed, jobs_of(*testbed), cached, rows).empty()) co_return outcome{};

    auto live = co_await reads_.fetch_testbed(key);
    if (!live) co_return tried_again(std::move(live).error());
    testbed = *live;
    if (!testbed || !may_be_orphan(*testbed, known)) co_return outcome{};
    const auto holder = testbed->holder();
    if (!holder.name.empty()) {
        auto found = co_await reads_.fetch_scheduling(holder);
        if (!found) co_return tried_again(std::move(found).error());
        if (*found && held_by(*testbed, (*found)->metadata.uid)) co_return outcome{};
    }
    // All job pods of the Testbed: the holder's plan is gone with it, so there is no list of jobs
    // to limit the read. This happens once for a Scheduling whose finalizer was removed by hand.
    auto live_pods = co_await reads_.fetch_job_pods(key);
    if (!live_pods) co_return tried_again(std::move(live_pods).error());
    rows = caches_.slots_of(key)->slices_of(*testbed);
    if (!orphan_waits(*testbed, jobs_of(*testbed), *live_pods, rows).empty()) {
        co_return outcome::again_in(seconds(1));
    }
    const auto& meta = testbed->metadata;
    auto now = co_await actor_.clear_hold(key, meta.uid, meta.resource_version);
    if (!now) co_return tried_again(std::move(now).error());
    env_.events.normal(controller::event_subject(types::testbed, meta),
                       event_reason::orphan_released, "Release",
                       "hold removed: " + holder_text(*testbed) + " is gone");
    log::info("orphan released", {{"testbed", key.text()}});
    co_return outcome{};
}

}  // namespace esi::scheduling
