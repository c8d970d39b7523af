#include "batchjob/driver_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "batchjob/backends/spark_driver/backend.h"
#include "model/conditions.h"
#include "model/json.h"
#include "model/names.h"

namespace esi::batchjob::drivers {

namespace names = model::names;

namespace {

/// How soon it is checked again whether an object of the name is gone.
constexpr seconds name_pause{2};
/// How soon a refused create is tried again: a quota may have become larger.
constexpr seconds refused_pause{30};

kube::watch_scope labelled() {
    kube::watch_scope out;
    out.label_selector = fmt::format("{}=enabled", names::gangs);
    return out;
}

}  // namespace

driver_jobs::driver_jobs(controller::environment& env, batchjob::caches& from)
    : env_(env),
      caches_(from),
      namespaces_(env.api, env.time, kube::types::name_space, labelled()),
      loop_("drivers", env.time, env.executor, env.numbers,
            [this](model::object_key key) { return reconcile(std::move(key)); }) {
    listen();
}

controller::operator_part::cache driver_jobs::cache() {
    return controller::operator_part::cache::of("namespaces", namespaces_);
}

void driver_jobs::listen() {
    caches_.on_pod_change([this](const kube::change<model::pod>& what) {
        // A pod whose label was changed is no driver any more, and is forgotten.
        const auto is_driver = [](const auto& pod) { return pod && spark_driver::is_driver(*pod); };
        if (!is_driver(what.before) && !is_driver(what.after)) return;
        loop_.enqueue((what.after ? what.after : what.before)->metadata.key());
    });
    caches_.on_job_change([this](const kube::change<model::batchjob>& what) {
        const auto& job = what.after ? *what.after : *what.before;
        if (job.spec.spark_driver) loop_.enqueue(job.metadata.key());
    });
    caches_.on_scheduling_change([this](const kube::change<model::scheduling>& what) {
        const auto key = (what.after ? what.after : what.before)->metadata.key();
        const auto pod = caches_.find_pod(key);
        if (pod && waits(*pod)) loop_.enqueue(key);
    });
    namespaces_.items().on_change([this](const kube::change<model::metadata_only>& what) {
        const auto& name = (what.after ? what.after : what.before)->metadata.name;
        // All job pods are checked: people change labels of namespaces, so seldom that an index by
        // namespace would cost more than it saves.
        caches_.each_pod([&](const model::pod& pod) {
            if (pod.metadata.namespace_ == name && waits(pod)) loop_.enqueue(pod.metadata.key());
        });
    });
}

bool driver_jobs::enabled(std::string_view ns) const {
    return namespaces_.items().find({"", std::string(ns)}) != nullptr;
}

asio::awaitable<result<controller::outcome>> driver_jobs::reconcile(model::object_key key) {
    const auto driver = caches_.find_pod(key);
    if (!driver || !waits(*driver) || !enabled(key.namespace_)) {
        told_.forget(key);
        co_return controller::outcome();
    }
    auto request = read_request(*driver);
    if (!request) {
        co_return tell(*driver, true, request.error().reason, std::move(request.error().text));
    }
    co_return co_await make(driver, std::move(*request));
}

asio::awaitable<result<controller::outcome>> driver_jobs::make(
    std::shared_ptr<const model::pod> driver, driver_request of) {
    const auto key = driver->metadata.key();
    const auto job = caches_.find_job(key);
    const auto* type = &kube::types::batchjob;
    auto found =
        co_await ensure(*type, *driver, job ? &job->metadata : nullptr, make_batchjob(*driver));
    if (found && *found == standing::there) {
        type = &kube::types::scheduling;
        const auto plan = caches_.find_scheduling(key);
        found = co_await ensure(*type, *driver, plan ? &plan->metadata : nullptr,
                                make_scheduling(*driver, of));
    }
    if (!found) {
        const auto& why = found.error();
        if (why.transient() || why.code == errc::conflict || why.code == errc::not_leader) {
            co_return std::unexpected(why);
        }
        auto out = tell(*driver, true, "Refused", why.text, "Refused");
        if (!out.after || *out.after > refused_pause) {
            out = controller::outcome::again_in(refused_pause);
        }
        co_return out;
    }
    if (*found == standing::going) {
        tell(*driver, false, "Waiting",
             fmt::format("the {} of the earlier driver is not gone yet", type->kind));
        co_return controller::outcome::again_in(name_pause);
    }
    if (*found == standing::taken) {
        auto out = tell(*driver, true, "NameTaken",
                        fmt::format("{} {} exists already and is not of this driver; ESI does not "
                                    "touch it: delete it, or make the driver again with another "
                                    "name (spark.kubernetes.driver.pod.name)",
                                    type->kind, key.text()));
        if (!out.after) out = controller::outcome::again_in(words_pause);
        co_return out;
    }
    co_return report_wait(*driver);
}

asio::awaitable<result<driver_jobs::standing>> driver_jobs::ensure(const kube::resource_type& type,
                                                                   const model::pod& driver,
                                                                   const model::object_meta* known,
                                                                   json body) {
    const auto& meta = driver.metadata;
    std::optional<model::object_meta> read;
    if (!known) {
        kube::create_options how;
        how.field_validation = "Strict";
        const auto made = co_await env_.api.create(type, meta.namespace_, std::move(body), how);
        if (made) {
            log::info("made for a driver", {{"pod", meta.key().text()}, {"kind", type.kind}});
            co_return standing::there;
        }
        if (made.error().code != errc::already_exists) co_return std::unexpected(made.error());
        const auto text =
            co_await env_.api.get(type, meta.namespace_, meta.name, kube::shown_part::metadata);
        if (!text && text.error().code == errc::not_found) co_return standing::going;
        if (!text) co_return std::unexpected(text.error());
        auto found = model::decode<model::metadata_only>(*text, std::string(type.kind));
        if (!found) co_return std::unexpected(found.error());
        read = std::move(found->metadata);
        known = &*read;
    }
    bool is_of_earlier = false;
    for (const auto& owner : known->owner_references) {
        if (owner.kind != "Pod" || owner.name != meta.name) continue;
        if (owner.uid == meta.uid) co_return known->deleting() ? standing::going : standing::there;
        is_of_earlier = true;
    }
    // An object of an earlier pod of this name goes with that pod.
    co_return is_of_earlier ? standing::going : standing::taken;
}

/// Why the driver has not started: the wait of its Scheduling, or the failure of its run.
controller::outcome driver_jobs::report_wait(const model::pod& driver) {
    const auto key = driver.metadata.key();
    const auto job = caches_.find_job(key);
    if (job && model::is_final(job->status.state) && !job->status.problems.empty()) {
        return tell(driver, true, job->status.reason.empty() ? "Failed" : job->status.reason,
                    job->status.problems.front() + ". Delete the driver, and make it again");
    }
    const auto plan = caches_.find_scheduling(key);
    const auto* acquired =
        plan ? model::find_condition(plan->status.conditions, model::condition_type::acquired)
             : nullptr;
    if (!acquired || acquired->status != "False" || acquired->message.empty()) return {};
    return tell(driver, false, "Waiting",
                fmt::format("{}: {}", acquired->reason, acquired->message), acquired->reason);
}

controller::outcome driver_jobs::tell(const model::pod& driver, bool warning,
                                      std::string_view reason, std::string text,
                                      std::string_view about) {
    const auto& meta = driver.metadata;
    const auto words =
        told_.ask(meta.key(), meta.uid, about.empty() ? text : about, text, env_.time.now());
    if (words.later) return controller::outcome::again_in(*words.later);
    if (!words.now) return {};
    const controller::event_subject subject(kube::types::pod, meta);
    if (warning) {
        env_.events.warning(subject, reason, "StartDriver", std::move(text));
    } else {
        env_.events.normal(subject, reason, "StartDriver", std::move(text));
    }
    return {};
}

}  // namespace esi::batchjob::drivers
