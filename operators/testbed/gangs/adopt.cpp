// After a restart, or in another leader, nothing is remembered: who has which place stands in the
// pods. Members that were let in have theirs for good. Nominated ones keep theirs if the gang can
// be whole with them; what was looked at is looked at again.
#include <algorithm>

#include "testbed/gangs/pass.h"

namespace esi::testbed::gangs {

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
    own.has = std::move(made);
    if (rest.empty()) return;
    facts known;
    known.namespaces = at.seen.namespaces;
    const auto answer = fit(rest, at.room, known, options_for(at, of));
    const auto* found = std::get_if<placement>(&answer);
    if (!found) return give_up(at, own);
    for (std::size_t i = 0; i < rest.size(); ++i) {
        at.room.promise(rest[i], found->nodes[i]);
        own.has->places.emplace(rest[i]->metadata.uid, found->nodes[i]);
    }
}

}  // namespace

void adopt(pass& at) {
    if (at.known.adopted) return;
    at.known.adopted = true;
    std::vector<turn> turns;
    for (const auto& [key, own] : at.known.gangs) {
        if (own.what.how == start::none || own.what.reserved == 0) continue;
        turns.push_back(turn_of(at, key));
    }
    std::ranges::sort(turns, before_in_age);
    for (const auto& each : turns) {
        auto& own = at.known.gangs.at(each.key);
        adopt_one(at, *own.seen, own);
    }
}

}  // namespace esi::testbed::gangs
