// A small cluster for the table tests of the decider: nodes, groups and pods as the API server has
// them; passes are made and their actions carried out at once, or by hand; a scheduler that binds
// what was let in; a restart of the process.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "gangs/decide.h"
#include "gangs/look.h"
#include "gangs/plan_mark.h"
#include "gangs/report.h"
#include "placement/testing/builders.h"

namespace esi::gangs::tests {

namespace names = model::names;
using placement::tests::make_node;
using placement::tests::make_pod;
using placement::tests::shared;
using lines = std::vector<std::string>;

struct world {
    std::map<std::string, node_pointer> nodes;
    std::map<std::string, pod_pointer> pods;  ///< by name, all in "lab"
    std::map<gang_key, pod_group> groups;
    std::map<gang_key, gang_pointer> gangs;
    std::set<gang_key> dirty;
    bool enabled = true;
    std::string scheduler = "scheduler-1/0";
    std::map<std::string, std::int64_t, std::less<>> classes;
    settings options;
    std::unique_ptr<memory> known = std::make_unique<memory>();
    std::unique_ptr<cluster_room> room = std::make_unique<cluster_room>();
    shown_plans shown;
    steady_time now{seconds(1000)};
    wall_time wall{seconds(1'800'000'000)};
    int version = 1;
    decision last;
    std::vector<note> notes;
    /// Requests that fail, by the line of their action up to the name.
    std::map<std::string, error> refuse;

    void add_node(const std::string& name, std::string_view has) { put_node(make_node(name, has)); }
    void put_node(model::node node) {
        const auto name = node.metadata.name;
        nodes[name] = shared(std::move(node));
        room->node_changed(name, nodes[name]);
    }
    void remove_node(const std::string& name) {
        nodes.erase(name);
        room->node_changed(name, nullptr);
    }

    static gang_key key(const std::string& name, way by = way::coscheduling) {
        return {by, "lab", name};
    }
    pod_group& group(const std::string& name, std::int64_t minimum, way by = way::coscheduling) {
        auto& out = groups[key(name, by)];
        out.metadata.name = name;
        out.metadata.namespace_ = "lab";
        out.metadata.uid = "uid-group-" + name;
        out.metadata.resource_version = std::to_string(++version);
        out.metadata.creation_timestamp = model::timestamp{wall};
        out.spec.min_member = minimum;
        dirty.insert(key(name, by));
        return out;
    }
    /// Changes a group of the world by hand.
    pod_group& change(const std::string& name, way by = way::coscheduling) {
        dirty.insert(key(name, by));
        auto& out = groups.at(key(name, by));
        out.metadata.resource_version = std::to_string(++version);
        return out;
    }
    void delete_when_partial(const std::string& name, way by = way::coscheduling) {
        change(name, by).metadata.annotations[std::string(names::on_partial)] = "Delete";
    }
    void remove_group(const std::string& name, way by = way::coscheduling) {
        groups.erase(key(name, by));
        dirty.insert(key(name, by));
    }

    void put(model::pod pod) {
        pod.metadata.resource_version = std::to_string(++version);
        cache_shows(shared(std::move(pod)));
    }
    /// Puts the pod into the cache unchanged.
    void cache_shows(pod_pointer pod) {
        auto& entry = pods[pod->metadata.name];
        const auto before = entry;
        entry = std::move(pod);
        if (before) note_key(*before);
        note_key(*entry);
        room->pod_changed(before, entry);
        shown.pod_changed(before, entry);
    }
    void remove(const std::string& name) {
        const auto before = pods.at(name);
        pods.erase(name);
        note_key(*before);
        room->pod_changed(before, nullptr);
        shown.pod_changed(before, nullptr);
    }
    void note_key(const model::pod& pod) {
        if (const auto of = group_of(pod)) dirty.insert(*of);
    }
    /// A gated member.
    model::pod member(const std::string& name, const std::string& of, std::string_view requests,
                      way by = way::coscheduling) {
        auto out = make_pod(name, requests);
        out.metadata.uid = fmt::format("uid-{}-{}", name, ++version);
        out.metadata.creation_timestamp = model::timestamp{wall};
        if (by == way::kube_batch) {
            out.metadata.annotations[std::string(names::group_name)] = of;
        } else {
            out.metadata.labels[std::string(by == way::tenstack ? names::tenstack_group
                                                                : names::pod_group)] = of;
        }
        out.metadata.owner_references = {{"batch/v1", "Job", of, "uid-job-" + of, true}};
        return out;
    }
    void add_members(const std::string& of, int count, std::string_view requests,
                     way by = way::coscheduling, std::int64_t priority = 0) {
        for (int i = 0; i < count; ++i) {
            auto pod = member(fmt::format("{}-{}", of, i), of, requests, by);
            pod.priority = priority;
            put(std::move(pod));
        }
    }
    /// Gives its waiting members anti-affinity to each other: a plan for them needs facts.
    void keep_apart(const std::string& of, int count) {
        for (int i = 0; i < count; ++i) {
            edit(fmt::format("{}-{}", of, i), [&](model::pod& pod) {
                pod.metadata.labels["app"] = of;
                pod.affinity.text = fmt::format(
                    R"({{"podAntiAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":)"
                    R"([{{"labelSelector":{{"matchLabels":{{"app":"{}"}}}},)"
                    R"("topologyKey":"kubernetes.io/hostname"}}]}}}})",
                    of);
            });
        }
    }
    /// A group and its members.
    void add_gang(const std::string& name, int count, std::string_view requests,
                  std::int64_t priority = 0) {
        group(name, count);
        add_members(name, count, requests, way::coscheduling, priority);
        wall += seconds(1);
    }
    /// The same, and all of them run.
    void run_gang(const std::string& name, int count, std::string_view requests) {
        add_gang(name, count, requests);
        settle();
        bind();
        settle();
    }
    /// A gang in another namespace.
    gang_key add_gang_in(const std::string& space, const std::string& name, int count,
                         std::string_view requests) {
        const gang_key out{way::coscheduling, space, name};
        auto made = group(name, count);
        remove_group(name);
        made.metadata.namespace_ = space;
        groups[out] = made;
        dirty.insert(out);
        for (int i = 0; i < count; ++i) {
            auto pod = member(fmt::format("{}-{}", name, i), name, requests);
            pod.metadata.namespace_ = space;
            put(std::move(pod));
        }
        return out;
    }
    /// A pod of no gang.
    void add_stranger(const std::string& name, std::string_view requests, const std::string& node) {
        put(make_pod(name, requests, node));
    }
    template <class Change>
    void edit(const std::string& name, Change change) {
        auto pod = *pods.at(name);
        change(pod);
        put(std::move(pod));
    }

    view see() {
        std::map<gang_key, std::vector<pod_pointer>> by_group;
        for (const auto& [name, pod] : pods) {
            const auto of = dirty.empty() ? std::nullopt : group_of(*pod);
            if (of && dirty.contains(*of)) by_group[*of].push_back(pod);
        }
        for (const auto& of : dirty) {
            const auto& own = by_group[of];
            group_object object;
            if (const auto found = groups.find(of); found != groups.end()) {
                object.object = std::make_shared<const pod_group>(found->second);
                object.kind = &*std::ranges::find(group_kinds(), of.by, &group_kind::by);
            }
            if (own.empty() && !object) {
                gangs.erase(of);
            } else {
                gangs[of] = std::make_shared<const gang>(make_gang(of, object, own, enabled));
            }
        }
        dirty.clear();
        view out{gangs};
        out.scheduler = scheduler;
        out.classes = &classes;
        out.options = options;
        out.now = now;
        out.wall = wall;
        for (const auto& [name, pod] : pods) {
            if (!group_of(*pod) && !pod->nominated_node_name.empty() &&
                stage_of(*pod) == stage::reserved) {
                out.loose.push_back(pod);
            }
        }
        return out;
    }
    /// One pass, its actions under way and not carried out.
    lines pass() {
        const auto seen = see();
        last = decide(seen, *known, *room);
        notes.insert(notes.end(), last.notes.begin(), last.notes.end());
        lines out;
        for (const auto& each : last.actions) out.push_back(show(each));
        return out;
    }
    live_view live() const {
        live_view out;
        for (const auto& [name, pod] : pods) {
            out.members[pod->metadata.uid] = pod;
            if (pod->bound()) out.on_nodes[pod->node_name].push_back(pod);
        }
        for (const auto& [name, node] : nodes) {
            out.nodes[name] = node;
            out.on_nodes[name];
        }
        return out;
    }
    void let_one_in(const pod_pointer& pod, const std::string& node, outcome& how) {
        edit(pod->metadata.name, [&](model::pod& each) {
            each.scheduling_gates.clear();
            each.metadata.annotations[std::string(names::gang_node)] = node;
        });
        how.written[pod->metadata.uid] = pods.at(pod->metadata.name)->metadata.resource_version;
    }
    outcome carry_out(const action& what) {
        outcome how;
        const auto text = gangs::show(what);
        for (const auto& [start, why] : refuse) {
            if (!text.starts_with(start)) continue;
            how.failed = why;
            return how;
        }
        const auto stale = [&](const pod_pointer& pod) {
            const auto found = pods.find(pod->metadata.name);
            if (found == pods.end() || found->second->metadata.uid != pod->metadata.uid) {
                how.failed = error{errc::not_found, "gone"};
                return true;
            }
            if (found->second->metadata.resource_version != pod->metadata.resource_version) {
                how.failed = error{errc::conflict, "changed"};
                return true;
            }
            return false;
        };
        const auto nominated = [&](const pod_pointer& pod, const std::string& node,
                                   const std::string* mark = nullptr) {
            if (stale(pod)) return;
            edit(pod->metadata.name, [&](model::pod& each) {
                each.nominated_node_name = node;
                if (mark) each.metadata.annotations[std::string(names::gang_plan)] = *mark;
                if (node.empty()) each.metadata.annotations.erase(std::string(names::gang_plan));
            });
            how.written[pod->metadata.uid] = pods.at(pod->metadata.name)->metadata.resource_version;
        };
        if (const auto* of = std::get_if<nominate>(&what)) nominated(of->pod, of->node, &of->mark);
        if (const auto* of = std::get_if<give_back>(&what)) nominated(of->pod, "");
        if (const auto* of = std::get_if<show_nomination>(&what)) {
            nominated(of->pod, of->pod->nominated_node_name);
        }
        if (const auto* of = std::get_if<look_and_let_in>(&what)) {
            how.refused = judge_look(*of, live(), *room, shown);
            if (how.refused.empty()) {
                for (const auto& each : of->places) let_one_in(each.pod, each.node, how);
            }
        }
        if (const auto* of = std::get_if<let_in>(&what); of && !stale(of->pod)) {
            let_one_in(of->pod, of->node, how);
        }
        if (const auto* of = std::get_if<delete_pod>(&what)) {
            const auto found = pods.find(of->pod->metadata.name);
            if (found != pods.end() && found->second->metadata.uid == of->pod->metadata.uid) {
                remove(of->pod->metadata.name);
            }
        }
        if (const auto* of = std::get_if<read_facts>(&what)) {
            for (const auto& space : of->what.pods_of) {
                auto& there = how.read.pods[space];
                for (const auto& [name, pod] : pods) {
                    if (pod->metadata.namespace_ == space && pod->bound()) there.push_back(pod);
                }
            }
            for (const auto& claim : of->what.claims) how.read.claims[claim] = {};
        }
        if (const auto* of = std::get_if<write_status>(&what)) write(*of, how);
        return how;
    }
    void write(const write_status& of, outcome& how) {
        const auto found = groups.find(of.of);
        if (found == groups.end()) return;
        auto& status = found->second.status;
        const auto& patch = of.patch.at("status");
        const auto number = [&](const char* name, std::optional<std::int64_t>& to) {
            if (patch.contains(name)) to = patch.at(name).get<std::int64_t>();
        };
        if (patch.contains("phase")) status.phase = patch.at("phase").get<std::string>();
        if (patch.contains("occupiedBy")) {
            status.occupied_by = patch.at("occupiedBy").get<std::string>();
        }
        if (patch.contains("scheduleStartTime")) {
            status.schedule_start_time =
                *model::timestamp::parse(patch.at("scheduleStartTime").get<std::string>());
        }
        number("scheduled", status.scheduled);
        number("running", status.running);
        number("succeeded", status.succeeded);
        number("failed", status.failed);
        if (patch.contains("conditions")) {
            status.conditions.clear();
            for (const auto& each : patch.at("conditions")) {
                group_condition one;
                one.type = each.value("type", "");
                one.status = each.value("status", "");
                one.transition_id = each.value("transitionID", "");
                one.reason = each.value("reason", "");
                one.message = each.value("message", "");
                const auto time = model::timestamp::parse(each.value("lastTransitionTime", ""));
                if (time) one.last_transition_time = *time;
                status.conditions.push_back(std::move(one));
            }
        }
        found->second.metadata.resource_version = std::to_string(++version);
        how.written[found->second.metadata.uid] = found->second.metadata.resource_version;
        dirty.insert(of.of);
    }
    /// Nominates the first member of a plan, and then the other.
    void nominate_two() {
        for (int i = 0; i < 2; ++i) {
            pass();
            for (const auto& each : std::vector(last.actions)) {
                take_outcome(*known, each, carry_out(each), now);
            }
        }
    }
    /// Passes until nothing is left to do; what was done, without writes of status.
    lines settle() {
        lines out;
        for (int i = 0; i < 60; ++i) {
            pass();
            if (last.actions.empty() && !(last.again && *last.again <= milliseconds(10))) {
                return out;
            }
            const auto actions = last.actions;
            for (const auto& each : actions) {
                if (!std::holds_alternative<write_status>(each)) {
                    out.push_back(gangs::show(each));
                }
                take_outcome(*known, each, carry_out(each), now);
            }
            now += milliseconds(1);
            wall += milliseconds(1);
        }
        out.emplace_back("does not settle");
        return out;
    }
    void wait(steady_time::duration time) {
        now += time;
        wall += std::chrono::duration_cast<std::chrono::microseconds>(time);
    }
    /// A member runs, on node-a.
    void bind_one(const std::string& name) {
        edit(name, [](model::pod& pod) {
            pod.node_name = "node-a";
            pod.phase = "Running";
        });
    }
    /// kube-scheduler: binds what was let in where there is room.
    void bind() {
        auto all = pods;
        for (const auto& [name, pod] : all) {
            if (stage_of(*pod) != stage::let_in) continue;
            const std::string node(pod->metadata.annotation(names::gang_node));
            edit(name, [&](model::pod& each) {
                each.node_name = node;
                each.nominated_node_name.clear();
                each.phase = "Running";
            });
        }
    }
    /// Restarts the process: its memory is gone, its ledger is rebuilt from the objects.
    void restart() {
        known = std::make_unique<memory>();
        known->process = "after " + std::to_string(++version);
        room = std::make_unique<cluster_room>();
        for (const auto& [name, node] : nodes) room->node_changed(name, node);
        for (const auto& [name, pod] : pods) room->pod_changed(nullptr, pod);
        for (const auto& [of, each] : gangs) dirty.insert(of);
    }

    /// Adds a place for this member to the plan by which others of the gang were let in.
    void was_looked_at(const std::string& gang, const std::string& member,
                       const std::string& node) {
        const auto& pod = pods.at(member);
        plan made;
        made.places = {{pod->metadata.uid, node}};
        made.mark = mark_of(*pod);
        made.shown = made.looked = true;
        made.since = now;
        known->gangs.at(key(gang)).has = std::move(made);
        room->promise(pod, node);
    }
    const gang_memory& own(const std::string& name, way by = way::coscheduling) {
        return known->gangs.at(key(name, by));
    }
    const standing& at(const std::string& name, way by = way::coscheduling) {
        return own(name, by).at;
    }
    std::string state_of(const std::string& name, way by = way::coscheduling) {
        return std::string(gangs::show(at(name, by).at));
    }
    std::string reason_of(const std::string& name, way by = way::coscheduling) {
        return at(name, by).reason;
    }
    std::string message_of(const std::string& name, way by = way::coscheduling) {
        return at(name, by).message;
    }
    int count(const std::string& of, stage which, way by = way::coscheduling) {
        see();
        return gangs.at(key(of, by))->count(which);
    }
    bool told(std::string_view reason) const {
        return std::ranges::any_of(notes, [&](const note& each) { return each.reason == reason; });
    }
    /// No node has more promised than it has.
    bool within() const {
        return std::ranges::all_of(room->nodes(), [](const auto& entry) {
            return std::ranges::all_of(entry.second.free, [](auto left) { return left >= 0; });
        });
    }
};

}  // namespace esi::gangs::tests
