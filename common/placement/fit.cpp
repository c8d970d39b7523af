#include "placement/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/names.h"
#include "placement/fit_text.h"

namespace esi::placement {

using namespace planning;

namespace {

/// How many domains are tried as the one where the gang begins.
constexpr std::size_t most_anchors = 16;
/// No search for a larger gang: it would hardly turn back where it has to.
constexpr int most_searched = 500;
/// After this much work (board::work) no other way is tried.
constexpr std::int64_t most_work = 10'000'000;

no_fit too_much(int count, std::string why) {
    return {no_fit_reason::constraint_not_planned, count, 0, std::move(why)};
}

std::optional<no_fit> refused_before(std::span<const pod_pointer> members,
                                     const rules_of_members& rules, const facts& known,
                                     const fit_options& options) {
    const auto count = static_cast<int>(members.size());
    auto asked = bounded_needs_of(members, rules, known.namespaces);
    if (!asked.too_much.empty()) return too_much(count, std::move(asked.too_much));
    const auto& wanted = asked.what;
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

/// The terms of the members would be held against too many pods.
std::string too_many_pods(const std::vector<member_class>& classes, const cluster_room& room,
                          const facts& known) {
    std::int64_t weight = 0;
    for (const auto& each : classes) weight += weight_of(each.near);
    auto pods = std::ssize(room.promises());
    for (const auto& [name, list] : known.pods) pods += std::ssize(list);
    if (weight * pods <= most_pod_comparisons) return {};
    return fmt::format(
        "the required pod affinity and topology spread of the members has {} conditions, and there "
        "are {} pods: a gang is planned where the product is {} at most",
        weight, pods, most_pod_comparisons);
}

chosen_nodes named(const board& on, const outcome& found) {
    chosen_nodes out;
    out.nodes.reserve(found.nodes.size());
    for (const int node : found.nodes) out.nodes.push_back(on.node(node).metadata.name);
    out.work = on.work();
    return out;
}

fit_result fit_on(std::span<const pod_pointer> members, const cluster_room& room,
                  const facts& known, const fit_options& options, ground_of_plan ground) {
    if (members.empty()) return chosen_nodes();
    const auto count = static_cast<int>(members.size());
    const auto rules = rules_of(members);
    if (auto refused = refused_before(members, rules, known, options)) return *refused;
    auto made = classes_of(members, rules, room, known);
    if (!made.too_much.empty()) return too_much(count, std::move(made.too_much));
    const auto& classes = made.list;
    if (auto why = too_many_pods(classes, room, known); !why.empty()) {
        return too_much(count, std::move(why));
    }
    board on(classes, room, known, options, ground);

    const auto anchors =
        on.order_matters() ? on.anchors(most_anchors) : std::vector<board::anchor>();
    const auto ways = passes_of(options.how, anchors);
    const bool hopeless = cannot_fit(on);
    outcome best;
    best.fitting = -1;
    for (const auto& way : ways) {
        auto found = run(on, way);
        if (found.fitting == count) return named(on, found);
        clear(on, found);
        if (found.fitting > best.fitting) best = std::move(found);
        if (hopeless || on.work() > most_work) break;
        // One class of members without rules between them: the first way is exact.
        if (on.plain() && classes.size() == 1) break;
    }
    const bool exact = hopeless || (on.plain() && classes.size() == 1);
    if (!exact && count <= most_searched && on.work() <= most_work) {
        if (const auto found = search(on, options.search_steps)) return named(on, *found);
    }
    const bool ended = on.work() > most_work_of_a_plan;
    set_again(on, best);
    auto why = describe_refusals(on, best, members, room.resources(), options);
    if (ended) {
        why.message += "; not all was tried, as the members are of too many kinds";
    }
    return no_fit{
        ground == ground_of_plan::free ? no_fit_reason::no_room : no_fit_reason::never_fits,
        count,
        best.fitting,
        std::move(why.message),
        std::move(why.most_left_on),
        on.work()};
}

}  // namespace

needs needs_of(std::span<const pod_pointer> members, const namespace_labels* known) {
    return bounded_needs_of(members, rules_of(members), known).what;
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
    const auto rules = rules_of(members);
    auto why = rules.too_much;
    auto made = why.empty() ? classes_of(members, rules, room, {}) : gang_classes();
    if (why.empty()) why = std::move(made.too_much);
    if (!why.empty()) {
        out.text = fmt::format("refused for {}: {}", members.front()->metadata.key().text(), why);
        return out;
    }
    const auto& classes = made.list;
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

}  // namespace esi::placement
