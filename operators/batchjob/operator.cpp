#include "batchjob/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batchjob/decide.h"

namespace esi::batchjob {

namespace {

/// More actions than any reconcile needs: a decision that does not converge ends in back-off, not
/// in an endless loop.
constexpr int most_actions = 24;
/// How soon a reconcile checks whether the caches show its last writes; their events are faster.
constexpr milliseconds own_writes_pause{500};
/// How often an application is read live while its cache is not synced.
constexpr seconds without_cache_pause{1};

}  // namespace

batchjob_operator::batchjob_operator(controller::environment& env, options flags)
    : env_(env),
      options_(std::move(flags)),
      caches_(env, options_.kinds, options_.placement_of_pods()),
      numbers_(env.numbers),
      actor_(env, caches_, hints_, gate_, numbers_),
      loop_("batchjob", env.time, env.executor, env.numbers,
            [this](model::object_key key) { return reconcile(std::move(key)); }) {
    listen();
    for (const auto& source : caches_.sources()) {
        if (!source->kind().adopts() || !source->served()) continue;
        drivers_ = std::make_unique<drivers::driver_jobs>(env, caches_);
    }
}

std::vector<controller::operator_part::cache> batchjob_operator::caches() {
    auto out = caches_.list();
    if (drivers_) out.push_back(drivers_->cache());
    return out;
}

asio::awaitable<void> batchjob_operator::stop(steady_time deadline) {
    if (drivers_) co_await drivers_->stop(deadline);
    co_await loop_.stop(deadline);
}

void batchjob_operator::listen() {
    caches_.feed(gate_);
    caches_.on_job_change([this](const kube::change<model::batchjob>& what) {
        numbers_.job_changed(what);
        hints_.job_changed(what, env_.time.now());
        if (!what.after) gate_.forget(what.before->metadata.key());
    });
    caches_.on_pod_change([this](const kube::change<model::pod>& what) {
        const auto& pod = what.after ? *what.after : *what.before;
        hints_.pod_changed(what, caches_.find_job(job_of(pod)).get(), env_.time);
    });
    caches_.on_application_change(
        [this](const model::object_key& key, const application_source& from) {
            const auto job = caches_.find_job(key);
            auto shown = from.find(key);
            const bool is_its = job && shown && belongs_to(*shown, from.kind(), *job);
            hints_.application_changed(key, std::move(shown), is_its ? job.get() : nullptr);
        });
    caches_.on_change([this](const model::object_key& key) { loop_.enqueue(key); });
}

void batchjob_operator::lead() {
    numbers_.lead();
    for (const auto& [key, job] : caches_.jobs()) numbers_.add(*job);
    loop_.start();
    if (drivers_) drivers_->lead();
}

asio::awaitable<result<controller::outcome>> batchjob_operator::reconcile(model::object_key key) {
    auto job = caches_.find_job(key);
    if (!job) {
        const auto removed = co_await actor_.delete_orphans(std::move(key));
        if (!removed) co_return std::unexpected(removed.error());
        co_return controller::outcome();
    }
    if (!gate_.caught_up(key)) co_return controller::outcome::again_in(own_writes_pause);
    const auto replaced = co_await actor_.delete_driver_of_earlier(job);
    if (!replaced) co_return std::unexpected(replaced.error());
    // A pod may have died before its placement was in the cache.
    for (const auto& pod : caches_.pods_of_job(key)) hints_.deaths.note(*job, *pod);
    auto seen = observe(std::move(job), caches_, hints_, env_.time.now());
    seen.names_all_jobs = options_.cross_namespace_jobs;

    for (int count = 0; count < most_actions; ++count) {
        auto wanted = decide(seen, env_.time.wall());
        if (wanted.unknown_state) numbers_.unknown_state_seen();
        if (!wanted.act_first && !wanted.hold_back) {
            const auto written = co_await actor_.write_status(seen, wanted.status);
            if (!written) co_return std::unexpected(written.error());
        }
        if (!wanted.next) {
            if (wanted.retry) {
                co_return std::unexpected(
                    seen.live.create_error.value_or(error{errc::server, "create failed"}));
            }
            co_return next_reconcile(seen, wanted);
        }
        const auto acted = co_await actor_.take(seen, std::move(*wanted.next));
        if (!acted) co_return std::unexpected(acted.error());
    }
    co_return fail(errc::conflict, fmt::format("BatchJob {} did not converge", key.text()));
}

/// When the job is reconciled again if nothing changes before.
controller::outcome batchjob_operator::next_reconcile(const view& seen,
                                                      const decision& last) const {
    controller::outcome out;
    if (last.again_in) out.after = *last.again_in;
    const auto sooner = [&out](steady_time::duration time) {
        out.after = out.after ? std::min(*out.after, time) : time;
    };
    const auto check = hints_.checks.find(seen.job->metadata.key());
    if (check != hints_.checks.end() && check->second.answer.transient) {
        sooner(
            std::max(check->second.due - env_.time.now(), steady_time::duration(milliseconds(10))));
    }
    const auto* source = caches_.source_of(*seen.job);
    if (source && source->served() && !source->synced() && seen.job->status.application) {
        // Without its cache only live reads show how the application goes on.
        sooner(without_cache_pause);
    }
    return out;
}

}  // namespace esi::batchjob
