#include "scheduling/act.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.h"
#include "base/wait.h"
#include "controller/finalizers.h"
#include "controller/patch_status.h"
#include "kube/patch.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/fit_status.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using kube::json;
using model::object_key;
namespace names = model::names;
namespace types = kube::types;

template <class T>
result<std::shared_ptr<const T>> decoded(const std::string& text, std::string_view what) {
    auto out = model::decode<T>(text, what);
    if (!out) return std::unexpected(std::move(out).error());
    return std::make_shared<const T>(std::move(*out));
}

error changed(const std::string& what) {
    return error{errc::conflict, what + " was changed meanwhile"};
}

json clearing_patch() {
    return json{{"spec", {{"activeScheduling", nullptr}, {"creationRequest", nullptr}}}};
}

json hold_patch(const object_key& holder, const json& token) {
    auto text = [&](const std::string& value) {
        return token.is_null() ? json(nullptr) : json(value);
    };
    return json{{"metadata",
                 {{"labels",
                   {{std::string(names::active_scheduling_name), text(holder.name)},
                    {std::string(names::active_scheduling_namespace), text(holder.namespace_)}}},
                  {"annotations", {{std::string(names::hold), token}}}}}};
}

}  // namespace

result<controller::outcome> tried_again(error why) {
    // A guard that failed, or the object was deleted: the watch shows the rest.
    if (why.code == errc::not_found) why.code = errc::conflict;
    return std::unexpected(std::move(why));
}

actor::actor(controller::environment& env, controller::write_gate& gate,
             const kube::store<model::testbed>& testbeds)
    : env_(env),
      gate_(gate),
      testbeds_(testbeds),
      reads_(env.api, env.options.namespaces),
      notes_(env) {}

asio::awaitable<result<void>> actor::perform(self_pointer self, decision what, live_facts& live) {
    if (!std::holds_alternative<wait>(what.next)) notes_.count_action(what.next);
    co_return co_await std::visit(
        overloaded{
            [&](wait&) { return report(self, std::move(what.status), live); },
            [&](commit& one) { return take(self, std::move(one), std::move(what.status), live); },
            [&](auto& one) { return take(self, std::move(one), live); }},
        what.next);
}

// --- live reads ---

asio::awaitable<result<void>> actor::refresh_testbed(object_key key, live_facts& live) {
    auto read = co_await reads_.fetch_testbed(key);
    if (!read) co_return std::unexpected(std::move(read).error());
    live.newer.testbeds[key] = std::move(*read);
    live.proven.testbed = env_.time.now();
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::refresh_job(object_key key, live_facts& live) {
    auto read = co_await reads_.fetch_job(key);
    if (!read) co_return std::unexpected(std::move(read).error());
    live.newer.jobs[key] = std::move(*read);
    live.proven.jobs.insert(key);
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::refresh_self(self_pointer self, live_facts& live) {
    auto read = co_await reads_.fetch_scheduling(self->metadata.key());
    if (!read) co_return std::unexpected(std::move(read).error());
    if (!*read || (*read)->metadata.uid != self->metadata.uid) {
        co_return fail(errc::not_found, scheduling_text(self->metadata.key()) + " is gone");
    }
    live.newer.self = std::move(*read);
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::take(self_pointer, read_testbed what, live_facts& live) {
    co_return co_await refresh_testbed(what.key, live);
}

asio::awaitable<result<void>> actor::take(self_pointer, read_job what, live_facts& live) {
    co_return co_await refresh_job(what.key, live);
}

asio::awaitable<result<void>> actor::take(self_pointer, read_pods what, live_facts& live) {
    auto pods = co_await reads_.fetch_pods_of(what.testbed, what.jobs);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    live.proven.pods = pods_of_jobs{{what.jobs.begin(), what.jobs.end()}, std::move(*pods)};
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::take(self_pointer, read_release what, live_facts& live) {
    for (const auto& key : what.jobs) {
        auto done = co_await refresh_job(key, live);
        if (!done) co_return done;
    }
    auto testbed = co_await refresh_testbed(what.testbed, live);
    if (!testbed) co_return testbed;
    auto pods = co_await reads_.fetch_pods_of(what.testbed, what.jobs);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    auto missed = co_await reads_.find_missed_pods(std::move(what.pods), *pods);
    if (!missed) co_return missed;
    live.proven.pods_of_release = std::move(*pods);
    live.proven.release = true;
    co_return result<void>{};
}

// --- writes of the Scheduling itself ---

asio::awaitable<result<bool>> actor::write_status(self_pointer self, write kind,
                                                  model::scheduling_status wanted,
                                                  live_facts& live) {
    live.proven.before(kind);
    auto written = co_await controller::patch_status<model::scheduling>(
        {env_.api, types::scheduling, gate_, fit_status}, self, std::move(wanted),
        controller::room_for_status(*self));
    if (!written) {
        if (written.error().code != errc::conflict) co_return std::unexpected(written.error());
        auto read = co_await refresh_self(self, live);
        if (!read) co_return std::unexpected(std::move(read).error());
        co_return std::unexpected(std::move(written).error());
    }
    if (!*written) co_return false;
    live.newer.self = std::make_shared<const model::scheduling>(std::move(**written));
    live.proven.after_success(kind, env_.time.now());
    co_return true;
}

asio::awaitable<result<void>> actor::report(self_pointer self, model::scheduling_status wanted,
                                            live_facts& live) {
    auto written = co_await write_status(self, write::report, std::move(wanted), live);
    if (!written) co_return std::unexpected(std::move(written).error());
    if (*written) notes_.tell_report(*self, *live.newer.self);
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::take(self_pointer self, commit what,
                                          model::scheduling_status wanted, live_facts& live) {
    const auto kind = self->status.releasing.empty() ? write::commit : write::release_step;
    auto written = co_await write_status(self, kind, std::move(wanted), live);
    if (!written) co_return std::unexpected(std::move(written).error());
    if (*written) notes_.tell_commit(*self, what, *live.newer.self);
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::write_finalizers(self_pointer self,
                                                      std::vector<std::string> finalizers,
                                                      live_facts& live) {
    const auto& meta = self->metadata;
    json patch{{"metadata", {{"finalizers", std::move(finalizers)}}}};
    auto body = kube::guarded(std::move(patch), meta.uid, meta.resource_version);
    live.proven.before(write::finalizers);
    auto answer = co_await env_.api.patch(types::scheduling, meta.namespace_, meta.name,
                                          kube::patch_kind::merge, std::move(body));
    if (!answer) {
        if (answer.error().code != errc::conflict) co_return std::unexpected(answer.error());
        auto read = co_await refresh_self(self, live);
        if (!read) co_return read;
        co_return std::unexpected(std::move(answer).error());
    }
    auto now = decoded<model::scheduling>(*answer, types::scheduling.kind);
    if (!now) co_return std::unexpected(std::move(now).error());
    gate_.wrote(meta.key(), types::scheduling.kind, (*now)->metadata);
    live.newer.self = std::move(*now);
    live.proven.after_success(write::finalizers, env_.time.now());
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::take(self_pointer self, add_finalizer, live_facts& live) {
    auto finalizers = self->metadata.finalizers;
    finalizers.emplace_back(names::scheduling_finalizer);
    co_return co_await write_finalizers(self, std::move(finalizers), live);
}

asio::awaitable<result<void>> actor::take(self_pointer self, remove_finalizer, live_facts& live) {
    auto all = co_await controller::all_finalizers(env_.api, types::scheduling, self->metadata);
    if (!all) co_return std::unexpected(std::move(all).error());
    std::erase(*all, std::string(names::scheduling_finalizer));
    co_return co_await write_finalizers(self, std::move(*all), live);
}

asio::awaitable<result<void>> actor::take(self_pointer self, delete_self, live_facts& live) {
    const auto& meta = self->metadata;
    auto done = co_await env_.api.remove(types::scheduling, meta.namespace_, meta.name,
                                         {meta.uid, meta.resource_version});
    if (!done) {
        auto read = co_await refresh_self(self, live);
        if (!read) co_return read;
        co_return std::unexpected(std::move(done).error());
    }
    notes_.tell(*self, event_reason::expired, "deleted, as its ttlSecondsAfterFinished are over");
    co_return co_await refresh_self(self, live);
}

// --- writes of the Testbed ---

asio::awaitable<result<model::testbed>> actor::write_hold(object_key key, json patch,
                                                          std::string uid,
                                                          std::string resource_version) {
    // The object that the guard names is in the cache, as a rule: then the answer need not have all
    // of it, as the patch changes nothing but its metadata.
    const auto before = testbeds_.find(key);
    const bool cached = before && before->metadata.uid == uid &&
                        before->metadata.resource_version == resource_version;
    auto body = kube::guarded(std::move(patch), uid, resource_version);
    auto answer = co_await env_.api.patch(
        types::testbed, key.namespace_, key.name, kube::patch_kind::merge, std::move(body),
        std::string(), cached ? kube::shown_part::metadata : kube::shown_part::whole);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    if (!cached) co_return model::decode<model::testbed>(*answer, "Testbed");
    auto written = model::decode<model::metadata_only>(*answer, "Testbed");
    if (!written) co_return std::unexpected(std::move(written).error());
    if (written->metadata.generation != before->metadata.generation) {
        // An admission webhook has changed the spec on the way.
        auto text = co_await env_.api.get(types::testbed, key.namespace_, key.name);
        if (!text) co_return std::unexpected(std::move(text).error());
        co_return model::decode<model::testbed>(*text, "Testbed");
    }
    auto after = *before;
    written->metadata.undecodable = before->metadata.undecodable;
    after.metadata = std::move(written->metadata);
    co_return after;
}

asio::awaitable<result<model::testbed>> actor::clear_hold(object_key key, std::string uid,
                                                          std::string resource_version) {
    co_return co_await write_hold(key, hold_patch({}, nullptr), uid, resource_version);
}

asio::awaitable<result<void>> actor::take_testbed_answer(self_pointer self, write kind,
                                                         object_key key,
                                                         result<model::testbed> answer,
                                                         live_facts& live) {
    if (!answer) {
        const auto code = answer.error().code;
        if (code != errc::conflict && code != errc::not_found) {
            co_return std::unexpected(std::move(answer).error());
        }
        auto read = co_await refresh_testbed(key, live);
        if (!read) co_return read;
        co_return std::unexpected(changed(testbed_text(key)));
    }
    gate_.wrote(self->metadata.key(), types::testbed.kind, answer->metadata);
    live.newer.testbeds[key] = std::make_shared<const model::testbed>(std::move(*answer));
    live.proven.after_success(kind, env_.time.now());
    co_return result<void>{};
}

asio::awaitable<result<void>> actor::take(self_pointer self, hold_testbed what, live_facts& live) {
    if (!what.beside) co_return co_await hold(std::move(self), std::move(what), live);
    const auto into = [](result<void>& answer, done request) -> asio::awaitable<void> {
        answer = co_await std::move(request);
    };
    result<void> held;
    // If it was not acquired, the next decision acquires it again, on its own.
    result<void> acquired;
    std::vector<asio::awaitable<void>> both;
    both.push_back(into(acquired, take(self, *what.beside, live)));
    both.push_back(into(held, hold(self, what, live)));
    co_await run_together(std::move(both));
    co_return held;
}

asio::awaitable<result<void>> actor::hold(self_pointer self, hold_testbed what, live_facts& live) {
    live.proven.before(write::hold);
    auto answer = co_await write_hold(what.key, hold_patch(self->metadata.key(), what.token),
                                      what.uid, what.resource_version);
    auto done = co_await take_testbed_answer(self, write::hold, what.key, std::move(answer), live);
    if (!done) co_return done;
    notes_.tell(*self, event_reason::held, "holds " + testbed_text(what.key));
    co_return done;
}

asio::awaitable<result<void>> actor::take(self_pointer self, remove_hold what, live_facts& live) {
    live.proven.before(write::remove_hold);
    auto answer = co_await clear_hold(what.key, what.uid, what.resource_version);
    auto done =
        co_await take_testbed_answer(self, write::remove_hold, what.key, std::move(answer), live);
    if (!done) co_return done;
    notes_.tell(*self, event_reason::hold_removed, "no longer holds " + testbed_text(what.key));
    co_return done;
}

// --- the Testbed of the Scheduling's own claim ---

asio::awaitable<result<void>> actor::take(self_pointer self, make_testbed what, live_facts& live) {
    const auto& meta = self->metadata;
    json owner{{"apiVersion", types::scheduling.api_version()},
               {"kind", types::scheduling.kind},
               {"name", meta.name},
               {"uid", meta.uid},
               {"controller", true},
               {"blockOwnerDeletion", true}};
    json object{
        {"apiVersion", types::testbed.api_version()},
        {"kind", types::testbed.kind},
        {"metadata",
         {{"namespace", what.key.namespace_},
          {"name", what.key.name},
          {"ownerReferences", json::array({std::move(owner)})}}},
        {"spec", {{"claim", model::encode(what.claim)}, {"isolation", model::isolation::none}}}};
    live.proven.before(write::claim);
    auto answer = co_await env_.api.create(types::testbed, what.key.namespace_, std::move(object));
    if (!answer) {
        if (answer.error().code != errc::already_exists) co_return std::unexpected(answer.error());
        // Made by an earlier process of ours, or by another client: the next decision finds out.
        auto read = co_await refresh_testbed(what.key, live);
        if (!read) co_return read;
        co_return std::unexpected(changed(testbed_text(what.key)));
    }
    auto made = model::decode<model::testbed>(*answer, "Testbed");
    auto done = co_await take_testbed_answer(self, write::claim, what.key, std::move(made), live);
    if (!done) co_return done;
    notes_.tell(*self, event_reason::claim_made,
                testbed_text(what.key) + " is made for the claim, which gets all places or none");
    co_return done;
}

asio::awaitable<result<void>> actor::take(self_pointer self, steer_claim what, live_facts& live) {
    json since = what.unused_since.empty() ? json(nullptr) : json(what.unused_since);
    json patch{{"metadata", {{"annotations", {{std::string(names::unused_since), since}}}}},
               {"spec", {{"claim", {{"priority", what.priority}, {"suspend", what.suspend}}}}}};
    auto body = kube::guarded(std::move(patch), what.uid, what.resource_version);
    live.proven.before(write::claim);
    auto answer = co_await env_.api.patch(types::testbed, what.key.namespace_, what.key.name,
                                          kube::patch_kind::merge, std::move(body));
    auto now = answer ? model::decode<model::testbed>(*answer, "Testbed")
                      : result<model::testbed>(std::unexpected(answer.error()));
    co_return co_await take_testbed_answer(self, write::claim, what.key, std::move(now), live);
}

asio::awaitable<result<void>> actor::take(self_pointer self, remove_testbed what,
                                          live_facts& live) {
    live.proven.before(write::claim);
    const auto answer = co_await env_.api.remove(types::testbed, what.key.namespace_, what.key.name,
                                                 {what.uid, what.resource_version});
    if (!answer && answer.error().code != errc::conflict &&
        answer.error().code != errc::not_found) {
        co_return std::unexpected(answer.error());
    }
    auto read = co_await refresh_testbed(what.key, live);
    if (!read) co_return read;
    if (!answer) co_return std::unexpected(changed(testbed_text(what.key)));
    notes_.tell(*self, event_reason::claim_returned,
                fmt::format("{} is deleted: {}", testbed_text(what.key), what.why));
    co_return result<void>{};
}

// --- writes of a BatchJob ---

asio::awaitable<result<void>> actor::write_job(self_pointer self, write kind, object_key key,
                                               json patch, live_facts& live) {
    live.proven.before(kind);
    auto answer = co_await env_.api.patch(types::batchjob, key.namespace_, key.name,
                                          kube::patch_kind::merge, std::move(patch));
    if (!answer) {
        const auto code = answer.error().code;
        if (code != errc::conflict && code != errc::not_found) {
            co_return std::unexpected(answer.error());
        }
        auto read = co_await refresh_job(key, live);
        if (!read) co_return read;
        co_return std::unexpected(changed(job_text(key)));
    }
    auto now = decoded<model::batchjob>(*answer, "BatchJob");
    if (!now) co_return std::unexpected(std::move(now).error());
    gate_.wrote(self->metadata.key(), types::batchjob.kind, (*now)->metadata);
    live.newer.jobs[key] = std::move(*now);
    live.proven.after_success(kind, env_.time.now());
    co_return result<void>{};
}

asio::awaitable<result<model::batchjob>> actor::clear_job(object_key key, std::string uid,
                                                          std::string resource_version) {
    auto patch = kube::guarded(clearing_patch(), uid, resource_version);
    auto answer = co_await env_.api.patch(types::batchjob, key.namespace_, key.name,
                                          kube::patch_kind::merge, std::move(patch));
    if (!answer) co_return std::unexpected(std::move(answer).error());
    co_return model::decode<model::batchjob>(*answer, "BatchJob");
}

asio::awaitable<result<void>> actor::take(self_pointer self, acquire_job what, live_facts& live) {
    const auto& meta = self->metadata;
    json patch{{"spec",
                {{"activeScheduling",
                  {{"namespace", meta.namespace_}, {"name", meta.name}, {"uid", meta.uid}}},
                 {"creationRequest", nullptr}}}};
    auto body = kube::guarded(std::move(patch), what.uid, what.resource_version);
    auto done = co_await write_job(self, write::acquire, what.key, std::move(body), live);
    if (!done) co_return done;
    notes_.tell_job(*self, event_reason::acquired, {what.key, what.uid, "", "acquired"});
    co_return done;
}

asio::awaitable<result<void>> actor::take(self_pointer self, request_creation what,
                                          live_facts& live) {
    const auto& order = what.request;
    json patch{{"spec", {{"creationRequest", model::encode(order)}}}};
    auto body = kube::guarded(std::move(patch), what.uid, what.resource_version);
    auto done = co_await write_job(self, write::change_job, what.key, std::move(body), live);
    if (!done) co_return done;
    notes_.tell_job(*self, event_reason::requested,
                    {what.key, what.uid, order.run,
                     fmt::format("to be started on {} of {}, run {}", slots_text(order.slot_ids),
                                 testbed_text(order.testbed_name), order.run)});
    co_return done;
}

asio::awaitable<result<void>> actor::take(self_pointer self, release_job what, live_facts& live) {
    auto body = kube::guarded(clearing_patch(), what.uid, what.resource_version);
    auto done = co_await write_job(self, write::release_job, what.key, std::move(body), live);
    if (!done) co_return done;
    notes_.tell_job(*self, event_reason::job_released, {what.key, what.uid, "", "released"});
    co_return done;
}

asio::awaitable<result<void>> actor::take(self_pointer self, reset_job what, live_facts& live) {
    json patch{{"metadata", {{"annotations", {{std::string(names::reset), what.token}}}}},
               {"spec", {{"creationRequest", nullptr}}}};
    auto body = kube::guarded(std::move(patch), what.uid, what.resource_version);
    auto done = co_await write_job(self, write::change_job, what.key, std::move(body), live);
    if (!done) co_return done;
    notes_.tell_job(*self, event_reason::retrying,
                    {what.key, what.uid, "", "reset, to be started again"});
    co_return done;
}

}  // namespace esi::scheduling
