#include "testbed/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "model/conditions.h"
#include "model/names.h"
#include "testbed/ghosts.h"
#include "testbed/words.h"

namespace esi::testbed {

namespace names = model::names;

namespace {

constexpr const char* damage_words =
    "its labels, its annotations or its owner were taken away by hand";

void look_again(plan& out, steady_time::duration wait) {
    wait = std::max<steady_time::duration>(wait, milliseconds(10));
    if (!out.again || wait < *out.again) out.again = wait;
}

/// With foreground deletion the garbage collector takes the ghosts away one by one.
bool may_make_ghosts(const model::testbed& testbed) {
    return !testbed.metadata.has_finalizer("foregroundDeletion");
}

/// The same text about the same subject is told once.
void tell_once(plan& out, const hints& known, note what) {
    out.subjects.insert(what.subject);
    const auto told = known.told.find(what.subject);
    if (told != known.told.end() && told->second == what.text) return;
    out.notes.push_back(std::move(what));
}

struct planner {
    const view& seen;
    const hints& known;
    const assessment& all;
    steady_time now;
    plan& out;

    void tell(bool warning, std::string reason, std::string what, std::string text, pod_pointer pod,
              std::string subject) {
        tell_once(out, known,
                  {warning, std::move(reason), std::move(what), std::move(text), std::move(pod),
                   std::move(subject)});
    }

    std::string ghost_name(const grid::slot& place) const {
        return grid::ghost_name(seen.testbed->metadata.name, seen.testbed->metadata.uid, place.node,
                                place.index);
    }

    bool waits(const std::string& ghost) {
        auto entry = known.ghosts.find(ghost);
        if (entry == known.ghosts.end() || entry->second.next <= now) return false;
        look_again(out, entry->second.next - now);
        return true;
    }

    /// A pod that was let in and is not bound.
    void watch_let_in(const slot_assessment& slot, const node_assessment& node,
                      const pod_pointer& pod) {
        if (pod->bound() || pod->metadata.deleting()) return;
        auto since = known.let_in_since.find(pod->metadata.uid);
        if (since == known.let_in_since.end()) {
            look_again(out, let_in_patience);
            return;
        }
        const auto due = since->second + let_in_patience;
        if (now < due) {
            look_again(out, due - now);
            return;
        }
        std::string why = node.trouble;
        if (why.empty() && !slot.has_room) why = "the room of its slot is taken";
        // Looked at now and then: a stranger that takes the room tells by an event of its own.
        if (why.empty()) return;
        tell(true, "PodGivenUp", "Delete",
             fmt::format("the pod was given slot {} on {} and is not bound after {} s: {}; it is "
                         "deleted, its controller makes another",
                         slot.in.place.position, slot.in.place.node, let_in_patience.count(), why),
             pod, "given-up/" + pod->metadata.uid);
        out.actions.push_back(drop_pod{pod, slot.in.place, std::move(why)});
    }

    /// kube-scheduler may have missed that the ghost of a pod of the extender path is gone
    /// (docs/architecture.md, "The swap"). A pod that was let in by its gate is not touched: it
    /// preempts nobody, so that event cannot be lost, and its nomination keeps its room.
    void watch_committed(const slot_assessment& slot, const pod_pointer& pod) {
        const bool by_extender = pod->metadata.annotations.contains(names::slot_ghost);
        if (!by_extender || pod->bound() || pod->metadata.deleting()) return;
        if (slot.in.ghost || !slot.has_room) return;
        const auto& uid = pod->metadata.uid;
        out.unbound.insert(uid);
        const auto waits = known.unbound.find(uid);
        if (waits == known.unbound.end()) return look_again(out, wake_backoff::first_wait);
        const bool due = waits->second.next <= now;
        if (due) {
            out.actions.push_back(wake_pod{slot});
        } else {
            look_again(out, waits->second.next - now);
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

    void plan_slot(const slot_assessment& slot) {
        const auto& place = slot.in.place;
        const auto& node = all.nodes.find(place.node)->second;
        if (slot.current) watch_let_in(slot, node, slot.current);
        if (!node.trouble.empty()) return;

        const auto& ghost = slot.in.ghost;
        const bool ghost_there = ghost && !ghost->metadata.deleting();
        if (ghost_there && ghost->terminal()) {
            out.actions.push_back(remove_ghost{
                ghost, fmt::format("it has ended: {} {}", ghost->reason, ghost->message), true});
            return;
        }
        if (slot.current) {
            if (ghost_there) {
                out.actions.push_back(
                    remove_ghost{ghost, "a job pod was let in to its slot", false});
            }
            watch_committed(slot, slot.current);
            return;
        }
        if (slot.placed && slot.refusal.empty()) {
            // Somebody's pod is still in the slot: the placed one waits for it to go.
            if (!slot.in.job_pods.empty()) return;
            if (grid::let_in(*slot.placed)) {
                // Without the room a scheduler would look for victims in vain.
                if (slot.has_room) out.actions.push_back(commit_placement{slot});
            } else {
                out.actions.push_back(swap_in{slot});
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
                out.actions.push_back(
                    remove_ghost{ghost, "a ghost of an older Testbed waits for its room", false});
                return;
            }
            if (!ghost->bound() && !slot.has_room && node.room.has_elder) {
                out.actions.push_back(remove_ghost{
                    ghost, "it waits for room that an older Testbed's ghosts come back to", false});
                return;
            }
            // Ghosts at the door of less room than they need would keep each other out: nominations
            // of equal priority count. Those that have no room wait without one.
            const bool steps_back = !slot.has_room && another_ghost_may_enter(slot);
            const std::string wanted = steps_back ? std::string() : place.node;
            if (!ghost->bound() && ghost->nominated_node_name != wanted) {
                out.actions.push_back(nominate_ghost{ghost, wanted});
            }
            return;
        }
        if (!node.shielded && !node.kept_open) return;
        if (ghost || !slot.has_room || waits(ghost_name(place))) return;
        out.actions.push_back(create_ghost{place});
    }

    bool another_ghost_may_enter(const slot_assessment& than) const {
        return std::any_of(all.slots.begin(), all.slots.end(), [&](const slot_assessment& other) {
            return other.in.place.node == than.in.place.node && other.has_room && other.in.ghost &&
                   !other.in.ghost->bound() && other.in.ghost->live();
        });
    }

    void plan_images() {
        if (seen.ghost_image.empty()) return;
        // Of a big Testbed some at a time, so that swaps need not wait for all of them.
        constexpr int most_at_once = 50;
        int count = 0;
        for (const auto& slot : all.slots) {
            const auto& ghost = slot.in.ghost;
            if (!ghost || !ghost->live() || ghost->metadata.deleting()) continue;
            // One without its labels and annotations is made anew.
            if (!is_own_ghost(*ghost, *seen.testbed)) continue;
            if (ghost->metadata.annotation(names::ghost_image) == seen.ghost_image) continue;
            if (known.images.failures > 0 && now < known.images.next) {
                look_again(out, known.images.next - now);
                return;
            }
            if (++count > most_at_once) {
                look_again(out, milliseconds(100));
                return;
            }
            out.actions.push_back(change_ghost_image{ghost});
        }
    }

    void tell_failing_ghosts() {
        std::set<std::string> failures;
        for (const auto& slot : all.slots) {
            if (!slot.ghost_failure.empty()) failures.insert(slot.ghost_failure);
        }
        for (const auto& why : failures) {
            tell(
                true, "GhostsNotRunning", "RunGhost",
                fmt::format("ghosts do not run, though they hold their room: {}; set --ghost-image "
                            "(ghost.image of the chart) to one that the nodes can have",
                            why),
                nullptr, "ghosts/" + why);
            if (why == keeps_ending) look_again(out, crash_memory);
        }
        if (!all.image_obstacle.empty()) {
            tell(true, "GhostImageNotChanged", "ChangeImage",
                 "ghosts keep the image that they have: " + all.image_obstacle, nullptr,
                 "ghost-image");
        }
    }

    /// The numbers, and who has the room, change with every pod of others: they are in the status.
    void tell_room() {
        for (const auto& slot : all.slots) {
            if (slot.has_room) continue;
            out.strangers.insert(place_key(slot.in.place.node, slot.in.place.index));
        }
        for (const auto& [name, node] : all.nodes) {
            const auto subject = "room/" + name;
            const bool told = known.told.contains(subject);
            const auto slots = count_of(all.layout.slots_per_node, "slot");
            if (!node.trouble.empty()) {
                if (told) out.subjects.insert(subject);
            } else if (node.without_room > 0) {
                tell(true, "SlotWithoutRoom", "FillSlot",
                     fmt::format("node {0} has too little room for its {1}: status.nodeProblems of "
                                 "the Testbed says what is missing and who has it; move pods away, "
                                 "or take the label {2} off the node",
                                 name, slots, seen.testbed->spec.node_label),
                     nullptr, subject);
            } else if (told) {
                tell(false, "SlotsHaveRoom", "FillSlot",
                     fmt::format("node {} has the room for its {} again", name, slots), nullptr,
                     subject);
            }
        }
    }

    /// Waits that only people end.
    void tell_spec_and_labels(const wanted_layout& wanted) {
        if (!wanted.spec_problems.empty()) {
            tell(true, "SpecInvalid", "ReadSpec", spec_words(*seen.testbed, wanted.spec_problems),
                 nullptr, "spec");
        } else if (wanted.labelled == 0 && all.layout.nodes.empty()) {
            tell(true, "NoNodes", "FindNodes", no_nodes_words(*seen.testbed), nullptr, "nodes");
        }
        constexpr std::size_t most_told = 8;
        for (const auto& [name, problems] : wanted.problems | std::views::take(most_told)) {
            tell(true, "NodeWithoutNumber", "FindNodes", name + ": " + problems.front(), nullptr,
                 "label/" + name);
        }
    }

    void tell_wait_for_release() {
        note wait{true,    "WaitsForRelease", "Delete", deletion_words(*seen.testbed),
                  nullptr, "deleting"};
        wait.holder = seen.holder;
        tell_once(out, known, std::move(wait));
    }

    /// Pods that say they belong here and have no right to: they stay outside, with a reason.
    void tell_pretenders() {
        std::set<std::string> placed;
        std::set<std::string_view> runs;
        for (const auto& job : seen.jobs) {
            if (has_right(*job, seen)) runs.insert(job->spec.creation_request->run);
        }
        for (const auto& slot : all.slots) {
            if (slot.placed) placed.insert(slot.placed->metadata.uid);
            for (const auto& pod : slot.in.job_pods) placed.insert(pod->metadata.uid);
        }
        for (const auto& pod : seen.pods) {
            if (pod->is_ghost() || pod->terminal() || pod->metadata.deleting()) continue;
            if (placed.contains(pod->metadata.uid)) continue;
            std::string why;
            const bool claims = !pod->metadata.annotation(names::slot).empty();
            const auto hold = grid::hold_of_run(pod->run());
            if (pod->run().empty()) {
                if (claims || !grid::let_in(*pod)) why = "it carries no run of a BatchJob";
            } else if (hold != seen.testbed->hold()) {
                why = "its run is not of the present hold of the Testbed";
            } else if (claims && (!grid::let_in(*pod) || runs.contains(pod->run()))) {
                why = "it names a slot that was not given to it";
            } else if (!grid::let_in(*pod) && !runs.contains(pod->run())) {
                why = "its run is not the present one of a BatchJob";
            }
            if (why.empty() || (pod->bound() && !claims)) continue;
            tell(true, "PodRefused", "Place",
                 fmt::format("pod {} gets no slot: {}", pod->metadata.key().text(), why), pod,
                 "pretender/" + pod->metadata.uid);
        }
    }
};

}  // namespace

plan decide(const view& seen, const hints& known, steady_time now, wall_time wall) {
    plan out;
    const auto& testbed = *seen.testbed;
    const bool held = is_held(testbed);
    const bool finalizer = testbed.metadata.has_finalizer(names::testbed_finalizer);
    out.status = testbed.status;

    const model::testbed_layout none;
    const auto& stands = testbed.status.layout ? *testbed.status.layout : none;
    if (testbed.metadata.deleting() && !held) {
        if (!finalizer) return out;
        for (auto& change : taint_changes(seen, stands, false)) out.actions.push_back(change);
        // The garbage collector takes the others.
        for (auto& ghost : damaged_ghosts(seen)) {
            if (ghost->metadata.deleting()) continue;
            out.actions.push_back(remove_ghost{std::move(ghost), damage_words});
        }
        // A node's heir replaces our taint by its own.
        const bool tainted =
            std::any_of(seen.nodes.begin(), seen.nodes.end(), [&](const auto& each) {
                return each.second.node && has_taint_of(*each.second.node, testbed.metadata.uid);
            });
        if (out.actions.empty() && !tainted) out.actions.push_back(change_finalizer{false});
        return out;
    }
    if (!finalizer && !testbed.metadata.deleting()) {
        out.actions.push_back(change_finalizer{true});
        return out;
    }

    if (!testbed.metadata.undecodable.empty()) {
        out.status = report_undecodable(testbed, wall);
        tell_once(out, known,
                  {true, std::string(model::condition_reason::undecodable), "ReadSpec",
                   undecodable_words(testbed), nullptr, "undecodable"});
        return out;
    }

    auto wanted = want_layout(seen);
    const bool current =
        testbed.status.layout && wanted.spec_problems.empty() && same_layout(stands, wanted.layout);
    if (!current && wanted.spec_problems.empty() && !held && !testbed.metadata.deleting()) {
        auto next = wanted.layout;
        next.revision = stands.revision + 1;
        auto all = assess(seen, next, known, now, wall);
        out.status = report(seen, wanted, all, wall);
        const auto text = fmt::format("layout {}: {}, {}", next.revision,
                                      count_of(std::ssize(next.nodes), "node"),
                                      count_of(std::ssize(all.slots), "slot"));
        out.notes.push_back({false, "LayoutChanged", "WriteLayout", text, nullptr, "layout"});
        out.actions.push_back(write_layout{std::move(next)});
        return out;
    }

    auto all = assess(seen, stands, known, now, wall);
    out.status = report(seen, wanted, all, wall);
    planner work{seen, known, all, now, out};
    for (auto& change : taint_changes(seen, stands, true)) out.actions.push_back(change);
    for (const auto& ghost : all.misfits) {
        if (ghost->metadata.deleting()) continue;
        // A ghost that comes out in another size each time (a webhook changes it) is not made anew
        // without end.
        const bool again = known.ghosts.contains(ghost->metadata.name);
        const std::string why =
            is_own_ghost(*ghost, testbed) ? "it is not in the layout" : damage_words;
        out.actions.push_back(remove_ghost{ghost, why, again});
    }
    for (const auto& pod : all.withdrawn) out.actions.push_back(withdraw{pod});
    for (const auto& slot : all.slots) {
        work.plan_slot(slot);
        if (slot.placed && !slot.placed->bound()) ++out.pods_waiting;
        if (slot.next_look) {
            look_again(out,
                       std::chrono::duration_cast<steady_time::duration>(*slot.next_look - wall) +
                           milliseconds(10));
        }
    }
    work.plan_images();
    work.tell_room();
    work.tell_spec_and_labels(wanted);
    work.tell_failing_ghosts();
    work.tell_pretenders();
    if (testbed.metadata.deleting()) work.tell_wait_for_release();
    return out;
}

}  // namespace esi::testbed
