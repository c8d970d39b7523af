#include "testbed/ledger/assess.h"

#include <fmt/format.h>

#include <algorithm>

#include "grid/places.h"
#include "grid/records.h"
#include "grid/slot_room.h"
#include "model/names.h"
#include "placement/admission.h"
#include "testbed/ledger/judge.h"
#include "testbed/room/isolation.h"

namespace esi::testbed {

namespace names = model::names;

namespace {

std::string node_problem_of(const model::layout_node& wanted, const node_view* seen) {
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

/// True: ESI has recorded the pod for the slot that it names: it is there or may come to it. A pod
/// that is not bound also needs a run under the present hold; where that is a job's present run, it
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

/// Why a placed pod that still carries our gate, or goes by the extender, is not let in.
std::string pod_refusal(const model::pod& pod, const model::testbed& testbed,
                        const model::resource_list& slot_size, const node_view* node) {
    if (!pod.metadata.undecodable.empty()) {
        return fmt::format("pod {} cannot be read: {}", pod.metadata.key().text(),
                           pod.metadata.undecodable);
    }
    if (const auto larger = grid::larger_than_slot(pod.requests, slot_size); !larger.empty()) {
        return fmt::format("{} is larger than the slot: {}", pod_text(pod, testbed), larger);
    }
    if (pod.bound() || !node || !node->node) return {};
    for (const auto& gate : pod.scheduling_gates) {
        if (gate != names::gate) {
            return fmt::format("{} also waits for the scheduling gate {}", pod_text(pod, testbed),
                               gate);
        }
    }
    if (auto why = placement::admission_refusal(pod, *node->node)) {
        return fmt::format("{} {}", pod_text(pod, testbed), *why);
    }
    return {};
}

}  // namespace

bool has_right(const model::batchjob& job, const view& seen) {
    return grid::has_right(job, *seen.testbed, seen.holder.get());
}

bool is_current(const model::pod& pod, const model::batchjob& job) {
    return pod.metadata.namespace_ == job.metadata.namespace_ &&
           pod.metadata.label(names::job) == job.metadata.name && job.spec.creation_request &&
           pod.run() == job.spec.creation_request->run;
}

bool fits_layout(const model::pod& ghost, const model::testbed& testbed,
                 const model::testbed_layout& layout, const grid::places& places) {
    auto index = grid::slot_index_of_ghost(ghost);
    const std::string node(ghost.metadata.annotation(names::node));
    const auto position = index ? places.position_of(node, *index) : std::nullopt;
    if (!position) return false;
    if (ghost.bound() && ghost.node_name != node) return false;
    if (ghost.metadata.name !=
        grid::ghost_name(testbed.metadata.name, testbed.metadata.uid, node, *index)) {
        return false;
    }
    for (const auto& [name, amount] : grid::size_of(layout, *position)) {
        auto has = ghost.requests.find(name);
        if (has == ghost.requests.end() || has->second != amount.milli) return false;
    }
    return true;
}

namespace {

/// The assessment of one node.
class node_look_up {
public:
    node_look_up(const view& seen, assessment& out, const model::testbed_layout& layout,
                 const grid::places& places, const hints& known)
        : seen_(seen), out_(out), layout_(layout), places_(places), known_(known) {}

    void look_at_node();
    void sort_pods();
    void give_slots();
    void judge_pods();

private:
    bool counts(const job_pointer& job) {
        auto [found, first] = counts_.try_emplace(job.get());
        if (first) found->second = has_right(*job, seen_);
        return found->second;
    }
    void place(slot_assessment& slot, const job_pointer& job);
    bool takes(const slot_assessment& slot, const model::batchjob& job, const model::pod& pod);
    const model::batchjob* owner_of(int position);
    bool is_in(const model::pod& pod, const model::batchjob& job, int position) const;

    const view& seen_;
    assessment& out_;
    const model::testbed_layout& layout_;
    const grid::places& places_;
    const hints& known_;
    std::map<model::object_key, pod_pointer> by_key_;
    std::map<const model::batchjob*, bool> counts_;
};

void node_look_up::look_at_node() {
    const auto& testbed = *seen_.testbed;
    const auto at = seen_.nodes.find(out_.name);
    auto& entry = out_.node;
    entry.seen = at == seen_.nodes.end() ? nullptr : &at->second;
    const auto* member = places_.member(out_.name);
    out_.member = member != nullptr;
    if (!out_.member) return;
    const auto* node = entry.seen ? entry.seen->node.get() : nullptr;
    entry.problem = node_problem_of(*member, entry.seen);
    entry.shielded =
        testbed.spec.isolation != model::isolation::taint || (node && is_shielded(*node, seen_));
    entry.kept_open = !entry.shielded && node && is_kept_open(*node, seen_);
    if (entry.kept_open) {
        entry.taint_problem =
            "an older Testbed of another namespace has the node too and keeps it open to other "
            "pods (isolation: None)";
    } else if (!entry.shielded) {
        entry.taint_problem = known_.refusal_of(out_.name);
    }
}

void node_look_up::sort_pods() {
    const auto& testbed = *seen_.testbed;
    auto slots = places_.on(out_.name);
    const auto on_record = records_of(seen_, slots);
    std::vector<pod_pointer> inside;
    for (const auto& pod : seen_.pods) {
        by_key_[pod->metadata.key()] = pod;
        if (home_of(*pod) != out_.name) continue;
        if (!pod->is_ghost()) {
            if (stands(*pod, seen_, on_record)) inside.push_back(pod);
        } else if (is_damaged_ghost(*pod, testbed)) {
            out_.misfits.push_back(pod);
        } else if (is_own_ghost(*pod, testbed)) {
            const bool fits = fits_layout(*pod, testbed, layout_, places_);
            (fits ? inside : out_.misfits).push_back(pod);
        }
    }
    if (out_.node.seen) {
        const auto key = testbed.metadata.key().text();
        for (const auto& pod : out_.node.seen->pods) {
            // A pod with the Testbed's labels is assessed where it belongs.
            if (testbed_key_of(*pod) == key || !is_damaged_ghost(*pod, testbed)) continue;
            out_.misfits.push_back(pod);
        }
    }
    for (auto& in : grid::look(std::move(slots), inside)) {
        out_.slots.emplace_back().in = std::move(in);
    }
}

void node_look_up::give_slots() {
    for (auto& slot : out_.slots) {
        for (const auto& job : seen_.jobs) {
            if (!counts(job)) continue;
            const auto& given = job->spec.creation_request->slot_ids;
            const auto at = std::ranges::find(given, slot.in.place.position);
            if (at == given.end()) continue;
            const auto nth = static_cast<std::size_t>(at - given.begin());
            if (slot.assigned) {
                out_.disputes.push_back(
                    {job->metadata.key(), nth,
                     fmt::format("slot {} is given to {} and to {}: the second waits",
                                 slot.in.place.position, slot.assigned->metadata.key().text(),
                                 job->metadata.key().text())});
                continue;
            }
            slot.assigned = job;
            place(slot, job);
        }
    }
}

void node_look_up::place(slot_assessment& slot, const job_pointer& job) {
    for (const auto& placement : job->status.placements) {
        if (placement.slot != slot.in.place.position) continue;
        auto found = by_key_.find({job->metadata.namespace_, placement.pod_name});
        if (found == by_key_.end()) continue;
        const auto& pod = found->second;
        if (pod->metadata.uid != placement.pod_uid || pod->is_ghost() || pod->terminal() ||
            pod->metadata.deleting() || !is_current(*pod, *job) || !takes(slot, *job, *pod)) {
            continue;
        }
        slot.placed = pod;
        out_.accepted.push_back(pod);
    }
}

/// Only an edited record has one pod for several slots: no swap takes it into two. The pod is for
/// the first of its job's slots, or for the one that it is in.
bool node_look_up::takes(const slot_assessment& slot, const model::batchjob& job,
                         const model::pod& pod) {
    const int here = slot.in.place.position;
    const auto& placements = job.status.placements;
    const auto is_of = [&](const auto& entry) {
        return entry.pod_uid == pod.metadata.uid && entry.pod_name == pod.metadata.name;
    };
    if (std::ranges::none_of(
            placements, [&](const auto& entry) { return is_of(entry) && entry.slot != here; })) {
        return true;
    }
    std::optional<int> taken;
    const auto& given = job.spec.creation_request->slot_ids;
    for (std::size_t nth = 0; nth < given.size(); ++nth) {
        const int position = given[nth];
        const bool recorded = std::ranges::any_of(
            placements, [&](const auto& entry) { return is_of(entry) && entry.slot == position; });
        if (!recorded || !places_.at(position) || owner_of(position) != &job) continue;
        if (!taken) {
            taken = position;
        } else if (*taken != position) {
            if (position == here) {
                out_.disputes.push_back(
                    {job.metadata.key(), nth,
                     fmt::format("{} is recorded for slot {} and for slot {}",
                                 pod_text(pod, *seen_.testbed), *taken, position)});
            }
            if (is_in(pod, job, position)) taken = position;
        }
    }
    return taken == here;
}

/// The job that gets a slot which several jobs may order; null: none.
const model::batchjob* node_look_up::owner_of(int position) {
    for (const auto& job : seen_.jobs) {
        if (!counts(job)) continue;
        const auto& given = job->spec.creation_request->slot_ids;
        if (std::ranges::find(given, position) != given.end()) return job.get();
    }
    return nullptr;
}

/// True: `pod`, which `job` has on record for that slot, is in it.
bool node_look_up::is_in(const model::pod& pod, const model::batchjob& job, int position) const {
    const auto place = places_.at(position);
    return place && grid::slot_of_pod(pod) == position && grid::let_in(pod) &&
           grid::placed_in(job) == seen_.testbed->metadata.key() && !pod.run().empty() &&
           pod.metadata.annotation(names::slot_node) == place->node &&
           (!pod.bound() || pod.node_name == place->node);
}

void node_look_up::judge_pods() {
    const auto& testbed = *seen_.testbed;
    std::set<std::string_view> inside;
    for (const auto& slot : out_.slots) {
        for (const auto& pod : slot.in.job_pods) inside.insert(pod->metadata.uid);
    }
    // The runs that have not ended, by the uid of a pod that their job has on record.
    std::map<std::string_view, std::string_view> staying;
    for (const auto& job : seen_.jobs) {
        if (!grid::is_under_hold(*job, testbed) || model::is_final(job->status.state)) continue;
        for (const auto& entry : job->status.placements) {
            if (!inside.contains(entry.pod_uid)) continue;
            staying[entry.pod_uid] = job->spec.creation_request->run;
        }
    }
    for (auto& slot : out_.slots) {
        bool stands_on = false;
        for (const auto& pod : slot.in.job_pods) {
            // ESI let the pod in: it is recorded, and does not only say so in its own annotations.
            if (slot.placed && slot.placed->metadata.uid == pod->metadata.uid) slot.current = pod;
            // A job that is behind its pods in the caches is no reason for a second pod in the
            // slot, nor is a Scheduling that has gone while its jobs run.
            const bool of_assigned =
                slot.assigned && pod->bound() && is_current(*pod, *slot.assigned);
            const auto run = staying.find(pod->metadata.uid);
            const bool stays =
                run != staying.end() && run->second == pod->run() && grid::let_in(*pod);
            stands_on |= !pod->metadata.deleting() && (of_assigned || stays);
        }
        if (slot.placed && !slot.current) {
            const auto& size = grid::size_of(layout_, slot.in.place.position);
            slot.refusal = pod_refusal(*slot.placed, testbed, size, out_.node.seen);
            if (slot.refusal.empty() && slot.placed->bound()) {
                slot.refusal = fmt::format("{} was bound to {} without being let in",
                                           pod_text(*slot.placed, testbed), slot.placed->node_name);
            }
        }
        // A refused pod's nomination would count its room twice.
        if (!slot.refusal.empty()) {
            std::erase_if(out_.accepted, [&](const auto& pod) {
                return pod->metadata.uid == slot.placed->metadata.uid;
            });
        }
        slot.ghost_wanted = !slot.current && !stands_on && !(slot.placed && slot.refusal.empty());
    }
}

}  // namespace

assessment assess(const view& seen, const std::string& node, const model::testbed_layout& layout,
                  const grid::places& places, const hints& known, steady_time now, wall_time wall) {
    assessment out;
    out.name = node;
    node_look_up look(seen, out, layout, places, known);
    look.look_at_node();
    look.sort_pods();
    look.give_slots();
    look.judge_pods();
    if (out.member && out.node.seen) {
        out.node.room = room_on(seen, rivals_of(seen), *out.node.seen, takers_of(out.slots));
        count_growth(out, layout, *seen.testbed);
    }
    give_room(out, layout);
    give_way(out, layout, seen.given ? *seen.given : slots_given(seen.holder.get()));
    judge_slots(out, {seen, layout, known, now, wall});
    return out;
}

}  // namespace esi::testbed
