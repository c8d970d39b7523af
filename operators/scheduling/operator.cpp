#include "scheduling/operator.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "scheduling/acquire.h"
#include "scheduling/interface/legacy/routes.h"
#include "scheduling/interface/page/page_routes.h"
#include "scheduling/interface/v1/access.h"
#include "scheduling/interface/v1/access/gate.h"
#include "scheduling/interface/v1/access/quota.h"
#include "scheduling/interface/v1/events/hub.h"
#include "scheduling/interface/v1/surface.h"

namespace esi::scheduling {

namespace {

using controller::outcome;
using model::object_key;
namespace states = model::scheduling_state;

/// Bounds one reconcile; more actions follow in the next.
constexpr int most_actions = 8192;
constexpr int most_conflicts = 5;
constexpr auto events_patience = seconds(2);

/// Asked again it would answer the same, for one object.
bool is_refusal(errc code) {
    return code == errc::bad_request || code == errc::forbidden || code == errc::invalid;
}

/// Whether the reconcile can go on without what was refused. If so, the refusal is kept in `live`.
bool goes_on_without(const action& what, const model::scheduling& self, errc code,
                     live_facts& live) {
    if (!is_refusal(code)) return false;
    auto& refused = live.refused;
    if (std::holds_alternative<delete_self>(what)) {
        refused.deletion = true;
        return true;
    }
    if (std::holds_alternative<make_testbed>(what) || std::holds_alternative<steer_claim>(what) ||
        std::holds_alternative<remove_testbed>(what)) {
        refused.claim = to_string(code);
        return true;
    }
    if (const auto* hold = std::get_if<hold_testbed>(&what); hold != nullptr && hold->beside) {
        refused.hold = true;
        return true;
    }
    const auto apart = job_apart(what, self);
    if (!apart || refused.jobs.size() >= most_refused) return false;
    refused.jobs[*apart] = to_string(code);
    return true;
}

/// A server with TLS has fewer connections: waits are to leave half of them to others.
v1::quota_options quota_of(const options& chosen, const controller::process_options& process) {
    auto out = chosen.api.quota;
    if (!process.tls_cert_file.empty()) out.all_waits = out.all_waits_with_tls;
    return out;
}

}  // namespace

struct scheduling_operator::interfaces {
    legacy::routes legacy;
    legacy::stomp_topics stomp;
    std::unique_ptr<v1::access> who_may;
    v1::quota limits;
    v1::gate gate;
    v1::events::hub events;
    v1::surface api;

    interfaces(controller::environment& env, legacy::sources from, legacy::stomp_sources topics,
               scheduling::caches& seen, const options& chosen)
        : legacy(from, chosen.legacy_namespace, chosen.access),
          stomp(shown_by(std::move(topics)), chosen.legacy_namespace, chosen.access, chosen.stomp),
          who_may(v1::make_access({env.executor, env.time, env.open_api, env.numbers},
                                  chosen.api.access)),
          limits(env.time, env.numbers, quota_of(chosen, env.options)),
          gate(*who_may, limits, {!chosen.api.access.by_token, chosen.access.hosts}),
          events({env.executor, env.time, env.numbers, env.open_api, seen.testbeds(), seen.jobs(),
                  seen.schedulings(), env.options.namespaces, &limits},
                 *who_may, chosen.api.events),
          api({env.executor, env.time, env.open_api, seen, limits, env.options.namespaces,
               chosen.cross_namespace_jobs},
              {chosen.api.longest_wait, chosen.api.nodes}, gate, events) {}

private:
    legacy::stomp_sources shown_by(legacy::stomp_sources topics) const {
        topics.shown = [this](const model::testbed& of) { return legacy.shown(of); };
        return topics;
    }
};

scheduling_operator::scheduling_operator(controller::environment& env, options chosen)
    : env_(env),
      options_(std::move(chosen)),
      caches_(env.api, env.time, env.options.namespaces),
      actor_(env, gate_, caches_.testbeds()),
      reconciler_("scheduling", env.time, env.executor, env.numbers,
                  [this](object_key key) { return reconcile(std::move(key)); }),
      orphans_(env, caches_, actor_) {
    options_.api.access.encrypted = !env_.options.tls_cert_file.empty();
    caches_.feed(gate_);
    caches_.on_change({[this](const object_key& key) { reconciler_.enqueue(key); },
                       [this](const object_key& key) { orphans_.enqueue_testbed(key); },
                       [this](const object_key& key) { orphans_.enqueue_job(key); }});
    caches_.schedulings().on_change([this](const auto& what) {
        const bool same =
            what.before && what.after && what.before->status.state == what.after->status.state;
        if (leading_ && !same) count_states();
    });
    interfaces_ = std::make_unique<interfaces>(
        env,
        legacy::sources{env.open_api, env.time, caches_.testbeds(), caches_.jobs(),
                        caches_.schedulings(), caches_.pods(),
                        [this](const object_key& key) { return caches_.slots_of(key); }},
        legacy::stomp_sources{env.executor, env.time, env.numbers, caches_.testbeds(),
                              caches_.jobs(), caches_.schedulings(), nullptr},
        caches_, options_);
    if (!options_.api.access.by_token) {
        log::warn(
            "--api-auth=none: whoever reaches this port may read and change, without any right",
            {{"routes", "/api/v1"}});
    }
    tell_of_plain_tokens();
    if (options_.access.open) controller::warn_of_open_access("/external and /scheduler");
    interfaces_->legacy.add_to(env.routes);
    interfaces_->stomp.add_to(env.routes);
    interfaces_->api.add_to(env.routes);
    page::add_to(env.routes);
}

scheduling_operator::~scheduling_operator() = default;

void scheduling_operator::tell_of_plain_tokens() const {
    const auto& access = options_.api.access;
    if (!access.by_token || access.encrypted) return;
    if (access.plain_tokens) {
        log::warn(
            "--api-plain-tokens without TLS: bearer tokens cross the network readable; give "
            "--tls-cert-file and --tls-private-key-file",
            {{"routes", "/api/v1"}});
    } else {
        log::info("no TLS: bearer tokens are taken over loopback only, from no other machine",
                  {{"routes", "/api/v1"}});
    }
}

std::vector<controller::operator_part::cache> scheduling_operator::caches() {
    return caches_.list();
}

/// A replica that cannot ask for rights is ready all the same: it drives Schedulings, and no other
/// replica could do better.
std::vector<controller::readiness_check> scheduling_operator::checks() const {
    return {{"api-access", true, interfaces_->who_may->trouble()}};
}

void scheduling_operator::lead() {
    leading_ = true;
    count_states();
    reconciler_.start();
    orphans_.start();
}

asio::awaitable<void> scheduling_operator::stop(steady_time deadline) {
    // First, as their clients go on elsewhere; who does not read takes no time from the others.
    interfaces_->api.stop();
    co_await interfaces_->events.stop(std::min(deadline, env_.time.now() + events_patience));
    co_await reconciler_.stop(deadline);
    co_await orphans_.stop(deadline);
    co_await interfaces_->stomp.stop(deadline);
}

/// By the leader alone: a sum over all replicas counts each once.
void scheduling_operator::count_states() {
    std::map<std::string, int> counts;
    for (auto state :
         {states::acquire, states::confirmation, states::submission, states::awaiting_completion,
          states::completed, states::finished, states::error}) {
        counts[std::string(state)] = 0;
    }
    for (const auto& [key, each] : caches_.schedulings().all()) {
        auto found = counts.find(each->status.state);
        if (found != counts.end()) ++found->second;
    }
    for (const auto& [state, count] : counts) {
        env_.numbers.gauge("esi_schedulings", "Schedulings by state.", {{"state", state}})
            .Set(count);
    }
}

void scheduling_operator::count_slots_read() {
    const auto read = caches_.slots_read();
    env_.numbers
        .counter("esi_scheduling_slots_read_total",
                 "Slots that were looked at, by changes of objects and by decisions.")
        .Increment(static_cast<double>(read - std::exchange(slots_read_, read)));
}

asio::awaitable<result<outcome>> scheduling_operator::reconcile(object_key key) {
    if (!gate_.caught_up(key)) {
        // The watch's next event of it enqueues the key; the delay only guards against an event
        // that came before.
        co_return outcome::again_in(milliseconds(20));
    }
    live_facts live;
    int conflicts = 0;
    std::optional<error> refusal;
    for (int actions = 0; actions < most_actions; ++actions) {
        live.proven.expire(env_.time.now());
        auto seen = observe(caches_, key, live);
        if (!seen.self) {
            gate_.forget(key);
            co_return outcome{};
        }
        seen.namespaces = env_.options.namespaces;
        seen.cross_namespace_jobs = options_.cross_namespace_jobs;
        auto decided = decide(seen, env_.time.wall());
        count_slots_read();
        const auto next = decided.next;
        const bool waits = std::holds_alternative<wait>(next);
        const bool blocked = waits && is_blocked(decided.status);
        const auto again = decided.again_in;
        if (!waits) log::debug("action", {{"scheduling", key.text()}, {"action", name_of(next)}});
        auto done = co_await actor_.perform(seen.self, std::move(decided), live);
        if (done && waits) {
            // What blocks it may be nothing that enqueues the Schedulings that let it go first.
            if (blocked) caches_.enqueue_younger(key);
            if (refusal) co_return std::unexpected(std::move(*refusal));
            co_return again ? outcome::again_in(*again) : outcome{};
        }
        if (done) continue;
        if (goes_on_without(next, *seen.self, done.error().code, live)) {
            refusal = std::move(done).error();
            continue;
        }
        if (done.error().code != errc::conflict || ++conflicts > most_conflicts) {
            co_return tried_again(std::move(done).error());
        }
    }
    co_return outcome::again_in(milliseconds(0));
}

}  // namespace esi::scheduling
