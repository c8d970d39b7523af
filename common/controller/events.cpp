#include "controller/events.h"

#include <bit>
#include <boost/asio/this_coro.hpp>
#include <optional>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/wait.h"
#include "controller/event_queue.h"
#include "controller/event_series.h"
#include "model/text.h"

namespace esi::controller {

namespace {

using namespace std::chrono_literals;
using json = nlohmann::json;

constexpr std::size_t queue_limit = 1000;
/// Events are for people: the writes that they report are mostly part of a chain, whose next write
/// goes first.
constexpr auto courtesy = 50ms;
// client-go: maxTriesPerEvent, defaultSleepDuration.
constexpr int most_tries = 12;
constexpr auto between_tries = 10s;
// Limits of events.k8s.io/v1 (pkg/apis/core/validation/events.go).
constexpr std::size_t note_limit = 1024;
constexpr std::size_t reason_limit = 128;
/// Object names have at most 253 characters; "." and 16 digits follow the subject's.
constexpr std::size_t subject_limit = 253 - 17;

std::string micro(wall_time when) { return model::timestamp{when}.micro(); }

json reference(const std::string& api_version, const std::string& kind,
               const model::object_key& key, const std::string& uid) {
    json out = json::object();
    out["apiVersion"] = api_version;
    out["kind"] = kind;
    out["name"] = key.name;
    if (!key.namespace_.empty()) out["namespace"] = key.namespace_;
    if (!uid.empty()) out["uid"] = uid;
    return out;
}

json series_body(const event_write& write) {
    json series = json::object();
    series["count"] = write.count;
    series["lastObservedTime"] = micro(write.last_seen);
    return series;
}

}  // namespace

struct event_recorder::state {
    state(kube::client& api_, clock& time_, std::string component_, std::string instance_)
        : api(api_),
          time(time_),
          component(std::move(component_)),
          instance(model::cut(instance_, reason_limit)),
          // Unique among processes by the instance, among starts by the time.
          random(std::hash<std::string>{}(instance) ^
                 static_cast<std::uint64_t>(time.wall().time_since_epoch().count())),
          series([this](const std::string& subject) {
              return fmt::format("{}.{:016x}", model::cut(subject, subject_limit), random());
          }) {}

    void record(const char* type, const event_subject& about, std::string_view reason,
                std::string_view action, std::string note,
                const std::optional<event_subject>& related);
    void push(event_write write);
    json full_body(const event_write& write) const;
    asio::awaitable<void> write(event_write what);
    asio::awaitable<result<std::string>> send(const event_write& what);

    kube::client& api;
    clock& time;
    std::string component;
    std::string instance;
    std::mt19937_64 random;
    event_series series;
    event_queue queue{queue_limit};
    std::uint64_t dropped = 0;
    std::function<void(std::string_view)> on_drop;
    std::optional<notifier> wake;
};

event_recorder::event_recorder(kube::client& api, clock& time, std::string component,
                               std::string instance)
    : state_(std::make_unique<state>(api, time, std::move(component), std::move(instance))) {}
event_recorder::~event_recorder() = default;

void event_recorder::on_drop(std::function<void(std::string_view)> callback) {
    state_->on_drop = std::move(callback);
}

void event_recorder::normal(const event_subject& about, std::string_view reason,
                            std::string_view action, std::string note,
                            const std::optional<event_subject>& related) {
    state_->record("Normal", about, reason, action, std::move(note), related);
}

void event_recorder::warning(const event_subject& about, std::string_view reason,
                             std::string_view action, std::string note,
                             const std::optional<event_subject>& related) {
    state_->record("Warning", about, reason, action, std::move(note), related);
}

void event_recorder::state::record(const char* type, const event_subject& about,
                                   std::string_view reason, std::string_view action,
                                   std::string note, const std::optional<event_subject>& related) {
    event_note what;
    what.type = type;
    what.reason = model::cut(reason, reason_limit);
    what.action = model::cut(action, reason_limit);
    what.note = model::cut(note, note_limit);
    what.api_version = about.type->api_version();
    what.kind = about.type->kind;
    what.subject = {about.namespace_, about.name};
    what.uid = about.uid;
    if (related) {
        what.related_api_version = related->type->api_version();
        what.related_kind = related->type->kind;
        what.related = {related->namespace_, related->name};
        what.related_uid = related->uid;
    }
    if (auto due = series.add(std::move(what), time.now(), time.wall())) push(std::move(*due));
}

void event_recorder::state::push(event_write write) {
    if (queue.push(std::move(write))) {
        // Logged at 1, 2, 4, 8, ...: a flood of events must not become a flood of lines.
        if (std::has_single_bit(++dropped)) {
            log::warn("events dropped, the queue is full", {{"dropped", dropped}});
        }
        if (on_drop) on_drop("queue");
    }
    if (wake) wake->notify();
}

asio::awaitable<void> event_recorder::run() {
    auto& own = *state_;
    auto executor = co_await asio::this_coro::executor;
    own.wake.emplace(executor);
    while (true) {
        for (auto& due : own.series.due(own.time.now())) own.push(std::move(due));
        if (!own.queue.empty()) co_await own.time.sleep_for(courtesy);
        while (auto next = own.queue.pop()) co_await own.write(std::move(*next));
        if (auto due = own.series.next_due()) {
            co_await ends_by(own.time, *due, own.wake->wait());
        } else {
            co_await own.wake->wait();
        }
    }
}

json event_recorder::state::full_body(const event_write& write) const {
    const auto& what = write.what;
    json body = json::object();
    body["apiVersion"] = kube::types::event.api_version();
    body["kind"] = kube::types::event.kind;
    body["metadata"]["name"] = write.name;
    body["metadata"]["namespace"] = namespace_of(write);
    body["eventTime"] = micro(write.first_seen);
    body["type"] = what.type;
    body["reason"] = what.reason;
    body["action"] = what.action;
    body["note"] = what.note;
    body["regarding"] = reference(what.api_version, what.kind, what.subject, what.uid);
    if (!what.related_kind.empty()) {
        body["related"] =
            reference(what.related_api_version, what.related_kind, what.related, what.related_uid);
    }
    body["reportingController"] = component;
    body["reportingInstance"] = instance;
    if (write.count > 1) body["series"] = series_body(write);
    return body;
}

asio::awaitable<result<std::string>> event_recorder::state::send(const event_write& what) {
    if (!what.series_only) {
        co_return co_await api.create(kube::types::event, namespace_of(what), full_body(what));
    }
    json patch = json::object();
    patch["series"] = series_body(what);
    co_return co_await api.patch(kube::types::event, namespace_of(what), what.name,
                                 kube::patch_kind::merge, std::move(patch));
}

asio::awaitable<void> event_recorder::state::write(event_write what) {
    for (int attempt = 1; attempt <= most_tries; ++attempt) {
        auto answer = co_await send(what);
        if (answer) co_return;
        const auto& why = answer.error();
        if (why.code == errc::already_exists) co_return;  // the answer to an earlier try was lost
        if (what.series_only && why.code == errc::not_found) {
            what.series_only = false;  // expired meanwhile: written again, with its count
            continue;
        }
        if (!why.transient() || why.code == errc::not_leader) {
            // A terminating namespace takes no events (403): no one could read them. A process that
            // lost the lead is followed by a leader that looks at everything again.
            const bool expected = why.code == errc::forbidden || why.code == errc::not_leader;
            log::write(expected ? log::level::debug : log::level::warn, "event refused",
                       {{"key", what.what.subject.text()},
                        {"reason", what.what.reason},
                        {"error", why.text}});
            if (on_drop && !expected) on_drop("refused");
            co_return;
        }
        steady_time::duration delay = between_tries;
        if (why.retry_after) delay = std::max<steady_time::duration>(delay, *why.retry_after);
        co_await time.sleep_for(delay);
    }
    log::warn("event given up", {{"key", what.what.subject.text()}, {"reason", what.what.reason}});
    if (on_drop) on_drop("refused");
}

}  // namespace esi::controller
