// After a restart, or in another leader, nothing is remembered: the pods say which member has which
// place. Members that were let in keep theirs for good. A plan with all members nominated is taken
// over unchanged. Otherwise nominated members keep their places if the gang can be whole with them;
// a look that was made before is made again.
//
// The same is done with plans of another process that believes it leads at the same time. If such a
// plan is not whole yet, this process waits a moment and then makes its own.
#include <algorithm>
#include <set>
#include <utility>

#include "gangs/pass.h"
#include "gangs/plan_mark.h"

namespace esi::gangs {

namespace {

/// There is room for one more pod like this on the node now.
bool has_room(const cluster_room& room, const pod_pointer& pod, const std::string& node) {
    if (!node_stands(room, node)) return false;
    const auto& entry = *room.find(node);
    demand wanted;
    wanted.count(*pod, 1);
    return std::ranges::all_of(wanted.amounts, [&](const auto& need) {
        const auto number = room.resources().find(need.first);
        return need.second <= entry.free_of(number);
    });
}

void adopt_one(pass& at, const gang& of, gang_memory& own) {
    plan made;
    made.since = at.seen.now;
    std::vector<pod_pointer> rest;
    for (const auto& uid : own.what.next) {
        const auto& pod = of.find(uid)->pod;
        const auto& node = pod->nominated_node_name;
        if (!node.empty() && has_room(at.room, pod, node)) {
            at.room.promise(pod, node);
            made.places.emplace(uid, node);
        } else {
            rest.push_back(pod);
        }
    }
    if (made.places.empty()) return;
    name_plan(at, made, own.what.enough_with_next());
    own.has = std::move(made);
    if (rest.empty()) return;
    facts known;
    known.namespaces = at.seen.namespaces;
    const auto answer = fit(rest, at.room, known, options_for(at, of));
    const auto* found = std::get_if<chosen_nodes>(&answer);
    if (!found) return give_up(at, own);
    for (std::size_t i = 0; i < rest.size(); ++i) {
        at.room.promise(rest[i], found->nodes[i]);
        own.has->places.emplace(rest[i]->metadata.uid, found->nodes[i]);
    }
    // The first member may have changed.
    name_plan(at, *own.has, own.what.enough_with_next());
}

/// How long the other process has to nominate the other members, and to let them in.
constexpr seconds patience{2};

/// True: all places are promised. `room_only`: only if there is room; otherwise, if there is none,
/// the gang with the last turn gives up (keep_within).
bool promise_all(pass& at, const gang& of, const plan& theirs, bool room_only) {
    for (const auto& [uid, node] : theirs.places) {
        const auto& pod = of.find(uid)->pod;
        if (room_only && !has_room(at.room, pod, node)) {
            for (const auto& [promised, to] : theirs.places) at.room.release(promised);
            return false;
        }
        at.room.promise(pod, node);
    }
    return true;
}

/// Looks for other processes' plans for the members needed next. True: the gang is left to the
/// other process for now.
bool go_by_another(pass& at, const gang& of, gang_memory& own, bool starts) {
    std::set<std::string_view> marks;
    plan theirs;
    for (const auto& uid : own.what.next) {
        const auto& pod = of.find(uid)->pod;
        const auto mark = mark_of(*pod);
        if (!is_of_another(at, of, own, mark)) continue;
        marks.insert(mark);
        if (node_stands(at.room, pod->nominated_node_name)) {
            theirs.places.emplace(uid, pod->nominated_node_name);
        }
    }
    if (marks.empty()) {
        own.others.yields_until.reset();
        return false;
    }
    if (marks.size() == 1 && theirs.places.size() == own.what.next.size() &&
        promise_all(at, of, theirs, starts)) {
        theirs.mark = *marks.begin();
        theirs.shown = true;
        theirs.since = at.seen.now;
        own.has = std::move(theirs);
        own.changed = true;
        return true;
    }
    // One deadline for all of them, so that a process that writes new marks again and again delays
    // nothing.
    if (!own.others.yields_until) own.others.yields_until = at.seen.now + patience;
    if (!starts && at.seen.now < *own.others.yields_until) {
        at.again_at(*own.others.yields_until);
        own.others.yields = true;
        return true;
    }
    for (const auto mark : marks) drop(of, own, mark);
    return false;
}

}  // namespace

void adopt(pass& at) {
    const bool starts = !std::exchange(at.known.adopted, true);
    std::vector<turn> turns;
    for (auto& [key, own] : at.known.gangs) {
        own.others.yields = false;
        if (own.has) own.others.yields_until.reset();
        if (own.has || own.what.how == start::none || own.what.reserved == 0) continue;
        if (looks(at, key) || go_by_another(at, *own.seen, own, starts)) continue;
        if (starts) turns.push_back(turn_of(at, key));
    }
    std::ranges::sort(turns, before_in_age);
    for (const auto& each : turns) {
        auto& own = at.known.gangs.at(each.key);
        adopt_one(at, *own.seen, own);
    }
}

}  // namespace esi::gangs
