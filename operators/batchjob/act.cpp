#include "batchjob/act.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/overloaded.h"
#include "batchjob/backends/kind.h"
#include "batchjob/event_notes.h"
#include "batchjob/fit_status.h"
#include "controller/patch_status.h"
#include "grid/grid.h"
#include "grid/rights.h"
#include "kube/patch.h"
#include "model/json.h"
#include "model/names.h"
#include "model/scheduling.h"

namespace esi::batchjob {

namespace names = model::names;

namespace {

/// Replaces the pod in the view by the answer to a write of it.
void replace_pod(view& seen, model::pod written) {
    for (auto& each : seen.pods) {
        if (each->metadata.uid != written.metadata.uid) continue;
        each = std::make_shared<const model::pod>(std::move(written));
        return;
    }
    seen.pods.push_back(std::make_shared<const model::pod>(std::move(written)));
}

}  // namespace

actor::actor(controller::environment& env, const caches& from, hints& known,
             controller::write_gate& gate, job_numbers& numbers)
    : env_(env), caches_(from), hints_(known), gate_(gate), numbers_(numbers) {}

asio::awaitable<result<void>> actor::take(view& seen, action what) {
    return std::visit(
        overloaded{[&](read_application&) { return read(seen); },
                   [&](read_assignment&) { return read_scheduling(seen); },
                   [&](read_pods& pods) { return read_recorded(seen, std::move(pods)); },
                   [&](check_spec& spec) { return dry_run(seen, std::move(spec)); },
                   [&](create_application& made) { return create(seen, std::move(made)); },
                   [&](adopt_application& taken) { return adopt(seen, std::move(taken)); },
                   [&](mark_pods& fresh) { return mark(seen, std::move(fresh)); },
                   [&](delete_application& old) { return remove(seen, std::move(old)); },
                   [&](delete_pods& old) { return remove_pods(seen, std::move(old)); }},
        what);
}

asio::awaitable<result<void>> actor::write_status(view& seen, model::batchjob_status wanted) {
    const auto shown = seen.job;
    auto written = co_await controller::patch_status<model::batchjob>(
        {env_.api, kube::types::batchjob, gate_, fit_status}, shown, wanted,
        controller::room_for_status(*shown));
    if (!written) co_return std::unexpected(std::move(written).error());
    auto& stored = *written;
    if (!stored) co_return result<void>();
    for (auto& note : event_notes(shown->status, wanted)) {
        log_note(shown->metadata.key(), note);
        send(env_.events, shown->metadata, std::move(note));
    }
    numbers_.status_written(shown->status, wanted);
    seen.job = std::make_shared<const model::batchjob>(std::move(*stored));
    co_return result<void>();
}

/// The application of that kind, read live; null where the API server has none.
asio::awaitable<result<std::shared_ptr<const application>>> actor::read_as(const backend& kind,
                                                                           model::object_key key) {
    auto answer = co_await env_.api.get(kind.resource(), key.namespace_, key.name);
    if (!answer && answer.error().code == errc::not_found) co_return nullptr;
    if (!answer) co_return std::unexpected(answer.error());
    auto found = kind.read(*answer);
    if (!found && found.error().code == errc::not_found) co_return nullptr;
    if (!found) co_return std::unexpected(found.error());
    co_return std::make_shared<const application>(std::move(*found));
}

asio::awaitable<result<void>> actor::read(view& seen) {
    const auto& job = *seen.job;
    const auto key = job.metadata.key();
    auto found = co_await read_as(*seen.kind, key);
    if (!found) co_return std::unexpected(found.error());
    seen.live.application = std::move(*found);
    // The spec may have changed to another kind since the application was created.
    for (const auto& source : caches_.sources()) {
        if (seen.live.application && belongs_to(*seen.live.application, *seen.kind, job)) break;
        if (&source->kind() == seen.kind || !source->served()) continue;
        auto other = co_await read_as(source->kind(), key);
        if (!other) co_return std::unexpected(other.error());
        if (!*other || !belongs_to(**other, source->kind(), job)) continue;
        observe_as(seen, *source, caches_, hints_);
        seen.live.application = std::move(*other);
    }
    seen.live.application_read = true;
    co_return result<void>();
}

asio::awaitable<result<void>> actor::read_scheduling(view& seen) {
    seen.live.assignment_read = true;
    seen.live.assigned = false;
    const auto& assigned = seen.job->spec.active_scheduling;
    if (!assigned) co_return result<void>();
    const auto by = grid::in_namespace(assigned->key(), seen.job->metadata.namespace_);
    if (!model::may_exist(by)) co_return result<void>();
    auto answer = co_await env_.api.get(kube::types::scheduling, by.namespace_, by.name);
    if (!answer && answer.error().code == errc::not_found) co_return result<void>();
    if (!answer) co_return std::unexpected(answer.error());
    auto found = model::decode<model::scheduling>(*answer, "Scheduling");
    if (!found) co_return std::unexpected(found.error());
    seen.live.assigned = grid::is_assigned(*seen.job, *found);
    co_return result<void>();
}

asio::awaitable<result<void>> actor::read_recorded(view& seen, read_pods what) {
    for (const auto& entry : what.pods) {
        auto answer =
            co_await env_.api.get(kube::types::pod, seen.job->metadata.namespace_, entry.pod_name);
        if (!answer && answer.error().code != errc::not_found) {
            co_return std::unexpected(answer.error());
        }
        bool gone = true;
        if (answer) {
            auto pod = model::decode<model::pod>(*answer, "Pod");
            if (!pod) co_return std::unexpected(pod.error());
            gone = pod->metadata.uid != entry.pod_uid || pod->terminal();
        }
        (gone ? seen.live.gone_pods : seen.live.living_pods).insert(entry.pod_uid);
    }
    co_return result<void>();
}

asio::awaitable<result<void>> actor::dry_run(view& seen, check_spec what) {
    const auto key = seen.job->metadata.key();
    kube::create_options how;
    how.dry_run = true;
    how.field_validation = "Strict";
    auto answer = co_await env_.api.create(seen.kind->resource(), key.namespace_,
                                           std::move(what.object), std::move(how));
    auto& memory = hints_.checks[key];
    const auto hash = hash_of(seen.spec_kind, seen.job->spec);
    if (memory.hash != hash) memory = check_memory{hash, {}, 0, {}};
    if (answer || answer.error().code == errc::already_exists) {
        memory.answer = {true, false, {}};
    } else {
        memory.answer = {false, answer.error().transient(), answer.error().text};
    }
    if (memory.answer.transient) {
        memory.due = env_.time.now() +
                     std::min(seconds(1) * (1 << std::min(memory.failures, 8)), seconds(300));
        ++memory.failures;
    }
    seen.check = memory.answer;
    seen.check_due = false;
    co_return result<void>();
}

asio::awaitable<result<void>> actor::create(view& seen, create_application what) {
    const auto key = seen.job->metadata.key();
    kube::create_options how;
    how.field_validation = "Strict";
    auto answer = co_await env_.api.create(seen.kind->resource(), key.namespace_,
                                           std::move(what.object), std::move(how));
    if (!answer && answer.error().code == errc::already_exists) {
        const auto found = co_await read(seen);
        if (!found) co_return std::unexpected(found.error());
        if (!seen.live.application) {
            co_return fail(errc::conflict, fmt::format("{} {} existed and was deleted meanwhile",
                                                       seen.kind->resource().kind, key.text()));
        }
        co_return result<void>();
    }
    if (!answer) {
        if (answer.error().code == errc::not_leader) co_return std::unexpected(answer.error());
        seen.live.create_error = answer.error();
        co_return result<void>();
    }
    auto made = seen.kind->read(*answer);
    if (!made) co_return std::unexpected(made.error());
    const auto* source = caches_.source_of(*seen.job);
    if (source && source->synced()) {
        gate_.wrote(key, seen.kind->resource().kind, made->metadata);
    }
    log::debug("application created", {{"job", key.text()}, {"run", made->run()}});
    numbers_.application_created(seen.kind->type());
    seen.live.application = std::make_shared<const application>(std::move(*made));
    seen.live.application_read = true;
    co_return result<void>();
}

asio::awaitable<result<void>> actor::adopt(view& seen, adopt_application what) {
    const auto key = seen.job->metadata.key();
    const auto answer = co_await env_.api.get(kube::types::pod, key.namespace_, key.name);
    if (!answer && answer.error().code != errc::not_found) {
        co_return std::unexpected(answer.error());
    }
    if (!answer) {
        seen.live.create_error =
            error{errc::invalid, fmt::format("the {} {} does not exist (any more)",
                                             seen.kind->coordinator(), key.text())};
        co_return result<void>();
    }
    const auto pod = model::decode<model::pod>(*answer, "Pod");
    if (!pod) co_return std::unexpected(pod.error());
    if (!pod->run().empty()) {
        // Another process has taken the driver over already, or an earlier run has.
        auto found = seen.kind->read(*answer);
        if (found) {
            seen.live.application = std::make_shared<const application>(std::move(*found));
            seen.live.application_read = true;
        } else {
            seen.live.create_error = error{errc::invalid, found.error().text};
        }
        co_return result<void>();
    }
    auto unfit = seen.kind->unfit_for_adoption(*pod, *seen.job);
    if (!unfit.empty()) {
        seen.live.create_error = error{errc::invalid, std::move(unfit)};
        co_return result<void>();
    }
    auto guarded =
        kube::guarded(std::move(what.patch), pod->metadata.uid, pod->metadata.resource_version);
    const auto taken = co_await env_.api.patch(kube::types::pod, key.namespace_, key.name,
                                               kube::patch_kind::merge, std::move(guarded));
    if (!taken) {
        if (is_of_the_moment(taken.error().code)) co_return std::unexpected(taken.error());
        seen.live.create_error = taken.error();
        co_return result<void>();
    }
    auto made = seen.kind->read(*taken);
    if (!made) co_return std::unexpected(made.error());
    auto marked = model::decode<model::pod>(*taken, "Pod");
    if (!marked) co_return std::unexpected(marked.error());
    replace_pod(seen, std::move(*marked));
    gate_.wrote(key, kube::types::pod.kind, made->metadata);
    log::debug("driver taken over", {{"job", key.text()}, {"run", made->run()}});
    numbers_.application_created(seen.kind->type());
    seen.live.application = std::make_shared<const application>(std::move(*made));
    seen.live.application_read = true;
    co_return result<void>();
}

asio::awaitable<result<void>> actor::mark(view& seen, mark_pods what) {
    const auto key = seen.job->metadata.key();
    for (const auto& pod : what.pods) {
        const auto& meta = pod->metadata;
        const auto answer = co_await env_.api.patch(
            kube::types::pod, meta.namespace_, meta.name, kube::patch_kind::merge,
            kube::guarded(what.patch, meta.uid, meta.resource_version));
        if (!answer && answer.error().code == errc::not_found) {
            // The watch will report the deletion.
            const auto uid = meta.uid;
            std::erase_if(seen.pods, [&](const auto& each) { return each->metadata.uid == uid; });
            continue;
        }
        if (!answer) {
            const auto& why = answer.error();
            if (why.code == errc::not_leader) co_return std::unexpected(why);
            if (why.transient()) {
                for (const auto& each : what.pods) seen.unmarked.try_emplace(each->metadata.uid);
                break;
            }
            // One refused pod must not hold up the others or the run.
            auto& noted = seen.unmarked[meta.uid];
            if (why.code == errc::conflict) continue;
            noted = why.text;
            hints_.refused_marks[meta.uid] = {why.text, env_.time.now() + mark_pause};
            continue;
        }
        auto marked = model::decode<model::pod>(*answer, "Pod");
        if (!marked) co_return std::unexpected(marked.error());
        hints_.refused_marks.erase(meta.uid);
        gate_.wrote(key, kube::types::pod.kind, marked->metadata);
        replace_pod(seen, std::move(*marked));
    }
    co_return result<void>();
}

asio::awaitable<result<void>> actor::remove_application(const backend& kind, model::object_key job,
                                                        delete_application what) {
    const auto answer = co_await env_.api.remove(kind.resource(), job.namespace_, what.name,
                                                 kube::preconditions(what.uid));
    // A conflict (another uid under that name) does not prove that the application is gone: the
    // reconcile fails and is tried again.
    if (!answer && answer.error().code != errc::not_found)
        co_return std::unexpected(answer.error());
    log::info("application deleted",
              {{"job", job.text()},
               {"run", what.run},
               {"note", fmt::format("{} {}: {}", kind.resource().kind, what.name, what.why)}});
    co_return result<void>();
}

asio::awaitable<result<void>> actor::remove(view& seen, delete_application what) {
    const auto key = seen.job->metadata.key();
    auto removed = co_await remove_application(*seen.kind, key, what);
    if (!removed) co_return removed;
    hints_.deletion_answered[what.uid] = key;
    seen.deletion_answered.insert(what.uid);
    co_return result<void>();
}

asio::awaitable<result<void>> actor::delete_orphans(model::object_key key) {
    for (const auto& source : caches_.sources()) {
        const auto left = source->find(key);
        if (left && source->kind().adopts()) {
            auto removed = co_await remove_driver(source->kind(), key, *left);
            if (!removed) co_return removed;
            continue;
        }
        if (!left || left->run().empty() || left->metadata.controller_owner() ||
            left->metadata.deleting()) {
            continue;
        }
        auto removed =
            co_await remove_application(source->kind(), key,
                                        {key.name, left->metadata.uid, std::string(left->run()),
                                         "its BatchJob is gone and has left it behind"});
        if (!removed) co_return removed;
    }
    co_return result<void>();
}

asio::awaitable<result<void>> actor::delete_driver_of_earlier(
    std::shared_ptr<const model::batchjob> job) {
    const auto key = job->metadata.key();
    for (const auto& source : caches_.sources()) {
        if (!source->kind().adopts()) continue;
        const auto left = source->find(key);
        if (!left || left->owned_by(job->metadata)) continue;
        auto removed = co_await remove_driver(source->kind(), key, *left);
        if (!removed) co_return removed;
    }
    co_return result<void>();
}

/// The driver is not owned by its BatchJob, so no garbage collector deletes it. Without the job its
/// executors get no places.
asio::awaitable<result<void>> actor::remove_driver(const backend& kind, model::object_key key,
                                                   const application& left) {
    if (left.final() || left.metadata.deleting()) co_return result<void>();
    // The cache of jobs may be behind that of pods.
    const auto answer = co_await env_.api.get(kube::types::batchjob, key.namespace_, key.name,
                                              kube::shown_part::metadata);
    if (!answer && answer.error().code != errc::not_found) {
        co_return std::unexpected(answer.error());
    }
    if (answer) {
        const auto job = model::decode<model::metadata_only>(*answer, "BatchJob");
        if (!job) co_return std::unexpected(job.error());
        if (left.owned_by(job->metadata)) co_return result<void>();
    }
    co_return co_await remove_application(
        kind, key, {key.name, left.metadata.uid, std::string(left.run()), "its BatchJob is gone"});
}

asio::awaitable<result<void>> actor::remove_pods(view& seen, delete_pods what) {
    const auto key = seen.job->metadata.key();
    for (const auto& pod : what.pods) {
        kube::preconditions still(pod->metadata.uid);
        if (what.as_seen) still.resource_version = pod->metadata.resource_version;
        auto answer = co_await env_.api.remove(kube::types::pod, pod->metadata.namespace_,
                                               pod->metadata.name, std::move(still));
        if (!answer && answer.error().code != errc::not_found) {
            co_return std::unexpected(answer.error());
        }
        log::info("left-over pod deleted", {{"job", key.text()},
                                            {"run", pod->metadata.annotation(names::run)},
                                            {"pod", pod->metadata.key().text()},
                                            {"note", what.why}});
        numbers_.leftover_pod_deleted();
        if (caches_.find_pod(pod->metadata.key())) {
            hints_.deletion_answered[pod->metadata.uid] = key;
        }
        seen.deletion_answered.insert(pod->metadata.uid);
    }
    co_return result<void>();
}

}  // namespace esi::batchjob
