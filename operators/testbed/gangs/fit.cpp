#include "testbed/gangs/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/names.h"
#include "testbed/gangs/planning/fit_text.h"

namespace esi::testbed::gangs {

using namespace planning;

namespace {

/// How many domains are tried as the one where the gang begins.
constexpr std::size_t most_anchors = 16;
/// A larger gang is not searched for: the search would hardly turn back where it has to.
constexpr int most_searched = 500;
/// Beyond so many questions to nodes no other way is tried.
constexpr std::int64_t most_questions = 10'000'000;

void note_namespaces(const pod_terms& terms, const namespace_labels* known,
                     std::set<std::string>& into) {
    for (const auto& term : terms) {
        into.insert(term.namespaces.begin(), term.namespaces.end());
        if (!term.selected_namespaces.present || !known) continue;
        for (const auto& [name, labels] : *known) {
            if (term.selected_namespaces.matches(labels)) into.insert(name);
        }
    }
}

std::optional<no_fit> refused_before(std::span<const pod_pointer> members, const facts& known,
                                     const fit_options& options) {
    const auto count = static_cast<int>(members.size());
    const auto wanted = needs_of(members, known.namespaces);
    for (const auto& name : wanted.pods_of) {
        if (known.pods.contains(name)) continue;
        return no_fit{no_fit_reason::facts_missing, count, 0,
                      fmt::format("the pods of namespace {} have not been read", name)};
    }
    for (const auto& claim : wanted.claims) {
        if (known.claims.contains(claim)) continue;
        return no_fit{no_fit_reason::facts_missing, count, 0,
                      fmt::format("PersistentVolumeClaim {} has not been read", claim.text())};
    }
    if (options.best_effort) return std::nullopt;
    for (const auto& pod : members) {
        const auto words = unplanned_of(*pod, known);
        if (words.empty()) continue;
        return no_fit{no_fit_reason::constraint_not_planned, count, 0,
                      fmt::format("pod {} has constraints that are not planned for: {}; the "
                                  "annotation {}: \"true\" of its group leaves them to the "
                                  "scheduler",
                                  pod->metadata.key().text(), fmt::join(words, "; "),
                                  model::names::best_effort_constraints)};
    }
    return std::nullopt;
}

/// The ways that are tried one after another, the one that was asked for first.
std::vector<pass> passes_of(packing how, const std::vector<board::anchor>& anchors) {
    const auto wanted = how == packing::spread ? choice::emptiest : choice::fewest_nodes;
    std::vector<pass> out;
    const auto add = [&](order members, choice nodes) {
        for (const auto& anchor : anchors) out.push_back({members, nodes, anchor});
        out.push_back({members, nodes, {}});
    };
    add(order::largest_first, wanted);
    add(order::choosiest_first, wanted);
    add(order::choosiest_first, choice::fullest);
    if (wanted != choice::fewest_nodes) add(order::largest_first, choice::fewest_nodes);
    return out;
}

placement named(const board& on, const outcome& found) {
    placement out;
    out.nodes.reserve(found.nodes.size());
    for (const int node : found.nodes) out.nodes.push_back(on.node(node).metadata.name);
    return out;
}

fit_result fit_on(std::span<const pod_pointer> members, const cluster_room& room,
                  const facts& known, const fit_options& options, ground_of_plan ground) {
    if (members.empty()) return placement();
    if (auto refused = refused_before(members, known, options)) return *refused;
    const auto count = static_cast<int>(members.size());
    const auto classes = classes_of(members, room, known);
    board on(classes, room, known, options, ground);

    const auto anchors =
        on.order_matters() ? on.anchors(most_anchors) : std::vector<board::anchor>();
    const auto ways = passes_of(options.how, anchors);
    const bool hopeless = cannot_fit(on);
    std::optional<std::pair<int, pass>> best;
    for (const auto& way : ways) {
        auto found = run(on, way);
        if (found.fitting == count) return named(on, found);
        clear(on, found);
        if (!best || found.fitting > best->first) best = {found.fitting, way};
        if (hopeless || on.questions() > most_questions) break;
        // One class of members that say nothing of each other: the first way is exact.
        if (on.plain() && classes.size() == 1) break;
    }
    const bool exact = hopeless || (on.plain() && classes.size() == 1);
    if (!exact && count <= most_searched && on.questions() <= most_questions) {
        if (const auto found = search(on, options.search_steps)) return named(on, *found);
    }
    const auto placed = run(on, best->second);
    return no_fit{
        ground == ground_of_plan::free ? no_fit_reason::no_room : no_fit_reason::never_fits, count,
        placed.fitting, describe_refusals(on, placed, members, room.resources())};
}

}  // namespace

needs needs_of(std::span<const pod_pointer> members, const namespace_labels* known) {
    needs out;
    // Most members of a gang say the same.
    const model::pod* last = nullptr;
    for (const auto& pod : members) {
        const auto& own = pod->metadata.namespace_;
        for (const auto& name : pod->claims) out.claims.insert({own, name});
        if (pod->affinity.text.empty() && pod->topology_spread.text.empty()) continue;
        if (last && last->affinity == pod->affinity && last->metadata.namespace_ == own &&
            last->topology_spread == pod->topology_spread) {
            continue;
        }
        last = pod.get();
        const auto rules = near_rules_of(*pod);
        note_namespaces(rules.affinity, known, out.pods_of);
        note_namespaces(rules.anti_affinity, known, out.pods_of);
        if (!rules.spread.empty()) out.pods_of.insert(own);
    }
    return out;
}

fit_result fit(std::span<const pod_pointer> members, const cluster_room& room, const facts& known,
               const fit_options& options) {
    return fit_on(members, room, known, options, ground_of_plan::free);
}

fit_result fits_ever(std::span<const pod_pointer> members, const cluster_room& room,
                     const facts& known, const fit_options& options) {
    return fit_on(members, room, known, options, ground_of_plan::emptied);
}

gang_shape shape_of(std::span<const pod_pointer> members, const cluster_room& room,
                    const fit_options& options) {
    gang_shape out;
    const auto classes = classes_of(members, room, {});
    std::vector<std::string> parts;
    for (const auto& each : classes) {
        parts.push_back(fmt::format("{}x{}:{}", each.count(), each.text.size(), each.text));
        out.depends_on_facts = out.depends_on_facts || !each.near.empty();
    }
    for (const auto& pod : members) {
        out.depends_on_facts = out.depends_on_facts || !pod->claims.empty();
    }
    std::ranges::sort(parts);
    out.text =
        fmt::format("{}{}", options.best_effort ? "best effort " : "", fmt::join(parts, "\n"));
    for (const auto& name : options.without) out.text += "\nwithout " + name;
    return out;
}

}  // namespace esi::testbed::gangs
