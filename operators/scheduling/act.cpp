#include "scheduling/act.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "kube/live_list.h"
#include "kube/patch.h"
#include "model/json.h"
#include "model/names.h"
#include "scheduling/claim.h"
#include "scheduling/report.h"
#include "scheduling/words.h"

namespace esi::scheduling {

namespace {

using kube::json;
using model::object_key;
namespace condition_type = model::condition_type;
namespace names_of = model::names;
namespace types = kube::types;

/// What was read before a write may be outdated by its effects.
void wrote(newer& fresh) {
    fresh.testbed_read = false;
    fresh.jobs_read.clear();
    fresh.pods_read.reset();
}

template <class T>
result<std::shared_ptr<const T>> decoded(const std::string& text, std::string_view what) {
    auto out = model::decode<T>(text, what);
    if (!out) return std::unexpected(std::move(out).error());
    return std::make_shared<const T>(std::move(*out));
}

template <class T>
result<std::shared_ptr<const T>> found_or_null(result<std::string> answer, std::string_view what) {
    if (!answer) {
        if (answer.error().code == errc::not_found) return std::shared_ptr<const T>();
        return std::unexpected(std::move(answer).error());
    }
    return decoded<T>(*answer, what);
}

error changed(const std::string& what) {
    return error{errc::conflict, what + " was changed meanwhile"};
}

/// Selects the pods in slots of a Testbed.
std::string job_pods_of(const object_key& testbed) {
    return fmt::format("{}={},{}={},!{}", names_of::testbed, testbed.name,
                       names_of::testbed_namespace, testbed.namespace_, names_of::ghost);
}

bool completes(const model::scheduling& self, const model::scheduling_status& wanted) {
    return wanted.state == model::scheduling_state::completed && self.status.state != wanted.state;
}

/// Others end this wait, by going on.
bool waits_for_others(const model::condition& acquired) {
    static constexpr std::string_view reasons_of_others[] = {
        reasons::testbed_held,  reasons::job_held,          reasons::older_first,
        reasons::job_not_ready, reasons::testbed_not_ready, reasons::priority_first};
    return std::ranges::find(reasons_of_others, acquired.reason) != std::end(reasons_of_others);
}

/// What a line of the log says of a step; empty for a reason to wait.
std::string_view words_of(std::string_view reason) {
    static const std::map<std::string_view, std::string_view> words{
        {"Held", "testbed held"},
        {"Acquired", "job acquired"},
        {"Assigned", "slots assigned"},
        {"Requested", "start ordered"},
        {"Ending", "end of the run begun"},
        {"JobEnded", "run ended"},
        {"Retrying", "job reset for its next attempt"},
        {"Completed", "all jobs have ended"},
        {"Releasing", "release begun"},
        {"JobReleased", "job released"},
        {"AssignmentsCleared", "assignments cleared"},
        {"HoldRemoved", "hold removed"},
        {"Released", "all released"},
        {"Expired", "scheduling deleted"}};
    const auto found = words.find(reason);
    return found == words.end() ? std::string_view() : found->second;
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
                   {{std::string(names_of::active_scheduling_name), text(holder.name)},
                    {std::string(names_of::active_scheduling_namespace), text(holder.namespace_)}}},
                  {"annotations", {{std::string(names_of::hold), token}}}}}};
}

}  // namespace

executor::executor(controller::environment& in, controller::write_gate& gate)
    : in_(in),
      gate_(gate),
      waited_(
          in.numbers.histogram("esi_scheduling_wait_seconds",
                               "From the creation of a Scheduling to the start of its first job.",
                               {1, 5, 15, 60, 300, 900, 3600, 14400, 86400})) {}

void executor::tell(const model::scheduling& about, std::string_view reason,
                    const std::string& note, bool bad) {
    controller::event_subject subject(types::scheduling, about.metadata);
    if (bad) {
        in_.events.warning(subject, reason, reason, note);
    } else {
        in_.events.normal(subject, reason, reason, note);
    }
    const auto words = words_of(reason);
    log::write(bad ? log::level::warn : log::level::info,
               words.empty() ? "scheduling waits" : words,
               {{"reason", words.empty() ? reason : std::string_view()},
                {"scheduling", about.metadata.key().text()},
                {"testbed", testbed_of(about).text()},
                {"note", note}});
}

void executor::count(const model::scheduling& before, const step::commit& what,
                     const model::scheduling& after) {
    if (!before.status.started && after.status.started && before.status.assignments.empty() &&
        before.metadata.creation_timestamp) {
        const auto waited = after.status.started->value - before.metadata.creation_timestamp->value;
        waited_.Observe(std::chrono::duration<double>(waited).count());
    }
    for (const auto& job : what.jobs) {
        if (job.outcome.empty()) continue;
        in_.numbers
            .counter("esi_scheduling_jobs_ended_total",
                     "Assignments of jobs that ended, by how they did.", {{"outcome", job.outcome}})
            .Increment();
    }
}

void executor::tell_completed(const model::scheduling& about) {
    const auto& counts = about.status.progress;
    tell(about, "Completed", counts ? text_of(*counts) : "all jobs have ended",
         counts && counts->failed > 0);
}

void executor::tell_job(const model::scheduling& about, std::string_view reason,
                        const step::job_note& what) {
    model::object_meta meta;
    meta.namespace_ = what.job.namespace_;
    meta.name = what.job.name;
    meta.uid = what.uid;
    controller::event_subject own(types::scheduling, about.metadata);
    controller::event_subject job(types::batchjob, meta);
    const auto of_own = job_text(what.job) + ": " + what.note;
    const auto of_job = scheduling_text(about.metadata.key()) + ": " + what.note;
    if (what.bad) {
        in_.events.warning(own, reason, reason, of_own, job);
        in_.events.warning(job, reason, reason, of_job, own);
    } else {
        in_.events.normal(own, reason, reason, of_own, job);
        in_.events.normal(job, reason, reason, of_job, own);
    }
    log::write(what.bad ? log::level::warn : log::level::info, words_of(reason),
               {{"scheduling", about.metadata.key().text()},
                {"testbed", testbed_of(about).text()},
                {"job", what.job.text()},
                {"run", what.run},
                {"note", what.note}});
}

asio::awaitable<result<std::shared_ptr<const model::testbed>>> executor::read_testbed(
    object_key key) {
    if (!model::may_exist(key)) co_return std::shared_ptr<const model::testbed>();
    auto answer = co_await in_.api.get(types::testbed, key.namespace_, key.name);
    co_return found_or_null<model::testbed>(std::move(answer), "Testbed");
}

asio::awaitable<result<std::shared_ptr<const model::batchjob>>> executor::read_job(object_key key) {
    if (!model::may_exist(key)) co_return std::shared_ptr<const model::batchjob>();
    auto answer = co_await in_.api.get(types::batchjob, key.namespace_, key.name);
    co_return found_or_null<model::batchjob>(std::move(answer), "BatchJob");
}

asio::awaitable<result<std::shared_ptr<const model::scheduling>>> executor::read_scheduling(
    object_key key) {
    if (!model::may_exist(key)) co_return std::shared_ptr<const model::scheduling>();
    auto answer = co_await in_.api.get(types::scheduling, key.namespace_, key.name);
    co_return found_or_null<model::scheduling>(std::move(answer), "Scheduling");
}

asio::awaitable<result<std::vector<grid::pod_pointer>>> executor::read_job_pods(
    object_key testbed) {
    kube::list_options options;
    options.label_selector = job_pods_of(testbed);
    auto namespaces = in_.options.namespaces;
    if (namespaces.empty()) namespaces.emplace_back();
    std::vector<grid::pod_pointer> out;
    for (const auto& ns : namespaces) {
        auto pods = co_await kube::live_list<model::pod>(in_.api, types::pod, ns, options);
        // A namespace whose rights are gone holds up none of the others; a job that was assigned
        // there is read by itself, and waited for.
        if (!pods && pods.error().code == errc::forbidden && namespaces.size() > 1) continue;
        if (!pods) co_return std::unexpected(std::move(pods).error());
        for (auto& pod : *pods) out.push_back(std::make_shared<const model::pod>(std::move(pod)));
    }
    co_return out;
}

asio::awaitable<result<void>> executor::refresh_testbed(object_key key, newer& fresh) {
    auto read = co_await read_testbed(key);
    if (!read) co_return std::unexpected(std::move(read).error());
    fresh.testbeds[key] = std::move(*read);
    fresh.testbed_read = true;
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::refresh_job(object_key key, newer& fresh) {
    auto read = co_await read_job(key);
    if (!read) co_return std::unexpected(std::move(read).error());
    fresh.jobs[key] = std::move(*read);
    fresh.jobs_read.insert(key);
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::refresh_self(std::shared_ptr<const model::scheduling> self,
                                                     newer& fresh) {
    auto read = co_await read_scheduling(self->metadata.key());
    if (!read) co_return std::unexpected(std::move(read).error());
    if (!*read || (*read)->metadata.uid != self->metadata.uid) {
        co_return fail(errc::not_found, scheduling_text(self->metadata.key()) + " is gone");
    }
    fresh.self = std::move(*read);
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::refresh_pods(step::read_pods what, newer& fresh) {
    auto pods = co_await read_job_pods(what.testbed);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    fresh.pods_read = std::move(*pods);
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::refresh_release(step::read_release what, newer& fresh) {
    for (const auto& key : what.jobs) {
        auto done = co_await refresh_job(key, fresh);
        if (!done) co_return done;
    }
    auto testbed = co_await refresh_testbed(what.testbed, fresh);
    if (!testbed) co_return testbed;
    auto pods = co_await read_job_pods(what.testbed);
    if (!pods) co_return std::unexpected(std::move(pods).error());
    fresh.job_pods = std::move(*pods);
    fresh.release_read = true;
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::write_self(std::shared_ptr<const model::scheduling> self,
                                                   json patch, std::string subresource,
                                                   newer& fresh) {
    const auto& meta = self->metadata;
    auto body = kube::guarded(std::move(patch), meta.uid, meta.resource_version);
    auto answer = co_await in_.api.patch(types::scheduling, meta.namespace_, meta.name,
                                         kube::patch_kind::merge, std::move(body), subresource);
    if (!answer) {
        if (answer.error().code != errc::conflict) co_return std::unexpected(answer.error());
        auto read = co_await refresh_self(self, fresh);
        if (!read) co_return read;
        co_return std::unexpected(std::move(answer).error());
    }
    auto now = decoded<model::scheduling>(*answer, "Scheduling");
    if (!now) co_return std::unexpected(std::move(now).error());
    gate_.wrote(meta.key(), types::scheduling.kind, (*now)->metadata);
    fresh.self = std::move(*now);
    wrote(fresh);
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::write_status(std::shared_ptr<const model::scheduling> self,
                                                     model::scheduling_status wanted,
                                                     newer& fresh) {
    auto difference = kube::merge_difference(model::encode(self->status), model::encode(wanted));
    if (difference.empty()) co_return result<void>{};
    json patch{{"status", std::move(difference)}};
    co_return co_await write_self(self, std::move(patch), "status", fresh);
}

asio::awaitable<result<void>> executor::settle(std::shared_ptr<const model::scheduling> self,
                                               model::scheduling_status wanted, newer& fresh) {
    const auto* before = model::find_condition(self->status.conditions, condition_type::acquired);
    const auto* after = model::find_condition(wanted.conditions, condition_type::acquired);
    const bool waits =
        after != nullptr && after->status == "False" && wanted.releasing.empty() &&
        !is_over(wanted) &&
        (before == nullptr || before->reason != after->reason || before->message != after->message);
    std::string reason = waits ? after->reason : std::string();
    std::string note = waits ? after->message : std::string();
    const bool completed = completes(*self, wanted);
    // What no other Scheduling ends: somebody has to mend something.
    const bool bad = waits && after->reason != "RetryDelayed" && after->reason != "Resetting" &&
                     after->reason != reasons::suspended && !waits_for_others(*after);
    auto done = co_await write_status(self, std::move(wanted), fresh);
    if (!done) co_return done;
    if (!fresh.self || fresh.self->metadata.resource_version == self->metadata.resource_version) {
        co_return done;
    }
    if (waits) tell(*self, reason, note, bad);
    if (completed) tell_completed(*fresh.self);
    co_return done;
}

asio::awaitable<result<void>> executor::write_finalizers(
    std::shared_ptr<const model::scheduling> self, std::vector<std::string> finalizers,
    newer& fresh) {
    json patch{{"metadata", {{"finalizers", std::move(finalizers)}}}};
    co_return co_await write_self(self, std::move(patch), "", fresh);
}

asio::awaitable<result<void>> executor::take_hold_answer(
    std::shared_ptr<const model::scheduling> self, object_key key, result<model::testbed> answer,
    newer& fresh) {
    if (!answer) {
        const auto code = answer.error().code;
        if (code != errc::conflict && code != errc::not_found) {
            co_return std::unexpected(std::move(answer).error());
        }
        auto read = co_await refresh_testbed(key, fresh);
        if (!read) co_return read;
        co_return std::unexpected(changed(testbed_text(key)));
    }
    gate_.wrote(self->metadata.key(), types::testbed.kind, answer->metadata);
    fresh.testbeds[key] = std::make_shared<const model::testbed>(std::move(*answer));
    wrote(fresh);
    co_return result<void>{};
}

asio::awaitable<result<void>> executor::write_job(std::shared_ptr<const model::scheduling> self,
                                                  object_key key, json patch, newer& fresh) {
    auto answer = co_await in_.api.patch(types::batchjob, key.namespace_, key.name,
                                         kube::patch_kind::merge, std::move(patch));
    if (!answer) {
        const auto code = answer.error().code;
        if (code != errc::conflict && code != errc::not_found) {
            co_return std::unexpected(answer.error());
        }
        auto read = co_await refresh_job(key, fresh);
        if (!read) co_return read;
        co_return std::unexpected(changed(job_text(key)));
    }
    auto now = decoded<model::batchjob>(*answer, "BatchJob");
    if (!now) co_return std::unexpected(std::move(now).error());
    gate_.wrote(self->metadata.key(), types::batchjob.kind, (*now)->metadata);
    fresh.jobs[key] = std::move(*now);
    wrote(fresh);
    co_return result<void>{};
}

asio::awaitable<result<model::batchjob>> executor::clear_job(object_key key, std::string uid,
                                                             std::string resource_version) {
    auto patch = kube::guarded(clearing_patch(), uid, resource_version);
    auto answer = co_await in_.api.patch(types::batchjob, key.namespace_, key.name,
                                         kube::patch_kind::merge, std::move(patch));
    if (!answer) co_return std::unexpected(std::move(answer).error());
    co_return model::decode<model::batchjob>(*answer, "BatchJob");
}

asio::awaitable<result<model::testbed>> executor::write_hold(object_key key, json patch,
                                                             std::string uid,
                                                             std::string resource_version) {
    auto body = kube::guarded(std::move(patch), uid, resource_version);
    auto answer = co_await in_.api.patch(types::testbed, key.namespace_, key.name,
                                         kube::patch_kind::merge, std::move(body));
    if (!answer) co_return std::unexpected(std::move(answer).error());
    co_return model::decode<model::testbed>(*answer, "Testbed");
}

asio::awaitable<result<model::testbed>> executor::clear_hold(object_key key, std::string uid,
                                                             std::string resource_version) {
    co_return co_await write_hold(key, hold_patch({}, nullptr), uid, resource_version);
}

asio::awaitable<result<void>> executor::perform(std::shared_ptr<const model::scheduling> self,
                                                decision what, newer& fresh) {
    in_.numbers
        .counter("esi_scheduling_steps_total", "Steps of the chain of rights that were tried.",
                 {{"step", std::string(name_of(what.next))}})
        .Increment();
    auto& next = what.next;
    if (auto* read = std::get_if<step::read_testbed>(&next)) {
        co_return co_await refresh_testbed(read->key, fresh);
    }
    if (auto* read = std::get_if<step::read_job>(&next)) {
        co_return co_await refresh_job(read->key, fresh);
    }
    if (auto* read = std::get_if<step::read_pods>(&next)) {
        co_return co_await refresh_pods(std::move(*read), fresh);
    }
    if (auto* read = std::get_if<step::read_release>(&next)) {
        co_return co_await refresh_release(std::move(*read), fresh);
    }
    if (std::holds_alternative<step::add_finalizer>(next)) {
        auto finalizers = self->metadata.finalizers;
        finalizers.emplace_back(names_of::scheduling_finalizer);
        co_return co_await write_finalizers(self, std::move(finalizers), fresh);
    }
    if (std::holds_alternative<step::remove_finalizer>(next)) {
        auto finalizers = self->metadata.finalizers;
        std::erase(finalizers, std::string(names_of::scheduling_finalizer));
        co_return co_await write_finalizers(self, std::move(finalizers), fresh);
    }
    if (auto* hold = std::get_if<step::hold_testbed>(&next)) {
        auto now = co_await write_hold(hold->key, hold_patch(self->metadata.key(), hold->token),
                                       hold->uid, hold->resource_version);
        // Pods of a run that begins under this hold are no part of what was looked at before.
        fresh.forget_release();
        auto done = co_await take_hold_answer(self, hold->key, std::move(now), fresh);
        if (!done) co_return done;
        tell(*self, "Held", "holds " + testbed_text(hold->key));
        co_return done;
    }
    if (auto* commit = std::get_if<step::commit>(&next)) {
        // A release looks at what is there after it has begun.
        if (self->status.releasing.empty()) fresh.forget_release();
        const bool completed = completes(*self, what.status);
        auto done = co_await write_status(self, std::move(what.status), fresh);
        if (!done) co_return done;
        count(*self, *commit, *fresh.self);
        for (const auto& job : commit->jobs) tell_job(*self, commit->reason, job);
        if (completed) tell_completed(*fresh.self);
        if (!commit->note.empty()) tell(*self, commit->reason, commit->note, commit->bad);
        co_return done;
    }
    if (auto* acquire = std::get_if<step::acquire_job>(&next)) {
        const auto& meta = self->metadata;
        json patch{{"spec",
                    {{"activeScheduling",
                      {{"namespace", meta.namespace_}, {"name", meta.name}, {"uid", meta.uid}}},
                     {"creationRequest", nullptr}}}};
        auto done = co_await write_job(
            self, acquire->key,
            kube::guarded(std::move(patch), acquire->uid, acquire->resource_version), fresh);
        if (!done) co_return done;
        tell_job(*self, "Acquired", {acquire->key, acquire->uid, "", "acquired"});
        co_return done;
    }
    if (auto* request = std::get_if<step::request_creation>(&next)) {
        json patch{{"spec", {{"creationRequest", model::encode(request->request)}}}};
        auto done = co_await write_job(
            self, request->key,
            kube::guarded(std::move(patch), request->uid, request->resource_version), fresh);
        if (!done) co_return done;
        const auto& order = request->request;
        tell_job(*self, "Requested",
                 {request->key, request->uid, order.run,
                  fmt::format("to be started on {} of {}, run {}", slots_text(order.slot_ids),
                              testbed_text(order.testbed_name), order.run)});
        co_return done;
    }
    if (auto* release = std::get_if<step::release_job>(&next)) {
        auto done = co_await write_job(
            self, release->key,
            kube::guarded(clearing_patch(), release->uid, release->resource_version), fresh);
        fresh.forget_release();
        if (!done) co_return done;
        tell_job(*self, "JobReleased", {release->key, release->uid, "", "released"});
        co_return done;
    }
    if (auto* reset = std::get_if<step::reset_job>(&next)) {
        json patch{{"metadata", {{"annotations", {{std::string(names_of::reset), reset->token}}}}},
                   {"spec", {{"creationRequest", nullptr}}}};
        auto done = co_await write_job(
            self, reset->key, kube::guarded(std::move(patch), reset->uid, reset->resource_version),
            fresh);
        if (!done) co_return done;
        tell_job(*self, "Retrying", {reset->key, reset->uid, "", "reset, to be started again"});
        co_return done;
    }
    if (std::holds_alternative<step::delete_self>(next)) {
        const auto& meta = self->metadata;
        auto done = co_await in_.api.remove(types::scheduling, meta.namespace_, meta.name,
                                            {meta.uid, meta.resource_version});
        if (!done) {
            auto read = co_await refresh_self(self, fresh);
            if (!read) co_return read;
            co_return std::unexpected(std::move(done).error());
        }
        tell(*self, "Expired", "deleted, as its ttlSecondsAfterFinished are over");
        co_return co_await refresh_self(self, fresh);
    }
    if (auto* remove = std::get_if<step::remove_hold>(&next)) {
        auto now = co_await clear_hold(remove->key, remove->uid, remove->resource_version);
        auto done = co_await take_hold_answer(self, remove->key, std::move(now), fresh);
        if (!done) co_return done;
        tell(*self, "HoldRemoved", "no longer holds " + testbed_text(remove->key));
        co_return done;
    }
    co_return result<void>{};
}

}  // namespace esi::scheduling
