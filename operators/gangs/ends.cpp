// Members that the scheduler refuses although a look has seen their room, and attempts whose time
// is over.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gangs/pass.h"
#include "model/names.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

constexpr int most_refusals = 2;

bool is_refused(const pass& at, const model::pod& pod) {
    const auto node = pod.metadata.annotation(names::gang_node);
    // A node that is not ready or cordoned may come back; one that is gone does not.
    if (!at.room.find(node)) return true;
    return pod.scheduled_status == "False" && pod.scheduled_reason == "Unschedulable" &&
           node_stands(at.room, node);
}

std::string refusal_text(const pass& at, const model::pod& pod) {
    const std::string node(pod.metadata.annotation(names::gang_node));
    if (!at.room.find(node)) return fmt::format("node {}, which it was given, is gone", node);
    return fmt::format("its scheduler does not bind it to node {}: {}", node,
                       pod.scheduled_message);
}

void see_to_refused(pass& at, const gang& of, gang_memory& own) {
    for (const auto& each : of.members) {
        if (each.at != stage::let_in) continue;
        const auto known = own.members.find(each.uid());
        if (known == own.members.end()) continue;
        auto& member = known->second;
        const auto* owner = each.pod->metadata.controller_owner();
        if (!is_refused(at, *each.pod)) {
            member.refused_since.reset();
            if (std::exchange(member.counted, false) && owner) {
                const auto [from, to] = own.followers.equal_range(owner->uid);
                const auto its = std::find_if(from, to, [&](const auto& entry) {
                    return entry.second == member.refusals + 1;
                });
                if (its != to) own.followers.erase(its);
            }
            continue;
        }
        if (!member.refused_since) member.refused_since = at.seen.now;
        const auto due = *member.refused_since + refusal_time;
        if (at.seen.now < due) {
            at.again_at(due);
            continue;
        }
        const auto why = refusal_text(at, *each.pod);
        const bool again = owner && member.refusals < most_refusals;
        if (again) at.again_at(member.next);
        if (again && !at.under_way(each.uid()) && at.seen.now >= member.next) {
            // Counted before the answer, which may come after the follower, or never.
            if (!std::exchange(member.counted, true)) {
                own.followers.emplace(owner->uid, member.refusals + 1);
            }
            at.give(delete_pod{of.key, each.pod, why, true});
        }
        tell(at, of, own.events, fmt::format("pod {} refused", each.uid()),
             {true,
              "MemberRefused",
              again ? "Delete" : "Start",
              again ? fmt::format("pod {}: {}; it is deleted, and its follower is placed anew",
                                  each.pod->metadata.name, why)
                    : fmt::format("pod {}: {}; {}", each.pod->metadata.name, why,
                                  owner ? fmt::format("{} pods were deleted in its place before",
                                                      most_refusals)
                                        : "it has no controller that would make another: delete it "
                                          "and make it anew"),
              {},
              {},
              each.pod});
    }
}

/// After a partial attempt whose members were deleted: doubled with each in a row.
seconds pause_after(int rounds) {
    constexpr seconds longest{600};
    return std::min(seconds(10 << std::min(rounds - 1, 10)), longest);
}

milliseconds attempt_of(const pass& at, const gang& of) {
    constexpr milliseconds least{seconds(10)};
    const auto wished = of.group ? of.group.object->spec.attempt : std::nullopt;
    return wished ? std::max(*wished, least) : at.seen.options.attempt;
}

/// Deletes the members of an attempt that did not become whole in time, if that is wanted.
partial_memory see_to_partial(pass& at, const gang& of, const gang_memory& own,
                              event_memory& events) {
    auto out = own.partial;
    out.over = false;
    if (own.attempt.reached) out.rounds = 0;
    if (own.attempt.reached || own.what.let_in + own.what.bound == 0) out.deleted = false;
    if (!own.attempt.since) return out;
    const auto end = *own.attempt.since + attempt_of(at, of);
    if (at.seen.now < end) {
        at.again_at(end);
        return out;
    }
    out.over = true;
    if (!of.group || !of.group.object->deletes_partial()) return out;
    int live = 0;
    for (const auto& each : of.members) {
        if (each.at != stage::let_in && each.at != stage::bound) continue;
        // A member that was never let in is not of this attempt.
        if (!was_let_in(*each.pod)) continue;
        ++live;
        const auto known = own.members.find(each.uid());
        if (known == own.members.end() || at.under_way(each.uid())) continue;
        if (at.seen.now < known->second.next) {
            at.again_at(known->second.next);
            continue;
        }
        at.give(delete_pod{of.key, each.pod,
                           "its gang did not become whole in time, and on-partial is Delete"});
    }
    if (std::exchange(out.deleted, true)) return out;
    out.next_start = at.seen.now + pause_after(++out.rounds);
    tell(
        at, of, events, "partial",
        {true,
         "PartialGangDeleted",
         "Delete",
         fmt::format("{} of {} members were bound after {} s; as {} is Delete, {} pods are deleted",
                     own.what.reached(), own.what.minimum.value_or(0),
                     std::chrono::duration_cast<seconds>(attempt_of(at, of)).count(),
                     names::on_partial, live),
         {},
         {},
         {}});
    return out;
}

}  // namespace

void see_to_ends(pass& at, const gang& of, gang_memory& own) {
    if (own.what.let_in > 0) see_to_refused(at, of, own);
    own.partial = see_to_partial(at, of, own, own.events);
}

}  // namespace esi::gangs
