#include "testbed/claims/claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>
#include <tuple>

#include "model/conditions.h"
#include "model/names.h"
#include "testbed/room/ghosts.h"
#include "testbed/view/words.h"

namespace esi::testbed::claims {

namespace names = model::names;

bool is_formed(const model::testbed& testbed) {
    return testbed.status.layout && grid::count_of_slots(*testbed.status.layout) > 0;
}

bool may_change(const model::testbed& testbed) {
    return testbed.spec.claim && stage_of(testbed) == stage::works && !is_held(testbed) &&
           !testbed.metadata.deleting();
}

std::vector<pod_pointer> places_asked_for(const model::testbed& testbed) {
    std::vector<pod_pointer> out;
    if (!testbed.spec.claim) return out;
    const auto& meta = testbed.metadata;
    for (const auto& shape : testbed.spec.claim->shapes) {
        model::pod like;
        like.metadata.namespace_ = meta.namespace_;
        like.metadata.labels = ghost_labels(testbed);
        like.requests = model::to_amounts(shape.resources);
        like.node_selector = shape.constraints.node_selector;
        like.affinity = shape.constraints.affinity;
        // Ghosts stay on a node that is not well; no new ghost is sent there.
        like.tolerations = shape.constraints.tolerations;
        for (int i = 0; i < shape.count && out.size() < model::most_claimed_places; ++i) {
            auto made = std::make_shared<model::pod>(like);
            made->metadata.name = fmt::format("{}-{}-{}", meta.name, shape.name, i);
            made->metadata.uid = fmt::format("claim {} {}", meta.uid, out.size());
            out.push_back(std::move(made));
        }
    }
    return out;
}

pod_pointer promise_for(const model::pod& place) {
    auto out = std::make_shared<model::pod>();
    out->metadata = place.metadata;
    out->requests = place.requests;
    return out;
}

model::testbed_layout layout_of(const model::testbed& testbed, const placement::chosen_nodes& where,
                                const placement::cluster_room& room, bool compact) {
    auto out = layout_without_places(testbed);
    out.compact = compact;
    for (const auto& shape : testbed.spec.claim->shapes) {
        out.shapes.push_back({shape.name, shape.role, shape.count, shape.resources});
    }
    std::map<std::string_view, int> known;
    for (const auto& name : where.nodes) {
        const auto number = static_cast<int>(known.size());
        const auto [entry, first] = known.try_emplace(name, number);
        if (first) {
            const auto* node = room.find(name);
            out.nodes.push_back({name, node ? node->node->metadata.uid : std::string(), number});
        }
        out.places.push_back(entry->second);
    }
    return out;
}

model::testbed_layout layout_without_places(const model::testbed& testbed) {
    model::testbed_layout out;
    const auto& before = testbed.status.layout;
    out.revision = before ? before->revision + 1 : 1;
    return out;
}

namespace {

std::string some_of(const std::set<std::string>& names) {
    constexpr std::size_t most_named = 5;
    return fmt::format("{}{}", fmt::join(names | std::views::take(most_named), ", "),
                       names.size() > most_named ? ", ..." : "");
}

/// True: the ghost failed while its claim has waited for free places, or is not made again yet.
bool has_failed(const std::string& ghost, const hints& known, steady_time now) {
    const auto found = known.ghosts.find(ghost);
    if (found == known.ghosts.end()) return false;
    const auto& failed = found->second;
    const auto since = known.incomplete ? known.incomplete->since : steady_time{};
    return failed.failures > 0 && !failed.refused && (failed.last >= since || failed.next > now);
}

bool is_at_fault(const model::testbed& testbed, const std::string& name, const node_state& node,
                 const grid::places& places, const hints& known, steady_time now) {
    if (!node.problem.empty() || node.ghost_in_vain) return true;
    const auto& meta = testbed.metadata;
    return std::ranges::any_of(places.on(name), [&](const grid::slot& place) {
        return has_failed(grid::ghost_name(meta.name, meta.uid, place.node, place.index), known,
                          now);
    });
}

}  // namespace

give_back as_not_free(const model::testbed& testbed, const ledger& states,
                      const grid::places& places, const hints& known, steady_time now,
                      seconds patience) {
    give_back out;
    std::set<std::string> not_free;
    for (const auto& [name, node] : states.nodes()) {
        if (node.counts.free == node.counts.total) continue;
        not_free.insert(name);
        if (is_at_fault(testbed, name, node, places, known, now)) out.nodes.insert(name);
    }
    std::string without;
    if (out.nodes == not_free) {
        without = not_free.size() == 1 ? " without this node" : " without these nodes";
    } else if (!out.nodes.empty()) {
        without = " without " + some_of(out.nodes);
    }
    const auto& counts = states.sums().counts;
    out.at = {std::string(model::condition_reason::claim_waiting),
              fmt::format("{} of {} not free for {} s, on {}: all places are given back and "
                          "planned anew{}",
                          counts.total - counts.free, count_of(counts.total, "place"),
                          patience.count(), some_of(not_free), without)};
    return out;
}

bool comes_before(const model::testbed& a, const model::testbed& b) {
    const auto priority = [](const model::testbed& of) {
        return of.spec.claim ? of.spec.claim->priority : 0;
    };
    if (priority(a) != priority(b)) return priority(a) > priority(b);
    return model::older(a.metadata, b.metadata);
}

std::string class_problem(int priority, std::string_view found) {
    const auto name = claim_priority_class(priority);
    const auto remedy = fmt::format(
        "who installs ESI makes it: helm upgrade esi ... --set claims.enabled=true --set "
        "'claims.priorities={{{}}}' (with those that are there)",
        priority);
    if (found.empty()) {
        return fmt::format("PriorityClass {}, which the ghosts of this claim need, is missing; {}",
                           name, remedy);
    }
    const auto object = nlohmann::json::parse(found, nullptr, false);
    if (!object.is_object()) return fmt::format("PriorityClass {} cannot be read", name);
    const auto value = object.find("value");
    if (value == object.end() || !value->is_number_integer() || *value != priority) {
        return fmt::format("PriorityClass {} has not the value {}; delete it, and {}", name,
                           priority, remedy);
    }
    const auto policy = object.find("preemptionPolicy");
    if (policy == object.end() || *policy != "Never") {
        return fmt::format(
            "PriorityClass {} has not the preemptionPolicy Never, so ghosts would evict pods; "
            "delete it, and {}",
            name, remedy);
    }
    return {};
}

}  // namespace esi::testbed::claims
