#include "testbed/caches/caches.h"

#include <algorithm>
#include <ranges>

#include "base/contains.h"
#include "kube/resource.h"
#include "model/json.h"
#include "model/kept.h"
#include "model/names.h"
#include "placement/cluster_room.h"
#include "testbed/room/layout.h"

namespace esi::testbed {

namespace types = kube::types;
namespace names = model::names;

namespace {

using values = std::vector<std::string>;

kube::watch_scope within(const std::vector<std::string>& namespaces) {
    kube::watch_scope out;
    out.namespaces = namespaces;
    return out;
}

/// The Testbeds whose slots a job orders, and those in which it has pods.
std::vector<std::string> testbeds_of(const model::batchjob& job) {
    std::set<std::string> out;
    for (const auto& key : {testbed_of(job), grid::placed_in(job)}) {
        if (!key.name.empty()) out.insert(key.text());
    }
    return {out.begin(), out.end()};
}

values one(std::string value) { return value.empty() ? values() : values{std::move(value)}; }

/// True: the pod has a Testbed's labels and is no ghost.
bool is_guest(const model::pod& pod) { return !pod.is_ghost() && !testbed_key_of(pod).empty(); }

values positions_in(const model::object_key& testbed, const std::vector<int>& positions) {
    values out;
    for (const int position : positions) {
        out.push_back(in_testbed(testbed, "#", std::to_string(position)));
    }
    return out;
}

std::vector<int> recorded_slots(const model::batchjob& job) {
    std::vector<int> out;
    for (const auto& entry : job.status.placements) out.push_back(entry.slot);
    return out;
}

void add_indexes(kube::store<model::node>& nodes) {
    nodes.add_index("number", [](const model::node& node) {
        values out;
        for (const auto& [label, value] : node.metadata.labels) {
            if (auto id = parse_node_id(value)) out.push_back(numbered(label, *id));
        }
        return out;
    });
    nodes.add_index("taint", [](const model::node& node) {
        values out;
        for (const auto& taint : node.taints) {
            if (taint.key == names::taint) out.push_back(taint.value);
        }
        return out;
    });
}

void add_indexes(kube::store<model::pod>& pods) {
    pods.add_index("node", [](const model::pod& pod) { return one(pod.node_name); });
    pods.add_index("door", [](const model::pod& pod) { return one(std::string(door_of(pod))); });
    pods.add_index("ghosts", [](const model::pod& pod) {
        return pod.is_ghost() ? one(testbed_key_of(pod)) : values();
    });
    pods.add_index("guests", [](const model::pod& pod) {
        return is_guest(pod) ? one(testbed_key_of(pod)) : values();
    });
    pods.add_index("home", [](const model::pod& pod) {
        if (testbed_key_of(pod).empty()) return values();
        return values{in_testbed(pod.testbed(), "@", home_of(pod))};
    });
    pods.add_index("uid", [](const model::pod& pod) {
        return is_guest(pod) ? one(pod.metadata.uid) : values();
    });
    pods.add_index("run", [](const model::pod& pod) {
        return is_guest(pod) ? one(std::string(pod.run())) : values();
    });
    pods.add_index("job", [](const model::pod& pod) {
        if (!is_guest(pod)) return values();
        return values{pod.metadata.namespace_ + "/" + std::string(pod.metadata.label(names::job))};
    });
}

void add_indexes(kube::store<model::batchjob>& jobs) {
    jobs.add_index("testbed", testbeds_of);
    jobs.add_index("ordered", [](const model::batchjob& job) {
        const auto& order = job.spec.creation_request;
        return order ? positions_in(testbed_of(job), order->slot_ids) : values();
    });
    jobs.add_index("recorded", [](const model::batchjob& job) {
        return positions_in(grid::placed_in(job), recorded_slots(job));
    });
    jobs.add_index("uid", [](const model::batchjob& job) {
        values out;
        for (const auto& entry : job.status.placements) out.push_back(entry.pod_uid);
        return out;
    });
    jobs.add_index("run", [](const model::batchjob& job) {
        const auto& order = job.spec.creation_request;
        return order ? one(order->run) : values();
    });
}

bool names_a_group(const model::pod& pod) {
    const auto& labels = pod.metadata.labels;
    return labels.contains(names::pod_group) || labels.contains(names::tenstack_group) ||
           pod.metadata.annotations.contains(names::group_name) ||
           contains(pod.scheduling_gates, names::gang);
}

void keep_for_gangs(model::pod& from, model::pod& kept) {
    kept.host_ports = std::move(from.host_ports);
    kept.anti_affinity = std::move(from.anti_affinity);
    if (!kept.bound() && from.scheduling_gates.empty()) {
        kept.nominated_node_name = std::move(from.nominated_node_name);
    }
    // Such a pod comes back on its node after any deletion.
    if (placement::comes_back(from)) {
        const auto& owner = *from.metadata.controller_owner();
        kept.metadata.owner_references = {{"", owner.kind, "", "", true}};
    }
}

}  // namespace

std::string numbered(std::string_view label, std::int64_t id) {
    return std::string(label) + "=" + std::to_string(id);
}

std::string in_testbed(const model::object_key& testbed, std::string_view kind,
                       std::string_view what) {
    auto out = testbed.text();
    out += kind;
    out += what;
    return out;
}

caches::caches(kube::client& api, clock& time, const std::vector<std::string>& namespaces,
               bool gangs)
    : testbeds_(api, time, types::testbed, within(namespaces)),
      jobs_(api, time, types::batchjob, within(namespaces)),
      schedulings_(api, time, types::scheduling, within(namespaces)),
      nodes_(api, time, types::node),
      pods_(api, time, types::pod),
      slices_(api, time, types::slot_slice, within(namespaces)),
      time_(time),
      all_namespaces_(namespaces.empty()) {
    add_indexes(nodes_.items());
    add_indexes(pods_.items());
    add_indexes(jobs_.items());
    jobs_.set_transform([](model::batchjob& job) { model::keep_rights(job); });
    schedulings_.set_transform([](model::scheduling& of) { model::keep_rights(of); });
    slices_.items().add_index(
        "testbed", [](const model::slot_slice& slice) { return values{slice.testbed().text()}; });
    pods_.set_transform([gangs](model::pod& pod) { trim(pod, gangs); });
    listen();
}

void caches::trim(model::pod& pod, bool gangs) {
    if (gangs && names_a_group(pod)) return;
    // A pod with a label of ESI is a ghost or a job pod, or claims to be. By its name it may be a
    // ghost whose labels were removed (is_damaged_ghost).
    const auto is_esi = [](const auto& label) { return label.first.starts_with(names::prefix); };
    if (std::ranges::any_of(pod.metadata.labels, is_esi) ||
        pod.metadata.name.find(grid::ghost_infix) != std::string::npos) {
        // Pods of gangs may have affinity terms for its other labels.
        if (!gangs) std::erase_if(pod.metadata.labels, std::not_fn(is_esi));
        return;
    }
    model::pod kept;
    kept.metadata.namespace_ = std::move(pod.metadata.namespace_);
    kept.metadata.name = std::move(pod.metadata.name);
    kept.metadata.uid = std::move(pod.metadata.uid);
    kept.metadata.deletion_timestamp = pod.metadata.deletion_timestamp;
    kept.node_name = std::move(pod.node_name);
    kept.phase = std::move(pod.phase);
    kept.scheduler_name = std::move(pod.scheduler_name);
    kept.requests = std::move(pod.requests);
    if (gangs) keep_for_gangs(pod, kept);
    pod = std::move(kept);
}

std::vector<controller::operator_part::cache> caches::list() {
    using cache = controller::operator_part::cache;
    return {cache::of("testbeds", testbeds_),
            cache::of("batchjobs", jobs_),
            cache::of("schedulings", schedulings_),
            cache::of("nodes", nodes_),
            cache::of("pods", pods_),
            cache::if_served("testbedslotslices", slices_, time_)};
}

std::vector<grid::slice_pointer> caches::slices_of(const model::object_key& testbed) const {
    return slices().by_index("testbed", testbed.text());
}

void caches::feed(controller::write_gate& gate) {
    gate.watch_kind(std::string(types::slot_slice.kind),
                    [this](std::string_view ns) { return slices_.items().version(ns); });
    gate.watch_kind("Pod", [this](std::string_view ns) { return pods_.items().version(ns); });
    gate.watch_kind("Node", [this](std::string_view ns) { return nodes_.items().version(ns); });
    gate.watch_kind("Testbed",
                    [this](std::string_view ns) { return testbeds_.items().version(ns); });
}

bool caches::synced() const {
    return testbeds_.synced() && jobs_.synced() && nodes_.synced() && pods_.synced();
}

std::string caches::hold_of(const model::object_key& testbed) const {
    const auto found = find_testbed(testbed);
    return found ? std::string(found->hold()) : std::string();
}

std::optional<seat> caches::seat_of(const model::object_key& testbed, std::string_view run,
                                    std::string_view pod_uid) const {
    const auto found = find_testbed(testbed);
    const auto index = roster_.index_of(testbed);
    if (!found || !index) return std::nullopt;
    std::optional<int> position;
    for (const auto& job : jobs().by_index("run", run)) {
        // A job without an order: its placements count until its last pod has gone.
        const auto of = testbeds_of(*job);
        if (std::ranges::find(of, testbed.text()) == of.end()) continue;
        for (const auto& placement : job->status.placements) {
            if (placement.pod_uid == pod_uid) position = placement.slot;
        }
    }
    const auto place = position ? index->places->at(*position) : std::nullopt;
    if (!place) return std::nullopt;
    seat out{place->node, {}};
    pods().each_by_index("node", place->node, [&](const pod_pointer& pod) {
        if (is_own_ghost(*pod, *found) && grid::slot_index_of_ghost(*pod) == place->index) {
            out.ghost = pod->metadata.uid;
        }
    });
    return out;
}

std::vector<node_view> caches::with_pods(std::vector<model::node> nodes) const {
    std::vector<node_view> out;
    for (auto& node : nodes) {
        auto on_it = pods().by_index("node", node.metadata.name);
        out.push_back({std::make_shared<const model::node>(std::move(node)), std::move(on_it)});
    }
    return out;
}

}  // namespace esi::testbed
