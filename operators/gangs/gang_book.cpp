#include "gangs/gang_book.h"

#include <algorithm>

namespace esi::gangs {

namespace {

bool is_at_the_gate(const model::pod& pod) { return !pod.bound() && is_gated(pod); }

using pods_by_name = std::map<model::object_key, pod_pointer>;

bool any_is(const pods_by_name& pods, stage at) {
    return std::ranges::any_of(pods,
                               [&](const auto& each) { return stage_of(*each.second) == at; });
}

/// Whether a group that is not to be started has nominated pods: what was taken for it has to be
/// given back.
bool any_waits_nominated(const pods_by_name& pods) {
    return std::ranges::any_of(pods, [](const auto& each) {
        const auto& pod = *each.second;
        return stage_of(pod) == stage::reserved || (leaves_nominated(pod) && is_at_the_gate(pod));
    });
}

pod_pointer first_at_the_gate(const pods_by_name& pods) {
    for (const auto& [name, pod] : pods) {
        if (is_at_the_gate(*pod)) return pod;
    }
    return nullptr;
}

}  // namespace

void gang_book::pod_changed(const pod_pointer& before, const pod_pointer& after) {
    const auto key = (after ? after : before)->metadata.key();
    if (!limited_to_.empty() && !limited_to_.contains(key.namespace_)) return;
    loose_.erase(key);
    if (before) {
        if (const auto of = group_of(*before)) {
            const auto found = members_.find(*of);
            if (found != members_.end()) {
                found->second.erase(key);
                if (found->second.empty()) members_.erase(found);
            }
            stale_.insert(*of);
        }
    }
    const auto of = after ? group_of(*after) : std::nullopt;
    const bool stray = after && !of && is_at_the_gate(*after);
    note_stray(key, stray ? after : nullptr);
    if (of) {
        members_[*of].insert_or_assign(key, after);
        stale_.insert(*of);
    } else if (stray && !after->nominated_node_name.empty()) {
        loose_.insert_or_assign(key, after);
    }
}

void gang_book::note_stray(const model::object_key& key, const pod_pointer& now) {
    if (!now) {
        strays_.erase(key);
        untold_strays_.erase(key);
    } else if (strays_.insert_or_assign(key, now).second) {
        untold_strays_.insert(key);
    }
}

void gang_book::namespace_changed(std::string_view ns, const gang_caches& from) {
    for (const auto& [key, pods] : members_) {
        if (key.namespace_ == ns) stale_.insert(key);
    }
    for (auto& key : from.groups_in(ns)) stale_.insert(std::move(key));
    for (auto at = strays_.lower_bound({std::string(ns), ""});
         at != strays_.end() && at->first.namespace_ == ns; ++at) {
        untold_strays_.insert(at->first);
    }
}

bool gang_book::bring_up(const gang_caches& from) {
    const bool any = !stale_.empty();
    for (const auto& key : stale_) {
        auto object = from.find(key);
        const auto found = members_.find(key);
        const bool enabled = from.enabled(key.namespace_);
        const bool peopled = found != members_.end();
        const bool concerns_us =
            enabled ? object || peopled
                    : peopled && (any_waits_nominated(found->second) ||
                                  (gangs_.contains(key) && any_is(found->second, stage::let_in)));
        if (enabled || !peopled || !first_at_the_gate(found->second)) {
            outside_.erase(key);
            untold_groups_.erase(key);
        } else if (outside_.insert(key).second) {
            untold_groups_.insert(key);
        }
        if (!concerns_us) {
            gangs_.erase(key);
            continue;
        }
        std::vector<pod_pointer> all;
        if (found != members_.end()) {
            all.reserve(found->second.size());
            for (const auto& [name, pod] : found->second) all.push_back(pod);
        }
        auto made = make_gang(key, std::move(object), all, enabled);
        gangs_.insert_or_assign(key, std::make_shared<const gang>(std::move(made)));
    }
    stale_.clear();
    return any;
}

std::vector<stranded> gang_book::take_stranded(const gang_caches& from, std::size_t most) {
    std::vector<stranded> out;
    while (!untold_strays_.empty() && out.size() < most) {
        const auto key = untold_strays_.extract(untold_strays_.begin()).value();
        const auto found = strays_.find(key);
        if (found == strays_.end() || !from.enabled(key.namespace_)) continue;
        out.push_back({{way::kube_batch, key.namespace_, ""}, {}, found->second});
    }
    while (!untold_groups_.empty() && out.size() < most) {
        auto key = untold_groups_.extract(untold_groups_.begin()).value();
        const auto found = members_.find(key);
        if (found == members_.end()) continue;
        auto pod = first_at_the_gate(found->second);
        if (pod) out.push_back({key, from.find(key), std::move(pod)});
    }
    return out;
}

std::vector<pod_pointer> gang_book::loose() const {
    std::vector<pod_pointer> out;
    for (const auto& [name, pod] : loose_) out.push_back(pod);
    return out;
}

}  // namespace esi::gangs
