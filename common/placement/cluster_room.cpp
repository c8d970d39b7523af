#include "placement/cluster_room.h"

#include <limits>

#include "grid/node_room.h"
#include "model/names.h"

namespace esi::placement {

namespace {

std::int64_t narrow(wide value) {
    constexpr wide most = std::numeric_limits<std::int64_t>::max();
    if (value > most) return static_cast<std::int64_t>(most);
    return static_cast<std::int64_t>(value < -most ? -most : value);
}

/// Whether both are equal in all that a plan reads of a node; heartbeats change the rest.
bool same_place(const model::node& a, const model::node& b) {
    return a.metadata.uid == b.metadata.uid && a.ready == b.ready &&
           a.unschedulable == b.unschedulable && a.allocatable == b.allocatable &&
           a.taints == b.taints && a.metadata.labels == b.metadata.labels;
}

/// Whether the pod takes room of the node that it is bound to.
bool takes_room(const pod_pointer& pod) { return pod && pod->bound() && pod->live(); }

/// Whether both pods take the same of the same node.
bool same_load(const model::pod& a, const model::pod& b) {
    return a.node_name == b.node_name && a.requests == b.requests && a.host_ports == b.host_ports &&
           a.anti_affinity == b.anti_affinity && comes_back(a) == comes_back(b);
}

/// Whether the pod's scheduler has made room for it, or is about to.
bool waits_on_a_node(const model::pod& pod) {
    return !pod.bound() && pod.live() && !pod.nominated_node_name.empty() &&
           pod.scheduling_gates.empty() && !comes_back(pod);
}

}  // namespace

bool comes_back(const model::pod& pod) {
    const auto* owner = pod.metadata.controller_owner();
    return owner && (owner->kind == "DaemonSet" || owner->kind == "Node");
}

void demand::count(const model::pod& pod, int sign) {
    const auto add = [&](const std::string& name, std::int64_t amount) {
        const auto entry = amounts.try_emplace(name, 0).first;
        entry->second += static_cast<wide>(amount) * sign;
        if (entry->second == 0) amounts.erase(entry);
    };
    static const std::string places = "pods";
    for (const auto& [name, amount] : pod.requests) {
        if (name != places) add(name, amount);
    }
    add(places, grid::one_pod);
    for (const auto& port : pod.host_ports) {
        const auto entry = ports.try_emplace(port, 0).first;
        entry->second += sign;
        if (entry->second == 0) ports.erase(entry);
    }
}

int resource_names::enter(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    names_.emplace_back(name);
    return numbers_.emplace(name, count() - 1).first->second;
}

int resource_names::find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? -1 : found->second;
}

void cluster_room::changed(bool may_free) {
    ++changes_;
    if (may_free) ++freed_;
}

namespace {

void count_key(std::map<std::string, int, std::less<>>& into, const std::string& key, int sign) {
    const auto entry = into.try_emplace(key, 0).first;
    entry->second += sign;
    if (entry->second == 0) into.erase(entry);
}

}  // namespace

void cluster_room::count_labels(const repelling_terms& terms, int sign) {
    for (const auto& term : terms.exact) {
        for (const auto& each : term.pods.requirements) count_key(repelled_labels_, each.key, sign);
    }
}

void cluster_room::count_labels(const node_pointer& node, int sign) {
    if (!node) return;
    for (const auto& [key, value] : node->metadata.labels) count_key(node_labels_, key, sign);
}

void cluster_room::count_terms(const model::pod& pod, const std::string& node, bool stays,
                               int sign) {
    auto text = repelling_text_of(pod);
    if (text.empty()) return;
    auto key = std::pair(pod.metadata.namespace_, std::move(text));
    auto entry = repelling_.find(key);
    if (entry == repelling_.end()) {
        auto terms = repelling_terms_of(key.second, key.first);
        count_labels(terms, 1);
        entry = repelling_.emplace(std::move(key), repelling_pods{std::move(terms), {}}).first;
    }
    auto& on = entry->second.on;
    const auto place = on.try_emplace(node).first;
    place->second.all += sign;
    if (stays) place->second.staying += sign;
    if (place->second.all == 0) on.erase(place);
    if (!on.empty()) return;
    count_labels(entry->second.terms, -1);
    repelling_.erase(entry);
}

void cluster_room::count(const model::pod& pod, const std::string& node, int sign) {
    auto& entry = nodes_[node];
    const bool stays = comes_back(pod);
    entry.taken.count(pod, sign);
    if (stays) entry.stays.count(pod, sign);
    count_terms(pod, node, stays, sign);
    settle(node);
}

void cluster_room::settle(const std::string& node) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return;
    auto& entry = found->second;
    if (!entry.node) {
        entry.free.clear();
        entry.emptied.clear();
        if (entry.taken.empty() && entry.slots.empty()) nodes_.erase(found);
        return;
    }
    entry.free.assign(static_cast<std::size_t>(resources_.count()), 0);
    entry.emptied.assign(static_cast<std::size_t>(resources_.count()), 0);
    for (const auto& [name, amount] : entry.node->allocatable) {
        const auto number = static_cast<std::size_t>(resources_.find(name));
        const auto taken_of = [&name](const auto& list) -> wide {
            const auto what = list.find(name);
            return what == list.end() ? 0 : static_cast<wide>(what->second);
        };
        const wide there = static_cast<wide>(amount) - taken_of(entry.slots.waiting);
        entry.free[number] = narrow(there - taken_of(entry.taken.amounts));
        entry.emptied[number] =
            narrow(there - taken_of(entry.stays.amounts) - taken_of(entry.slots.taken.amounts));
    }
}

void cluster_room::node_changed(const std::string& name, const node_pointer& after) {
    if (!after) {
        const auto found = nodes_.find(name);
        if (found == nodes_.end() || !found->second.node) return;
        count_labels(found->second.node, -1);
        found->second.node = nullptr;
        settle(name);
        changed(false);
        return;
    }
    auto& entry = nodes_[name];
    const bool same = entry.node && same_place(*entry.node, *after);
    if (!same) {
        count_labels(entry.node, -1);
        count_labels(after, 1);
    }
    entry.node = after;
    if (same) return;
    for (const auto& [resource, amount] : after->allocatable) resources_.enter(resource);
    settle(name);
    changed(true);
}

void cluster_room::forget_nomination(std::string_view uid) {
    const auto found = nominated_.find(uid);
    if (found == nominated_.end()) return;
    const auto gone = std::move(found->second);
    nominated_.erase(found);
    count(*gone.pod, gone.node, -1);
}

void cluster_room::pod_changed(const pod_pointer& before, const pod_pointer& after) {
    const bool was = takes_room(before);
    const bool is = takes_room(after);
    const bool another = before && (!after || after->metadata.uid != before->metadata.uid);
    if (another) {
        forget_nomination(before->metadata.uid);
        release(before->metadata.uid);
    }
    if (after) {
        const auto& uid = after->metadata.uid;
        const auto promise = promises_.find(uid);
        if (promise != promises_.end() && (is || !after->live())) {
            if (is && promise->second.node == after->node_name) {
                // The room was promised, and is taken now.
                const auto kept = std::move(promise->second);
                promises_.erase(promise);
                count(*kept.pod, kept.node, -1);
            } else {
                release(uid);
            }
        }
        const auto known = nominated_.find(uid);
        const bool waits =
            waits_on_a_node(*after) && !promises_.contains(uid) && !coming_.contains(uid);
        if (known != nominated_.end() &&
            (!waits || known->second.node != after->nominated_node_name)) {
            forget_nomination(uid);
            // When it was bound there, nothing became free.
            changed(!is);
        }
        if (waits && !nominated_.contains(uid)) {
            count(*after, after->nominated_node_name, 1);
            nominated_.emplace(uid, promised{after, after->nominated_node_name});
            changed(false);
        }
    }
    if (!was && !is) return;
    if (was && is && same_load(*before, *after)) return;
    if (was) count(*before, before->node_name, -1);
    if (is) count(*after, after->node_name, 1);
    changed(was);
}

void cluster_room::slots_changed(const std::string& node, slots_of_node after) {
    const auto found = nodes_.find(node);
    const auto before = found == nodes_.end() ? slots_of_node() : found->second.slots;
    if (before == after) return;
    bool frees = false;
    for (const auto& [name, amount] : before.waiting) {
        const auto now = after.waiting.find(name);
        frees = frees || now == after.waiting.end() || now->second < amount;
    }
    for (const auto& uid : before.coming) {
        const auto known = coming_.find(uid);
        const bool here = known != coming_.end() && known->second == node;
        if (here && !after.coming.contains(uid)) coming_.erase(known);
    }
    for (const auto& uid : after.coming) {
        // Its place is counted, so its nomination is not.
        if (coming_.insert_or_assign(uid, node).second) forget_nomination(uid);
    }
    nodes_[node].slots = std::move(after);
    settle(node);
    changed(frees);
}

bool cluster_room::stays_for_good(const model::pod& pod) const {
    if (comes_back(pod)) return true;
    const auto found = nodes_.find(pod.node_name);
    return found != nodes_.end() && found->second.slots.in.contains(pod.metadata.uid);
}

void cluster_room::promise(const pod_pointer& pod, const std::string& node) {
    const auto& uid = pod->metadata.uid;
    const auto standing = promises_.find(uid);
    if (standing != promises_.end()) {
        if (standing->second.node == node) return;
        release(uid);
    }
    forget_nomination(uid);
    count(*pod, node, 1);
    promises_.emplace(uid, promised{pod, node});
    changed(false);
}

void cluster_room::release(std::string_view uid) {
    const auto found = promises_.find(uid);
    if (found == promises_.end()) return;
    const auto gone = std::move(found->second);
    promises_.erase(found);
    count(*gone.pod, gone.node, -1);
    changed(true);
}

std::string_view cluster_room::promised_to(std::string_view uid) const {
    const auto found = promises_.find(uid);
    return found == promises_.end() ? std::string_view() : std::string_view(found->second.node);
}

const node_ledger* cluster_room::find(std::string_view node) const {
    const auto found = nodes_.find(node);
    return found == nodes_.end() || !found->second.node ? nullptr : &found->second;
}

std::optional<model::amounts> cluster_room::left_on(std::string_view node) const {
    const auto* entry = find(node);
    if (!entry) return std::nullopt;
    model::amounts out;
    for (const auto& [name, amount] : entry->node->allocatable) {
        out[name] = entry->free[static_cast<std::size_t>(resources_.find(name))];
    }
    return out;
}

}  // namespace esi::placement
