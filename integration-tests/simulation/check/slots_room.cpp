// The room of a slot while no pod is in it: between the end of a ghost and the binding of its job
// pod, and the other way round.
#include <fmt/format.h>

#include <algorithm>

#include "check/slots.h"
#include "grid/places.h"

namespace esi::simulation::checks {

namespace {

/// An operator that is undisturbed has a ghost at the door of a slot so soon after its job pod
/// began to end.
constexpr milliseconds reaction{500};
/// Room that comes free goes once to a pod that is pending, as the ghost is made only then. It
/// stands at the door so soon after, and the room that comes free next is its own.
constexpr seconds once_passed_by{5};
/// A slot has its ghost again so long after there is room for it, whatever else is pending.
constexpr seconds longest_empty{60};
/// The answer to a write shows what a read would show, for so long.
constexpr milliseconds answer_counts{250};

}  // namespace

void slot_rules::room_is_kept(const pod_record& stranger) {
    const auto& name = stranger.pod->node_name;
    std::erase_if(guards_, [&](const guard& each) { return !stands(each); });
    auto found = all_.nodes.find(name);
    if (found == all_.nodes.end() || !found->second.node || here_.disturbed_node(name)) return;

    model::amounts needed;
    std::vector<std::string> whose;
    for (const auto& each : guards_) {
        if (each.where.node != name || scheduler_of(each) != stranger.pod->scheduler_name) continue;
        auto keeper = all_.pods.find(each.pod_uid);
        const bool known = keeper != all_.pods.end();
        if (known && stranger.priority >= keeper->second.priority) continue;
        if (was_let_down(each, known ? &keeper->second : nullptr, stranger)) continue;
        model::add(needed, each.room);
        whose.push_back(each.why);
    }
    if (needed.empty()) return;
    auto free = found->second.node->allocatable;
    model::take(free, all_.taken(name, stranger.pod->metadata.uid));
    // Room that was not there before was not taken by this one.
    if (!fits(needed, free)) return;
    model::take(free, demand_of(*stranger.pod));
    out_.require(fits(needed, free), "stranger-in-slot", {stranger.pod->metadata.uid}, [&] {
        return fmt::format("pod {} was bound to {} into room that is kept: {}; left is {}",
                           stranger.name(), name, fmt::join(whose, "; "), show(free));
    });
}

bool slot_rules::was_let_down(const guard& what, const pod_record* keeper,
                              const pod_record& stranger) const {
    auto last = preempted_on_.find(what.where.node);
    if (last != preempted_on_.end() && here_.now() < last->second + seconds(10) &&
        (!what.looked_at || last->second >= *what.looked_at)) {
        return true;
    }
    const auto nominated = keeper ? keeper->nominated_since.value_or(what.since) : what.since;
    auto began = here_.scheduler_began.find(stranger.pod->scheduler_name);
    if (began == here_.scheduler_began.end() || began->second < nominated) return false;
    // A leader sets again what another leader has set before it.
    return !what.leader_since || nominated >= *what.leader_since;
}

void slot_rules::keep_room_for_the_placed(const pod_record& ghost) {
    if (!ghost.seat || !ghost.live() || !ghost.pod->bound()) return;
    const auto* bed = all_.testbed(ghost.seat->testbed);
    if (!bed) return;
    const auto position = position_of(*bed->testbed, *ghost.seat);
    if (!position) return;
    for (const auto& [name, record] : all_.jobs) {
        const auto& job = *record.job;
        if (!has_right(job, *bed->testbed)) continue;
        for (const auto& entry : job.status.placements) {
            auto pod = all_.pods.find(entry.pod_uid);
            if (entry.slot != *position || pod == all_.pods.end()) continue;
            const auto& placed = pod->second;
            if (!placed.ever_gated || placed.pod->bound() || !placed.live()) continue;
            auto& made =
                guards_.emplace_back(guard{*ghost.seat,
                                           entry.pod_uid,
                                           demand_of(*placed.pod),
                                           here_.now(),
                                           fmt::format("{} waits for pod {}, its ghost has gone",
                                                       ghost.seat->text(), placed.name()),
                                           ghost.pod->metadata.uid,
                                           false,
                                           {},
                                           {}});
            auto removed = removed_.find(ghost.pod->metadata.uid);
            if (removed == removed_.end()) continue;
            made.leader_since = removed->second.leader_since;
            auto nominated = nominated_.find(entry.pod_uid);
            if (nominated == nominated_.end()) continue;
            // Between the nomination and the end of the ghost it is read back, unless the answer to
            // the write that set or showed it came at once.
            std::optional<steady_time> last;
            auto look = looks_.find(placed.name());
            if (look != looks_.end() && look->second > nominated->second) last = look->second;
            auto shown = shown_.find(entry.pod_uid);
            if (shown != shown_.end() && removed->second.sent <= shown->second + answer_counts) {
                last = std::max(last.value_or(shown->second), shown->second);
            }
            made.looked_at = last.value_or(steady_time::max());
        }
    }
}

void slot_rules::keep_room_for_the_ghost(const pod_record& job_pod) {
    if (!job_pod.seat || !job_pod.deleting_since) return;
    const auto& where = *job_pod.seat;
    const auto* bed = all_.testbed(where.testbed);
    if (!bed || bed->testbed->metadata.deleting()) return;
    // Announced long enough ago: the ghost should be at the door, and nominated.
    const bool due = here_.now() >= *job_pod.deleting_since + reaction && here_.fresh("testbed") &&
                     !here_.disturbed_node(where.node) && position_of(*bed->testbed, where);
    bool ghost_there = false;
    if (auto there = all_.ghosts_of.find(where); there != all_.ghosts_of.end()) {
        for (const auto& uid : there->second) {
            const auto& ghost = all_.pods.at(uid);
            ghost_there = true;
            const bool at_the_door = ghost.live() && !ghost.pod->bound() &&
                                     !ghost.pod->metadata.deleting() &&
                                     (ghost.nominated_since || due);
            if (!at_the_door) continue;
            guards_.push_back({where,
                               uid,
                               demand_of(*ghost.pod),
                               here_.now(),
                               fmt::format("{} waits for ghost {}, pod {} has gone", where.text(),
                                           ghost.name(), job_pod.name()),
                               {},
                               due});
        }
    }
    const auto& layout = bed->testbed->status.layout;
    if (ghost_there || !due || !layout) return;
    guards_.push_back({where,
                       {},
                       size_of(*bed->testbed, where),
                       here_.now(),
                       fmt::format("{} waits for its ghost, pod {} has gone as announced",
                                   where.text(), job_pod.name()),
                       {},
                       due});
}

bool slot_rules::stands(const guard& what) const {
    if (what.pod_uid.empty()) {
        // The ghost comes too late then: a pod that was bound meanwhile got in because of that.
        return !all_.is_filled(what.where) && here_.now() < what.since + seconds(2);
    }
    auto found = all_.pods.find(what.pod_uid);
    if (found == all_.pods.end()) return false;
    const auto& pod = *found->second.pod;
    if (pod.bound() || pod.terminal() || pod.metadata.deleting()) return false;
    if (pod.is_ghost()) return what.due || pod.nominated_node_name == what.where.node;
    const auto* bed = all_.testbed(what.where.testbed);
    const auto* job = all_.job_of(pod);
    if (!bed || !job || !has_right(*job->job, *bed->testbed)) return false;
    return std::ranges::any_of(job->job->status.placements,
                               [&](const auto& entry) { return entry.pod_uid == what.pod_uid; });
}

std::string_view slot_rules::scheduler_of(const guard& what) const {
    auto found = all_.pods.find(what.pod_uid);
    return found == all_.pods.end() ? std::string_view("default-scheduler")
                                    : std::string_view(found->second.pod->scheduler_name);
}

void slot_rules::slots_moved(const pod_record& what) {
    if (!what.seat || !what.pod->bound()) return;
    std::erase_if(passed_by_,
                  [&](const auto& each) { return each.first.second == what.seat->node; });
}

std::optional<place> slot_rules::slot_without_ghost(const testbed_record& record,
                                                    const std::string& node) const {
    const auto& bed = *record.testbed;
    if (bed.metadata.deleting() || !bed.metadata.undecodable.empty() || bed.spec.claim) {
        return std::nullopt;
    }
    const auto& there = *all_.nodes.at(node).node;
    if (!here_.fresh("testbed") || here_.disturbed_node(node) || !there.ready ||
        there.unschedulable || keeps_ghosts_away(there)) {
        return std::nullopt;
    }
    // A node that took the name of another gets its slots with a new layout, and a layout that is
    // held stays as it is until the release.
    const auto& members = bed.status.layout->nodes;
    const auto member = std::ranges::find(members, node, &model::layout_node::name);
    const bool replaced = member != members.end() && member->uid != there.metadata.uid;
    if (replaced && !bed.hold().empty()) return std::nullopt;
    // Ghosts come after the taint.
    if (all_.wants_taint(bed, there) && !taint_of(there)) return std::nullopt;
    if (!all_.elders_are_whole(bed, node)) return std::nullopt;
    for (const auto& slot : grid::slots_of(*bed.status.layout)) {
        const place where{bed.metadata.key(), slot.node, slot.index};
        if (slot.node != node || all_.is_filled(where)) continue;
        // The pod that is placed there comes instead of a ghost.
        const bool placed = std::ranges::any_of(all_.jobs, [&](const auto& entry) {
            return has_right(*entry.second.job, bed) &&
                   std::ranges::any_of(entry.second.job->status.placements, [&](const auto& each) {
                       return each.slot == slot.position;
                   });
        });
        if (!placed) return where;
    }
    return std::nullopt;
}

bool slot_rules::goes_before_its_ghost(const pod_record& stranger, const place& where) const {
    const auto there = all_.ghosts_of.find(where);
    if (there == all_.ghosts_of.end()) return false;
    return std::ranges::any_of(there->second, [&](const auto& uid) {
        const auto& ghost = all_.pods.at(uid);
        return ghost.live() && !ghost.pod->metadata.deleting() &&
               stranger.priority > ghost.priority;
    });
}

void slot_rules::slot_is_not_passed_by(const pod_record& stranger) {
    const auto& name = stranger.pod->node_name;
    auto found = all_.nodes.find(name);
    if (found == all_.nodes.end() || !found->second.node) return;
    auto free = found->second.node->allocatable;
    model::take(free, all_.taken(name, stranger.pod->metadata.uid));
    for (const auto* bed : all_.testbeds_on(name)) {
        const std::pair key(bed->testbed->metadata.uid, name);
        const auto slot = slot_without_ghost(*bed, name);
        if (!slot) {
            passed_by_.erase(key);
            continue;
        }
        if (stranger.by_name || !fits(size_of(*bed->testbed, *slot), free)) continue;
        // kube-scheduler tries a pod of higher priority first, and counts no lower nomination
        // against it: the ghost at the door could not have kept the room from that pod.
        if (goes_before_its_ghost(stranger, *slot)) continue;
        const auto first = passed_by_.try_emplace(key, here_.now()).first->second;
        out_.require(here_.now() < first + once_passed_by, "slot-passed-by",
                     {bed->testbed->metadata.uid, stranger.pod->metadata.uid}, [&] {
                         return fmt::format(
                             "pod {} was bound to {}, where Testbed {} lacks a ghost: room for it "
                             "came free for {} s, and pods of others had it each time",
                             stranger.name(), name, bed->testbed->metadata.key().text(),
                             std::chrono::duration_cast<seconds>(here_.now() - first).count());
                     });
    }
}

void slot_rules::slots_come_back() {
    std::map<std::pair<std::string, std::string>, steady_time> still_free;
    for (const auto& [name, record] : all_.nodes) {
        if (!record.node) continue;
        auto free = record.node->allocatable;
        model::take(free, all_.taken(name));
        for (const auto* bed : all_.testbeds_on(name)) {
            const auto slot = slot_without_ghost(*bed, name);
            if (!slot || !fits(size_of(*bed->testbed, *slot), free)) continue;
            const std::pair key(bed->testbed->metadata.uid, name);
            const auto known = free_since_.find(key);
            const auto since = known == free_since_.end() ? here_.now() : known->second;
            still_free.emplace(key, since);
            out_.require(here_.now() < since + longest_empty, "slot-stays-empty", {key.first}, [&] {
                return fmt::format(
                    "{} has had the room for a slot of Testbed {} for {} s, and no ghost is in it",
                    name, bed->testbed->metadata.key().text(),
                    std::chrono::duration_cast<seconds>(here_.now() - since).count());
            });
        }
    }
    free_since_ = std::move(still_free);
}

void slot_rules::touched(const std::string& uid) {
    // A ghost that a person has deleted comes back when room comes free.
    const auto known = all_.pods.find(uid);
    if (known != all_.pods.end() && known->second.ghost()) passed_by_.clear();
    std::erase_if(
        guards_, [&](const guard& each) { return each.pod_uid == uid || each.after_ghost == uid; });
}

}  // namespace esi::simulation::checks
