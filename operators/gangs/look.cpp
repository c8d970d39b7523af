#include "gangs/look.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "gangs/plan_mark.h"
#include "kube/patch.h"
#include "model/names.h"
#include "placement/admission.h"
#include "placement/door.h"

namespace esi::gangs {

namespace names = model::names;

namespace {

/// Why this member may not be let in; empty: it may.
std::string judge_member(const place& planned, const look_and_let_in& what, const live_view& live) {
    const auto found = live.members.find(planned.pod->metadata.uid);
    if (found == live.members.end() || !found->second) {
        return fmt::format("pod {} is gone", planned.pod->metadata.name);
    }
    const auto& pod = *found->second;
    const auto& name = pod.metadata.name;
    if (stage_of(pod) != stage::reserved) {
        if (pod.nominated_node_name.empty() && stage_of(pod) == stage::gated) {
            return fmt::format("the nomination of pod {} was taken off", name);
        }
        return fmt::format("pod {} does not wait at its gate any more", name);
    }
    if (group_of(pod) != what.of) return fmt::format("pod {} has left the group", name);
    if (mark_of(pod) != what.mark) {
        return fmt::format("pod {} was given a place by another process of esi-testbed", name);
    }
    if (pod.nominated_node_name != planned.node) {
        return fmt::format("pod {} is nominated to node {} instead of {}", name,
                           pod.nominated_node_name, planned.node);
    }
    if (const auto node = live.nodes.find(planned.node); node != live.nodes.end() && node->second) {
        if (const auto why = placement::admission_refusal(pod, *node->second)) {
            return fmt::format("node {} does not take pod {}: {}", planned.node, name, *why);
        }
    }
    return "";
}

std::string names_of(const std::vector<const place*>& planned) {
    std::vector<std::string_view> out;
    for (const auto* each : planned) {
        if (out.size() == 3) {
            return fmt::format("{} and {} more", fmt::join(out, ", "), planned.size() - 3);
        }
        out.push_back(each->pod->metadata.name);
    }
    return fmt::format("{}", fmt::join(out, ", "));
}

/// All that takes room of the node except these members: bound pods and promises to others.
/// `promised`: as it is now.
demand taken_on(const std::string& name, const std::vector<const place*>& planned,
                const live_view& live, const promises_by_node& promised) {
    demand out;
    std::set<std::string_view> counted;
    for (const auto* each : planned) counted.insert(each->pod->metadata.uid);
    for (const auto& pod : live.on_nodes.at(name)) {
        if (!pod->live() || !counted.insert(pod->metadata.uid).second) continue;
        out.count(*pod, 1);
    }
    for (const auto* all : {&promised, &live.promised}) {
        const auto there = all->find(name);
        if (there == all->end()) continue;
        for (const auto& [uid, pod] : there->second) {
            if (counted.insert(pod->metadata.uid).second) out.count(*pod, 1);
        }
    }
    return out;
}

std::string judge_node(const std::string& name, const std::vector<const place*>& planned,
                       const live_view& live, const promises_by_node& promised,
                       const cluster_room& room) {
    const auto node = live.nodes.find(name);
    if (node == live.nodes.end() || !node->second) return fmt::format("node {} is gone", name);
    if (!node->second->ready) return fmt::format("node {} is not ready", name);
    if (node->second->unschedulable) return fmt::format("node {} is cordoned", name);
    if (!live.on_nodes.contains(name)) return fmt::format("node {} was not looked at", name);
    const auto taken = taken_on(name, planned, live, promised);
    demand wanted;
    for (const auto* each : planned) wanted.count(*each->pod, 1);
    const auto* entry = room.find(name);
    for (const auto& [resource, amount] : wanted.amounts) {
        const auto there = node->second->allocatable.find(resource);
        wide left = there == node->second->allocatable.end() ? 0 : there->second;
        if (const auto used = taken.amounts.find(resource); used != taken.amounts.end()) {
            left -= used->second;
        }
        if (entry) {
            const auto& slots = entry->slots.waiting;
            if (const auto its = slots.find(resource); its != slots.end()) left -= its->second;
        }
        if (amount <= left) continue;
        const auto text = [&](wide value) {
            return model::show(resource, static_cast<std::int64_t>(std::max<wide>(value, 0)));
        };
        // A reader who may not list nodes learns the amount, and not the node.
        return fmt::format("the node of {} has {} {} left, and {} is needed", names_of(planned),
                           text(left), resource, text(amount));
    }
    for (const auto& [port, times] : wanted.ports) {
        if (times < 2 && !taken.ports.contains(port)) continue;
        return fmt::format("port {} of node {} is taken", port.port, name);
    }
    return "";
}

}  // namespace

promises_by_node promised_on(const cluster_room& room, const shown_plans& shown,
                             const std::set<std::string>& nodes,
                             const std::set<std::string>& ahead) {
    promises_by_node out;
    for (const auto& node : nodes) {
        auto& there = out[node];
        // A place that is only reserved is not shown: a member of `ahead` here has a firm plan
        // elsewhere.
        if (const auto* members = shown.on(node)) {
            there.insert(members->begin(), members->end());
        }
    }
    for (const auto& [uid, promise] : room.promises()) {
        const auto there = out.find(promise.node);
        if (there != out.end() && !ahead.contains(uid)) there->second.emplace(uid, promise.pod);
    }
    return out;
}

std::string judge_look(const look_and_let_in& what, const live_view& live, const cluster_room& room,
                       const shown_plans& shown) {
    std::map<std::string, std::vector<const place*>> by_node;
    std::set<std::string> nodes;
    for (const auto& each : what.places) {
        if (auto why = judge_member(each, what, live); !why.empty()) return why;
        by_node[each.node].push_back(&each);
        nodes.insert(each.node);
    }
    const auto promised = promised_on(room, shown, nodes, what.ahead);
    for (const auto& [node, planned] : by_node) {
        if (auto why = judge_node(node, planned, live, promised, room); !why.empty()) return why;
    }
    return "";
}

nlohmann::json gang_let_in_patch(const model::pod& pod, const std::string& node) {
    auto gates = nlohmann::json::array();
    for (const auto& gate : pod.scheduling_gates) {
        if (gate != names::gang) gates.push_back({{"name", gate}});
    }
    return kube::guarded(
        {{"metadata", {{"annotations", {{names::gang_node, node}}}}},
         {"spec",
          {{"affinity", placement::pinned_affinity(pod.affinity, node)},
           {"schedulingGates", gates.empty() ? nlohmann::json(nullptr) : std::move(gates)}}}},
        pod.metadata.uid, pod.metadata.resource_version);
}

}  // namespace esi::gangs
