#include "scheduling/operator.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "scheduling/acquire.h"
#include "scheduling/observe.h"

namespace esi::scheduling {

namespace {

using controller::outcome;
using model::object_key;
namespace states = model::scheduling_state;

/// Bounds one reconcile; more actions follow in the next.
constexpr int most_actions = 8192;
constexpr int most_conflicts = 5;

/// The API server refuses this object for good: a retry gives the same answer.
bool is_refusal(errc code) {
    return code == errc::bad_request || code == errc::forbidden || code == errc::invalid;
}

/// Whether the reconcile can continue without the refused write. If so, the refusal is kept in
/// `live`.
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

}  // namespace

scheduling_operator::scheduling_operator(controller::environment& env, options chosen)
    : env_(env),
      options_(std::move(chosen)),
      caches_(env.api, env.time, env.options.namespaces),
      actor_(env, gate_, caches_.testbeds()),
      reconciler_("scheduling", env.time, env.executor, env.numbers,
                  [this](object_key key) { return reconcile(std::move(key)); }),
      orphans_(env, caches_, actor_) {
    caches_.feed(gate_);
    caches_.on_change({[this](const object_key& key) { reconciler_.enqueue(key); },
                       [this](const object_key& key) { orphans_.enqueue_testbed(key); },
                       [this](const object_key& key) { orphans_.enqueue_job(key); }});
    caches_.schedulings().on_change([this](const auto& what) {
        const bool same =
            what.before && what.after && what.before->status.state == what.after->status.state;
        if (leading_ && !same) count_states();
    });
}

std::vector<controller::operator_part::cache> scheduling_operator::caches() {
    return caches_.list();
}

void scheduling_operator::lead() {
    leading_ = true;
    count_states();
    reconciler_.start();
    orphans_.start();
}

asio::awaitable<void> scheduling_operator::stop(steady_time deadline) {
    co_await reconciler_.stop(deadline);
    co_await orphans_.stop(deadline);
}

/// Set by the leader alone: a sum over all replicas counts each once.
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
            // Its blocker may be one whose change does not enqueue the Schedulings that let it go
            // first.
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
