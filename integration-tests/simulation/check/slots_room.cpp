// The room of a slot while no pod is in it: between the end of a ghost and the binding of its job
// pod, and the other way round.
#include <fmt/format.h>

#include <algorithm>

#include "check/slots.h"

namespace esi::simulation::checks {

namespace {

/// An operator that is undisturbed has a ghost at the door of a slot so soon after its job pod
/// began to end.
constexpr milliseconds reaction{500};
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

/// A job pod was let in, or a ghost that was bound stands.
bool slot_rules::is_filled(const place& where) const {
    if (all_.in_place.contains(where)) return true;
    auto there = all_.ghosts_of.find(where);
    return there != all_.ghosts_of.end() &&
           std::ranges::any_of(there->second,
                               [&](const auto& uid) { return all_.pods.at(uid).pod->bound(); });
}

bool slot_rules::stands(const guard& what) const {
    if (what.pod_uid.empty()) {
        // The ghost comes too late then: a pod that was bound meanwhile got in because of that.
        return !is_filled(what.where) && here_.now() < what.since + seconds(2);
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

void slot_rules::touched(const std::string& uid) {
    std::erase_if(
        guards_, [&](const guard& each) { return each.pod_uid == uid || each.after_ghost == uid; });
}

}  // namespace esi::simulation::checks
