#include "neighbours/kube/node_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/fields.h"

namespace esi::simulation {

namespace {

/// --node-monitor-grace-period since 1.32.
constexpr auto silence_grace = seconds(50);
/// Pods of a node that is gone: the quarantine of podgc and its period.
constexpr pace nodeless_time{seconds(40), seconds(60)};

constexpr std::string_view not_ready = "node.kubernetes.io/not-ready";
constexpr std::string_view unreachable = "node.kubernetes.io/unreachable";
constexpr std::string_view cordoned = "node.kubernetes.io/unschedulable";

/// Empty: there is no such condition.
std::string_view readiness(const json& node) {
    const auto* conditions = fields::find(node, {"status", "conditions"});
    if (!conditions || !conditions->is_array()) return {};
    for (const auto& one : *conditions) {
        if (fields::text(one, {"type"}) == "Ready") return fields::text(one, {"status"});
    }
    return {};
}

/// The taints that the node should have: its own, and those that follow from its state.
json wanted_taints(const json& node, wall_time now) {
    std::set<std::pair<std::string_view, std::string_view>> ours;
    const auto ready = readiness(node);
    if (ready == "False" || ready == "Unknown") {
        const auto key = ready == "False" ? not_ready : unreachable;
        ours.emplace(key, "NoSchedule");
        ours.emplace(key, "NoExecute");
    }
    const auto* spec = fields::find(node, {"spec", "unschedulable"});
    if (spec && *spec == true) ours.emplace(cordoned, "NoSchedule");
    json out = json::array();
    for (const auto& one : taints_of(node)) {
        const auto key = fields::text(one, {"key"});
        const bool follows = key == not_ready || key == unreachable || key == cordoned;
        if (follows && ours.erase({key, fields::text(one, {"effect"})}) == 0) continue;
        out.push_back(one);
    }
    for (const auto& [key, effect] : ours) {
        out.push_back({{"key", key}, {"effect", effect}, {"timeAdded", stamp(now)}});
    }
    return out;
}

}  // namespace

std::optional<seconds> bears(const pod_facts& pod, const node_facts& node) {
    std::optional<seconds> out;
    for (const auto& taint : taints_of(node.body())) {
        if (fields::text(taint, {"effect"}) != "NoExecute") continue;
        std::optional<seconds> this_one;
        bool tolerated = false;
        for (const auto& one : tolerations_of(pod)) {
            if (!tolerates(one, taint)) continue;
            tolerated = true;
            const auto* limit = fields::find(one, {"tolerationSeconds"});
            if (!limit || !limit->is_number()) continue;
            const seconds time(std::max<std::int64_t>(limit->get<std::int64_t>(), 0));
            this_one = this_one ? std::min(*this_one, time) : time;
        }
        if (!tolerated) return seconds(0);
        if (this_one) out = out ? std::min(*out, *this_one) : *this_one;
    }
    return out;
}

void node_life::node_seen(const object_pointer& what, bool silent) {
    const auto node = read_node(what);
    nodes_.insert_or_assign(what->name(), node);
    if (silent && !silent_.contains(what->name())) silence(what->name(), true);
    if (wanted_taints(what->body(), of_.in.time.wall()) != taints_of(what->body())) {
        of_.soon([this, name = what->name()] { taint(name); });
    }
    for (const auto& [uid, pod] : pods_) {
        if (pod->node == node->name) look(*pod);
    }
}

void node_life::node_gone(std::string_view name) {
    const auto found = nodes_.find(name);
    if (found != nodes_.end()) nodes_.erase(found);
    for (const auto& [uid, pod] : pods_) {
        if (pod->node == name) look(*pod);
    }
}

void node_life::pod_seen(const object_pointer& what) {
    auto pod = read_pod(what);
    if (!pod->bound()) return;
    const auto before = std::exchange(pods_[what->uid()], pod);
    // What a bound pod tolerates may only grow.
    if (!before || before->deleting != pod->deleting) look(*pod);
}

void node_life::pod_gone(std::string_view uid) {
    if (const auto found = pods_.find(uid); found != pods_.end()) pods_.erase(found);
    if (const auto found = evictions_.find(uid); found != evictions_.end()) evictions_.erase(found);
}

void node_life::silence(std::string_view node, bool on) {
    if (!on) {
        const auto found = silent_.find(node);
        if (found != silent_.end()) silent_.erase(found);
        return;
    }
    const auto turn = ++turns_;
    silent_.insert_or_assign(std::string(node), turn);
    of_.later(silence_grace, [this, name = std::string(node), turn] {
        const auto found = silent_.find(name);
        if (found != silent_.end() && found->second == turn) mark_silent(name);
    });
}

void node_life::forget() {
    nodes_.clear();
    pods_.clear();
    evictions_.clear();
    silent_.clear();
}

void node_life::taint(const std::string& node) {
    const auto now = of_.in.server.objects().find(kinds::node, {}, node);
    if (!now) return;
    auto taints = wanted_taints(now->body(), of_.in.time.wall());
    if (taints == taints_of(now->body())) return;
    of_.in.told.tell("node lifecycle",
                     [&] { return fmt::format("taints of {}: {}", node, taints.dump()); });
    auto done = of_.api.patch(kinds::node, {}, node, kube::patch_kind::merge,
                              {{"metadata", {{"resourceVersion", std::to_string(now->version())}}},
                               {"spec", {{"taints", std::move(taints)}}}});
    if (!done && done.error().code == errc::conflict) of_.soon([this, node] { taint(node); });
}

void node_life::mark_silent(const std::string& node) {
    const auto now = of_.in.server.objects().find(kinds::node, {}, node);
    if (!now) return;
    auto conditions = with_condition(now->body(), "Ready", "Unknown", "NodeStatusUnknown",
                                     "Kubelet stopped posting node status.", of_.in.time.wall());
    if (conditions.is_null()) return;
    of_.in.told.tell("node lifecycle", [&] { return node + " is silent"; });
    (void)of_.api.patch(
        kinds::node, {}, node, kube::patch_kind::merge,
        {{"metadata", {{"uid", now->uid()}}}, {"status", {{"conditions", std::move(conditions)}}}},
        "status");
}

void node_life::look(const pod_facts& pod) {
    const std::string uid(pod.uid);
    const auto node = nodes_.find(pod.node);
    if (node == nodes_.end()) {
        evictions_.erase(uid);
        of_.later(of_.chance.between(nodeless_time.least, nodeless_time.most),
                  [this, uid] { end_of_nodeless(uid); });
        return;
    }
    const auto time = pod.deleting ? std::nullopt : bears(pod, *node->second);
    if (!time) {
        evictions_.erase(uid);
        return;
    }
    const auto due = of_.in.time.now() + *time;
    const auto planned = evictions_.find(uid);
    if (planned != evictions_.end() && planned->second.due <= due) return;
    const auto turn = ++turns_;
    evictions_.insert_or_assign(uid, eviction{due, turn});
    of_.later(*time, [this, uid, turn] {
        const auto found = evictions_.find(uid);
        if (found != evictions_.end() && found->second.turn == turn) evict(uid);
    });
}

void node_life::disrupt(const object& pod, std::string_view reason, std::string_view message,
                        bool ended) {
    json status = json::object();
    auto conditions =
        with_condition(pod.body(), "DisruptionTarget", "True", reason, message, of_.in.time.wall());
    if (!conditions.is_null()) status["conditions"] = std::move(conditions);
    if (ended) status["phase"] = "Failed";
    if (status.empty()) return;
    (void)of_.api.patch(kinds::pod, pod.ns(), pod.name(), kube::patch_kind::merge,
                        {{"metadata", {{"uid", pod.uid()}}}, {"status", std::move(status)}},
                        "status");
}

void node_life::evict(const std::string& uid) {
    evictions_.erase(uid);
    const auto known = pods_.find(uid);
    if (known == pods_.end()) return;
    const auto now =
        of_.in.server.objects().find(kinds::pod, known->second->ns, known->second->name);
    if (!now || now->uid() != uid || fields::deleting(now->body())) return;
    of_.in.told.tell("taint eviction",
                     [&] { return fmt::format("deletes {}/{}", now->ns(), now->name()); });
    disrupt(*now, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint",
            false);
    (void)of_.api.remove(kinds::pod, now->ns(), now->name());
}

void node_life::end_of_nodeless(const std::string& uid) {
    const auto known = pods_.find(uid);
    if (known == pods_.end()) return;
    const auto& objects = of_.in.server.objects();
    const auto now = objects.find(kinds::pod, known->second->ns, known->second->name);
    if (!now || now->uid() != uid || objects.find(kinds::node, {}, known->second->node)) return;
    of_.in.told.tell("pod gc", [&] { return fmt::format("ends {}/{}", now->ns(), now->name()); });
    disrupt(*now, "DeletionByPodGC", "PodGC: node no longer exists",
            !fields::terminal(now->body()));
    (void)of_.api.remove(kinds::pod, now->ns(), now->name(), kube::preconditions(uid), 0);
}

}  // namespace esi::simulation
