// Gives room to gangs: the order, a plan for each gang that fits, and the one reservation.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/hash.h"
#include "gangs/pass.h"

namespace esi::gangs {

namespace {

enum class tried {
    fits,
    fails,
    later,  ///< this pass has no more attempts, or facts have to be read
};

std::vector<pod_pointer> next_of(const gang_memory& own) {
    std::vector<pod_pointer> out;
    out.reserve(own.what.next.size());
    for (const auto& uid : own.what.next) out.push_back(own.seen->find(uid)->pod);
    return out;
}

plan& take_places(pass& at, const gang_key& key, gang_memory& own,
                  const std::vector<pod_pointer>& pods, const chosen_nodes& where,
                  bool reservation) {
    plan made;
    made.since = at.seen.now;
    made.reservation = reservation;
    if (reservation) made.reserved_since = at.seen.now;
    for (std::size_t i = 0; i < pods.size(); ++i) {
        at.room.promise(pods[i], where.nodes[i]);
        made.places.emplace(pods[i]->metadata.uid, where.nodes[i]);
    }
    name_plan(at, made, own.what.enough_with_next());
    own.changed = true;
    if (!reservation) at.coming.add(key, pods.size(), at.seen.now + longest_way);
    return own.has.emplace(std::move(made));
}

/// Counts members from their plan until they are bound.
void count_on_their_way(pass& at) {
    const auto count = [&](const gang_key& key, steady_time since, std::size_t members) {
        const auto end = since + longest_way;
        if (at.seen.now < end) at.coming.add(key, members, end);
    };
    for (const auto& [key, own] : at.known.gangs) {
        if (own.has && !own.has->reservation) count(key, own.has->since, own.has->places.size());
        if (own.what.let_in == 0) continue;
        for (const auto& each : own.seen->members) {
            const auto known = own.members.find(each.uid());
            if (each.at != stage::let_in || known == own.members.end()) continue;
            const auto& its = known->second;
            if (its.let_in_since && !its.refused_since) count(key, *its.let_in_since, 1);
        }
    }
}

void fails(gang_memory& own, std::uint64_t when, no_fit_reason why, std::string text) {
    own.wait.failed_at = when;
    if (own.wait.failed_by != why || own.wait.failed_text != text) own.changed = true;
    own.wait.failed_by = why;
    own.wait.failed_text = std::move(text);
}

void count_work(pass& at, const fit_result& answer) {
    at.work += std::visit([](const auto& each) { return each.work; }, answer);
}

/// The facts that a plan needs; null: they have to be read first.
const facts* facts_for(pass& at, const gang_key& key, gang_memory& own, const needs& what) {
    if (const auto there = at.read.find(key); there != at.read.end()) return &there->second;
    facts out;
    if (!what.empty()) {
        if (!own.wait.read) {
            if (at.seen.now >= own.wait.next_read) {
                at.give(read_facts{key, what});
                // It keeps its turn once while they are read: a gang that does not fit reads again
                // and again.
                if (own.wait.reads == 0) {
                    at.coming.add(key, own.what.next.size(), at.seen.now + longest_way);
                }
            } else {
                at.again_at(own.wait.next_read);
            }
            return nullptr;
        }
        out = std::move(*own.wait.read);
        own.wait.read.reset();
        own.wait.next_read = at.seen.now + seconds(1 << std::min(own.wait.reads++, 5));
    }
    out.namespaces = at.seen.namespaces;
    return &at.read.emplace(key, std::move(out)).first->second;
}

bool unchanged(const pass& at, const gang_memory& own) {
    if (!own.wait.failed_at) return false;
    return *own.wait.failed_at == (own.wait.depends_on_facts ? at.room.changes() : at.room.freed());
}

/// If no pod keeps others away, the shape depends on the members alone, and is kept.
placement::gang_shape shape_for(const pass& at, gang_memory& own,
                                const std::vector<pod_pointer>& pods, const fit_options& options) {
    auto& known = own.wait;
    if (!at.room.repelling().empty()) {
        known.shape.reset();
        return shape_of(pods, at.room, options);
    }
    if (!known.shape || known.shape_muster != own.musters) {
        known.shape = shape_of(pods, at.room, options);
        known.shape_muster = own.musters;
    }
    return *known.shape;
}

/// A gang that does not fit is tried again when something has become free, or when it asks for
/// something else: fewer members, smaller ones, fewer constraints.
void see_what_is_asked(const pass& at, gang_memory& own) {
    if (!own.wait.failed_at || own.wait.tried_muster == own.musters) return;
    own.wait.tried_muster = own.musters;
    const auto shape = shape_for(at, own, next_of(own), options_for(at, *own.seen));
    if (fnv1a(shape.text) == own.wait.tried_shape) return;
    own.wait.forget_failure();
}

/// True: too many members are on their way to plan it now. Each namespace has its share, so that
/// hanging gangs of one delay no others.
bool stays_in_line(pass& at, const turn& of, gang_memory& own) {
    const auto most = at.seen.options.most_on_their_way;
    const auto& by = at.coming.by_namespace;
    const auto found = by.find(of.key.namespace_);
    const int its = found == by.end() ? 0 : found->second;
    const auto sharing = static_cast<int>(by.size()) + (found == by.end() ? 1 : 0);
    // A gang that has begun should become whole soon.
    const int share = of.how == start::refill ? 2 * most : std::max(most / sharing, 1);
    const bool waits = at.coming.all >= most && its >= share;
    if (waits != std::exchange(own.wait.in_line, waits)) own.changed = true;
    if (waits) at.again_at(at.coming.ends);
    return waits;
}

/// A plan for the members that the gang needs next, or why there is none.
tried try_plan(pass& at, const gang_key& key, gang_memory& own) {
    if (unchanged(at, own)) return tried::fails;
    const auto pods = next_of(own);
    const auto options = options_for(at, *own.seen);
    const auto shape = shape_for(at, own, pods, options);
    own.wait.depends_on_facts = shape.depends_on_facts;
    own.wait.tried_shape = fnv1a(shape.text);
    own.wait.tried_muster = own.musters;
    if (const auto same = at.failed.find(shape); same != at.failed.end()) {
        own.wait.tried_in = at.known.sweep;
        const auto& [other, why] = same->second;
        own.wait.most_left_on = why.most_left_on;
        // The namespace is the tenant: a message about another tenant's group does not name it.
        fails(
            own, at.room.freed(), why.reason,
            other.namespace_ == key.namespace_
                ? fmt::format("as {}/{}, which asks for the same: {}", other.namespace_, other.name,
                              why.message)
                : fmt::format("{} of {} members fit, as of a group of another namespace that asks "
                              "for the same",
                              why.fitting, why.members));
        return tried::fails;
    }
    if (at.fits >= most_fits || at.work >= most_fit_work) {
        at.some_left = true;
        at.out.look_again({});
        return tried::later;
    }
    own.wait.tried_in = at.known.sweep;
    const auto needed = needs_of(pods, at.seen.namespaces);
    const auto* known = facts_for(at, key, own, needed);
    if (!known) return tried::later;
    ++at.fits;
    auto answer = fit(pods, at.room, *known, options);
    count_work(at, answer);
    if (const auto* where = std::get_if<chosen_nodes>(&answer)) {
        take_places(at, key, own, pods, *where, false);
        own.wait.forget_failure();
        own.wait.reads = 0;
        return tried::fits;
    }
    auto why = std::get<no_fit>(std::move(answer));
    if (why.reason == no_fit_reason::facts_missing) {
        own.wait.next_read = at.seen.now + seconds(1);
        at.again_at(own.wait.next_read);
        own.wait.failed_text = why.message;
        return tried::later;
    }
    if (why.reason == no_fit_reason::no_room &&
        (!own.wait.failed_at || own.wait.failed_by == no_fit_reason::never_fits)) {
        auto ever = fits_ever(pods, at.room, *known, options);
        count_work(at, ever);
        if (auto* never = std::get_if<no_fit>(&ever);
            never && never->reason == no_fit_reason::never_fits) {
            why = std::move(*never);
        }
    }
    fails(own, own.wait.depends_on_facts ? at.room.changes() : at.room.freed(), why.reason,
          why.message);
    own.wait.most_left_on = why.most_left_on;
    if (!shape.depends_on_facts) at.failed.emplace(shape, std::pair(key, why));
    return tried::fails;
}

/// It would start if there were room.
bool wants_room(const gang_memory& own) {
    return own.wait.failed_at && own.wait.failed_by == no_fit_reason::no_room;
}

/// When it may have a reservation.
wall_time due_of(const pass& at, const gang_memory& own) {
    return own.reservation.counted_since.value_or(at.seen.wall) + at.seen.options.reserve_after;
}

/// Counts what may have become free, except by the end of a reservation.
std::uint64_t freed_by_others(const pass& at) { return at.room.freed() - at.known.let_go; }

void end_reservation(pass& at, gang_memory& own) {
    give_up(at, own);
    own.reservation.vain_at = freed_by_others(at);
    own.reservation.used = {};
    own.reservation.ended = at.seen.wall;
    own.reservation.counted_since = at.seen.wall;
    tell(at, *own.seen, own.events, "reservation",
         {false,
          "ReservationEnded",
          "Reserve",
          fmt::format("what became free on its places was kept for {} s and was not enough; others "
                      "may take it now, and its time to wait starts anew",
                      at.seen.options.reserve_for.count()),
          {},
          {},
          {}});
}

/// In a reservation, places with room are firm; each member on a node without enough room gets a
/// place elsewhere. True: all have one.
bool complete(pass& at, gang_memory& own, plan& has) {
    std::map<std::string, std::vector<wide>, std::less<>> lacking;
    for (const auto& [node, wanted] : wanted_on(own)) {
        const auto* entry = at.room.find(node);
        if (!entry) return false;
        if (!lacks(at.room, *entry, wanted)) continue;
        auto& left = lacking[node];
        left.assign(entry->free.begin(), entry->free.end());
        // Resources that its members do not ask for are lacking because of others.
        for (std::size_t i = 0; i < left.size(); ++i) {
            const auto need = wanted.amounts.find(at.room.resources().name(static_cast<int>(i)));
            if (need == wanted.amounts.end() || need->second <= 0) left[i] = 0;
        }
    }
    if (lacking.empty()) return true;
    std::vector<pod_pointer> elsewhere;
    for (const auto& [uid, node] : has.places) {
        const auto entry = lacking.find(node);
        if (entry == lacking.end()) continue;
        auto& left = entry->second;
        if (std::ranges::all_of(left, [](auto amount) { return amount >= 0; })) continue;
        const auto& pod = own.seen->find(uid)->pod;
        demand gives;
        gives.count(*pod, 1);
        for (const auto& [name, amount] : gives.amounts) {
            const auto number = at.room.resources().find(name);
            if (number >= 0 && number < static_cast<int>(left.size())) {
                left[static_cast<std::size_t>(number)] += amount;
            }
        }
        elsewhere.push_back(pod);
    }
    // More is lacking than these places take: other pods have taken room that was there.
    if (!needs_of(elsewhere, at.seen.namespaces).empty()) return false;
    facts known;
    known.namespaces = at.seen.namespaces;
    ++at.fits;
    const auto answer = fit(elsewhere, at.room, known, options_for(at, *own.seen));
    const auto* found = std::get_if<chosen_nodes>(&answer);
    if (!found) return false;
    for (std::size_t i = 0; i < elsewhere.size(); ++i) {
        at.room.promise(elsewhere[i], found->nodes[i]);
        has.places[elsewhere[i]->metadata.uid] = found->nodes[i];
    }
    // The remaining places lack nothing now, unless other pods take more than there is.
    return std::ranges::all_of(wanted_on(own), [&](const auto& wanted) {
        const auto* entry = at.room.find(wanted.first);
        return entry && !lacks(at.room, *entry, wanted.second);
    });
}

steady_time end_of_reservation(const pass& at, const gang_memory& own) {
    const auto since = own.has ? own.has->reserved_since.value_or(at.seen.now) : at.seen.now;
    return since + at.seen.options.reserve_for - own.reservation.used;
}

void keep_reservation(pass& at) {
    const auto key = at.known.reserving;
    if (!key) return;
    const auto found = at.known.gangs.find(*key);
    plan* has = nullptr;
    if (found != at.known.gangs.end()) {
        if (auto& its = found->second.has) has = &*its;
    }
    if (!has || !has->reservation) {
        at.known.reserving.reset();
        return;
    }
    auto& own = found->second;
    const auto end = end_of_reservation(at, own);
    if (has->checked_at != at.room.changes()) {
        if (complete(at, own, *has)) {
            has->reservation = false;
            has->since = at.seen.now;
            name_plan(at, *has, own.what.enough_with_next());
            own.changed = true;
            own.wait.forget_failure();
            at.known.reserving.reset();
            return;
        }
        has->checked_at = at.room.changes();
    }
    if (at.seen.now >= end) return end_reservation(at, own);
    at.again_at(end);
}

/// Its last reservation was in vain: until the next one is due, others have their turn before it,
/// and keep what they have.
bool stands_back(const pass& at, const gang_memory& own) {
    return own.reservation.ended && at.seen.wall < due_of(at, own);
}

/// Chooses among gangs that want room and have waited long enough, by: the greatest priority; the
/// namespace whose last reservation is longest ago; the gang with none yet, or whose last ended
/// longest ago; age. Null: none is due yet.
const turn* due_for_reservation(pass& at, const std::vector<turn>& turns) {
    const turn* first = nullptr;
    const auto ended = [&](const turn& of) {
        return at.known.gangs.at(of.key).reservation.ended.value_or(wall_time{});
    };
    const auto last_of_namespace = [&](const turn& of) {
        const auto found = at.known.reserved_in.find(of.key.namespace_);
        return found == at.known.reserved_in.end() ? wall_time{} : found->second;
    };
    const auto may_have_one = [&](const turn& of) {
        const auto& own = at.known.gangs.at(of.key);
        if (of.how == start::surplus || own.has || own.wait.in_line || !wants_room(own))
            return false;
        if (own.reservation.vain_at == freed_by_others(at)) return false;
        if (stands_back(at, own)) {
            at.out.look_again(due_of(at, own) - at.seen.wall);
            return false;
        }
        return true;
    };
    // A reservation that an earlier turn would take away again (take_reservation_from) is not
    // begun.
    auto may = turns | std::views::filter(may_have_one);
    const auto most_urgent = std::ranges::min_element(may, {}, &turn::urgency);
    for (const auto& each : may) {
        if (each.urgency() != most_urgent->urgency()) continue;
        const auto& own = at.known.gangs.at(each.key);
        if (const auto due = due_of(at, own); at.seen.wall < due) {
            at.out.look_again(due - at.seen.wall);
            continue;
        }
        // All remaining gangs have the same urgency.
        const auto comes_first = [&](const turn& other) {
            const auto one = std::pair(last_of_namespace(other), ended(other));
            const auto two = std::pair(last_of_namespace(each), ended(each));
            return one != two ? one < two : before_in_age(other, each);
        };
        if (first && comes_first(*first)) continue;
        first = &each;
    }
    return first;
}

void note_reservation_in(memory& known, const std::string& ns, wall_time now) {
    auto& all = known.reserved_in;
    all[ns] = now;
    if (all.size() <= memory::most_reserved_in) return;
    all.erase(std::ranges::min_element(all, {}, [](const auto& each) { return each.second; }));
}

void reserve(pass& at, const turn& of) {
    auto& own = at.known.gangs.at(of.key);
    const auto pods = next_of(own);
    const auto needed = needs_of(pods, at.seen.namespaces);
    const auto* read = facts_for(at, of.key, own, needed);
    if (!read) return;
    // A gang that lost its places in between (a node went, others took room that had completed it)
    // has no time left for another reservation.
    if (own.reservation.used >= at.seen.options.reserve_for) return end_reservation(at, own);
    ++at.fits;
    auto answer = fits_ever(pods, at.room, *read, options_for(at, *own.seen));
    count_work(at, answer);
    if (auto* why = std::get_if<no_fit>(&answer)) {
        fails(own, own.wait.depends_on_facts ? at.room.changes() : at.room.freed(), why->reason,
              std::move(why->message));
        return;
    }
    auto& made = take_places(at, of.key, own, pods, std::get<chosen_nodes>(answer), true);
    made.checked_at = at.room.changes();
    at.known.reserving = of.key;
    note_reservation_in(at.known, of.key.namespace_, at.seen.wall);
    at.again_at(end_of_reservation(at, own));
    tell(
        at, *own.seen, own.events, "reservation",
        {false,
         "ReservationBegun",
         "Reserve",
         fmt::format("it has waited for {} s; what becomes free on its places is kept for it, for "
                     "{} s at most",
                     at.seen.options.reserve_after.count(),
                     std::chrono::ceil<seconds>(end_of_reservation(at, own) - at.seen.now).count()),
         {},
         {},
         {}});
}

/// A gang with an earlier turn lacks room while another reserves some: the reservation ends, and
/// its room is open to all.
bool take_reservation_from(pass& at, const turn& of) {
    if (!at.known.reserving || *at.known.reserving == of.key) return false;
    const auto& own = at.known.gangs.at(of.key);
    // It could not use the room itself: nothing became free since its own reservation failed.
    if (own.reservation.vain_at == freed_by_others(at) || stands_back(at, own)) return false;
    const auto its = turn_of(at, *at.known.reserving);
    if (its.urgency() <= of.urgency()) return false;
    give_up(at, at.known.gangs.at(its.key));
    return true;
}

void begin_to_wait(const pass& at, gang_memory& own) {
    if (own.wait.since) return;
    auto since = at.seen.wall;
    if (!own.at.since) {
        // The process sees it for the first time: its wait counts from its last member's creation.
        wall_time latest{};
        for (const auto& uid : own.what.next) {
            const auto& made = own.seen->find(uid)->pod->metadata.creation_timestamp;
            if (made) latest = std::max(latest, made->value);
        }
        if (latest > wall_time{}) since = std::min(since, latest);
    }
    own.wait.since = since;
    own.reservation.counted_since = since;
    own.wait.ready_at = at.seen.now;
}

/// How long facts about pods elsewhere and volumes count as new.
constexpr seconds read_lasts{10};

void forget_waiting(gang_memory& own) {
    own.wait.read.reset();
    if (!own.wait.since) return;
    own.wait.since.reset();
    own.wait.forget_failure();
    own.reservation.used = {};
    own.reservation.ended.reset();
    own.reservation.vain_at.reset();
    own.wait.surplus.clear();
    own.wait.reads = 0;
}

std::vector<turn> turns_of(pass& at) {
    std::vector<turn> out;
    for (auto& [key, own] : at.known.gangs) {
        if (own.wait.read && at.seen.now - own.wait.read_at >= read_lasts) own.wait.read.reset();
        if (own.what.how == start::none) {
            forget_waiting(own);
            continue;
        }
        if (own.pauses(at.seen.now)) {
            at.again_at(own.partial.next_start);
            continue;
        }
        begin_to_wait(at, own);
        const auto next = std::max(own.others.next_plan, own.vain.put_off_until);
        if (at.seen.now < next) {
            at.again_at(next);
            continue;
        }
        if (own.has || own.others.yields || looks(at, key)) continue;
        see_what_is_asked(at, own);
        out.push_back(turn_of(at, key));
    }
    return out;
}

/// Counts the groups before each of those that still wait.
void count_those_before(pass& at, std::vector<turn>& turns) {
    std::ranges::sort(turns, before_in_age);
    int before = 0;
    const gang_key* last = nullptr;
    for (const auto& each : turns) {
        auto& own = at.known.gangs.at(each.key);
        if (own.has && !own.has->reservation) continue;
        own.wait.before = before;
        if (!last) {
            own.wait.behind.reset();
        } else if (own.wait.behind != *last) {
            own.wait.behind = *last;
        }
        if (each.how == start::surplus) continue;
        if (own.wait.failed_at && own.wait.failed_by != no_fit_reason::no_room) continue;
        ++before;
        last = &each.key;
    }
}

}  // namespace

fit_options options_for(const pass& at, const gang& of) {
    fit_options out{at.seen.options.how};
    out.tell_nodes = at.seen.options.tell_nodes;
    out.best_effort = of.group && of.group.object->best_effort();
    return out;
}

turn turn_of(const pass& at, const gang_key& key) {
    const auto& own = at.known.gangs.at(key);
    return {key,
            own.what.how,
            priority_of(*own.seen, at.seen.classes),
            unchanged(at, own),
            own.wait.tried_in == at.known.sweep,
            own.seen->created(),
            own.seen->uid()};
}

void plan_all(pass& at) {
    keep_reservation(at);
    count_on_their_way(at);
    auto turns = turns_of(at);
    std::ranges::sort(turns, before);
    if (at.known.left_some) in_turns(turns);
    const turn* due = at.known.reserving ? nullptr : due_for_reservation(at, turns);
    /// The greatest priority of those that lack room.
    std::optional<std::int64_t> waiting;
    if (at.known.reserving) {
        waiting = priority_of(*at.known.gangs.at(*at.known.reserving).seen, at.seen.classes);
    }
    for (const auto& each : turns) {
        // These come after others in this pass, although they precede them in the order.
        if (!each.tried || each.how == start::surplus) continue;
        if (wants_room(at.known.gangs.at(each.key))) {
            waiting = std::max(waiting.value_or(each.priority), each.priority);
        }
    }
    for (const auto& each : turns) {
        auto& own = at.known.gangs.at(each.key);
        if (each.how == start::surplus && waiting && *waiting >= each.priority) {
            own.wait.surplus = "groups of its priority or above wait";
            continue;
        }
        own.wait.surplus.clear();
        if (!unchanged(at, own) && stays_in_line(at, each, own)) {
            if (each.how == start::surplus) {
                own.wait.surplus = in_line_text;
            } else {
                waiting = std::max(waiting.value_or(each.priority), each.priority);
            }
            continue;
        }
        auto how = try_plan(at, each.key, own);
        if (how == tried::fails && wants_room(own) && take_reservation_from(at, each)) {
            own.wait.failed_at.reset();
            at.failed.clear();
            how = try_plan(at, each.key, own);
        }
        if (how == tried::fits) continue;
        if (each.how == start::surplus) {
            own.wait.surplus = own.wait.failed_text;
            continue;
        }
        // A gang that is tried again and lacks something other than room delays no others.
        if (own.wait.failed_at && !wants_room(own)) continue;
        waiting = std::max(waiting.value_or(each.priority), each.priority);
        if (due && due->key == each.key && !at.known.reserving) reserve(at, each);
    }
    if (!at.some_left) ++at.known.sweep;
    at.known.left_some = at.some_left;
    if (!at.known.reserving) {
        if (const auto* first = due_for_reservation(at, turns)) reserve(at, *first);
    }
    if (at.known.reserving &&
        std::ranges::find(turns, *at.known.reserving, &turn::key) == turns.end()) {
        turns.push_back(turn_of(at, *at.known.reserving));
    }
    count_those_before(at, turns);
}

}  // namespace esi::gangs
