#include "testbed/original/node_setup.h"

#include <algorithm>
#include <array>

#include "model/names.h"
#include "testbed/room/room.h"

namespace esi::testbed {

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

node_choice choose_nodes(const model::testbed& testbed, const std::vector<node_view>& nodes,
                         int count) {
    auto needed = slot_amounts(testbed.spec.resources_per_slot);
    const int slots = std::max(testbed.spec.slots_per_node, 0);
    for (auto& [name, amount] : needed) amount = model::times(amount, slots);
    std::vector<candidate> fitting;
    for (const auto& seen : nodes) {
        const auto& node = *seen.node;
        if (node.unschedulable || !node.ready || node.metadata.deleting() || keeps_pods_out(node)) {
            continue;
        }
        std::vector<pod_pointer> others;
        for (const auto& pod : seen.pods) {
            if (!is_own_ghost(*pod, testbed)) others.push_back(pod);
        }
        const auto left = left_after(node, others);
        if (missing_resource(left, needed)) continue;
        fitting.push_back({seen.node, std::max(share(left, node.allocatable, "cpu"),
                                               share(left, node.allocatable, "memory"))});
    }
    std::sort(fitting.begin(), fitting.end(), [](const auto& a, const auto& b) {
        return std::tie(a.requested, a.node->metadata.name) <
               std::tie(b.requested, b.node->metadata.name);
    });
    node_choice out;
    out.fitting = static_cast<int>(fitting.size());
    if (count < 1 || out.fitting < count) return out;
    fitting.resize(static_cast<std::size_t>(count));
    for (const auto& chosen : fitting) out.names.push_back(chosen.node->metadata.name);
    // Labels go before others come: no number is there twice in between, but where nodes swap
    // theirs.
    for (const auto& seen : nodes) {
        const auto& meta = seen.node->metadata;
        if (!meta.labels.contains(testbed.spec.node_label)) continue;
        if (std::find(out.names.begin(), out.names.end(), meta.name) != out.names.end()) continue;
        out.changes.push_back({seen.node, std::nullopt});
    }
    int next = 0;
    for (const auto& chosen : fitting) {
        const auto id = std::to_string(next++);
        if (chosen.node->metadata.label(testbed.spec.node_label) == id) continue;
        out.changes.push_back({chosen.node, id});
    }
    return out;
}

}  // namespace esi::testbed
