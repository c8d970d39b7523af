#include "testbed/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "model/conditions.h"
#include "model/names.h"
#include "testbed/room/ghosts.h"
#include "testbed/view/words.h"

namespace esi::testbed {

namespace names = model::names;
namespace condition_reason = model::condition_reason;

namespace {

/// Adds a note unless the same text about the same subject was reported before.
void tell_once(decision& out, const hints& known, note what) {
    out.subjects.insert(what.subject);
    const auto told = known.told.find(what.subject);
    if (told != known.told.end() && told->second == what.text) return;
    out.notes.push_back(std::move(what));
}

struct decider {
    const overview& of;
    const ledger& all;
    const hints& known;
    steady_time now;
    decision& out;

    const model::testbed& testbed() const { return *of.seen.testbed; }
    void tell(bool warning, std::string_view reason, std::string what, std::string text,
              std::string subject) {
        tell_once(out, known,
                  {warning, std::string(reason), std::move(what), std::move(text), nullptr,
                   std::move(subject)});
    }

    /// Order: taints, then the removal of what is in the way, then the slots by their positions.
    void collect_actions() {
        const auto& sums = all.sums();
        for (const auto& name : sums.acting) {
            if (const auto& taint = all.node(name).taint) out.actions.push_back(*taint);
        }
        for (const auto& name : sums.acting) {
            for (const auto& gone : all.node(name).clears) out.actions.push_back(gone);
        }
        const bool leaves = stage_of(testbed()) == stage::leaves;
        for (const auto& [key, pod] : all.pods()) {
            if (!pod.damaged) continue;
            const bool again = !leaves && known.ghosts.contains(key.name);
            out.actions.push_back(remove_ghost{pod.pod, std::string(damage_words), again});
        }
        for (const auto& [key, pod] : all.pods()) {
            if (pod.withdrawn) out.actions.push_back(withdraw{pod.pod});
        }
        std::vector<std::pair<std::pair<int, std::size_t>, const action*>> steps;
        for (const auto& name : sums.acting) {
            for (const auto& [position, what] : all.node(name).steps) {
                steps.push_back({{position, steps.size()}, &what});
            }
        }
        std::ranges::sort(steps, {}, [](const auto& step) { return step.first; });
        for (const auto& [position, what] : steps) out.actions.push_back(*what);
    }

    void decide_images() {
        // In a big Testbed some change at a time, so that swaps need not wait for all of them.
        constexpr int most_at_once = 50;
        int count = 0;
        for (const auto& name : all.sums().with_old_images) {
            for (const auto& old : all.node(name).old_images) {
                if (known.images.failures > 0 && now < known.images.next) {
                    return out.look_again(known.images.next - now);
                }
                if (++count > most_at_once) return out.look_again(milliseconds(100));
                auto ghost = std::make_shared<model::pod>();
                model::unpack(*old, *ghost);
                out.actions.push_back(change_ghost_image{std::move(ghost)});
            }
        }
    }

    void tell_of_nodes() {
        for (const auto& name : all.sums().with_notes) {
            const auto& node = all.node(name);
            for (const auto& what : node.notes) tell_once(out, known, what);
            out.subjects.insert(node.kept_subjects.begin(), node.kept_subjects.end());
        }
    }

    void tell_of_pods() {
        for (const auto& [key, pod] : all.pods()) {
            if (pod.refused) tell_once(out, known, *pod.refused);
        }
    }

    void tell_failing_ghosts() {
        for (const auto& [why, failure] : all.sums().failing) {
            tell(
                true, "GhostsNotRunning", "RunGhost",
                fmt::format("ghosts do not run, though they hold their room: {}; set --ghost-image "
                            "(ghost.image of the chart) to one that the nodes can have",
                            why),
                "ghosts/" + why);
        }
        if (!of.image_refusal.empty()) {
            tell(true, "GhostImageNotChanged", "ChangeImage",
                 "ghosts keep the image that they have: " + of.image_refusal, "ghost-image");
        }
    }

    /// Reports waits that only a person can end.
    void tell_spec_and_labels() {
        const auto& wanted = of.wanted;
        if (!wanted.spec_problems.empty()) {
            tell(true, condition_reason::spec_invalid, "ReadSpec",
                 spec_words(testbed(), wanted.spec_problems), "spec");
        } else if (testbed().spec.claim) {
            tell_claim();
        } else if (wanted.labelled == 0 && of.layout->nodes.empty()) {
            tell(true, condition_reason::no_nodes, "FindNodes", no_nodes_words(testbed()), "nodes");
        }
        constexpr std::size_t most_told = 8;
        for (const auto& [name, problems] : wanted.problems | std::views::take(most_told)) {
            tell(true, "NodeWithoutNumber", "FindNodes", name + ": " + problems.front(),
                 "label/" + name);
        }
    }

    /// Reports a wait for room once for each reason: what is missing changes with every pod.
    void tell_claim() {
        const auto& at = of.claim;
        if (at.reason.empty() || grid::count_of_slots(*of.layout) > 0) return;
        const std::string subject = "claim";
        const auto told = known.told.find(subject + "/" + at.reason);
        if (told != known.told.end()) {
            out.subjects.insert(told->first);
            return;
        }
        const bool warning = at.reason != condition_reason::claim_waiting &&
                             at.reason != condition_reason::claim_suspended;
        tell(warning, at.reason, "FormClaim", at.message, subject + "/" + at.reason);
    }

    void tell_wait_for_release() {
        note wait{true,     std::string(condition_reason::waits_for_release),
                  "Delete", deletion_words(testbed()),
                  nullptr,  "deleting"};
        wait.holder = of.seen.holder;
        tell_once(out, known, std::move(wait));
    }
};

}  // namespace

bool may_change_layout(const overview& of, bool compact) {
    const auto& testbed = *of.seen.testbed;
    const auto& layout = testbed.status.layout;
    // Without nodes both forms are the same.
    const bool formed = layout && (layout->nodes.empty() || layout->compact == compact);
    // Claims (claims/) make the first layout of a claim, and the next ones.
    if (testbed.spec.claim && !layout) return false;
    return stage_of(testbed) == stage::works && !(formed && of.current) &&
           of.wanted.spec_problems.empty() && !is_held(testbed) && !testbed.metadata.deleting();
}

decision decide(const overview& of, const ledger& all, const hints& known, steady_time now) {
    decision out;
    const auto& testbed = *of.seen.testbed;
    const auto& sums = all.sums();
    decider work{of, all, known, now, out};
    switch (stage_of(testbed)) {
        case stage::ended:
            return out;
        case stage::begins:
            out.actions.push_back(change_finalizer{true});
            return out;
        case stage::unreadable:
            tell_once(out, known,
                      {true, std::string(condition_reason::undecodable), "ReadSpec",
                       undecodable_words(testbed), nullptr, "undecodable"});
            return out;
        case stage::leaves:
            work.collect_actions();
            // If another Testbed takes the node over, it replaces our taint by its own.
            if (out.actions.empty() && sums.tainted.empty()) {
                out.actions.push_back(change_finalizer{false});
            }
            return out;
        case stage::works:
            break;
    }
    work.collect_actions();
    work.decide_images();
    out.pods_waiting = sums.pods_waiting;
    out.unbound = {sums.unbound.begin(), sums.unbound.end()};
    work.tell_of_nodes();
    work.tell_spec_and_labels();
    work.tell_failing_ghosts();
    work.tell_of_pods();
    if (testbed.metadata.deleting()) work.tell_wait_for_release();
    return out;
}

decision decide_layout(const overview& of, const ledger& next, wall_time wall) {
    decision out;
    out.status = report(of, next, wall);
    const auto& before = of.seen.testbed->status.layout;
    // With the same revision only the form changes, which concerns no person.
    const bool another = !before || before->revision != of.layout->revision;
    if (another && of.seen.testbed->spec.claim) {
        const bool formed = grid::count_of_slots(*of.layout) > 0;
        const auto text = formed ? fmt::format("layout {}: {} on {}", of.layout->revision,
                                               count_of(next.sums().counts.total, "place"),
                                               count_of(std::ssize(of.layout->nodes), "node"))
                                 : of.claim.message;
        out.notes.push_back(
            {!formed, formed ? "Formed" : "GivenBack", "FormClaim", text, nullptr, "layout"});
    } else if (another) {
        const auto text = fmt::format("layout {}: {}, {}", of.layout->revision,
                                      count_of(std::ssize(of.layout->nodes), "node"),
                                      count_of(next.sums().counts.total, "slot"));
        out.notes.push_back({false, "LayoutChanged", "WriteLayout", text, nullptr, "layout"});
    }
    out.actions.push_back(write_layout{*of.layout});
    return out;
}

std::set<std::string> nodes_of(const view& seen, const grid::places& places) {
    std::set<std::string> out;
    for (const auto& [name, node] : seen.nodes) out.insert(name);
    for (const auto& [name, member] : places.members()) out.insert(name);
    for (const auto& pod : seen.pods) out.emplace(home_of(*pod));
    return out;
}

ledger ledger_of(const view& seen, const ground& on, const hints& known, steady_time now,
                 wall_time wall) {
    ledger out;
    for (const auto& name : nodes_of(seen, on.places)) {
        out.put_node(name, assess_node(seen, name, on, known, now, wall));
    }
    for (const auto& pod : seen.pods) {
        const auto key = pod->metadata.key();
        out.put_pod(key,
                    assess_pod(seen, pod, out.has_accepted(key), out.has_inside(key), on.what_for));
    }
    if (on.what_for == purpose::keep) {
        for (const auto& job : seen.jobs) {
            out.put_job(job->metadata.key(), assess_job(seen, *job, on.places));
        }
    }
    out.take_moved();
    return out;
}

decision decide(const view& seen, const hints& known, steady_time now, wall_time wall,
                bool compact_layouts) {
    auto of = overview_of(seen, want_layout(seen), known);
    const auto at = stage_of(*seen.testbed);
    if (may_change_layout(of, compact_layouts)) {
        const auto next = next_layout(of, compact_layouts);
        const grid::places places(next);
        const ground on{next, places, purpose::keep, of.most_listed, seen.slices_served};
        const auto all = ledger_of(seen, on, known, now, wall);
        return decide_layout(overview_for(of, next), all, wall);
    }
    const auto& places = *seen.index_of(*seen.testbed).places;
    const auto what_for = at == stage::leaves ? purpose::leave : purpose::keep;
    ledger all;
    if (at == stage::works || at == stage::leaves) {
        const ground on{*of.layout, places, what_for, of.most_listed, seen.slices_served};
        all = ledger_of(seen, on, known, now, wall);
    }
    auto out = decide(of, all, known, now);
    for (const auto& [name, node] : all.nodes()) {
        out.strangers.insert(node.strangers.begin(), node.strangers.end());
        if (node.changes.at) out.look_again(*node.changes.at - now);
        if (node.changes.until) {
            out.look_again(
                std::chrono::duration_cast<steady_time::duration>(*node.changes.until - wall) +
                milliseconds(10));
        }
    }
    out.status = report(of, all, wall);
    return out;
}

}  // namespace esi::testbed
