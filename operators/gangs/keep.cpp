#include <algorithm>

#include "gangs/pass.h"
#include "gangs/plan_mark.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

/// The follower of a deleted member takes over how often that was done.
void take_over(gang_memory& own, const member& newcomer, member_memory& as) {
    const auto* owner = newcomer.pod->metadata.controller_owner();
    if (!owner) return;
    const auto left = own.followers.find(owner->uid);
    if (left == own.followers.end()) return;
    as.refusals = left->second;
    own.followers.erase(left);
}

void take_up_members(const gang& of, gang_memory& own) {
    std::map<std::string, member_memory> next;
    for (const auto& each : of.members) {
        if (auto known = own.members.extract(each.uid())) {
            next.insert(std::move(known));
        } else if (each.at != stage::ended) {
            take_over(own, each, next[each.uid()]);
        }
    }
    own.members = std::move(next);
    forget_events_of_gone_pods(own.events, own);
}

void take_up_muster(pass& at, const gang_pointer& of, gang_memory& own) {
    own.what = muster_of(*of, own.attempt.reached, at.seen.scheduler_name);
    const auto& next = own.what.next;
    const bool others = !next.empty() && std::ranges::none_of(next, [&](const auto& uid) {
        return own.vain.members.contains(uid);
    });
    const bool more_urgent = own.what.how == start::refill && own.vain.how != start::refill;
    if (own.vain.plans > 0 && (others || more_urgent)) own.vain.forget_plans();
    ++own.musters;
    own.mustered_for = own.attempt.reached;
    own.seen = of;
    own.changed = true;
}

/// Room that a reservation releases was not free before it (memory::let_go).
void release(pass& at, const gang_memory& own, const std::string& uid) {
    const auto freed = at.room.freed();
    at.room.release(uid);
    if (own.has && own.has->reservation) at.known.let_go += at.room.freed() - freed;
}

/// Ends the plan.
void forget_plan(pass& at, gang_memory& own) {
    if (!own.has) return;
    // A plan with a passed look means that the gang has begun.
    if (own.has->reserved_since && !own.has->looked) {
        own.reservation.used += at.seen.now - *own.has->reserved_since;
    }
    if (own.has->reservation) at.known.reserving.reset();
    own.has.reset();
    own.changed = true;
}

/// A place of a plan is not needed any more: its pod is there, or is no member any more.
void settle_place(pass& at, gang_memory& own, const member& of, bool& lost) {
    if (!own.has || own.has->places.erase(of.uid()) == 0) return;
    own.changed = true;
    // Another process may have let it in by a plan of its own.
    const bool by_this_plan = was_let_in(*of.pod) && mark_of(*of.pod) == own.has->mark;
    if (by_this_plan && (of.at == stage::let_in || of.at == stage::bound)) {
        own.has->looked = true;
        own.vain.forget_plans();
        return;
    }
    release(at, own, of.uid());
    lost = true;
}

void keep_members(pass& at, const gang& of, gang_memory& own, bool& lost) {
    for (const auto& each : of.members) {
        const auto known = own.members.find(each.uid());
        if (known != own.members.end()) {
            auto& member = known->second;
            if (!member.awaited.empty() &&
                model::version_at_least(each.pod->metadata.resource_version, member.awaited)) {
                member.awaited.clear();
            }
            if (each.at == stage::let_in) {
                if (!member.let_in_since) member.let_in_since = at.seen.now;
                const auto node = each.pod->metadata.annotation(names::gang_node);
                if (at.room.promised_to(each.uid()) != node) {
                    at.room.promise(each.pod, std::string(node));
                }
            }
        }
        if (!each.waits()) settle_place(at, own, each, lost);
    }
    if (!own.has) return;
    for (auto place = own.has->places.begin(); place != own.has->places.end();) {
        const auto* planned = of.find(place->first);
        // Another process has taken the place away since all were looked at: the remaining members
        // are looked at again, wherever the plan puts them.
        const bool moved = planned && planned->waits() && own.has->looked &&
                           (mark_of(*planned->pod) != own.has->mark ||
                            planned->pod->nominated_node_name != place->second);
        if (own.members.contains(place->first) && !moved) {
            ++place;
            continue;
        }
        release(at, own, place->first);
        place = own.has->places.erase(place);
        own.changed = true;
        lost = true;
    }
}

/// When a gang that has begun is first seen: the minimum that it needed, if its status or its pods
/// say that it ran. Unknown and Failed are gangs that ran and lost members, or that never
/// became whole: the first is assumed, since no pod that ran may be deleted for it.
std::optional<std::int64_t> reached_before(const gang& of, const muster& all) {
    if (!all.begun || !of.group || all.enough <= 0) return std::nullopt;
    const auto& phase = of.group.object->status.phase;
    const bool ran = phase == "Running" || phase == "Scheduled" || phase == "Unknown" ||
                     phase == "Failed" || phase == "Finished";
    // A minimum that has grown since may be on the way to what it is now.
    const auto needed = [&](std::int64_t said) {
        return said > 0 ? std::min(all.enough, said) : all.enough;
    };
    const auto most = needed(all.most_needed);
    const auto least = needed(all.least_needed);
    if (ran || all.had_a_node >= most) return most;
    if (all.had_a_node >= least) return least;
    return std::nullopt;
}

/// Keeps what was reached once, and how long the present attempt has lasted.
attempt_memory next_attempt(const gang_memory& own, attempt_memory out, steady_time now) {
    const auto& all = own.what;
    const auto minimum = all.minimum.value_or(0);
    if (!out.reserved_at && own.has) out.reserved_at = own.has->whole_at;
    const auto now_reached = all.reached() >= minimum ? minimum : all.enough;
    if (now_reached > 0 && all.reached() >= now_reached && out.reached != now_reached) {
        out.reached = now_reached;
        if (!out.bound_at) out.bound_at = now;
    }
    if (all.placed() == 0 && !all.all_ended()) {
        out.reached.reset();
        out.let_in_at.reset();
        out.bound_at.reset();
    } else if (!out.reached && all.begun && all.let_in + all.bound > 0 && !out.since) {
        out.since = now;
        out.let_in_at = now;
    }
    if (out.reached || all.let_in + all.bound == 0) out.since.reset();
    return out;
}

/// Another process is about to start the gang by its own plan: one of the two has to yield.
bool yields_to_another(const pass& at, const gang& of, const gang_memory& own, const plan& has) {
    if (has.looked) return false;
    const auto first = first_of(has.mark);
    return std::ranges::any_of(has.places, [&](const auto& place) {
        const auto* planned = of.find(place.first);
        const auto mark = planned ? mark_of(*planned->pod) : std::string_view();
        return mark != has.mark && is_of_another(at, of, own, mark) &&
               (has.reservation || place.first == first || mark < has.mark ||
                state_of(of, mark) == plan_state::begun);
    });
}

bool still_right(const pass& at, const gang& of, const gang_memory& own, const plan& has) {
    const auto nodes_stand = [&] {
        return std::ranges::all_of(
            has.places, [&](const auto& place) { return node_stands(at.room, place.second); });
    };
    if (has.looked) {
        // A member that was let in proves that the look was passed. The cache may not show it yet.
        const bool on_the_way = std::ranges::any_of(own.members, [&](const auto& member) {
            return !member.second.awaited.empty() &&
                   at.seen.now < member.second.awaited_since + longest_await;
        });
        return (own.what.placed() > 0 || on_the_way) && nodes_stand();
    }
    if (own.what.how == start::none || has.places.size() != own.what.next.size()) return false;
    if (has.shown && state_of(of, has.mark) == plan_state::over) return false;
    // The planned members are as good as those that a new plan would choose.
    for (const auto& [uid, node] : has.places) {
        const auto* planned = of.find(uid);
        if (!planned || !planned->waits()) return false;
        // Another process has nominated it. With the mark of this plan the nomination could not be
        // changed.
        const auto& nominated = planned->pod->nominated_node_name;
        if (!nominated.empty() && nominated != node && mark_of(*planned->pod) == has.mark) {
            return false;
        }
    }
    return nodes_stand();
}

}  // namespace

bool node_stands(const cluster_room& room, std::string_view node) {
    const auto* entry = room.find(node);
    return entry && entry->node->ready && !entry->node->unschedulable;
}

std::map<std::string, demand, std::less<>> wanted_on(const gang_memory& own) {
    std::map<std::string, demand, std::less<>> out;
    if (!own.has) return out;
    for (const auto& [uid, node] : own.has->places) {
        if (const auto* member = own.seen->find(uid)) out[node].count(*member->pod, 1);
    }
    return out;
}

bool lacks(const cluster_room& room, const placement::node_ledger& entry, const demand& wanted) {
    return std::ranges::any_of(wanted.amounts, [&](const auto& need) {
        if (need.second <= 0) return false;
        return entry.free_of(room.resources().find(need.first)) < 0;
    });
}

bool looks(const pass& at, const gang_key& of) {
    constexpr std::string_view look = "look ";
    const auto first = at.known.under_way.lower_bound(std::string(look));
    if (first == at.known.under_way.end() || !first->starts_with(look)) return false;
    return at.under_way(std::string(look) + of.text());
}

bool is_of_another(const pass& at, const gang& of, const gang_memory& own, std::string_view mark) {
    const auto now = state_of(of, mark);
    const auto dropped = own.others.dropped.find(mark);
    const bool goes = dropped == own.others.dropped.end();
    if (now == plan_state::open) return goes && !is_made_by(mark, at.known.process);
    // Also a plan of this process: its first member was let in, and the answer came late or never.
    return now == plan_state::begun && (goes || !dropped->second);
}

void drop(const gang& of, gang_memory& own, std::string_view mark) {
    own.others.dropped.insert_or_assign(std::string(mark), state_of(of, mark) == plan_state::begun);
}

void name_plan(pass& at, plan& made, std::int64_t members) {
    const auto first = made.reservation ? std::string_view() : made.places.begin()->first;
    made.mark = plan_mark(first, at.known.process, ++at.known.plans, members);
    made.shown = false;
}

void give_up(pass& at, gang_memory& own) {
    if (!own.has) return;
    if (own.has->looked || !is_made_by(own.has->mark, at.known.process)) {
        drop(*own.seen, own, own.has->mark);
    }
    for (const auto& [uid, node] : own.has->places) release(at, own, uid);
    forget_plan(at, own);
}

namespace {

/// The first member waits at its place without its mark, which any writer of pods can take away. A
/// new plan costs a write for each member, so the wait before it grows each time.
void wait_for_marks(pass& at, const gang& of, gang_memory& own, const plan& has) {
    if (!has.shown || has.looked) return;
    const auto* first = of.find(first_of(has.mark));
    if (!first || first->at != stage::reserved || !mark_of(*first->pod).empty()) return;
    const auto wait = milliseconds(100 << std::min(own.others.marks_lost++, 8));
    own.others.next_plan = std::max(own.others.next_plan, at.seen.now + wait);
}

}  // namespace

void keep(pass& at, const gang_pointer& of, gang_memory& own) {
    const bool changed = own.seen != of;
    const bool first_seen = !own.seen;
    // No member has a place or was let in, and nothing moved.
    if (!changed && own.what.let_in == 0 && !own.has) return;
    if (changed) {
        take_up_members(*of, own);
        std::erase_if(own.others.dropped, [&](const auto& entry) {
            return state_of(*of, entry.first) == plan_state::over;
        });
    }
    bool lost = false;
    keep_members(at, *of, own, lost);
    if (changed) take_up_muster(at, of, own);
    auto before = own.attempt;
    if (first_seen) before.reached = reached_before(*of, own.what);
    own.attempt = next_attempt(own, before, at.seen.now);
    if (own.attempt.reached) own.others.marks_lost = 0;
    if (own.mustered_for != own.attempt.reached) take_up_muster(at, of, own);
    if (!own.has || looks(at, of->key)) return;
    if (own.has->places.empty()) return forget_plan(at, own);
    wait_for_marks(at, *of, own, *own.has);
    own.has->shown = own.has->shown || state_of(*of, own.has->mark) == plan_state::open;
    if ((lost && !own.has->looked) || !still_right(at, *of, own, *own.has) ||
        yields_to_another(at, *of, own, *own.has)) {
        give_up(at, own);
    }
}

void forget_gone(pass& at) {
    for (auto entry = at.known.gangs.begin(); entry != at.known.gangs.end();) {
        if (at.seen.gangs.contains(entry->first)) {
            ++entry;
            continue;
        }
        give_up(at, entry->second);
        entry = at.known.gangs.erase(entry);
    }
}

void keep_within(pass& at) {
    // Firm places of those whose members can still be called back, by node.
    struct claimant {
        turn at;
        gang_memory* own;
        demand wants;
    };
    std::map<std::string, std::vector<claimant>, std::less<>> on;
    std::map<std::string, demand, std::less<>> reserved;
    for (auto& [key, own] : at.known.gangs) {
        if (!own.has || own.has->looked) continue;
        if (!own.has->reservation && looks(at, key)) continue;
        for (auto& [node, wants] : wanted_on(own)) {
            if (own.has->reservation) {
                reserved[node] = std::move(wants);
                continue;
            }
            on[node].push_back({turn_of(at, key), &own, std::move(wants)});
        }
    }
    for (auto& [node, claimants] : on) {
        // Only of what the claimant asks for: other resources are lacking because of others.
        const auto overdrawn = [&](const demand& wants) {
            const auto* entry = at.room.find(node);
            if (!entry) return false;
            const auto& names = at.room.resources();
            for (int i = 0; i < static_cast<int>(entry->free.size()); ++i) {
                wide left = entry->free[static_cast<std::size_t>(i)];
                if (left >= 0) continue;
                const auto wanted = wants.amounts.find(names.name(i));
                if (wanted == wants.amounts.end() || wanted->second <= 0) continue;
                // A reservation promises places before they are there.
                const auto ahead = reserved.find(node);
                if (ahead != reserved.end()) {
                    const auto amount = ahead->second.amounts.find(names.name(i));
                    if (amount != ahead->second.amounts.end()) left += amount->second;
                }
                if (left < 0) return true;
            }
            return false;
        };
        std::ranges::sort(claimants, [](const claimant& a, const claimant& b) {
            return before_in_age(b.at, a.at);
        });
        for (auto& last : claimants) {
            if (last.own->has && overdrawn(last.wants)) give_up(at, *last.own);
        }
    }
}

}  // namespace esi::gangs
