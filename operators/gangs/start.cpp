// The requests that bring members to their places and let them in. The marks and the nomination of
// a pod are compared with what its gang plans for it; each request is for a difference.
#include <fmt/format.h>

#include <algorithm>

#include "gangs/pass.h"
#include "gangs/plan_mark.h"
#include "model/names.h"

namespace esi::gangs {

namespace {

/// No request for the pod may be made now.
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

/// The place where a waiting member is to be.
struct target {
    /// Empty: nowhere.
    std::string_view node;
    std::string_view mark = {};
    /// The first member of its plan is nominated, or is this one.
    bool may_come = true;
};

/// Brings one waiting member there. True: it is there, and kube-scheduler knows.
bool steer(pass& at, const gang& of, const pod_pointer& pod, member_memory& own, const target& to) {
    const auto& uid = pod->metadata.uid;
    const auto& nominated = pod->nominated_node_name;
    const auto mark = mark_of(*pod);
    if (busy(at, own, uid)) return false;
    // Others of that plan wait for its first member: it is taken back, wherever it is to go then.
    const bool holds_others = !nominated.empty() && !to.may_come && first_of(mark) == uid;
    if (to.node.empty() || holds_others) {
        if (!nominated.empty() && may_change(of, *pod)) {
            const auto* why = pod->metadata.deleting() ? "it is being deleted" : "it has no place";
            at.give(give_back{of.key, pod, why});
        }
        return false;
    }
    if (nominated != to.node || mark != to.mark) {
        if (!to.may_come || (!nominated.empty() && !may_change(of, *pod))) return false;
        own.shown_to = at.seen.scheduler.value_or("");
        at.give(nominate{of.key, pod, std::string(to.node), std::string(to.mark)});
        return false;
    }
    // A nomination by another process (or by this one, long ago) may be unknown to a scheduler that
    // was started since.
    if (own.shown_to != at.seen.scheduler.value_or("")) {
        own.shown_to = at.seen.scheduler.value_or("");
        at.give(show_nomination{of.key, pod});
        return false;
    }
    return true;
}

/// The one reservation.
struct ahead {
    std::set<std::string> uids;
    /// Nodes with too little room for it, on which others have places that are not taken yet.
    /// kube-scheduler would count its nominations against those: they wait.
    std::set<std::string, std::less<>> busy;
};

ahead see_ahead(const pass& at) {
    ahead out;
    if (!at.known.reserving) return out;
    const auto found = at.known.gangs.find(*at.known.reserving);
    if (found == at.known.gangs.end()) return out;
    const auto& has = found->second.has;
    if (!has) return out;
    for (const auto& [uid, node] : has->places) out.uids.insert(uid);
    const auto nodes = wanted_on(found->second);
    for (const auto& [uid, promise] : at.room.promises()) {
        const auto wanted = nodes.find(promise.node);
        if (out.uids.contains(uid) || wanted == nodes.end()) continue;
        const auto* entry = at.room.find(promise.node);
        if (!entry || lacks(at.room, *entry, wanted->second)) out.busy.insert(promise.node);
    }
    return out;
}

/// Brings the waiting members of a gang to their places; the first of its plan before the others.
struct steering {
    pass& at;
    const gang& of;
    gang_memory& own;
    const ahead& reserved;
    std::vector<place> there = {};
    bool all_there = true;
    bool first_there = true;

    std::string_view node_of(const member& each) const {
        if (!own.has) return {};
        const auto found = own.has->places.find(each.uid());
        if (found == own.has->places.end()) return {};
        const bool waits = own.has->reservation && reserved.busy.contains(found->second);
        return waits ? std::string_view() : std::string_view(found->second);
    }
    /// In a namespace that is not enabled only pods at the gate may be written.
    bool gives_back(const member& each) const {
        return leaves_nominated(*each.pod) && (of.enabled || is_gated(*each.pod));
    }
    void bring(const member& each, bool is_first) {
        const auto known = own.members.find(each.uid());
        if (known == own.members.end()) return;
        target to{node_of(each)};
        if (own.has) to.mark = own.has->mark;
        to.may_come = is_first || first_there;
        const bool is_there = steer(at, of, each.pod, known->second, to);
        if (is_first) first_there = is_there;
        if (to.node.empty()) return;
        all_there = all_there && is_there;
        if (is_there) there.push_back({each.pod, std::string(to.node)});
    }
    void bring_all() {
        const auto& has = own.has;
        const auto first = has ? first_of(has->mark) : std::string_view();
        const auto* leader = first.empty() ? nullptr : of.find(first);
        // If it does not wait it was let in, and the others follow.
        if (leader && (!leader->waits() || !has || !has->places.contains(leader->uid()))) {
            leader = nullptr;
        }
        if (leader) bring(*leader, true);
        for (const auto& each : of.members) {
            if (&each != leader && (each.waits() || gives_back(each))) bring(each, false);
        }
    }
};

/// Plans again after a plan by which no member was let in. The first time the caches may have been
/// behind; after that the room is open to others for a time, which doubles.
void plan_anew(pass& at, gang_memory& own, seconds first_pause) {
    constexpr seconds longest{600};
    own.vain.looks_to_replan = own.vain.looks + looks_per_plan;
    own.vain.members.clear();
    if (own.has) {
        for (const auto& [uid, node] : own.has->places) own.vain.members.insert(uid);
    }
    own.vain.how = own.what.how;
    give_up(at, own);
    at.out.look_again({});
    if (++own.vain.plans < 2) return;
    const auto pause = std::min(first_pause * (1 << std::min(own.vain.plans - 2, 6)), longest);
    own.vain.put_off_until = at.seen.now + pause;
}

/// Ends a plan whose nominations are refused for good, or get no answer.
void end_stuck_plan(pass& at, gang_memory& own) {
    own.vain.refused = fmt::format("its members could not be brought to their places within {} s",
                                   longest_plan.count());
    for (const auto& [uid, each] : own.members) {
        if (each.failure.empty()) continue;
        own.vain.refused += ": " + each.failure;
        break;
    }
    own.vain.plans = std::max(own.vain.plans, 1);
    plan_anew(at, own, seconds(60));
}

void start_one(pass& at, const gang& of, gang_memory& own, const ahead& reserved) {
    if (looks(at, of.key)) return;
    steering to{at, of, own, reserved};
    to.bring_all();
    if (!own.has || own.has->reservation) return;
    if (own.has->looked) {
        for (auto& each : to.there) at.give(let_in{of.key, std::move(each.pod), each.node});
        return;
    }
    if (at.seen.now >= own.has->since + longest_plan) return end_stuck_plan(at, own);
    at.again_at(own.has->since + longest_plan);
    if (!to.all_there || to.there.size() != own.has->places.size()) return;
    if (!own.has->whole_at) own.has->whole_at = at.seen.now;
    // The live reads differ from the caches.
    if (own.vain.looks >= own.vain.looks_to_replan) return plan_anew(at, own, seconds(10));
    if (at.seen.now < own.vain.next_look) return at.again_at(own.vain.next_look);
    at.give(look_and_let_in{of.key, std::move(to.there), own.has->mark, reserved.uids});
}

/// kube-scheduler takes the nomination of a pod away whose bind has failed, and tries again after a
/// pause: until then nothing would keep its room.
void keep_nominated(pass& at, const gang& of, gang_memory& own) {
    for (const auto& each : of.members) {
        if (each.at != stage::let_in || !each.pod->nominated_node_name.empty()) continue;
        const auto known = own.members.find(each.uid());
        const auto node = each.pod->metadata.annotation(model::names::gang_node);
        if (known == own.members.end() || !node_stands(at.room, node)) continue;
        auto& its = known->second;
        // A member that is refused for good (ends.cpp) has no place to keep.
        const bool refused = its.refused_since && at.seen.now >= *its.refused_since + refusal_time;
        if (refused || busy(at, its, each.uid())) continue;
        if (at.seen.now < its.next_kept) {
            at.again_at(its.next_kept);
            continue;
        }
        // Pauses grow, so that a member that is refused again and again causes few writes.
        constexpr seconds longest{600};
        its.next_kept =
            at.seen.now + std::min<seconds>(seconds(1 << std::min(its.kept++, 10)), longest);
        at.give(nominate{of.key, each.pod, std::string(node), std::string(mark_of(*each.pod))});
    }
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
        if (own.what.let_in > 0) keep_nominated(at, *own.seen, own);
        const auto& all = own.what;
        const bool none_nominated = all.reserved + all.not_gated + all.leaving_nominated == 0;
        if (!own.has && (own.others.yields || none_nominated)) continue;
        start_one(at, *own.seen, own, reserved);
    }
    start_loose(at);
}

}  // namespace esi::gangs
