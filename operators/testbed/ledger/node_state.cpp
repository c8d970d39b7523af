#include "testbed/ledger/node_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/names.h"
#include "testbed/ledger/judge.h"
#include "testbed/room/ghosts.h"
#include "testbed/view/words.h"

namespace esi::testbed {

namespace names = model::names;
namespace slot_state = model::slot_state;

namespace {

/// Foreign pods beyond this number are counted and not named.
constexpr std::size_t most_beside = 5;

/// With foreground deletion the garbage collector takes the ghosts away one by one.
bool may_make_ghosts(const model::testbed& testbed) {
    return !testbed.metadata.has_finalizer("foregroundDeletion");
}

/// Decides the next steps of one node's slots.
struct decider {
    const view& seen;
    const ground& on;
    const hints& known;
    const assessment& all;
    steady_time now;
    node_state& out;

    void tell(bool warning, std::string reason, std::string what, std::string text, pod_pointer pod,
              std::string subject) {
        out.notes.push_back({warning, std::move(reason), std::move(what), std::move(text),
                             std::move(pod), std::move(subject)});
    }

    void step(const slot_assessment& slot, action what) {
        out.steps.emplace_back(slot.in.place.position, std::move(what));
    }

    bool waits(const grid::slot& place) {
        const auto& meta = seen.testbed->metadata;
        const auto entry =
            known.ghosts.find(grid::ghost_name(meta.name, meta.uid, place.node, place.index));
        if (entry == known.ghosts.end() || entry->second.next <= now) return false;
        out.changes.add(entry->second.next);
        return true;
    }

    /// Watches a pod that was let in and is not bound.
    void watch_let_in(const slot_assessment& slot, const pod_pointer& pod) {
        if (pod->bound() || pod->metadata.deleting()) return;
        auto since = known.let_in_since.find(pod->metadata.uid);
        if (since == known.let_in_since.end()) {
            out.changes.add(now + let_in_patience);
            return;
        }
        const auto due = since->second + let_in_patience;
        if (now < due) {
            out.changes.add(due);
            return;
        }
        std::string why = all.node.problem;
        if (why.empty() && !slot.has_room) why = "the room of its slot is taken";
        // The room is only checked now and then: a stranger that takes it causes its own event.
        if (why.empty()) return;
        tell(true, "PodGivenUp", "Delete",
             fmt::format("the pod was given slot {} on {} and is not bound after {} s: {}; it is "
                         "deleted, its controller makes another",
                         slot.in.place.position, slot.in.place.node, let_in_patience.count(), why),
             pod, "given-up/" + pod->metadata.uid);
        step(slot, drop_pod{pod, slot.in.place, std::move(why)});
    }

    /// kube-scheduler may have missed that the ghost of a pod of the extender path is gone
    /// (docs/architecture.md, "The swap"). A pod that was let in by its gate is not touched: it
    /// preempts no pod, so that event cannot be lost, and its nomination keeps its room.
    void watch_committed(const slot_assessment& slot, const pod_pointer& pod) {
        const bool by_extender = pod->metadata.annotations.contains(names::slot_ghost);
        if (!by_extender || pod->bound() || pod->metadata.deleting()) return;
        if (slot.in.ghost || !slot.has_room) return;
        const auto& uid = pod->metadata.uid;
        out.unbound.insert(uid);
        const auto waits = known.unbound.find(uid);
        if (waits == known.unbound.end()) {
            return out.changes.add(now + wake_backoff::first_wait);
        }
        const bool due = waits->second.next <= now;
        if (due) {
            step(slot, wake_pod{slot});
        } else {
            out.changes.add(waits->second.next);
        }
        if (!due && waits->second.woken == 0) return;
        tell(true, "PodNotBound", "Wake",
             fmt::format("the room of slot {} on {} is free, and {} has not bound the pod within "
                         "{} s: it is woken",
                         slot.in.place.position, slot.in.place.node,
                         pod->scheduler_name.empty() ? "its scheduler" : pod->scheduler_name,
                         wake_backoff::first_wait.count()),
             pod, "unbound/" + uid);
    }

    void decide_slot(const slot_assessment& slot) {
        const auto& place = slot.in.place;
        const auto& node = all.node;
        if (slot.current) watch_let_in(slot, slot.current);
        if (!node.problem.empty()) return;

        const auto& ghost = slot.in.ghost;
        const bool ghost_there = ghost && !ghost->metadata.deleting();
        if (ghost_there && ghost->terminal()) {
            step(slot, remove_ghost{
                           ghost, fmt::format("it has ended: {} {}", ghost->reason, ghost->message),
                           true});
            return;
        }
        if (slot.current) {
            if (ghost_there) {
                step(slot, remove_ghost{ghost, "a job pod was let in to its slot", false});
            }
            watch_committed(slot, slot.current);
            return;
        }
        if (slot.placed && slot.refusal.empty()) {
            // Another pod is still in the slot: the placed one waits until it has gone.
            if (!slot.in.job_pods.empty()) return;
            if (grid::let_in(*slot.placed)) {
                // Without the room a scheduler would look for victims in vain.
                if (slot.has_room) step(slot, commit_placement{slot});
            } else {
                step(slot, swap_in{slot});
            }
            return;
        }
        if (!slot.refusal.empty()) {
            tell(true, "PodRefused", "Place", slot.refusal, slot.placed,
                 "refused/" + slot.placed->metadata.uid);
        }
        if (!slot.ghost_wanted || !may_make_ghosts(*seen.testbed)) return;
        if (ghost_there) {
            if (slot.gives_way) {
                step(slot,
                     remove_ghost{ghost, "a ghost of an older Testbed waits for its room", false});
                return;
            }
            // While an older Testbed lacks a slot here, this ghost's nomination would keep out the
            // ghost that returns to that slot, and without a nomination this ghost might be bound
            // there first. Once the older ones lack nothing it waits nominated, as on a node of its
            // own: if it were made only when the room is free, a pending pod would take that room
            // first each time.
            if (!ghost->bound() && !slot.has_room && node.room.elder_lacks) {
                step(slot,
                     remove_ghost{ghost,
                                  "it waits for room that an older Testbed's ghosts come back to",
                                  false});
                return;
            }
            // If ghosts wait with less room than they need, their nominations of equal priority
            // count and keep each other out. Those that have no room wait without one.
            const bool steps_back = !slot.has_room && another_ghost_may_enter();
            const std::string wanted = steps_back ? std::string() : place.node;
            if (!ghost->bound() && ghost->nominated_node_name != wanted) {
                step(slot, nominate_ghost{ghost, wanted});
            }
            return;
        }
        if (!node.shielded && !node.kept_open) return;
        if (ghost || !slot.has_room || waits(place)) return;
        step(slot, create_ghost{place});
    }

    bool another_ghost_may_enter() const {
        return std::any_of(all.slots.begin(), all.slots.end(), [](const slot_assessment& other) {
            return other.has_room && other.in.ghost && !other.in.ghost->bound() &&
                   other.in.ghost->live();
        });
    }

    /// Removes own ghosts that are damaged or not in the layout. A ghost whose size a webhook
    /// changes each time is not made again without end.
    void decide_misfits() {
        const bool keeps = on.what_for == purpose::keep;
        for (const auto& ghost : all.misfits) {
            if (ghost->metadata.deleting()) continue;
            // While the Testbed is being deleted, the garbage collector removes the others.
            if (!keeps && !is_damaged_ghost(*ghost, *seen.testbed)) continue;
            const bool again = keeps && known.ghosts.contains(ghost->metadata.name);
            const bool own = keeps && is_own_ghost(*ghost, *seen.testbed);
            out.clears.push_back(
                {ghost, std::string(own ? "it is not in the layout" : damage_words), again});
        }
    }

    void find_old_images() {
        if (seen.ghost_image.empty()) return;
        for (const auto& slot : all.slots) {
            const auto& ghost = slot.in.ghost;
            if (!ghost || !ghost->live() || ghost->metadata.deleting()) continue;
            // A ghost without its labels and annotations is removed and made again.
            if (!is_own_ghost(*ghost, *seen.testbed)) continue;
            if (ghost->metadata.annotation(names::ghost_image) == seen.ghost_image) continue;
            out.old_images.push_back(std::make_shared<const model::packed>(model::pack(*ghost)));
        }
    }

    std::string other_remedy() const {
        if (seen.testbed->spec.claim) {
            return "; a claim that nobody holds is formed anew without the node";
        }
        return fmt::format(", or take the label {} off the node", seen.testbed->spec.node_label);
    }

    /// The numbers, and which pods have the room, change with every foreign pod: the status has
    /// them.
    void tell_room() {
        for (const auto& slot : all.slots) {
            if (slot.has_room) continue;
            out.strangers.insert(place_key(slot.in.place.node, slot.in.place.index));
        }
        const auto subject = "room/" + all.name;
        const bool told = known.told.contains(subject);
        const auto slots = count_of(std::ssize(all.slots), "slot");
        if (!all.node.problem.empty()) {
            if (told) out.kept_subjects.insert(subject);
        } else if (all.node.without_room > 0) {
            tell(true, "SlotWithoutRoom", "FillSlot",
                 fmt::format("node {} has too little room for its {}: status.nodeProblems of "
                             "the Testbed says what is missing and who has it; move pods away{}",
                             all.name, slots, other_remedy()),
                 nullptr, subject);
        } else if (told) {
            tell(false, "SlotsHaveRoom", "FillSlot",
                 fmt::format("node {} has the room for its {} again", all.name, slots), nullptr,
                 subject);
        }
    }
};

/// Works out what the node adds to the report.
struct reporter {
    const view& seen;
    const ground& on;
    const assessment& all;
    node_state& out;

    void count_slots() {
        const bool listed = on.places.count() <= on.most_listed;
        out.counts.total = static_cast<int>(all.slots.size());
        for (const auto& slot : all.slots) {
            if (slot.state == slot_state::free) ++out.counts.free;
            if (slot.state == slot_state::reserved) ++out.counts.reserved;
            if (slot.state == slot_state::occupied) ++out.counts.occupied;
            if (slot.state == slot_state::error) ++out.counts.error;
            if (slot.state == slot_state::reserved && slot.ghost_under_way) ++out.under_way;
            if (slot.placed && !slot.placed->bound()) ++out.pods_waiting;
            if (const auto& ghost = slot.in.ghost; ghost && slot.ghost_wanted) {
                out.ghost_in_vain |= ghost->terminal() || (slot.has_room && !ghost->bound());
            }
            if (!slot.ghost_failure.empty()) ++out.failing[slot.ghost_failure];
            if (slot.state == slot_state::error && all.node.problem.empty() &&
                out.slot_problems.size() < most_problems &&
                std::ranges::find(out.slot_problems, slot.problem) == out.slot_problems.end()) {
                out.slot_problems.push_back(slot.problem);
            }
            if (listed) {
                out.rows.push_back(row_of(slot));
            } else if (on.lines) {
                out.lines.push_back({slot.in.place.position, grid::slot_line_of(row_of(slot))});
            }
            if (slot.placed) out.inside.insert(slot.placed->metadata.key());
            for (const auto& pod : slot.in.job_pods) out.inside.insert(pod->metadata.key());
        }
        for (const auto& pod : all.accepted) out.accepted.insert(pod->metadata.key());
    }

    model::slot_status row_of(const slot_assessment& slot) const {
        model::slot_status row;
        row.position = slot.in.place.position;
        row.state = slot.state;
        row.node_name = slot.in.place.node;
        row.node_id = slot.in.place.node_id;
        row.slot_position_on_node = slot.in.place.index;
        pod_pointer in = slot.in.ghost;
        for (const auto& pod : slot.in.job_pods) {
            if (!in || in->is_ghost() || pod->bound()) in = pod;
        }
        if (in) {
            const bool own = in->metadata.namespace_ == seen.testbed->metadata.namespace_;
            row.pod_name = own ? in->metadata.name : foreign_pod;
            row.pod_u_id = in->metadata.uid;
        }
        if (!slot.reserved_for.empty() && slot.state == slot_state::reserved) {
            row.reserved_for = slot.reserved_for;
        }
        return row;
    }

    void judge_node() {
        out.problem = all.node.problem;
        out.without_room = all.node.without_room;
        if (out.problem.empty() && out.without_room > 0) {
            out.shortage = describe_shortage(all.node.room, on.layout, positions_of(all.slots));
        }
        out.open = !all.node.shielded;
        out.taint_problem = all.node.taint_problem;
        for (const auto& other : seen.others) {
            const auto& meta = other->metadata;
            if (!other->status.layout || meta.deleting()) continue;
            if (!seen.index_of(*other).places->member(all.name)) continue;
            const bool own = meta.namespace_ == seen.testbed->metadata.namespace_;
            const bool older = model::older(meta, seen.testbed->metadata);
            out.sharers.insert({own ? fmt::format("Testbed {} ({})", meta.key().text(),
                                                  older ? "older: its slots come first" : "younger")
                                    : "a Testbed of another namespace"});
        }
    }

    void count_others() {
        if (!all.node.seen) return;
        for (const auto& pod : all.node.seen->pods) {
            if (!pod->live()) continue;
            if (!pod->scheduler_name.empty() && pod->scheduler_name != "default-scheduler") {
                out.schedulers.insert(pod->scheduler_name);
            }
            if (pod->is_ghost() || !testbed_key_of(*pod).empty()) continue;
            ++out.beside;
            if (pod->metadata.namespace_ != seen.testbed->metadata.namespace_) {
                ++out.beside_elsewhere;
            } else if (out.beside_names.size() < most_beside) {
                out.beside_names.push_back(pod->metadata.key().text());
            }
        }
    }
};

/// True: pods, orders or records of jobs are on the node, so the hold says whether they count.
bool depends_on_hold(const view& seen, const assessment& all) {
    for (const auto& pod : seen.pods) {
        if (!pod->is_ghost() && home_of(*pod) == all.name) return true;
    }
    const auto has_slot = [&](int position) {
        return std::ranges::any_of(
            all.slots, [&](const auto& slot) { return slot.in.place.position == position; });
    };
    const auto key = seen.testbed->metadata.key();
    return std::ranges::any_of(seen.jobs, [&](const auto& job) {
        if (testbed_of(*job) == key &&
            std::ranges::any_of(job->spec.creation_request->slot_ids, has_slot)) {
            return true;
        }
        return grid::placed_in(*job) == key &&
               std::ranges::any_of(job->status.placements,
                                   [&](const auto& entry) { return has_slot(entry.slot); });
    });
}

}  // namespace

node_state assess_node(const view& seen, const std::string& node, const ground& on,
                       const hints& known, steady_time now, wall_time wall) {
    auto all = assess(seen, node, on.layout, on.places, known, now, wall);
    node_state out;
    const bool keeps = on.what_for == purpose::keep;
    if (const auto found = seen.nodes.find(node); found != seen.nodes.end() && found->second.node) {
        out.taint = change_taint(*found->second.node, seen, on.places, keeps);
        out.tainted = has_taint_of(*found->second.node, seen.testbed->metadata.uid);
    }
    decider work{seen, on, known, all, now, out};
    work.decide_misfits();
    if (!keeps) return out;
    out.member = all.member;
    out.counts.nodes = all.member ? 1 : 0;
    for (const auto& slot : all.slots) work.decide_slot(slot);
    work.find_old_images();
    if (all.member) work.tell_room();
    reporter report{seen, on, all, out};
    report.count_slots();
    if (all.member) {
        report.judge_node();
        report.count_others();
    }
    out.disputes = std::move(all.disputes);
    out.uses_hold = depends_on_hold(seen, all);
    if (all.changes.at) out.changes.add(*all.changes.at);
    out.changes.until = all.changes.until;
    out.changes.since = all.changes.since;
    return out;
}

std::string node_state::text() const {
    std::string out = fmt::format(
        "{} {}/{}/{}/{}/{} of {} under way {} [{}] [{}] room {} [{}] open {} [{}] taint {} beside "
        "{} {} [{}] [{}] waiting {}",
        member, counts.free, counts.reserved, counts.occupied, counts.error, counts.nodes,
        counts.total, under_way, problem, fmt::join(slot_problems, "|"), without_room, shortage,
        open, taint_problem, tainted, beside, beside_elsewhere, fmt::join(beside_names, " "),
        fmt::join(schedulers, " "), pods_waiting);
    for (const auto& row : rows) {
        out += fmt::format("\n  row {} {} {} {} {}", row.position, row.state, row.pod_name,
                           row.pod_u_id, row.reserved_for.value_or(""));
    }
    for (const auto& line : lines) out += fmt::format("\n  line {} {}", line.position, line.text);
    for (const auto& [why, ghosts] : failing) out += fmt::format("\n  failing {} {}", ghosts, why);
    for (const auto& each : disputes) out += fmt::format("\n  {}", each.text);
    for (const auto& each : sharers) out += fmt::format("\n  also of {}", each.name);
    if (taint) out += "\n  " + show(*taint);
    for (const auto& gone : clears) out += fmt::format("\n  {}: {}", show(gone), gone.why);
    for (const auto& [position, what] : steps)
        out += fmt::format("\n  {} {}", position, show(what));
    for (const auto& ghost : old_images)
        out += fmt::format("\n  old image {}", ghost->key().second);
    for (const auto& what : notes) out += fmt::format("\n  {} {}", what.subject, what.text);
    for (const auto& subject : kept_subjects) out += "\n  kept " + subject;
    for (const auto& uid : unbound) out += "\n  unbound " + uid;
    for (const auto& key : accepted) out += "\n  accepted " + key.text();
    for (const auto& key : inside) out += "\n  inside " + key.text();
    return out;
}

bool node_state::empty() const {
    return !member && !tainted && !has_actions() && !uses_hold && notes.empty() && inside.empty() &&
           accepted.empty() && disputes.empty() && kept_subjects.empty();
}

}  // namespace esi::testbed
