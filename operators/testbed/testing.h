// Builders of views for this folder's table tests: small, literal, with the defaults of the
// evaluation set-up (slots of 600m and 1.75Gi, two on a node).
#pragma once

#include <fmt/format.h>

#include "model/names.h"
#include "testbed/decide.h"

namespace esi::testbed::tests {

namespace names = model::names;

inline model::resource_list resources(std::string cpu, std::string memory) {
    return {{"cpu", *model::quantity::parse(cpu)}, {"memory", *model::quantity::parse(memory)}};
}

inline wall_time at_second(int second) { return wall_time(seconds(1'800'000'000 + second)); }

struct world {
    model::testbed testbed;
    std::map<std::string, model::node> nodes;
    std::vector<model::pod> pods;
    std::vector<model::batchjob> jobs;
    std::vector<model::testbed> others;
    /// Slots that the holder has assigned to a job whose order has not been written yet.
    std::vector<int> assigned_ahead;
    /// Jobs whose order the holder has not given.
    std::set<std::string> unassigned;
    std::string ghost_image;
    hints known;
    steady_time now{seconds(1000)};
    wall_time wall = at_second(100);

    explicit world(std::vector<std::string> node_names = {"node-a", "node-b", "node-c"}) {
        testbed = make_testbed("tb", "tb-uid", 10);
        int id = 0;
        for (const auto& name : node_names) add_node(name, std::to_string(id++));
        testbed.status.layout = want_layout(see()).layout;
        testbed.status.layout->revision = 1;
    }

    static model::testbed make_testbed(std::string name, std::string uid, int born) {
        model::testbed out;
        out.metadata.name = std::move(name);
        out.metadata.namespace_ = "default";
        out.metadata.uid = std::move(uid);
        out.metadata.resource_version = "100";
        out.metadata.generation = 1;
        out.metadata.creation_timestamp = model::timestamp{at_second(born)};
        out.metadata.finalizers = {std::string(names::testbed_finalizer)};
        out.spec.slots_per_node = 2;
        out.spec.node_label = "tuberlin.de/slots";
        out.spec.resources_per_slot = resources("600m", "1.75Gi");
        out.spec.isolation = "None";
        return out;
    }

    model::node& add_node(const std::string& name, const std::string& id) {
        model::node node;
        node.metadata.name = name;
        node.metadata.uid = "uid-" + name;
        node.metadata.labels = {{"tuberlin.de/slots", id}};
        node.allocatable = model::to_amounts(resources("2", "8Gi"));
        node.allocatable["pods"] = 110'000;
        node.ready = true;
        return nodes[name] = node;
    }

    model::pod& ghost(const std::string& node, int index, bool bound = true) {
        model::pod pod;
        pod.metadata.name = grid::ghost_name("tb", "tb-uid", node, index);
        pod.metadata.namespace_ = "default";
        pod.metadata.uid = fmt::format("ghost-{}-{}", node, index);
        pod.metadata.resource_version = "7";
        pod.metadata.creation_timestamp = model::timestamp{at_second(50)};
        pod.metadata.labels = {{std::string(names::testbed), "tb"},
                               {std::string(names::testbed_namespace), "default"},
                               {std::string(names::ghost), "true"}};
        pod.metadata.annotations = {{std::string(names::node), node},
                                    {std::string(names::index), std::to_string(index)}};
        pod.metadata.owner_references = {
            {"esi.tu-berlin.de/v1alpha1", "Testbed", "tb", "tb-uid", true}};
        pod.requests = model::to_amounts(resources("600m", "1.75Gi"));
        pod.phase = bound ? "Running" : "Pending";
        if (bound) pod.node_name = node;
        return pods.emplace_back(std::move(pod));
    }

    void all_ghosts() {
        for (const auto& member : testbed.status.layout->nodes) {
            for (int index = 0; index < 2; ++index) ghost(member.name, index);
        }
    }

    /// A bound foreign pod.
    model::pod& stranger(const std::string& name, const std::string& node, const std::string& cpu,
                         const std::string& ns = "default") {
        model::pod pod;
        pod.metadata.name = name;
        pod.metadata.namespace_ = ns;
        pod.metadata.uid = "uid-" + name;
        pod.requests = model::to_amounts(resources(cpu, "1Mi"));
        pod.node_name = node;
        pod.phase = "Running";
        return pods.emplace_back(std::move(pod));
    }

    void hold(std::string token = "sched.100") {
        testbed.metadata.annotations[std::string(names::hold)] = std::move(token);
        testbed.metadata.labels[std::string(names::active_scheduling_name)] = "s";
        testbed.metadata.labels[std::string(names::active_scheduling_namespace)] = "default";
    }

    model::batchjob& job(const std::string& name, std::vector<int> slots,
                         std::string run = "sched.100.1") {
        model::batchjob made;
        made.metadata.name = name;
        made.metadata.namespace_ = "default";
        made.metadata.uid = "uid-" + name;
        made.status.state = "SubmittedState";
        model::creation_request order;
        order.testbed_name = {"default", "tb"};
        order.slot_ids = std::move(slots);
        order.run = std::move(run);
        made.spec.creation_request = order;
        auto& line = made.status.runs.emplace_back();
        line.run = order.run;
        line.testbed = order.testbed_name;
        return jobs.emplace_back(std::move(made));
    }

    /// A gated pod of the job, recorded for the slot.
    model::pod& placed(model::batchjob& of, const std::string& name, int slot) {
        model::pod pod;
        pod.metadata.name = name;
        pod.metadata.namespace_ = "default";
        pod.metadata.uid = "uid-" + name;
        pod.metadata.resource_version = "9";
        pod.metadata.labels = {{std::string(names::testbed), "tb"},
                               {std::string(names::testbed_namespace), "default"},
                               {std::string(names::job), of.metadata.name}};
        pod.metadata.annotations = {{std::string(names::run), of.spec.creation_request->run}};
        pod.requests = model::to_amounts(resources("600m", "1.75Gi"));
        pod.phase = "Pending";
        pod.scheduling_gates = {std::string(names::gate)};
        of.status.placements.push_back({slot, pod.metadata.uid, name});
        return pods.emplace_back(std::move(pod));
    }

    static void let_in(model::pod& pod, int slot, const std::string& node, bool bound = true) {
        pod.scheduling_gates.clear();
        pod.metadata.annotations[std::string(names::slot)] = std::to_string(slot);
        pod.metadata.annotations[std::string(names::slot_node)] = node;
        if (!bound) return;
        pod.node_name = node;
        pod.phase = "Running";
    }

    view see() const {
        view out;
        out.testbed = std::make_shared<const model::testbed>(testbed);
        out.ghost_image = ghost_image;
        for (const auto& other : others) {
            out.others.push_back(std::make_shared<const model::testbed>(other));
        }
        for (const auto& [name, node] : nodes) {
            out.nodes[name].node = std::make_shared<const model::node>(node);
        }
        for (const auto& other : others) {
            const auto& label = other.spec.node_label;
            std::map<std::string_view, int> count;
            for (const auto& [name, node] : nodes) ++count[node.metadata.label(label)];
            for (const auto& [name, node] : nodes) {
                if (count[node.metadata.label(label)] > 1) out.nodes[name].doubled.insert(label);
            }
        }
        if (testbed.status.layout) {
            for (const auto& member : testbed.status.layout->nodes) out.nodes[member.name];
        }
        for (const auto& pod : pods) {
            auto shared = std::make_shared<const model::pod>(pod);
            if (testbed_key_of(pod) == "default/tb") out.pods.push_back(shared);
            if (auto on = out.nodes.find(pod.node_name); on != out.nodes.end()) {
                on->second.pods.push_back(shared);
            }
            const std::string door(pod.metadata.annotation(names::node));
            if (auto at = out.nodes.find(door);
                pod.is_ghost() && !pod.bound() && at != out.nodes.end()) {
                at->second.ghosts_at_the_door.push_back(shared);
            }
        }
        model::scheduling holder;
        holder.metadata.uid = grid::scheduling_uid_of_hold(testbed.hold());
        for (const auto& each : jobs) {
            out.jobs.push_back(std::make_shared<const model::batchjob>(each));
            if (unassigned.contains(each.metadata.name) || !each.spec.creation_request) continue;
            auto& given = holder.status.assignments.emplace_back();
            given.job = {each.metadata.namespace_, each.metadata.name, each.metadata.uid};
            given.run = each.spec.creation_request->run;
            given.slot_ids = each.spec.creation_request->slot_ids;
        }
        if (!assigned_ahead.empty()) {
            auto& ahead = holder.status.assignments.emplace_back();
            ahead.run = "sched.100.99";
            ahead.slot_ids = assigned_ahead;
        }
        if (is_held(testbed)) out.holder = std::make_shared<const model::scheduling>(holder);
        return out;
    }

    decision decide() const { return testbed::decide(see(), known, now, wall); }
    /// The states of all slots, by position: "FREE OCCUPIED ...".
    std::string states() const {
        std::vector<std::string> out;
        for (const auto& slot : decide().status.slots) out.push_back(slot.state);
        return fmt::format("{}", fmt::join(out, " "));
    }
    model::condition condition(std::string_view type) const {
        auto status = decide().status;
        const auto* found = model::find_condition(status.conditions, type);
        return found ? *found : model::condition{};
    }
    /// One line per action.
    std::vector<std::string> actions() const {
        std::vector<std::string> out;
        for (const auto& what : decide().actions) out.push_back(show(what));
        return out;
    }
};

using lines = std::vector<std::string>;

inline std::vector<std::string> reasons(const decision& of) {
    std::vector<std::string> out;
    for (const auto& note : of.notes) out.push_back(note.reason);
    return out;
}

/// Ghosts of a Testbed `of`, which has its slots on node-a: one of each letter, 'b'ound or at the
/// door.
inline void ghosts_of(world& at, const model::testbed& of, std::string_view each) {
    for (int index = 0; index < std::ssize(each); ++index) {
        auto& ghost = at.ghost("node-a", index, each[static_cast<std::size_t>(index)] == 'b');
        ghost.metadata.uid = fmt::format("{}-{}", of.metadata.uid, index);
        ghost.metadata.name = grid::ghost_name(of.metadata.name, of.metadata.uid, "node-a", index);
        ghost.metadata.labels[std::string(names::testbed)] = of.metadata.name;
        ghost.metadata.owner_references[0].uid = of.metadata.uid;
    }
}

inline world held_with_job(std::vector<int> slots) {
    world at{{"node-a"}};
    at.all_ghosts();
    at.hold();
    at.jobs.reserve(4);
    at.pods.reserve(16);
    at.job("j", std::move(slots));
    return at;
}

}  // namespace esi::testbed::tests
