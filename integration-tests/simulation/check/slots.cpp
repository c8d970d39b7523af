#include "check/slots.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.h"

namespace esi::simulation::checks {

namespace names = model::names;

namespace {

/// A scheduler may bind by what it saw so long ago.
constexpr seconds scheduler_patience{60};
/// An operator that is undisturbed sets a taint again within this time after a person removed it.
constexpr seconds taint_patience{30};
/// What it does by a layout that was just written may cross with what it decided before.
constexpr seconds layout_patience{5};

bool was_let_in(const pod_record& what) {
    const auto& pod = *what.pod;
    const bool annotated = !pod.metadata.annotation(names::slot).empty();
    // On the gate path the gate tells, on the extender's the decision on the pod.
    return what.ever_gated ? grid::let_in(pod) : annotated;
}

bool tolerates_the_taint(const json& pod) {
    const auto& list = at(pod, {"spec", "tolerations"});
    if (!list.is_array()) return false;
    return std::ranges::any_of(list, [](const json& each) {
        const auto& key = at(each, {"key"});
        const auto& effect = at(each, {"effect"});
        const bool this_key = key.is_null() || key == "" || key == names::taint;
        const bool this_effect = effect.is_null() || effect == "" || effect == "NoSchedule";
        return this_key && this_effect;
    });
}

/// The pod may run on `node` only, by every one of its required terms.
bool pinned(const json& pod, std::string_view node) {
    const auto& terms =
        at(pod, {"spec", "affinity", "nodeAffinity",
                 "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
    if (!terms.is_array() || terms.empty()) return false;
    return std::ranges::all_of(terms, [&](const json& term) {
        const auto& fields = at(term, {"matchFields"});
        return fields.is_array() && std::ranges::any_of(fields, [&](const json& field) {
                   const auto& values = at(field, {"values"});
                   return at(field, {"key"}) == "metadata.name" &&
                          at(field, {"operator"}) == "In" && values.is_array() &&
                          values.size() == 1 && values[0] == node;
               });
    });
}

std::string name_of(const json& pod) {
    const auto& ns = at(pod, {"metadata", "namespace"});
    const auto& name = at(pod, {"metadata", "name"});
    return (ns.is_string() ? ns.get<std::string>() + "/" : "") +
           (name.is_string() ? name.get<std::string>() : "?");
}

std::string text_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace

void slot_rules::pod_added(const pod_record& after) {
    if (after.ghost()) {
        ghost_is_for_the_scheduler(after);
        ghost_comes_after_the_taint(after);
    }
}

void slot_rules::pod_changed(const pod_record& before, const pod_record& after) {
    if (after.of_slot() && !was_let_in(before) && was_let_in(after)) {
        pod_is_let_in_by_right(before, after);
        if (after.ever_gated) {
            pod_is_pinned_everywhere(after);
            ghost_is_gone_before(after);
        }
        pod_has_its_slot_alone(after);
    }
    if (after.forged) forged_pod_is_not_heeded(before, after);
    const bool ended = before.live() && !after.live();
    if (ended || (!before.pod->bound() && after.pod->bound())) slots_moved(after);
    if (ended && after.of_slot() && after.pod->bound()) keep_room_for_the_ghost(after);
    if (before.seat && !after.seat) {
        withdrawn_[after.pod->metadata.uid] = {before.seat->node, here_.now()};
    }
    const auto& to = after.pod->nominated_node_name;
    if (after.of_slot() && !to.empty()) {
        const auto& uid = after.pod->metadata.uid;
        const auto shown = [](const pod_record& of) {
            return of.pod->metadata.annotation(names::nomination_shown);
        };
        const bool nominated = to != before.pod->nominated_node_name;
        if (nominated) nominated_[uid] = here_.now();
        if (nominated || shown(before) != shown(after)) shown_[uid] = here_.now();
    }
    if (!before.pod->bound() && after.pod->bound() && after.live()) {
        if (after.of_slot()) {
            pod_is_bound_in_its_slot(after);
            pod_has_its_slot_alone(after);
        }
        node_is_not_over_committed(after);
        if (after.stranger()) {
            taint_keeps_strangers_out(after);
            room_is_kept(after);
            slot_is_not_passed_by(after);
        }
    }
}

void slot_rules::pod_gone(const pod_record& before) {
    if (before.bound_at) {
        auto [last, first] = gone_from_.try_emplace(
            {before.pod->node_name, before.pod->scheduler_name}, *before.bound_at);
        last->second = std::max(last->second, *before.bound_at);
    }
    slots_moved(before);
    if (before.ghost()) keep_room_for_the_placed(before);
    if (before.of_slot() && before.live() && before.pod->bound()) keep_room_for_the_ghost(before);
}

// --- ghosts ---

void slot_rules::ghost_is_for_the_scheduler(const pod_record& ghost) {
    const auto& pod = *ghost.pod;
    const auto* owner = pod.metadata.controller_owner();
    if (!owner || owner->kind != "Testbed") return;
    out_.require(!pod.bound(), "ghost-bound-by-name", {pod.metadata.uid, owner->uid}, [&] {
        return fmt::format("ghost {} was created with nodeName {}, past the scheduler",
                           ghost.name(), pod.node_name);
    });
    const auto policy = text_of(at(ghost.raw->body(), {"spec", "preemptionPolicy"}));
    out_.require(policy.empty() || policy == "Never", "ghost-may-preempt",
                 {pod.metadata.uid, owner->uid}, [&] {
                     return fmt::format("ghost {} has preemptionPolicy {} (class {})", ghost.name(),
                                        policy, pod.priority_class_name);
                 });
}

void slot_rules::ghost_comes_after_the_taint(const pod_record& ghost) {
    if (!ghost.seat || !here_.fresh("testbed") || here_.disturbed_node(ghost.seat->node)) return;
    const auto* bed = all_.testbed(ghost.seat->testbed);
    const auto& node = all_.nodes.at(ghost.seat->node);
    if (!bed || !node.node || !all_.wants_taint(*bed->testbed, *node.node) ||
        bed->testbed->metadata.generation != bed->testbed->status.observed_generation) {
        return;
    }
    out_.require(node.tainted.has_value(), "ghost-before-taint",
                 {ghost.pod->metadata.uid, bed->testbed->metadata.uid, node.node->metadata.uid},
                 [&] {
                     return fmt::format("ghost {} was created while {} does not carry the taint {}",
                                        ghost.name(), ghost.seat->node, names::taint);
                 });
}

// --- job pods ---

void slot_rules::pod_is_let_in_by_right(const pod_record& before, const pod_record& after) {
    const auto& pod = *after.pod;
    const auto& uid = pod.metadata.uid;
    const auto job = all_.job_uid(pod);
    const auto bed_uid = all_.testbed_uid(pod.testbed());
    const auto position = grid::slot_of_pod(pod);
    const auto text = [&] {
        return fmt::format("pod {} (run {}) was let in to slot \"{}\" on \"{}\" of Testbed {}",
                           after.name(), pod.run(), pod.metadata.annotation(names::slot),
                           pod.metadata.annotation(names::slot_node), pod.testbed().text());
    };
    if (!out_.require(position && !pod.metadata.annotation(names::slot_node).empty(),
                      "pod-without-placement", {uid},
                      [&] { return text() + " without the annotations of its slot"; })) {
        return;
    }
    if (before.ever_gated) {
        const auto& gates = before.pod->scheduling_gates;
        out_.require(gates.size() == 1, "foreign-gate-removed", {uid}, [&] {
            return fmt::format("{}, another gate was on it: {}", text(), fmt::join(gates, ", "));
        });
    }
    out_.require(all_.recorded.contains({uid, *position}), "pod-without-placement", {uid, job},
                 [&] { return text() + " without a placement that its BatchJob recorded"; });

    auto known = all_.rights.find(pod.run());
    const auto& slots =
        known == all_.rights.end() ? std::vector<int>() : known->second.given.slot_ids;
    const bool owned = std::ranges::find(slots, *position) != slots.end();
    out_.require(owned, "pod-without-assignment", {uid, job, bed_uid}, [&] {
        return fmt::format("{}, its run was assigned [{}]", text(), grid::show_slot_list(slots));
    });
    const auto* bed = all_.testbed(pod.testbed());
    if (!bed) return;
    out_.require(bed->testbed->hold() == grid::hold_of_run(pod.run()), "pod-without-assignment",
                 {uid, job, bed_uid}, [&] {
                     return fmt::format("{}, which shows the hold \"{}\"", text(),
                                        bed->testbed->hold());
                 });
    const auto where = place_of(*bed->testbed, *position);
    out_.require(where && where->node == pod.metadata.annotation(names::slot_node),
                 "pod-in-wrong-slot", {uid, bed_uid}, [&] {
                     return fmt::format("{}; by the layout that slot is on {}", text(),
                                        where ? where->node : "no node");
                 });
    if (!where) return;
    const bool for_coordinators = is_of_coordinator(*bed->testbed->status.layout, *position);
    out_.require(coordinates(pod) == for_coordinators, "pod-of-another-role", {uid, bed_uid}, [&] {
        return fmt::format("{}, a place of {}", text(),
                           for_coordinators ? "coordinators" : "workers");
    });
}

/// No operator opens its gate, nominates it, or takes it for a pod of its run.
void slot_rules::forged_pod_is_not_heeded(const pod_record& before, const pod_record& after) {
    const auto& was = *before.pod;
    const auto& is = *after.pod;
    const bool opened = !grid::let_in(was) && grid::let_in(is);
    const auto slot = is.metadata.annotation(names::slot);
    const auto node = is.metadata.annotation(names::slot_node);
    // What it has copied may be taken off it.
    const bool given = (!slot.empty() && slot != was.metadata.annotation(names::slot)) ||
                       (!node.empty() && node != was.metadata.annotation(names::slot_node));
    const bool nominated = after.ever_gated && was.nominated_node_name != is.nominated_node_name &&
                           !is.nominated_node_name.empty();
    out_.require(!opened && !given && !nominated, "forgery-heeded", {}, [&] {
        return fmt::format("pod {}, which only says that it is of run {}, {}", after.name(),
                           is.run(),
                           opened  ? "was let in"
                           : given ? "was given a slot"
                                   : "was nominated to " + is.nominated_node_name);
    });
}

void slot_rules::pod_is_pinned_everywhere(const pod_record& after) {
    const std::string node(after.pod->metadata.annotation(names::slot_node));
    out_.require(
        pinned(after.raw->body(), node), "pod-in-wrong-slot", {after.pod->metadata.uid}, [&] {
            return fmt::format("pod {} was let in without being pinned to {} in every term: {}",
                               after.name(), node,
                               at(after.raw->body(), {"spec", "affinity"}).dump());
        });
}

void slot_rules::ghost_is_gone_before(const pod_record& after) {
    if (!after.seat) return;
    auto there = all_.ghosts_of.find(*after.seat);
    if (there == all_.ghosts_of.end()) return;
    for (const auto& uid : there->second) {
        const auto& ghost = all_.pods.at(uid);
        // One that came while the pod was on its way (a late create) does not take its room.
        if (!ghost.live() || !ghost.pod->bound() || ghost.created > after.created) continue;
        out_.require(false, "ghost-still-there", {uid, after.pod->metadata.uid}, [&] {
            return fmt::format("pod {} was let in to {} while its ghost {} is still there",
                               after.name(), after.seat->text(), ghost.name());
        });
    }
}

void slot_rules::pod_has_its_slot_alone(const pod_record& after) {
    if (!after.seat) return;
    auto there = all_.in_place.find(*after.seat);
    if (there == all_.in_place.end()) return;
    const auto& uid = after.pod->metadata.uid;
    for (const auto& other : there->second) {
        if (other == uid) continue;
        const auto& pod = all_.pods.at(other);
        out_.require(false, "slot-shared",
                     {uid, other, all_.job_uid(*after.pod), all_.job_uid(*pod.pod),
                      std::string(all_.testbed_uid(after.seat->testbed)) + "/status"},
                     [&] {
                         return fmt::format(
                             "pod {} (run {}) came into {}, where pod {} (run {}) "
                             "still is",
                             after.name(), after.pod->run(), after.seat->text(), pod.name(),
                             pod.pod->run());
                     });
    }
}

void slot_rules::pod_is_bound_in_its_slot(const pod_record& after) {
    const auto& pod = *after.pod;
    const auto& uid = pod.metadata.uid;
    // The extender's scheduler may be binding just then, and nothing guards a binding. The pod's
    // run is over; its slot stays its own until it has gone.
    const auto withdrawn = withdrawn_.find(uid);
    if (!after.ever_gated && withdrawn != withdrawn_.end() &&
        withdrawn->second.first == pod.node_name &&
        here_.now() < withdrawn->second.second + seconds(1)) {
        return;
    }
    if (!out_.require(after.seat.has_value(), "pod-without-placement",
                      {uid, all_.testbed_uid(pod.testbed())}, [&] {
                          return fmt::format("pod {} (run {}) is bound to {} without a slot",
                                             after.name(), pod.run(), pod.node_name);
                      })) {
        return;
    }
    out_.require(after.seat->node == pod.node_name, "pod-in-wrong-slot", {uid}, [&] {
        return fmt::format("pod {} is bound to {}, its place is {}", after.name(), pod.node_name,
                           after.seat->text());
    });
}

// --- nodes ---

bool slot_rules::another_scheduler_was_there(const pod_record& bound) const {
    auto there = all_.on_node.find(bound.pod->node_name);
    if (there == all_.on_node.end()) return false;
    return std::ranges::any_of(there->second, [&](const auto& uid) {
        const auto& pod = all_.pods.at(uid);
        return pod.pod->scheduler_name != bound.pod->scheduler_name && pod.bound_at &&
               here_.now() < *pod.bound_at + seconds(10);
    });
}

bool slot_rules::another_scheduler_had_been_there(const pod_record& bound) const {
    return std::ranges::any_of(gone_from_, [&](const auto& entry) {
        const auto& [node, scheduler] = entry.first;
        return node == bound.pod->node_name && scheduler != bound.pod->scheduler_name &&
               here_.now() < entry.second + seconds(10);
    });
}

void slot_rules::node_is_not_over_committed(const pod_record& bound) {
    const auto& name = bound.pod->node_name;
    auto found = all_.nodes.find(name);
    auto there = all_.on_node.find(name);
    if (found == all_.nodes.end() || there == all_.on_node.end()) return;
    // A node that shrank keeps its pods; a pod that a person bound is no scheduler's fault.
    model::amounts total;
    std::vector<std::string> pods;
    for (const auto& uid : there->second) {
        const auto& pod = all_.pods.at(uid);
        if (pod.by_name) continue;
        model::add(total, demand_of(*pod.pod));
        pods.push_back(pod.name());
    }
    if (another_scheduler_was_there(bound)) return;
    for (const auto& [resource, limit] : found->second.largest) {
        const auto at = total.find(resource);
        const auto amount = at == total.end() ? 0 : at->second;
        out_.require(amount <= limit, "over-committed", {bound.pod->metadata.uid}, [&] {
            return fmt::format("pod {} on {}: {} {} of {}; there: {}", bound.name(), name, resource,
                               model::show(resource, amount), model::show(resource, limit),
                               fmt::join(pods, ", "));
        });
    }
}

/// A person may remove a taint at any time; an operator that is up sets it again.
void slot_rules::taints_stand() {
    for (const auto& [name, record] : all_.nodes) {
        const model::testbed* whose = nullptr;
        if (record.node) {
            for (const auto& [key, bed] : all_.testbeds) {
                if (all_.wants_taint(*bed.testbed, *record.node)) whose = bed.testbed.get();
            }
        }
        if (!whose) {
            taint_wanted_.erase(name);
            taint_missing_.erase(name);
            continue;
        }
        taint_wanted_.try_emplace(name, here_.now());
        if (taint_of(*record.node) || record.node->metadata.deleting() || !here_.fresh("testbed")) {
            taint_missing_.erase(name);
            continue;
        }
        const auto since = taint_missing_.try_emplace(name, here_.now()).first->second;
        out_.require(
            here_.now() < since + taint_patience, "taint-lost",
            {whose->metadata.uid, record.node->metadata.uid}, [&] {
                return fmt::format(
                    "node {} is in the layout of Testbed {} (isolation Taint) and has been "
                    "without the taint {} for {} s",
                    name, whose->metadata.key().text(), names::taint,
                    std::chrono::duration_cast<seconds>(here_.now() - since).count());
            });
    }
}

void slot_rules::taint_is_not_taken_away(std::string_view node, const json& patch) {
    const auto& taints = at(patch, {"spec", "taints"});
    if (taints.is_null()) return;
    const std::string name(node);
    const auto known = all_.nodes.find(name);
    const auto wanted = taint_wanted_.find(name);
    if (known == all_.nodes.end() || !known->second.tainted || wanted == taint_wanted_.end() ||
        here_.now() < wanted->second + layout_patience) {
        return;
    }
    const bool kept = std::ranges::any_of(taints, [](const json& each) {
        return at(each, {"key"}) == names::taint && at(each, {"effect"}) == "NoSchedule";
    });
    // What its user has just changed may not have come to the operator yet.
    std::string edited;
    const auto& of_node = *known->second.node;
    const auto* taint = taint_of(of_node);
    for (const auto& [key, bed] : all_.testbeds) {
        const auto& of = *bed.testbed;
        const bool concerns =
            all_.wants_taint(of, of_node) || (taint && of.metadata.uid == taint->value);
        if (concerns && of.metadata.generation != of.status.observed_generation)
            edited = key.text();
    }
    out_.require(kept || !edited.empty(), "taint-lost", {known->second.node->metadata.uid}, [&] {
        return fmt::format(
            "the taint of node {} is taken away by the operator, though a layout with "
            "isolation Taint has that node: {}",
            name, taints.dump());
    });
}

void slot_rules::taint_keeps_strangers_out(const pod_record& stranger) {
    auto found = all_.nodes.find(stranger.pod->node_name);
    if (found == all_.nodes.end() || !found->second.node || !found->second.tainted) return;
    const auto& node = found->second;
    if (here_.now() < *node.tainted + scheduler_patience) return;
    out_.require(tolerates_the_taint(stranger.raw->body()), "stranger-in-slot",
                 {stranger.pod->metadata.uid, node.node->metadata.uid}, [&] {
                     return fmt::format("pod {} was bound to {} past the taint {}", stranger.name(),
                                        stranger.pod->node_name, names::taint);
                 });
}

// --- what the testbed operator sends ---

void slot_rules::sent(const kube::request& what, const json& body) {
    if (what.method == "DELETE") {
        const auto uid = text_of(at(body, {"preconditions", "uid"}));
        auto known = all_.pods.find(uid);
        if (known == all_.pods.end()) return;
        if (known->second.ghost()) {
            auto since = here_.leads_since.find("testbed");
            removed_.emplace(
                uid, removal{since == here_.leads_since.end() ? steady_time::min() : since->second,
                             here_.now()});
        } else if (known->second.of_slot()) {
            // It is given up because it was not bound: it may be by now.
            out_.require(!text_of(at(body, {"preconditions", "resourceVersion"})).empty(),
                         "unguarded-delete", {}, [&] {
                             return fmt::format("pod {} is given up whether it was bound or not",
                                                known->second.name());
                         });
        }
        return;
    }
    constexpr std::string_view nodes = "/api/v1/nodes/";
    if (what.target.starts_with(nodes)) {
        auto name = std::string_view(what.target).substr(nodes.size());
        taint_is_not_taken_away(name.substr(0, name.find_first_of("/?")), body);
        return;
    }
    const auto& spec = at(body, {"spec"});
    if (spec.is_object() && spec.contains("schedulingGates")) pod_is_let_in_to_room(body);
}

/// Whoever has been there for longer than any answer is under way was seen.
void slot_rules::pod_is_let_in_to_room(const json& patch) {
    constexpr seconds longest_way{20};
    auto known = all_.pods.find(text_of(at(patch, {"metadata", "uid"})));
    const auto name = text_of(at(patch, {"metadata", "annotations", names::slot_node}));
    auto node = all_.nodes.find(name);
    if (known == all_.pods.end() || node == all_.nodes.end()) return;
    const auto& pod = known->second;
    auto free = node->second.largest;
    std::vector<std::string> there;
    if (auto found = all_.on_node.find(name); found != all_.on_node.end()) {
        for (const auto& uid : found->second) {
            const auto& other = all_.pods.at(uid);
            if (&other == &pod || !other.bound_at || here_.now() < *other.bound_at + longest_way) {
                continue;
            }
            model::take(free, demand_of(*other.pod));
            there.push_back(other.name());
        }
    }
    out_.require(fits(demand_of(*pod.pod), free), "let-in-without-room",
                 {pod.pod->metadata.uid, all_.testbed_uid(pod.pod->testbed())}, [&] {
                     return fmt::format("pod {} is let in to {}, where {} is left beside {}",
                                        pod.name(), name, show(free), fmt::join(there, ", "));
                 });
}

// --- what others tell ---

void slot_rules::preempted(const json& victim, const json& by) {
    if (auto node = text_of(at(victim, {"spec", "nodeName"})); !node.empty()) {
        preempted_on_[node] = here_.now();
    }
    const auto by_uid = text_of(at(by, {"metadata", "uid"}));
    const auto victim_uid = text_of(at(victim, {"metadata", "uid"}));
    const bool ghost = at(by, {"metadata", "labels", names::ghost}) == "true";
    const auto text = [&] {
        return fmt::format("pod {} was preempted for {} {}", name_of(victim),
                           ghost ? "ghost" : "pod", name_of(by));
    };
    out_.require(!ghost, "preempted", {by_uid}, text);
    auto known = all_.pods.find(by_uid);
    if (ghost || known == all_.pods.end() || !known->second.of_slot()) return;
    out_.require(!known->second.ever_gated, "preempted", {by_uid}, text);
    if (known->second.ever_gated) return;
    const auto own = text_of(at(by, {"metadata", "annotations", names::slot_ghost}));
    out_.require(own == victim_uid, "preempted", {by_uid, victim_uid},
                 [&] { return fmt::format("{}, whose slot's ghost is {}", text(), own); });
}

void slot_rules::refused(const json& pod, std::string_view reason) {
    const auto uid = text_of(at(pod, {"metadata", "uid"}));
    auto known = all_.pods.find(uid);
    if (known == all_.pods.end()) return;
    const auto& record = known->second;
    if (record.by_name || !(record.ghost() || record.of_slot())) return;
    const auto node = text_of(at(pod, {"spec", "nodeName"}));
    if (here_.disturbed_node(node) || another_scheduler_was_there(record) ||
        another_scheduler_had_been_there(record)) {
        return;
    }
    for (const auto& [other, there] : all_.pods) {
        if (there.by_name && there.pod->node_name == node) return;
    }
    out_.require(false, "pod-refused", {uid}, [&] {
        auto there = all_.on_node.find(node);
        std::vector<std::string> pods;
        if (there != all_.on_node.end()) {
            for (const auto& other : there->second) pods.push_back(all_.pods.at(other).name());
        }
        return fmt::format("{} {} was refused by the kubelet of {}: {}; there: {}",
                           record.ghost() ? "ghost" : "job pod", record.name(), node, reason,
                           fmt::join(pods, ", "));
    });
}

}  // namespace esi::simulation::checks
