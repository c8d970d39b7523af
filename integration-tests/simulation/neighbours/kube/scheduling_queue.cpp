#include "neighbours/kube/scheduling_queue.h"

#include <algorithm>
#include <tuple>

#include "base/fields.h"

namespace esi::simulation {

namespace {

/// unschedulablePods are looked at again after so long, whatever happened.
constexpr auto longest_wait = std::chrono::minutes(5);

/// No pod has it as its uid.
constexpr std::string_view not_named_yet = "?";

}  // namespace

void scheduling_queue::add(const pod_pointer& pod) {
    auto& one = entries_[std::string(pod->uid)];
    one = entry();
    one.pod = pod;
    one.since = now_();
    one.order = ++added_;
    if (pod->gated) return;
    one.where = place::active;
    nominate(pod->uid, pod->nominated);
}

void scheduling_queue::update(const pod_facts& before, const pod_pointer& after) {
    const auto found = entries_.find(after->uid);
    // One that was dropped (it is being deleted) comes in as new.
    if (found == entries_.end()) return add(after);
    auto& one = found->second;
    const bool tolerations = tolerations_of(before) != tolerations_of(*after);
    const missed_event what{tolerations ? cluster_event::own_tolerations : cluster_event::other,
                            any_priority};
    if (one.where == place::in_flight) {
        one.missed.push_back(what);
        return;
    }
    one.pod = after;
    // A nomination that is in memory only, and not yet on the object, stays.
    if (!before.nominated.empty() || !after->nominated.empty()) {
        nominate(after->uid, after->nominated);
    }
    if (one.where == place::gated) {
        if (!after->gated) activate(one);
    } else if (one.where == place::rejected && worth(one, what)) {
        after_backoff(one);
    }
}

void scheduling_queue::remove(std::string_view uid) {
    remove_entry(uid);
    nominate(uid, {});
}

void scheduling_queue::remove_entry(std::string_view uid) {
    const auto found = entries_.find(uid);
    if (found != entries_.end()) entries_.erase(found);
}

void scheduling_queue::move(cluster_event what, std::int64_t most_priority,
                            const std::set<std::string, std::less<>>& deaf) {
    const missed_event happened{what, most_priority};
    for (auto& [uid, one] : entries_) {
        if (one.where == place::in_flight) {
            one.missed.push_back(happened);
        } else if (one.where == place::rejected && !deaf.contains(uid) && worth(one, happened)) {
            after_backoff(one);
        }
    }
}

/// The hints of the plugins that rejected the pod; of an extender nothing is known, so anything may
/// help (kubernetes#122019).
bool scheduling_queue::worth(const entry& one, const missed_event& what) {
    if (!one.victim.empty() || one.pod->priority > what.most_priority) return false;
    const auto rejected = [&](rejector by) { return one.by.contains(by); };
    if (one.by.empty() || rejected(rejector::extender)) return true;
    switch (what.what) {
        case cluster_event::pod_gone:
            return rejected(rejector::resources);
        case cluster_event::node_added:
            return true;
        case cluster_event::node_room:
            return rejected(rejector::resources);
        case cluster_event::node_labels:
            return rejected(rejector::affinity);
        case cluster_event::node_taints:
            return rejected(rejector::taints) || rejected(rejector::node);
        case cluster_event::own_tolerations:
            return rejected(rejector::taints) || rejected(rejector::node);
        case cluster_event::other:
            return false;
    }
    return false;
}

/// 1 s, doubled with each failure in a row, at most 10 s.
steady_time scheduling_queue::backoff_end(const entry& one) {
    const int failures = one.by.empty() ? one.errors : one.rejections;
    steady_time::duration out = seconds(1);
    for (int i = 1; i < failures && out < seconds(10); ++i) out *= 2;
    return one.since + std::min<steady_time::duration>(out, seconds(10));
}

void scheduling_queue::activate(entry& one) {
    one.where = place::active;
    one.order = ++added_;
}

void scheduling_queue::after_backoff(entry& one) {
    if (backoff_end(one) > now_()) {
        one.where = one.by.empty() ? place::errors : place::backoff;
    } else {
        activate(one);
    }
}

bool scheduling_queue::ready() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const auto& one) {
        return one.second.where == place::active || one.second.where == place::backoff;
    });
}

pod_pointer scheduling_queue::pop() {
    entry* best = nullptr;
    const auto rank = [](const entry& one) {
        return std::tuple(one.where != place::active, -one.pod->priority, one.since, one.order);
    };
    for (auto& [uid, one] : entries_) {
        if (one.where != place::active && one.where != place::backoff) continue;
        if (!best || rank(one) < rank(*best)) best = &one;
    }
    if (!best) return nullptr;
    best->where = place::in_flight;
    best->missed.clear();
    return best->pod;
}

void scheduling_queue::failed(const pod_pointer& newest, std::set<rejector> by) {
    const auto found = entries_.find(newest->uid);
    if (found == entries_.end()) return;
    auto& one = found->second;
    one.pod = newest;
    one.by = std::move(by);
    one.since = now_();
    if (one.by.empty()) {
        ++one.errors;
        one.where = place::errors;
        return;
    }
    ++one.rejections;
    one.errors = 0;
    const bool again = std::any_of(one.missed.begin(), one.missed.end(),
                                   [&](const missed_event& what) { return worth(one, what); });
    one.where = again ? place::backoff : place::rejected;
    one.missed.clear();
}

void scheduling_queue::preempting_somebody(std::string_view uid) { preempting(uid, not_named_yet); }

void scheduling_queue::preempting(std::string_view uid, std::string_view last_victim) {
    const auto found = entries_.find(uid);
    if (found != entries_.end()) found->second.victim = last_victim;
}

void scheduling_queue::victim_gone(std::string_view uid) {
    for (auto& [preemptor, one] : entries_) {
        if (one.victim == uid) one.victim.clear();
    }
}

void scheduling_queue::activate(std::string_view uid) {
    const auto found = entries_.find(uid);
    if (found == entries_.end()) return;
    auto& one = found->second;
    if (one.where == place::rejected || one.where == place::backoff) activate(one);
}

std::optional<steady_time> scheduling_queue::next_due() const {
    std::optional<steady_time> out;
    for (const auto& [uid, one] : entries_) {
        steady_time due;
        if (one.where == place::backoff || one.where == place::errors) {
            due = backoff_end(one);
        } else if (one.where == place::rejected) {
            due = one.since + longest_wait;
        } else {
            continue;
        }
        out = out ? std::min(*out, due) : due;
    }
    return out;
}

void scheduling_queue::flush() {
    for (auto& [uid, one] : entries_) {
        const bool waits = one.where == place::backoff || one.where == place::errors;
        if (waits && backoff_end(one) <= now_()) activate(one);
        if (one.where == place::rejected && one.since + longest_wait <= now_()) activate(one);
    }
}

void scheduling_queue::nominate(std::string_view uid, std::string_view node) {
    const auto found = nominations_.find(uid);
    if (node.empty()) {
        if (found != nominations_.end()) nominations_.erase(found);
    } else if (found != nominations_.end()) {
        found->second = node;
    } else {
        nominations_.emplace(uid, node);
    }
}

std::vector<std::string> scheduling_queue::nominated_to(std::string_view node) const {
    std::vector<std::string> out;
    for (const auto& [uid, where] : nominations_) {
        if (where == node) out.push_back(uid);
    }
    return out;
}

}  // namespace esi::simulation
