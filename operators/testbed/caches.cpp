#include "testbed/caches.h"

#include <algorithm>
#include <ranges>

#include "kube/resource.h"
#include "model/application_specs.h"
#include "model/json.h"
#include "model/names.h"
#include "testbed/layout.h"

namespace esi::testbed {

namespace types = kube::types;

namespace {

kube::watch_scope within(const std::vector<std::string>& namespaces) {
    kube::watch_scope out;
    out.namespaces = namespaces;
    return out;
}

/// A label of a node whose value is a number, as an index files it. "01" is 1.
std::string numbered(std::string_view label, std::int64_t id) {
    return std::string(label) + "=" + std::to_string(id);
}

/// The Testbeds that a job orders slots of, and has pods in.
std::vector<std::string> testbeds_of(const model::batchjob& job) {
    std::set<std::string> out;
    for (const auto& key : {testbed_of(job), grid::placed_in(job)}) {
        if (!key.name.empty()) out.insert(key.text());
    }
    return {out.begin(), out.end()};
}

/// What a Testbed's slots depend on; a node's heartbeat changes none of it.
bool same_for_slots(const model::node& a, const model::node& b) {
    return a.metadata.uid == b.metadata.uid && a.metadata.labels == b.metadata.labels &&
           a.metadata.deleting() == b.metadata.deleting() && a.allocatable == b.allocatable &&
           a.taints == b.taints && a.unschedulable == b.unschedulable && a.ready == b.ready;
}

/// The node that a ghost waits for; empty for every other pod.
std::string door_of(const model::pod& pod) {
    if (!pod.is_ghost() || pod.bound() || !pod.live()) return {};
    return std::string(pod.metadata.annotation(model::names::node));
}

/// What a pod of others changes for the room on its node.
bool same_for_room(const model::pod& a, const model::pod& b) {
    return a.node_name == b.node_name && a.live() == b.live() && a.requests == b.requests;
}

bool same_for_slots(const model::batchjob& a, const model::batchjob& b) {
    return a.metadata.uid == b.metadata.uid && a.spec.creation_request == b.spec.creation_request &&
           a.status.placements == b.status.placements && a.status.state == b.status.state &&
           a.metadata.deleting() == b.metadata.deleting();
}

}  // namespace

caches_of_testbeds::caches_of_testbeds(kube::client& api, clock& time,
                                       const std::vector<std::string>& namespaces)
    : testbeds_(api, time, types::testbed, within(namespaces)),
      jobs_(api, time, types::batchjob, within(namespaces)),
      schedulings_(api, time, types::scheduling, within(namespaces)),
      nodes_(api, time, types::node),
      pods_(api, time, types::pod),
      all_namespaces_(namespaces.empty()) {
    nodes_.items().add_index("number", [](const model::node& node) {
        std::vector<std::string> out;
        for (const auto& [label, value] : node.metadata.labels) {
            if (auto id = parse_node_id(value)) out.push_back(numbered(label, *id));
        }
        return out;
    });
    pods_.items().add_index("node", [](const model::pod& pod) {
        return pod.bound() ? std::vector<std::string>{pod.node_name} : std::vector<std::string>{};
    });
    pods_.items().add_index("door", [](const model::pod& pod) {
        const auto node = door_of(pod);
        return node.empty() ? std::vector<std::string>{} : std::vector<std::string>{node};
    });
    pods_.items().add_index("testbed", [](const model::pod& pod) {
        auto key = testbed_key_of(pod);
        return key.empty() ? std::vector<std::string>{} : std::vector<std::string>{std::move(key)};
    });
    jobs_.items().add_index("testbed", testbeds_of);
    jobs_.set_transform(model::drop_application_specs);
}

std::vector<controller::operator_part::cache> caches_of_testbeds::list() {
    using cache = controller::operator_part::cache;
    return {cache::of("testbeds", testbeds_), cache::of("batchjobs", jobs_),
            cache::of("schedulings", schedulings_), cache::of("nodes", nodes_),
            cache::of("pods", pods_)};
}

void caches_of_testbeds::concern_all() {
    for (const auto& testbed : testbeds()) enqueue_(testbed->metadata.key());
}

bool caches_of_testbeds::is_labelled(const model::node& node) const {
    const auto all = testbeds();
    return std::any_of(all.begin(), all.end(), [&](const auto& testbed) {
        return node.metadata.labels.contains(testbed->spec.node_label);
    });
}

void caches_of_testbeds::concern_node(const model::node& node) {
    for (const auto& testbed : testbeds()) {
        bool concerns = node.metadata.labels.contains(testbed->spec.node_label);
        for (const auto& taint : node.taints) concerns |= taint.value == testbed->metadata.uid;
        if (!concerns && testbed->status.layout) {
            const auto& members = testbed->status.layout->nodes;
            concerns = std::any_of(members.begin(), members.end(), [&](const auto& member) {
                return member.name == node.metadata.name;
            });
        }
        if (concerns) enqueue_(testbed->metadata.key());
    }
}

void caches_of_testbeds::on_change(std::function<void(const model::object_key&)> enqueue) {
    enqueue_ = std::move(enqueue);
    testbeds_.items().on_change([this](const kube::change<model::testbed>& what) {
        const auto& some = what.after ? *what.after : *what.before;
        enqueue_(some.metadata.key());
        // Testbeds on common nodes count each other's demand, and one takes over from another that
        // goes when that is let go.
        const bool same = what.before && what.after &&
                          what.before->metadata.generation == what.after->metadata.generation &&
                          what.before->metadata.uid == what.after->metadata.uid &&
                          what.before->metadata.deleting() == what.after->metadata.deleting() &&
                          what.before->hold() == what.after->hold() &&
                          what.before->status.layout == what.after->status.layout;
        if (!same) concern_all();
    });
    nodes_.items().on_change([this](const kube::change<model::node>& what) {
        if (what.before && what.after && same_for_slots(*what.before, *what.after)) return;
        // A number that is there twice or no longer decides what an elder needs on another node.
        const bool same_labels = what.before && what.after &&
                                 what.before->metadata.labels == what.after->metadata.labels;
        for (const auto& side : {what.before, what.after}) {
            if (!side) continue;
            if (same_labels || !is_labelled(*side)) {
                concern_node(*side);
            } else {
                concern_all();
            }
        }
    });
    pods_.items().on_change([this](const kube::change<model::pod>& what) {
        for (const auto& side : {what.before, what.after}) {
            if (!side) continue;
            if (auto key = testbed_key_of(*side); !key.empty()) {
                enqueue_(model::object_key::from_text(key));
            }
        }
        if (what.before && what.after && same_for_room(*what.before, *what.after)) return;
        for (const auto& side : {what.before, what.after}) {
            if (!side) continue;
            const auto name = side->bound() ? side->node_name : door_of(*side);
            if (name.empty()) continue;
            if (auto node = nodes_.items().find({"", name})) concern_node(*node);
        }
    });
    jobs_.items().on_change([this](const kube::change<model::batchjob>& what) {
        if (what.before && what.after && same_for_slots(*what.before, *what.after)) return;
        for (const auto& side : {what.before, what.after}) {
            if (!side) continue;
            for (const auto& key : testbeds_of(*side)) {
                enqueue_(model::object_key::from_text(key));
            }
        }
    });
    schedulings_.items().on_change([this](const kube::change<model::scheduling>& what) {
        if (what.before && what.after && what.before->metadata.uid == what.after->metadata.uid &&
            what.before->status.assignments == what.after->status.assignments) {
            return;
        }
        const auto key = (what.after ? what.after : what.before)->metadata.key();
        for (const auto& testbed : testbeds()) {
            if (testbed->holder() == key) enqueue_(testbed->metadata.key());
        }
    });
}

void caches_of_testbeds::on_pod_change(
    std::function<void(const kube::change<model::pod>&)> listener) {
    pods_.items().on_change(std::move(listener));
}

void caches_of_testbeds::feed(controller::write_gate& gate) {
    gate.watch_kind("Pod", [this](std::string_view ns) { return pods_.items().version(ns); });
    gate.watch_kind("Node", [this](std::string_view ns) { return nodes_.items().version(ns); });
    gate.watch_kind("Testbed",
                    [this](std::string_view ns) { return testbeds_.items().version(ns); });
}

testbed_pointer caches_of_testbeds::find_testbed(const model::object_key& key) const {
    return testbeds_.items().find(key);
}

std::vector<testbed_pointer> caches_of_testbeds::testbeds() const {
    const auto all = testbeds_.items().all() | std::views::values;
    return {all.begin(), all.end()};
}

std::vector<job_pointer> caches_of_testbeds::jobs() const {
    const auto all = jobs_.items().all() | std::views::values;
    return {all.begin(), all.end()};
}

view caches_of_testbeds::observe(testbed_pointer testbed) const {
    view out;
    out.all_namespaces = all_namespaces_;
    const auto key = testbed->metadata.key().text();
    std::set<std::string_view> members;
    if (testbed->status.layout) {
        for (const auto& member : testbed->status.layout->nodes) {
            members.insert(member.name);
            out.nodes.try_emplace(member.name);
        }
    }
    for (auto& other : testbeds()) {
        if (other->metadata.uid != testbed->metadata.uid) out.others.push_back(std::move(other));
    }
    for (const auto& [node_key, node] : nodes_.items().all()) {
        bool concerns = members.contains(node_key.name) ||
                        node->metadata.labels.contains(testbed->spec.node_label);
        for (const auto& taint : node->taints) {
            concerns |= taint.key == model::names::taint && taint.value == testbed->metadata.uid;
        }
        if (!concerns) continue;
        auto& entry = out.nodes[node_key.name];
        entry.node = node;
        entry.pods = pods_.items().by_index("node", node_key.name);
        entry.ghosts_at_the_door = pods_.items().by_index("door", node_key.name);
        for (const auto& other : out.others) {
            auto label = node->metadata.labels.find(other->spec.node_label);
            if (label == node->metadata.labels.end()) continue;
            const auto id = parse_node_id(label->second);
            if (id && nodes_.items().by_index("number", numbered(label->first, *id)).size() > 1) {
                entry.doubled.insert(label->first);
            }
        }
    }
    out.pods = pods_.items().by_index("testbed", key);
    out.jobs = jobs_.items().by_index("testbed", key);
    if (auto holder = schedulings_.items().find(testbed->holder());
        holder && holder->metadata.uid == grid::scheduling_uid_of_hold(testbed->hold())) {
        out.holder = std::move(holder);
    }
    out.testbed = std::move(testbed);
    return out;
}

bool caches_of_testbeds::synced() const {
    return testbeds_.synced() && jobs_.synced() && nodes_.synced() && pods_.synced();
}

std::string caches_of_testbeds::hold_of(const model::object_key& testbed) const {
    const auto found = find_testbed(testbed);
    return found ? std::string(found->hold()) : std::string();
}

std::optional<seat> caches_of_testbeds::seat_of(const model::object_key& testbed,
                                                std::string_view run,
                                                std::string_view pod_uid) const {
    const auto found = find_testbed(testbed);
    if (!found || !found->status.layout) return std::nullopt;
    std::optional<int> position;
    for (const auto& job : jobs_.items().by_index("testbed", testbed.text())) {
        // Without an order: its placements stand until its last pod has gone.
        const auto& order = job->spec.creation_request;
        if (!order || order->run != run) continue;
        for (const auto& placement : job->status.placements) {
            if (placement.pod_uid == pod_uid) position = placement.slot;
        }
    }
    const auto slots = grid::slots_of(*found->status.layout);
    if (!position || *position < 0 || *position >= std::ssize(slots)) return std::nullopt;
    const auto& place = slots[static_cast<std::size_t>(*position)];
    seat out{place.node, {}};
    for (const auto& pod : pods_.items().by_index("node", place.node)) {
        if (is_own_ghost(*pod, *found) && grid::slot_index_of_ghost(*pod) == place.index) {
            out.ghost = pod->metadata.uid;
        }
    }
    return out;
}

std::vector<node_view> caches_of_testbeds::with_pods(std::vector<model::node> nodes) const {
    std::vector<node_view> out;
    for (auto& node : nodes) {
        auto pods = pods_.items().by_index("node", node.metadata.name);
        out.push_back({std::make_shared<const model::node>(std::move(node)), std::move(pods)});
    }
    return out;
}

}  // namespace esi::testbed
