#include "kube/connection/connection_pool.h"

#include <algorithm>

namespace esi::kube {

connection_pool::grant connection_pool::take() {
    grant out;
    if (idle_.empty()) {
        out.what = grant::kind::open;
        out.id = next_++;
    } else {
        out.what = grant::kind::reuse;
        out.id = idle_.back().id;
        idle_.pop_back();
    }
    in_flight_.emplace(out.id, generation_);
    return out;
}

void connection_pool::close_old(steady_time now) {
    // Oldest first: they are at the front.
    const auto young = std::ranges::find_if(
        idle_, [&](const idle_entry& entry) { return now - entry.since < limits_.idle_age; });
    for (auto at = idle_.begin(); at != young; ++at) closed_.push_back(at->id);
    idle_.erase(idle_.begin(), young);
}

void connection_pool::serve_waiters(steady_time now) {
    for (auto& entry : waiters_) {
        if (in_flight_.size() >= limits_.in_flight) return;
        if (entry.granted || entry.deadline <= now) continue;
        entry.granted = take();
        wake_ = true;
    }
}

connection_pool::grant connection_pool::acquire(steady_time now, steady_time deadline) {
    close_old(now);
    const bool others_first = std::ranges::any_of(
        waiters_, [&](const waiter& w) { return !w.granted && w.deadline > now; });
    if (in_flight_.size() < limits_.in_flight && !others_first) return take();
    waiters_.push_back({next_, deadline, std::nullopt});
    return {grant::kind::wait, next_++};
}

connection_pool::grant connection_pool::redeem(number ticket, steady_time now) {
    const auto at = std::ranges::find(waiters_, ticket, &waiter::ticket);
    if (at == waiters_.end()) return {grant::kind::expired, ticket};
    if (!at->granted && at->deadline > now) return {grant::kind::wait, ticket};
    const auto out = at->granted.value_or(grant{grant::kind::expired, ticket});
    waiters_.erase(at);
    return out;
}

void connection_pool::abandon(number ticket, steady_time now) {
    const auto at = std::ranges::find(waiters_, ticket, &waiter::ticket);
    if (at == waiters_.end()) return;
    const auto granted = at->granted;
    waiters_.erase(at);
    if (!granted) return;
    if (granted->what == grant::kind::reuse) {
        release(granted->id, true, now);
    } else {
        in_flight_.erase(granted->id);
        serve_waiters(now);
    }
}

void connection_pool::release(number id, bool keep, steady_time now) {
    const auto at = in_flight_.find(id);
    if (at == in_flight_.end()) return;
    const bool current = at->second == generation_;
    in_flight_.erase(at);
    if (keep && current && limits_.idle > 0) {
        idle_.push_back({id, now});
        if (idle_.size() > limits_.idle) {
            closed_.push_back(idle_.front().id);
            idle_.erase(idle_.begin());
        }
    } else {
        closed_.push_back(id);
    }
    close_old(now);
    serve_waiters(now);
}

void connection_pool::detach(number id, steady_time now) {
    in_flight_.erase(id);
    serve_waiters(now);
}

void connection_pool::drain() {
    ++generation_;
    for (const auto& entry : idle_) closed_.push_back(entry.id);
    idle_.clear();
}

}  // namespace esi::kube
