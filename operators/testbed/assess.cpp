#include "testbed/assess.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.h"
#include "testbed/admission.h"
#include "testbed/ghosts.h"
#include "testbed/isolation.h"

namespace esi::testbed {

namespace names = model::names;
namespace slot_state = model::slot_state;

namespace {

std::string trouble_of(const model::layout_node& wanted, const node_view* seen) {
    const std::string leaves = "; its slots go when no Scheduling holds the Testbed";
    if (!seen || !seen->node) return "the node does not exist" + leaves;
    const auto& node = *seen->node;
    if (node.metadata.uid != wanted.uid) {
        return "the node was replaced by another of that name, which gets slots when no Scheduling "
               "holds the Testbed";
    }
    if (node.metadata.deleting()) return "the node is being deleted" + leaves;
    if (node.unschedulable) return "the node is cordoned: kubectl uncordon " + wanted.name;
    if (!node.ready) return "the node is not ready: kubectl describe node " + wanted.name;
    return {};
}

bool is_current(const model::pod& pod, const model::batchjob& job) {
    return pod.metadata.namespace_ == job.metadata.namespace_ &&
           pod.metadata.label(names::job) == job.metadata.name && job.spec.creation_request &&
           pod.run() == job.spec.creation_request->run;
}

/// It stands in the slot that it names, or may come to it: ESI has recorded it there. One that is
/// not bound needs a run under the present hold as well; where that is a job's present run, it
/// comes no more once the job has dropped it.
bool stands(const model::pod& pod, const view& seen, const grid::records& known) {
    const auto position = grid::slot_of_pod(pod);
    if (!position || !known.has(pod, *position)) return false;
    if (pod.bound()) return true;
    if (!grid::is_under_hold(pod.run(), *seen.testbed)) return false;
    for (const auto& job : seen.jobs) {
        if (!is_current(pod, *job) || !has_right(*job, seen)) continue;
        const auto& placements = job->status.placements;
        return std::any_of(placements.begin(), placements.end(), [&](const auto& placement) {
            return placement.pod_uid == pod.metadata.uid;
        });
    }
    return true;
}

bool is_in(const model::pod& pod, const slot_assessment& slot) {
    const auto& inside = slot.in.job_pods;
    return std::any_of(inside.begin(), inside.end(),
                       [&](const auto& each) { return each->metadata.uid == pod.metadata.uid; });
}

/// Why a placed pod that still carries our gate, or goes by the extender, is not let in.
std::string refusal_of(const model::pod& pod, const model::testbed& testbed,
                       const model::testbed_layout& layout, const node_view* node) {
    if (!pod.metadata.undecodable.empty()) {
        return fmt::format("pod {} cannot be read: {}", pod.metadata.key().text(),
                           pod.metadata.undecodable);
    }
    for (const auto& [name, amount] : pod.requests) {
        if (amount <= 0) continue;
        auto size = layout.resources_per_slot.find(name);
        const auto there = size == layout.resources_per_slot.end() ? 0 : size->second.milli;
        if (amount <= there) continue;
        return fmt::format("{} is larger than the slot: it requests {} {}, the slot has {}",
                           pod_text(pod, testbed), model::show(name, amount), name,
                           model::show(name, there));
    }
    if (pod.bound() || !node || !node->node) return {};
    for (const auto& gate : pod.scheduling_gates) {
        if (gate != names::gate) {
            return fmt::format("{} also waits for the scheduling gate {}", pod_text(pod, testbed),
                               gate);
        }
    }
    if (auto why = admission_refusal(pod, *node->node)) {
        return fmt::format("{} {}", pod_text(pod, testbed), *why);
    }
    return {};
}

/// Who takes the node's room first: what stands, what was let in, what was placed, the ghosts that
/// wait, the ghosts that are missing.
int turn_of(const slot_assessment& slot) {
    const bool holds = slot.in.ghost && slot.in.ghost->live() && slot.in.ghost->bound();
    for (const auto& pod : slot.in.job_pods) {
        if (pod->bound()) return 0;
    }
    if (holds) return 0;
    if (!slot.in.job_pods.empty()) return 1;
    if (slot.placed) return 2;
    if (slot.in.ghost && slot.in.ghost->live()) return 3;
    return 4;
}

/// The pods that take the room of the slot in which they are bound. A second one in the same slot
/// takes room beside the slots, as anybody does.
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

void give_room(assessment& out) {
    std::map<std::string_view, std::vector<slot_assessment*>> by_node;
    for (auto& slot : out.slots) by_node[slot.in.place.node].push_back(&slot);
    for (auto& [name, slots] : by_node) {
        auto& node = out.nodes.find(name)->second;
        std::sort(slots.begin(), slots.end(), [](const auto* a, const auto* b) {
            return std::pair(turn_of(*a), a->in.place.index) <
                   std::pair(turn_of(*b), b->in.place.index);
        });
        int left = node.room.slots;
        for (auto* slot : slots) {
            slot->has_room = turn_of(*slot) == 0 || left > 0;
            if (left > 0) --left;
            if (!slot->has_room) ++node.without_room;
        }
    }
}

/// An older Testbed has the right of way: while a ghost of its waits for room, free ghosts for
/// which the node has no room beside the older one's slots go, one at a time, so that none goes
/// without need. A slot that was given to a job is not taken from it: by its order, or by its
/// Scheduling, which assigns slots before it orders them.
void give_way(assessment& out, const model::scheduling* holder) {
    std::set<int> given;
    if (holder != nullptr) {
        for (const auto& each : holder->status.assignments) {
            if (!each.ended) given.insert(each.slot_ids.begin(), each.slot_ids.end());
        }
    }
    struct count {
        int standing = 0;
        bool one_goes = false;
        slot_assessment* last = nullptr;
    };
    std::map<std::string_view, count> by_node;
    for (auto& slot : out.slots) {
        const auto& node = out.nodes.find(slot.in.place.node)->second;
        if (!node.room.elder_waits || !node.trouble.empty() || turn_of(slot) != 0) continue;
        auto& here = by_node[slot.in.place.node];
        ++here.standing;
        const auto& ghost = slot.in.ghost;
        if (ghost && ghost->metadata.deleting()) here.one_goes = true;
        const bool taken = slot.assigned || given.contains(slot.in.place.position);
        if (slot.ghost_wanted && !taken && slot.in.free()) here.last = &slot;
    }
    for (auto& [name, here] : by_node) {
        const bool in_excess = here.standing > out.nodes.find(name)->second.room.slots;
        if (in_excess && !here.one_goes && here.last) here.last->gives_way = true;
    }
}

std::string words_of_scheduler(const model::pod& pod) {
    if (pod.scheduled_message.empty()) return "no scheduler has looked at it";
    return pod.scheduled_message;
}

std::string failure_of(const model::pod& ghost, const hints& known, steady_time now) {
    auto why = ghost_failure(ghost);
    const auto crashed = known.crashed.find(ghost.metadata.uid);
    if (why.empty() && crashed != known.crashed.end() && now < crashed->second + crash_memory) {
        why = keeps_ending;
    }
    return why;
}

/// State of a slot where neither a bound job pod nor a right to it decides.
void judge_ghost(slot_assessment& slot, const assessment& all, const hints& known, steady_time now,
                 wall_time wall, const std::string& ghost_name) {
    const auto& place = slot.in.place;
    const auto& node = all.nodes.find(place.node)->second;
    slot.ghost_under_way = true;
    if (!slot.has_room) {
        slot.state = slot_state::error;
        slot.problem = describe_shortage(node.room, all.layout);
        return;
    }
    const auto& ghost = slot.in.ghost;
    auto failed = known.ghosts.find(ghost_name);
    const bool failing = failed != known.ghosts.end() && failed->second.failures > 0;
    if (ghost && ghost->terminal()) {
        slot.state = slot_state::error;
        slot.problem = fmt::format("ghost {} has ended: {} {}", ghost->metadata.name, ghost->reason,
                                   ghost->message);
        return;
    }
    if ((!ghost || ghost->metadata.deleting()) && failing && failed->second.next > now) {
        slot.state = slot_state::error;
        slot.problem = fmt::format("ghost {} fails: {}", ghost_name, failed->second.text);
        return;
    }
    if (ghost && !ghost->bound() && !ghost->metadata.deleting() &&
        ghost->metadata.creation_timestamp) {
        auto since = ghost->metadata.creation_timestamp->value;
        if (auto at = known.vacated.find(place_key(place.node, place.index));
            at != known.vacated.end()) {
            since = std::max(since, at->second);
        }
        // Creation times have whole seconds only.
        const auto until = since + ghost_patience + seconds(1);
        if (wall >= until) {
            slot.state = slot_state::error;
            slot.problem = fmt::format("ghost {} is not bound: {}", ghost->metadata.name,
                                       words_of_scheduler(*ghost));
            return;
        }
        slot.next_look = until;
    }
    slot.state = slot_state::reserved;
}

void judge(slot_assessment& slot, const assessment& all, const model::testbed& testbed,
           const hints& known, steady_time now, wall_time wall, const std::string& ghost_name) {
    const auto& node = all.nodes.find(slot.in.place.node)->second;
    std::vector<const model::pod*> bound;
    for (const auto& pod : slot.in.job_pods) {
        if (pod->bound()) bound.push_back(pod.get());
    }
    if (slot.assigned) {
        slot.reserved_for = slot.placed ? slot.placed->metadata.name : slot.assigned->metadata.name;
        if (slot.current) slot.reserved_for = slot.current->metadata.name;
        // Pods are where their job is.
        if (slot.assigned->metadata.namespace_ != testbed.metadata.namespace_) {
            slot.reserved_for = foreign_pod;
        }
    }
    if (!node.trouble.empty()) {
        slot.state = slot_state::error;
        slot.problem = node.trouble;
        return;
    }
    if (bound.size() > 1) {
        slot.state = slot_state::error;
        slot.problem =
            fmt::format("slot {} has two pods: {} and {}", slot.in.place.position,
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
            slot.problem = describe_shortage(node.room, all.layout);
            return;
        }
        if (slot.placed && !slot.current) {
            slot.problem = known.obstacle_of(slot.placed->metadata.uid);
            if (!slot.problem.empty()) {
                slot.state = slot_state::error;
                return;
            }
        }
        if (slot.ghost_wanted && !slot.in.free()) {
            judge_ghost(slot, all, known, now, wall, ghost_name);
            slot.ghost_under_way = false;
            return;
        }
        slot.state = slot_state::reserved;
        return;
    }
    if (slot.gives_way) {
        slot.state = slot_state::error;
        slot.problem = describe_shortage(node.room, all.layout);
        return;
    }
    if (slot.in.free()) {
        slot.state = slot_state::free;
        return;
    }
    judge_ghost(slot, all, known, now, wall, ghost_name);
}

}  // namespace

bool has_right(const model::batchjob& job, const view& seen) {
    return grid::has_right(job, *seen.testbed, seen.holder.get());
}

bool fits_layout(const model::pod& ghost, const model::testbed& testbed,
                 const model::testbed_layout& layout, const layout_members& members) {
    auto index = grid::slot_index_of_ghost(ghost);
    if (!index || *index >= layout.slots_per_node) return false;
    const std::string node(ghost.metadata.annotation(names::node));
    if (!members.contains(node)) return false;
    if (ghost.bound() && ghost.node_name != node) return false;
    if (ghost.metadata.name !=
        grid::ghost_name(testbed.metadata.name, testbed.metadata.uid, node, *index)) {
        return false;
    }
    for (const auto& [name, amount] : layout.resources_per_slot) {
        auto has = ghost.requests.find(name);
        if (has == ghost.requests.end() || has->second != amount.milli) return false;
    }
    return true;
}

assessment assess(const view& seen, const model::testbed_layout& layout, const hints& known,
                  steady_time now, wall_time wall) {
    assessment out;
    out.layout = layout;
    const auto& testbed = *seen.testbed;
    const auto others = rivals_of(seen);
    const auto members = members_of(layout);
    for (const auto& member : layout.nodes) {
        auto at = seen.nodes.find(member.name);
        const auto* node = at == seen.nodes.end() ? nullptr : &at->second;
        auto& entry = out.nodes[member.name];
        entry.seen = node;
        entry.trouble = trouble_of(member, node);
        entry.shielded = testbed.spec.isolation != "Taint" ||
                         (node && node->node && is_shielded(*node->node, seen));
        entry.kept_open = !entry.shielded && node && node->node && is_kept_open(*node->node, seen);
        if (entry.kept_open) {
            entry.obstacle =
                "an older Testbed of another namespace has the node too and keeps it open to other "
                "pods (isolation: None)";
        } else if (!entry.shielded) {
            entry.obstacle = known.obstacle_of(member.name);
        }
    }

    const auto known_pods = records_of(seen);
    std::vector<pod_pointer> stand;
    for (const auto& pod : seen.pods) {
        if (!pod->is_ghost()) {
            if (stands(*pod, seen, known_pods)) stand.push_back(pod);
        } else if (is_own_ghost(*pod, testbed)) {
            if (fits_layout(*pod, testbed, layout, members)) {
                stand.push_back(pod);
            } else {
                out.misfits.push_back(pod);
            }
        }
    }
    for (auto& pod : damaged_ghosts(seen)) out.misfits.push_back(std::move(pod));
    for (auto& in : grid::look(layout, stand)) out.slots.emplace_back().in = std::move(in);

    std::map<model::object_key, pod_pointer> by_key;
    for (const auto& pod : seen.pods) by_key[pod->metadata.key()] = pod;
    std::set<std::string> placed_uids;
    std::map<std::string_view, slot_assessment*> slot_of_uid;
    // By the uid of a pod on record: its job's run, which nobody has ended yet.
    std::map<std::string_view, std::string_view> staying;
    for (const auto& job : seen.jobs) {
        if (!grid::is_under_hold(*job, testbed) || model::is_final(job->status.state)) continue;
        const auto& order = *job->spec.creation_request;
        for (const auto& entry : job->status.placements) staying[entry.pod_uid] = order.run;
        if (!has_right(*job, seen)) continue;
        for (int position : order.slot_ids) {
            if (position < 0 || position >= static_cast<int>(out.slots.size())) {
                out.problems.push_back(
                    fmt::format("BatchJob {} is given slot {}, which is not there",
                                job->metadata.key().text(), position));
                continue;
            }
            auto& slot = out.slots[static_cast<std::size_t>(position)];
            if (slot.assigned) {
                out.problems.push_back(
                    fmt::format("slot {} is given to {} and to {}: the second waits", position,
                                slot.assigned->metadata.key().text(), job->metadata.key().text()));
                continue;
            }
            slot.assigned = job;
            for (const auto& placement : job->status.placements) {
                if (placement.slot != position) continue;
                auto found = by_key.find({job->metadata.namespace_, placement.pod_name});
                if (found == by_key.end()) continue;
                const auto& pod = found->second;
                if (pod->metadata.uid != placement.pod_uid || pod->is_ghost() || pod->terminal() ||
                    pod->metadata.deleting() || !is_current(*pod, *job)) {
                    continue;
                }
                // Only an edited record has one pod twice: nobody swaps it into two slots at once.
                auto [other, first] = slot_of_uid.try_emplace(pod->metadata.uid, &slot);
                if (!first && other->second != &slot) {
                    out.problems.push_back(fmt::format(
                        "{} is recorded for slot {} and for slot {}", pod_text(*pod, testbed),
                        other->second->in.place.position, position));
                    if (!is_in(*pod, slot)) continue;
                    other->second->placed = nullptr;
                    other->second = &slot;
                }
                slot.placed = pod;
                placed_uids.insert(pod->metadata.uid);
            }
        }
    }

    for (auto& slot : out.slots) {
        const auto& node = out.nodes.find(slot.in.place.node)->second;
        bool inside = false;
        for (const auto& pod : slot.in.job_pods) {
            // Let in by us: recorded, not only called so by its own annotations.
            if (slot.placed && slot.placed->metadata.uid == pod->metadata.uid) slot.current = pod;
            // A job that is behind its pods in the caches is no reason for a second pod in the
            // slot, nor is a Scheduling that has gone while its jobs run.
            const bool of_assigned =
                slot.assigned && pod->bound() && is_current(*pod, *slot.assigned);
            const auto run = staying.find(pod->metadata.uid);
            const bool stays =
                run != staying.end() && run->second == pod->run() && grid::let_in(*pod);
            inside |= !pod->metadata.deleting() && (of_assigned || stays);
        }
        if (slot.placed && !slot.current) {
            slot.refusal = refusal_of(*slot.placed, testbed, layout, node.seen);
            if (slot.refusal.empty() && slot.placed->bound()) {
                slot.refusal =
                    fmt::format("{} was bound to {} without being let in",
                                pod_text(*slot.placed, testbed), slot.placed->node_name);
            }
        }
        // A refused pod's nomination would count its room twice.
        if (!slot.refusal.empty()) placed_uids.erase(slot.placed->metadata.uid);
        slot.ghost_wanted = !slot.current && !inside && !(slot.placed && slot.refusal.empty());
    }
    const auto takers = takers_of(out.slots);
    for (auto& [name, node] : out.nodes) {
        if (node.seen) node.room = room_on(seen, others, *node.seen, layout, takers);
    }
    give_room(out);
    give_way(out, seen.holder.get());
    if (known.images.failures > 0) out.image_obstacle = known.images.text;
    for (auto& slot : out.slots) {
        if (slot.in.ghost) slot.ghost_failure = failure_of(*slot.in.ghost, known, now);
        judge(slot, out, testbed, known, now, wall,
              grid::ghost_name(testbed.metadata.name, testbed.metadata.uid, slot.in.place.node,
                               slot.in.place.index));
    }

    for (const auto& pod : seen.pods) {
        if (pod->is_ghost() || pod->bound() || pod->terminal() || pod->metadata.deleting())
            continue;
        if (placed_uids.contains(pod->metadata.uid)) continue;
        const bool gated = !grid::let_in(*pod);
        const bool committed = pod->metadata.annotations.contains(names::slot_ghost);
        if ((gated && !pod->nominated_node_name.empty()) || (!gated && committed)) {
            out.withdrawn.push_back(pod);
        }
    }
    return out;
}

}  // namespace esi::testbed
