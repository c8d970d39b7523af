#include "grid/node_choice.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "grid/node_room.h"
#include "model/names.h"

namespace esi::grid {

namespace {

struct candidate {
    node_pointer node;
    /// The larger share of cpu and memory that is requested, in millionths.
    std::int64_t requested = 0;
};

std::int64_t share(const model::amounts& left, const model::amounts& of, std::string_view name) {
    auto all = of.find(name);
    if (all == of.end() || all->second <= 0) return 1'000'000;
    auto rest = left.find(name);
    const double free = rest == left.end() ? 0 : static_cast<double>(rest->second);
    // A pod may request any quantity.
    return static_cast<std::int64_t>(
        std::min(1e6 * (1.0 - free / static_cast<double>(all->second)), 1e15));
}

bool keeps_pods_out(const model::node& node) {
    return std::any_of(node.taints.begin(), node.taints.end(), [](const auto& taint) {
        return taint.effect != "PreferNoSchedule" && taint.key != model::names::taint;
    });
}

}  // namespace

bool is_kubernetes_own(std::string_view label) {
    const auto slash = label.find('/');
    if (slash == std::string_view::npos) return false;
    const auto domain = label.substr(0, slash);
    return std::ranges::any_of(std::array{"kubernetes.io", "k8s.io"}, [&](std::string_view own) {
        return domain == own ||
               (domain.ends_with(own) && domain[domain.size() - own.size() - 1] == '.');
    });
}

std::string nodes_of_claim(const model::testbed& testbed) {
    return "Testbed " + testbed.metadata.key().text() +
           " has a claim (spec.claim): ESI chooses its nodes, and no label is needed; "
           "constraints of its shapes say which nodes may be chosen";
}

node_choice give_nodes(const model::testbed& testbed, const std::vector<node_candidate>& nodes,
                       std::vector<std::string> names) {
    node_choice out;
    out.names = std::move(names);
    std::map<std::string_view, node_pointer> by_name;
    for (const auto& each : nodes) by_name.emplace(each.node->metadata.name, each.node);
    for (const auto& each : nodes) {
        const auto& meta = each.node->metadata;
        if (!meta.labels.contains(testbed.spec.node_label)) continue;
        if (std::ranges::find(out.names, meta.name) != out.names.end()) continue;
        out.changes.push_back({each.node, std::nullopt});
    }
    int next = 0;
    for (const auto& name : out.names) {
        const auto& node = by_name.at(name);
        const auto id = std::to_string(next++);
        if (node->metadata.label(testbed.spec.node_label) == id) continue;
        out.changes.push_back({node, id});
    }
    return out;
}

node_choice choose_nodes(const model::testbed& testbed, const std::vector<node_candidate>& nodes,
                         int count) {
    if (testbed.spec.claim) return {};
    auto needed = slot_amounts(testbed.spec.resources_per_slot);
    const int slots = std::max(testbed.spec.slots_per_node, 0);
    for (auto& [name, amount] : needed) amount = model::times(amount, slots);
    std::vector<candidate> fitting;
    for (const auto& [node, left] : nodes) {
        if (node->unschedulable || !node->ready || node->metadata.deleting() ||
            keeps_pods_out(*node)) {
            continue;
        }
        if (missing_resource(left, needed)) continue;
        fitting.push_back({node, std::max(share(left, node->allocatable, "cpu"),
                                          share(left, node->allocatable, "memory"))});
    }
    std::sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) {
        return std::tie(a.requested, a.node->metadata.name) <
               std::tie(b.requested, b.node->metadata.name);
    });
    const auto most = static_cast<int>(fitting.size());
    node_choice out;
    if (count >= 1 && most >= count) {
        fitting.resize(static_cast<std::size_t>(count));
        std::vector<std::string> names;
        for (const auto& chosen : fitting) names.push_back(chosen.node->metadata.name);
        out = give_nodes(testbed, nodes, std::move(names));
    }
    out.fitting = most;
    return out;
}

}  // namespace esi::grid
