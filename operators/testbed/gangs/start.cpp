// The requests that bring members to their places and in. What a pod shows is compared with what
// its gang plans for it; each request is for what differs.
#include <algorithm>

#include "testbed/gangs/pass.h"

namespace esi::testbed::gangs {

namespace {

/// Nothing may be asked of the pod now.
bool busy(pass& at, const member_memory& own, const std::string& uid) {
    if (at.under_way(uid)) return true;
    if (!own.awaited.empty() && at.seen.now < own.awaited_since + longest_await) {
        at.again_at(own.awaited_since + longest_await);
        return true;
    }
    if (at.seen.now < own.next) {
        at.again_at(own.next);
        return true;
    }
    return false;
}

/// Brings one waiting member to `node`; empty: to none. True: it is there, and kube-scheduler
/// knows.
bool steer(pass& at, const gang_key& of, const pod_pointer& pod, member_memory& own,
           const std::string& node) {
    const auto& nominated = pod->nominated_node_name;
    if (busy(at, own, pod->metadata.uid)) return false;
    if (node.empty()) {
        if (!nominated.empty()) at.give(give_back{of, pod, "it has no place"});
        return false;
    }
    if (nominated != node) {
        own.shown_to = at.seen.scheduler.value_or("");
        at.give(nominate{of, pod, node});
        return false;
    }
    // What another process (or this one, long ago) set may be unknown to a scheduler that was
    // started since.
    if (own.shown_to != at.seen.scheduler.value_or("")) {
        own.shown_to = at.seen.scheduler.value_or("");
        at.give(show_nomination{of, pod});
        return false;
    }
    return true;
}

/// The one reservation.
struct ahead {
    std::set<std::string> uids;
    /// Nodes that have not enough for it and on which others have places that are not taken yet.
    /// kube-scheduler would count its nominations against those: they wait.
    std::set<std::string, std::less<>> busy;
};

ahead see_ahead(const pass& at) {
    ahead out;
    if (!at.known.reserving) return out;
    const auto found = at.known.gangs.find(*at.known.reserving);
    if (found == at.known.gangs.end() || !found->second.has) return out;
    for (const auto& [uid, node] : found->second.has->places) out.uids.insert(uid);
    const auto nodes = wanted_on(found->second);
    for (const auto& [uid, promise] : at.room.promises()) {
        const auto wanted = nodes.find(promise.node);
        if (out.uids.contains(uid) || wanted == nodes.end()) continue;
        const auto* entry = at.room.find(promise.node);
        if (!entry || lacks(at.room, *entry, wanted->second)) out.busy.insert(promise.node);
    }
    return out;
}

void start_one(pass& at, const gang& of, gang_memory& own, const ahead& reserved) {
    if (looks(at, of.key)) return;
    static const std::string nowhere;
    bool all_there = true;
    std::vector<place> there;
    for (const auto& each : of.members) {
        if (!each.waits()) continue;
        const auto known = own.members.find(each.uid());
        if (known == own.members.end()) continue;
        const std::string* node = &nowhere;
        if (own.has) {
            const auto found = own.has->places.find(each.uid());
            if (found != own.has->places.end()) node = &found->second;
            if (own.has->reservation && reserved.busy.contains(*node)) node = &nowhere;
        }
        const bool is_there = steer(at, of.key, each.pod, known->second, *node);
        if (node->empty()) continue;
        all_there = all_there && is_there;
        if (is_there) there.push_back({each.pod, *node});
    }
    if (!own.has || own.has->reservation) return;
    if (own.has->looked) {
        for (auto& each : there) at.give(let_in{of.key, std::move(each.pod), each.node});
        return;
    }
    if (!all_there || there.size() != own.has->places.size()) return;
    if (!own.at.reserved_at) own.at.reserved_at = at.seen.now;
    if (own.looks >= own.looks_to_replan) {
        // What is seen live differs from what the caches show.
        own.looks_to_replan = own.looks + looks_per_plan;
        give_up(at, own);
        return at.out.look_again({});
    }
    if (at.seen.now < own.next_look) return at.again_at(own.next_look);
    at.give(look_and_let_in{of.key, std::move(there), reserved.uids});
}

void start_loose(pass& at) {
    std::set<std::string_view> seen;
    for (const auto& pod : at.seen.loose) {
        seen.insert(pod->metadata.uid);
        auto& own = at.known.loose[pod->metadata.uid];
        if (!own.awaited.empty() &&
            model::version_at_least(pod->metadata.resource_version, own.awaited)) {
            own.awaited.clear();
        }
        if (pod->nominated_node_name.empty() || busy(at, own, pod->metadata.uid)) continue;
        at.give(give_back{{}, pod, "it names no group"});
    }
    std::erase_if(at.known.loose, [&](const auto& entry) { return !seen.contains(entry.first); });
}

}  // namespace

void pass::give(action what) {
    auto name = name_of(what);
    if (!known.under_way.insert(std::move(name)).second) return;
    out.actions.push_back(std::move(what));
}

void start_all(pass& at) {
    const auto reserved = see_ahead(at);
    for (auto& [key, own] : at.known.gangs) {
        // Nobody has a place or a nomination.
        if (!own.has && own.what.reserved + own.what.not_gated == 0) continue;
        start_one(at, *own.seen, own, reserved);
    }
    start_loose(at);
}

}  // namespace esi::testbed::gangs
