#include "check/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "model/conditions.h"

namespace esi::simulation::checks {

namespace {

/// A pod that was bound, or a node that was changed, so short ago may be unknown to the operator.
constexpr seconds cache_is_behind{3};
/// How long a node is left out after a place on it was given back, and some.
constexpr std::chrono::minutes avoided{11};
/// Between two samples, and the clocks of two processes.
constexpr seconds sampling{4};

std::string name_of(const model::testbed& of) { return of.metadata.key().text(); }

/// What the node's label says as the id of a node: a number of 31 bits, in digits.
std::optional<std::int64_t> number_of(const model::node& node, const std::string& label) {
    const auto found = node.metadata.labels.find(label);
    if (label.empty() || found == node.metadata.labels.end()) return std::nullopt;
    std::int64_t out = 0;
    for (const char digit : found->second) {
        if (digit < '0' || digit > '9') return std::nullopt;
        out = out * 10 + (digit - '0');
    }
    const auto digits = found->second.size();
    const bool is_one = digits > 0 && digits <= 10 && out < (std::int64_t{1} << 31);
    return is_one ? std::optional(out) : std::nullopt;
}

/// `by_place`: uids of pods; `test` holds for one of those there.
template <class Pods, class Test>
bool any_there(const Pods& by_place, const place& where, const Test& test) {
    const auto found = by_place.find(where);
    return found != by_place.end() && std::ranges::any_of(found->second, test);
}

}  // namespace

template <class F>
bool claim_rules::with_number(const model::node& node, const F& holds) const {
    return std::ranges::any_of(all_.testbeds, [&](const auto& entry) {
        const auto& testbed = *entry.second.testbed;
        if (testbed.metadata.deleting()) return false;
        const auto number = number_of(node, testbed.spec.node_label);
        return number && holds(testbed, *number);
    });
}

bool claim_rules::in_labelled_layout(const model::node& node) const {
    return with_number(node, [&](const model::testbed& testbed, std::int64_t) {
        const auto& layout = testbed.status.layout;
        return layout && std::ranges::find(layout->nodes, node.metadata.name,
                                           &model::layout_node::name) != layout->nodes.end();
    });
}

bool claim_rules::has_own_number(const model::node& node) const {
    return with_number(node, [&](const model::testbed& testbed, std::int64_t number) {
        return std::ranges::none_of(all_.nodes, [&](const auto& entry) {
            const auto& other = entry.second.node;
            return other && entry.first != node.metadata.name &&
                   number_of(*other, testbed.spec.node_label) == number;
        });
    });
}

bool claim_rules::of_labelled_testbed(const model::node& node) const {
    return in_labelled_layout(node) || has_own_number(node);
}

model::amounts claim_rules::known_free(const std::string& node) const {
    auto out = all_.nodes.at(node).node->allocatable;
    const auto there = all_.on_node.find(node);
    if (there == all_.on_node.end()) return out;
    for (const auto& uid : there->second) {
        const auto& pod = all_.pods.at(uid);
        if (pod.bound_at && *pod.bound_at > here_.now() - cache_is_behind) continue;
        model::take(out, demand_of(*pod.pod));
    }
    return out;
}

/// Places of other claims in which nothing is bound yet.
model::amounts claim_rules::waiting_on(const std::string& node, const model::testbed& than) const {
    model::amounts out;
    for (const auto& [key, record] : all_.testbeds) {
        const auto& other = *record.testbed;
        if (other.metadata.uid == than.metadata.uid || other.metadata.deleting()) continue;
        if (!other.spec.claim || !other.status.layout) continue;
        for (int position = 0; position < std::ssize(other.status.layout->places); ++position) {
            const auto where = place_of(other, position);
            if (!where || where->node != node) continue;
            const auto is_bound = [&](const auto& uid) { return all_.pods.at(uid).pod->bound(); };
            const bool bound = any_there(all_.ghosts_of, *where, is_bound) ||
                               any_there(all_.in_place, *where, is_bound);
            if (!bound) model::add(out, size_of(other, *where));
        }
    }
    return out;
}

void claim_rules::pod_changed(const pod_record& after) {
    if (!after.ghost() || !after.seat || !after.pod->bound()) return;
    const auto* bed = all_.testbed(after.seat->testbed);
    if (!bed || !bed->testbed->spec.claim) return;
    if (const auto position = position_of(*bed->testbed, *after.seat)) {
        claims_[bed->testbed->metadata.uid].filled.insert(*position);
    }
}

/// No place of the present layout that never had its ghost.
bool claim_rules::was_whole(const model::testbed& testbed) const {
    const auto& layout = testbed.status.layout;
    if (!layout || layout->places.empty()) return false;
    const auto found = claims_.find(testbed.metadata.uid);
    return found != claims_.end() && found->second.filled.size() >= layout->places.size();
}

void claim_rules::pod_added(const pod_record& after) {
    if (!after.of_slot()) return;
    const auto* bed = all_.testbed(after.pod->testbed());
    if (!bed || !bed->testbed->spec.claim) return;
    const auto& uid = bed->testbed->metadata.uid;
    out_.require(was_whole(*bed->testbed), "claim-used-in-part", {uid, after.pod->metadata.uid},
                 [&] {
                     return fmt::format(
                         "pod {} of run {} was made, and not all places of Testbed {} have had "
                         "their ghosts",
                         after.name(), after.pod->run(), name_of(*bed->testbed));
                 });
}

void claim_rules::is_as_its_plan_says(const model::testbed& testbed) {
    const auto* owner = maker_of(testbed);
    const auto* maker = owner ? all_.scheduling_by_uid(owner->uid) : nullptr;
    if (!maker) return;
    const auto& who = *maker->scheduling;
    const bool same = who.spec.claim && who.spec.claim->shapes == testbed.spec.claim->shapes &&
                      who.metadata.key() == testbed.metadata.key();
    out_.require(same, "claim-unlike-its-plan", {testbed.metadata.uid, who.metadata.uid}, [&] {
        return fmt::format("Testbed {} was made for Scheduling {}, which asks for another",
                           name_of(testbed), who.metadata.key().text());
    });
}

void claim_rules::testbed_changed(const testbed_record& before, const testbed_record& after) {
    const auto& testbed = *after.testbed;
    if (!testbed.spec.claim) return;
    if (!before.testbed) is_as_its_plan_says(testbed);
    const bool held = before.testbed && before.testbed->hold().empty() && !testbed.hold().empty();
    if (held) {
        out_.require(was_whole(testbed), "claim-held-in-part", {testbed.metadata.uid}, [&] {
            return fmt::format(
                "Testbed {} was held ({}), and not all its places have had their "
                "ghosts",
                name_of(testbed), testbed.hold());
        });
    }
    const auto& was = before.testbed ? before.testbed->status.layout : std::nullopt;
    const auto& is = testbed.status.layout;
    if (!is || (was && was->revision == is->revision)) return;
    if (is->places.empty()) {
        gave_back(before, testbed);
    } else {
        formed(testbed);
    }
}

void claim_rules::formed(const model::testbed& testbed) {
    const auto& uid = testbed.metadata.uid;
    const auto& layout = *testbed.status.layout;
    auto& own = claims_[uid];
    own.whole = here_.now();
    own.filled.clear();
    std::size_t wanted = 0;
    bool same = layout.shapes.size() == testbed.spec.claim->shapes.size();
    for (std::size_t i = 0; same && i < layout.shapes.size(); ++i) {
        const auto& asked = testbed.spec.claim->shapes[i];
        const auto& got = layout.shapes[i];
        same = asked.name == got.name && asked.count == got.count && asked.role == got.role &&
               asked.resources == got.resources;
        wanted += static_cast<std::size_t>(asked.count);
    }
    out_.require(same && wanted == layout.places.size(), "claim-in-part", {uid}, [&] {
        return fmt::format("Testbed {}: {} places were formed of {}", name_of(testbed),
                           layout.places.size(), wanted);
    });
    out_.require(!testbed.spec.claim->suspend, "claim-while-suspended", {uid}, [&] {
        return fmt::format("Testbed {} was formed and is suspended", name_of(testbed));
    });
    // The operator may not know yet that another node has its number no more.
    const bool numbers_change = std::ranges::any_of(all_.nodes, [&](const auto& entry) {
        const auto& at = entry.second.disturbed;
        return at && here_.now() < *at + cache_is_behind;
    });
    std::map<std::string, model::amounts> taken;
    for (int position = 0; position < std::ssize(layout.places); ++position) {
        const auto where = place_of(testbed, position);
        if (where) model::add(taken[where->node], size_of(testbed, *where));
    }
    for (const auto& [name, amounts] : taken) {
        const auto found = all_.nodes.find(name);
        if (here_.disturbed_node(name) || !found->second.node) continue;
        if (here_.fresh("testbed")) {
            const auto& node = *found->second.node;
            const bool labelled =
                in_labelled_layout(node) || (!numbers_change && has_own_number(node));
            out_.require(!labelled, "claim-on-labelled-node", {uid}, [&] {
                return fmt::format(
                    "Testbed {}: places on {}, which is a labelled "
                    "Testbed's",
                    name_of(testbed), name);
            });
        }
        auto free = known_free(name);
        model::take(free, waiting_on(name, testbed));
        if (!here_.fresh("testbed")) continue;
        out_.require(fits(amounts, free), "claim-without-room", {uid}, [&] {
            return fmt::format("Testbed {}: places of {} on {}, where {} are left",
                               name_of(testbed), show(amounts), name, show(free));
        });
    }
}

void claim_rules::gave_back(const testbed_record& before, const model::testbed& after) {
    if (!before.testbed || !before.testbed->status.layout) return;
    if (before.testbed->status.layout->places.empty()) return;
    auto& own = claims_[after.metadata.uid];
    own.given_back = here_.now();
    own.ns = after.metadata.namespace_;
    ++own.times;
    // Where a ghost is refused for good: 20 s.
    const auto patience = std::min(seconds(after.spec.claim->timeout_seconds), seconds(20));
    // It may not have been told yet that all are free.
    if (!here_.fresh("testbed")) return;
    out_.require(here_.now() - own.whole >= patience - sampling, "claim-given-back-early",
                 {after.metadata.uid}, [&] {
                     return fmt::format(
                         "Testbed {}: its places were given back {} s after all were free",
                         name_of(after),
                         std::chrono::duration_cast<seconds>(here_.now() - own.whole).count());
                 });
}

bool claim_rules::is_whole(const model::testbed& testbed) const {
    const auto& layout = *testbed.status.layout;
    for (int position = 0; position < std::ssize(layout.places); ++position) {
        const auto where = place_of(testbed, position);
        if (!where) return false;
        const auto node = all_.nodes.find(where->node);
        const auto entry = std::ranges::find(layout.nodes, where->node, &model::layout_node::name);
        if (node == all_.nodes.end() || !node->second.node || !node->second.node->ready ||
            entry->uid != node->second.node->metadata.uid || node->second.node->unschedulable ||
            node->second.node->metadata.deleting()) {
            return false;
        }
        const bool held = any_there(all_.ghosts_of, *where, [&](const auto& uid) {
            const auto& pod = all_.pods.at(uid);
            return pod.live() && pod.pod->bound() && !pod.pod->metadata.deleting();
        });
        if (!held) return false;
    }
    return true;
}

void claim_rules::time_passes() {
    for (const auto& [key, record] : all_.testbeds) {
        const auto& testbed = *record.testbed;
        if (!testbed.spec.claim || !testbed.status.layout) continue;
        if (testbed.status.layout->places.empty()) continue;
        const bool held = !testbed.hold().empty();
        if (held || is_whole(testbed)) claims_[testbed.metadata.uid].whole = here_.now();
    }
}

/// Ghosts of a claim get their priority by a class that whoever installs ESI makes.
bool claim_rules::has_its_class(const model::testbed& testbed) const {
    const auto priority = testbed.spec.claim->priority;
    const auto name = priority < 0 ? fmt::format("esi-claim-minus-{}", -priority)
                                   : fmt::format("esi-claim-{}", priority);
    return objects_.find(kinds::priority_class, {}, name) != nullptr;
}

bool claim_rules::surely_fits(const model::testbed& testbed) const {
    if (!has_its_class(testbed)) return false;
    model::amounts largest;
    std::int64_t wanted = 0;
    for (const auto& shape : testbed.spec.claim->shapes) {
        if (!shape.constraints.node_selector.empty() || !shape.constraints.affinity.text.empty()) {
            return false;
        }
        auto size = model::to_amounts(shape.resources);
        size["pods"] = 1000;
        model::raise(largest, size);
        wanted += shape.count;
    }
    std::int64_t places = 0;
    for (const auto& [name, record] : all_.nodes) {
        if (!record.node || !record.node->ready || record.node->unschedulable) continue;
        if (record.node->metadata.deleting() || here_.disturbed_node(name)) continue;
        if (keeps_ghosts_away(*record.node) || of_labelled_testbed(*record.node)) continue;
        auto free = known_free(name);
        for (const auto& [uid, pod] : all_.pods) {
            // Room that is kept for others, by whichever right.
            const bool waits = !pod.pod->bound() && pod.live() &&
                               (pod.pod->nominated_node_name == name ||
                                pod.pod->metadata.annotation("esi.tu-berlin.de/gang-node") == name);
            if (waits) model::take(free, demand_of(*pod.pod));
        }
        while (fits(largest, free) && places < wanted) {
            model::take(free, largest);
            ++places;
        }
    }
    return places >= wanted;
}

bool claim_rules::is_without_places(const model::testbed& testbed) const {
    if (!testbed.spec.claim || testbed.metadata.deleting() || !testbed.hold().empty()) return false;
    const auto& layout = testbed.status.layout;
    return !layout || layout->places.empty();
}

bool claim_rules::leaves_nodes_out(const model::testbed& testbed) const {
    const auto is_recent = [&](const claim& of) {
        if (!of.given_back) return false;
        const auto left_out = avoided * (1 << std::min(std::max(of.times - 1, 0), 5));
        return here_.now() - *of.given_back < left_out;
    };
    return std::ranges::any_of(claims_, [&](const auto& entry) {
        const auto& [uid, of] = entry;
        if (!is_recent(of)) return false;
        if (uid == testbed.metadata.uid) return true;
        // What one that is gone has waited for, the next one of its namespace waits for.
        return of.ns == testbed.metadata.namespace_ &&
               std::ranges::none_of(all_.testbeds, [&](const auto& other) {
                   return other.second.testbed->metadata.uid == uid;
               });
    });
}

bool claim_rules::under_way() const {
    return std::ranges::any_of(all_.testbeds, [&](const auto& entry) {
        const auto& testbed = *entry.second.testbed;
        return is_without_places(testbed) && !testbed.spec.claim->suspend &&
               leaves_nodes_out(testbed);
    });
}

/// What a Scheduling has made for itself goes with it, and when it is of no use to it.
void claim_rules::is_of_use(const model::testbed& testbed) {
    const auto* owner = maker_of(testbed);
    if (!owner || testbed.metadata.deleting()) return;
    const auto* maker = all_.scheduling_by_uid(owner->uid);
    const auto& uid = testbed.metadata.uid;
    out_.require(maker != nullptr, "claim-left", {uid}, [&] {
        return fmt::format("Testbed {} is still there, its Scheduling {} is gone", name_of(testbed),
                           owner->name);
    });
    if (!maker || !testbed.hold().empty()) return;
    const auto& who = *maker->scheduling;
    const auto& state = who.status.state;
    const bool over = state == model::scheduling_state::finished ||
                      state == model::scheduling_state::completed ||
                      state == model::scheduling_state::error;
    const auto status = who.metadata.uid + "/status";
    out_.require(!over, "claim-left", {uid, who.metadata.uid, status}, [&] {
        return fmt::format("Testbed {} is still there, its Scheduling is over ({})",
                           name_of(testbed), state);
    });
    const auto& layout = testbed.status.layout;
    const auto* acquired =
        model::find_condition(who.status.conditions, model::condition_type::acquired);
    const bool waits = state == model::scheduling_state::acquire && acquired &&
                       acquired->status == "False" &&
                       acquired->reason != model::condition_reason::waits_for_claim;
    out_.require(!waits || !layout || layout->places.empty(), "claim-unused",
                 {uid, who.metadata.uid, status}, [&] {
                     return fmt::format(
                         "Testbed {} has its places at the end, and its Scheduling cannot use "
                         "them: {}",
                         name_of(testbed), acquired->message);
                 });
}

void claim_rules::at_end() {
    for (const auto& [key, record] : all_.testbeds) is_of_use(*record.testbed);
    for (const auto& [key, record] : all_.testbeds) {
        const auto& testbed = *record.testbed;
        if (!is_without_places(testbed) || leaves_nodes_out(testbed)) continue;
        const bool waits = !testbed.spec.claim->suspend && surely_fits(testbed);
        out_.require(!waits, "claim-waits", {testbed.metadata.uid}, [&] {
            return fmt::format("Testbed {} has no places at the end, and has room: {}",
                               name_of(testbed), testbed.status.message);
        });
    }
}

}  // namespace esi::simulation::checks
