// Builders of nodes, pods and ledgers for this folder's tests and benchmarks.
#pragma once

#include <fmt/format.h>

#include "model/names.h"
#include "placement/fit.h"

namespace esi::placement::tests {

/// "cpu=2 memory=4Gi"
inline model::amounts amounts_of(std::string_view text) {
    model::amounts out;
    while (!text.empty()) {
        const auto part = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const auto equals = part.find('=');
        out[std::string(part.substr(0, equals))] =
            model::quantity::parse(part.substr(equals + 1)).value().milli;
    }
    return out;
}

inline model::node make_node(const std::string& name, std::string_view has,
                             const std::string& zone = {}) {
    model::node out;
    out.metadata.name = name;
    out.metadata.uid = "uid-" + name;
    out.metadata.labels["kubernetes.io/hostname"] = name;
    if (!zone.empty()) out.metadata.labels["zone"] = zone;
    out.allocatable = {{"pods", 110'000}};
    for (const auto& [resource, amount] : amounts_of(has)) out.allocatable[resource] = amount;
    out.ready = true;
    return out;
}

inline model::pod make_pod(const std::string& name, std::string_view requests,
                           const std::string& node = {}) {
    model::pod out;
    out.metadata.name = name;
    out.metadata.namespace_ = "lab";
    out.metadata.uid = "uid-" + name;
    out.requests = amounts_of(requests);
    out.node_name = node;
    out.phase = node.empty() ? "Pending" : "Running";
    if (node.empty()) out.scheduling_gates = {std::string(model::names::gang)};
    return out;
}

inline pod_pointer shared(model::pod pod) {
    return std::make_shared<const model::pod>(std::move(pod));
}
inline node_pointer shared(model::node node) {
    return std::make_shared<const model::node>(std::move(node));
}

/// A ledger with nodes and pods, and the facts about pods elsewhere.
struct cluster {
    cluster_room room;
    facts known;
    namespace_labels namespaces{{"lab", {{"team", "a"}}}};

    cluster() { known.namespaces = &namespaces; }
    cluster(const cluster&) = delete;
    cluster& operator=(const cluster&) = delete;

    void add(model::node node) {
        auto name = node.metadata.name;
        room.node_changed(name, shared(std::move(node)));
    }
    void add(model::pod pod) {
        auto of = shared(std::move(pod));
        room.pod_changed(nullptr, of);
        if (of->bound()) known.pods[of->metadata.namespace_].push_back(of);
    }
    /// All pods of "lab" are known, also if there are none.
    fit_result fit(const std::vector<pod_pointer>& members, const fit_options& options = {}) {
        known.pods["lab"];
        return placement::fit(members, room, known, options);
    }
};

/// `count` members that are alike: "w-0", "w-1".
inline std::vector<pod_pointer> alike(const std::string& name, int count, std::string_view requests,
                                      const model::pod& like = {}) {
    std::vector<pod_pointer> out;
    for (int i = 0; i < count; ++i) {
        auto one = make_pod(fmt::format("{}-{}", name, i), requests);
        one.metadata.labels = like.metadata.labels;
        one.affinity = like.affinity;
        one.topology_spread = like.topology_spread;
        one.tolerations = like.tolerations;
        one.node_selector = like.node_selector;
        one.host_ports = like.host_ports;
        one.claims = like.claims;
        one.unplanned = like.unplanned;
        out.push_back(shared(std::move(one)));
    }
    return out;
}

inline std::vector<pod_pointer> together(std::vector<pod_pointer> a,
                                         const std::vector<pod_pointer>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// The names of the nodes, or why there are none.
inline std::string show(const fit_result& result) {
    if (const auto* where = std::get_if<chosen_nodes>(&result)) {
        return fmt::format("{}", fmt::join(where->nodes, " "));
    }
    return std::get<no_fit>(result).message;
}

}  // namespace esi::placement::tests
