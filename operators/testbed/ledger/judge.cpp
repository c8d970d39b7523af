#include "testbed/ledger/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "testbed/room/ghosts.h"

namespace esi::testbed {

namespace slot_state = model::slot_state;

namespace {

/// True: a job pod is bound in the slot.
bool is_taken(const slot_assessment& slot) {
    return std::ranges::any_of(slot.in.job_pods, [](const auto& pod) { return pod->bound(); });
}

/// The order in which slots take the node's room: bound pods, pods that were let in, placed pods,
/// waiting ghosts, missing ghosts.
int rank_of(const slot_assessment& slot) {
    const bool holds = slot.in.ghost && slot.in.ghost->live() && slot.in.ghost->bound();
    if (is_taken(slot)) return 0;
    if (holds) return 0;
    if (!slot.in.job_pods.empty()) return 1;
    if (slot.placed) return 2;
    if (slot.in.ghost && slot.in.ghost->live()) return 3;
    return 4;
}

std::string words_of_scheduler(const model::pod& pod) {
    if (pod.scheduled_message.empty()) return "no scheduler has looked at it";
    return pod.scheduled_message;
}

std::string failure_of(const model::pod& ghost, const hints& known, steady_time now,
                       deadlines& changes) {
    auto why = ghost_failure(ghost);
    const auto crashed = known.crashed.find(ghost.metadata.uid);
    if (why.empty() && crashed != known.crashed.end() && now < crashed->second + crash_memory) {
        changes.add(crashed->second + crash_memory);
        why = keeps_ending;
    }
    return why;
}

struct judge {
    const standard& by;
    assessment& all;

    void look_at(slot_assessment& slot);
    void look_at_ghost(slot_assessment& slot);
    std::string shortage() const {
        return describe_shortage(all.node.room, by.layout, positions_of(all.slots));
    }
    std::string ghost_name(const grid::slot& place) const {
        const auto& meta = by.seen.testbed->metadata;
        return grid::ghost_name(meta.name, meta.uid, place.node, place.index);
    }
};

/// Sets the state of a slot that has neither a bound job pod nor a job with a right to it.
void judge::look_at_ghost(slot_assessment& slot) {
    const auto& place = slot.in.place;
    const auto name = ghost_name(place);
    slot.ghost_under_way = true;
    if (!slot.has_room) {
        slot.state = slot_state::error;
        slot.problem = shortage();
        return;
    }
    const auto& ghost = slot.in.ghost;
    auto failed = by.known.ghosts.find(name);
    const bool failing = failed != by.known.ghosts.end() && failed->second.failures > 0;
    if (ghost && ghost->terminal()) {
        slot.state = slot_state::error;
        slot.problem = fmt::format("ghost {} has ended: {} {}", ghost->metadata.name, ghost->reason,
                                   ghost->message);
        return;
    }
    if ((!ghost || ghost->metadata.deleting()) && failing && failed->second.next > by.now) {
        all.changes.add(failed->second.next);
        slot.state = slot_state::error;
        slot.problem = fmt::format("ghost {} fails: {}", name, failed->second.text);
        return;
    }
    if (ghost && !ghost->bound() && !ghost->metadata.deleting() &&
        ghost->metadata.creation_timestamp) {
        auto since = ghost->metadata.creation_timestamp->value;
        if (auto at = by.known.vacated.find(place_key(place.node, place.index));
            at != by.known.vacated.end()) {
            since = std::max(since, at->second);
        }
        // Creation times have whole seconds only.
        const auto until = since + ghost_patience + seconds(1);
        if (all.changes.has_passed(until, by.wall)) {
            slot.state = slot_state::error;
            slot.problem = fmt::format("ghost {} is not bound: {}", ghost->metadata.name,
                                       words_of_scheduler(*ghost));
            return;
        }
    }
    slot.state = slot_state::reserved;
}

void judge::look_at(slot_assessment& slot) {
    const auto& node = all.node;
    const auto& testbed = *by.seen.testbed;
    std::vector<const model::pod*> bound;
    for (const auto& pod : slot.in.job_pods) {
        if (pod->bound()) bound.push_back(pod.get());
    }
    if (slot.assigned) {
        slot.reserved_for = slot.placed ? slot.placed->metadata.name : slot.assigned->metadata.name;
        if (slot.current) slot.reserved_for = slot.current->metadata.name;
        // Pods are in the namespace of their job.
        if (slot.assigned->metadata.namespace_ != testbed.metadata.namespace_) {
            slot.reserved_for = foreign_pod;
        }
    }
    if (!node.problem.empty()) {
        slot.state = slot_state::error;
        slot.problem = node.problem;
        return;
    }
    if (bound.size() > 1) {
        slot.state = slot_state::error;
        slot.problem = fmt::format("slot {} has two pods: {} and {}", slot.in.place.position,
                                   pod_text(*bound[0], testbed), pod_text(*bound[1], testbed));
        return;
    }
    if (bound.size() == 1) {
        slot.state = slot_state::occupied;
        return;
    }
    if (slot.assigned) {
        if (!slot.refusal.empty()) {
            slot.state = slot_state::error;
            slot.problem = slot.refusal;
            return;
        }
        if (!slot.has_room) {
            slot.state = slot_state::error;
            slot.problem = shortage();
            return;
        }
        if (slot.placed && !slot.current) {
            slot.problem = by.known.refusal_of(slot.placed->metadata.uid);
            if (!slot.problem.empty()) {
                slot.state = slot_state::error;
                return;
            }
        }
        if (slot.ghost_wanted && !slot.in.free()) {
            look_at_ghost(slot);
            slot.ghost_under_way = false;
            return;
        }
        slot.state = slot_state::reserved;
        return;
    }
    if (slot.gives_way || (slot.in.free() && !slot.has_room)) {
        slot.state = slot_state::error;
        slot.problem = shortage();
        return;
    }
    if (slot.in.free()) {
        slot.state = slot_state::free;
        return;
    }
    look_at_ghost(slot);
}

}  // namespace

/// The pods that take the room of the slot in which they are bound. A second pod in the same slot
/// takes room beside the slots, as any other pod does.
std::set<std::string_view> takers_of(const std::vector<slot_assessment>& slots) {
    std::set<std::string_view> out;
    for (const auto& slot : slots) {
        for (const auto& pod : slot.in.job_pods) {
            if (!pod->bound()) continue;
            out.insert(pod->metadata.uid);
            break;
        }
    }
    return out;
}

std::vector<int> positions_of(const std::vector<slot_assessment>& slots) {
    std::vector<int> out;
    out.reserve(slots.size());
    for (const auto& slot : slots) out.push_back(slot.in.place.position);
    return out;
}

void count_growth(assessment& out, const model::testbed_layout& layout,
                  const model::testbed& testbed) {
    auto& room = out.node.room;
    const auto takers = takers_of(out.slots);
    slot_sizes sizes(layout);
    for (const auto& slot : out.slots) {
        for (const auto& pod : slot.in.job_pods) {
            if (!takers.contains(pod->metadata.uid)) continue;
            auto more = taken_by(*pod);
            model::take(more, sizes.of(slot.in.place.position));
            std::erase_if(more, [](const auto& each) { return each.second <= 0; });
            if (more.empty()) continue;
            room.has_growth = true;
            model::add(room.foreign, more);
            model::take(room.left, more);
            room.consumers.push_back({fmt::format("{} above its slot {}", pod_text(*pod, testbed),
                                                  slot.in.place.position),
                                      std::move(more)});
        }
    }
}

void give_room(assessment& out, const model::testbed_layout& layout) {
    std::vector<slot_assessment*> slots;
    for (auto& slot : out.slots) slots.push_back(&slot);
    std::sort(slots.begin(), slots.end(), [](const auto* a, const auto* b) {
        return std::tuple(rank_of(*a), !is_taken(*a), a->in.place.index, a->in.place.position) <
               std::tuple(rank_of(*b), !is_taken(*b), b->in.place.index, b->in.place.position);
    });
    slot_sizes sizes(layout);
    auto left = out.node.room.left;
    for (auto* slot : slots) {
        const auto& size = sizes.of(slot->in.place.position);
        const bool fits = !missing_resource(left, size);
        // A bound ghost has its room. Where a pod of another slot has grown into it, no scheduler
        // binds the pod that would take the ghost's place.
        const bool stands = rank_of(*slot) == 0 && (!out.node.room.has_growth || is_taken(*slot));
        slot->has_room = stands || fits;
        if (slot->has_room) model::take(left, size);
        if (!slot->has_room) ++out.node.without_room;
    }
}

/// An older Testbed has the right of way: while one of its ghosts waits for room, free ghosts for
/// which the node has no room beside the older one's slots are removed, one at a time, so that no
/// ghost goes without need. A slot with a job is not taken from it, whether its order or its
/// Scheduling (which assigns slots before it orders them) gives it.
void give_way(assessment& out, const model::testbed_layout& layout, const std::set<int>& given) {
    if (!out.node.room.elder_waits || !out.node.problem.empty()) return;
    slot_sizes sizes(layout);
    model::amounts standing;
    bool one_goes = false;
    slot_assessment* last = nullptr;
    for (auto& slot : out.slots) {
        if (rank_of(slot) != 0) continue;
        model::add(standing, sizes.of(slot.in.place.position));
        const auto& ghost = slot.in.ghost;
        if (ghost && ghost->metadata.deleting()) one_goes = true;
        const bool taken = slot.assigned || given.contains(slot.in.place.position);
        if (slot.ghost_wanted && !taken && slot.in.free()) last = &slot;
    }
    const bool too_much = missing_resource(out.node.room.left, standing).has_value();
    if (too_much && !one_goes && last) last->gives_way = true;
}

void judge_slots(assessment& out, const standard& by) {
    judge states{by, out};
    for (auto& slot : out.slots) {
        if (slot.in.ghost) {
            slot.ghost_failure = failure_of(*slot.in.ghost, by.known, by.now, out.changes);
        }
        states.look_at(slot);
    }
}

}  // namespace esi::testbed
