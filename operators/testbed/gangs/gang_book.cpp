#include "testbed/gangs/gang_book.h"

#include <algorithm>

#include "base/contains.h"
#include "model/names.h"

namespace esi::testbed::gangs {

namespace {

bool is_at_the_gate(const model::pod& pod) {
    return !pod.bound() && contains(pod.scheduling_gates, model::names::gang);
}

bool any_waits(const std::map<model::object_key, pod_pointer>& pods) {
    return std::ranges::any_of(pods, [](const auto& each) { return is_at_the_gate(*each.second); });
}

}  // namespace

void gang_book::pod_changed(const pod_pointer& before, const pod_pointer& after) {
    const auto key = (after ? after : before)->metadata.key();
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
    if (!after) return;
    if (const auto of = group_of(*after)) {
        members_[*of].insert_or_assign(key, after);
        stale_.insert(*of);
    } else if (is_at_the_gate(*after) && !after->nominated_node_name.empty()) {
        loose_.insert_or_assign(key, after);
    }
}

void gang_book::namespace_changed(std::string_view ns, const gang_caches& from) {
    for (const auto& [key, pods] : members_) {
        if (key.namespace_ == ns) stale_.insert(key);
    }
    for (auto& key : from.groups_in(ns)) stale_.insert(std::move(key));
}

bool gang_book::bring_up(const gang_caches& from) {
    const bool any = !stale_.empty();
    for (const auto& key : stale_) {
        auto object = from.find(key);
        const auto found = members_.find(key);
        const bool enabled = from.enabled(key.namespace_);
        const bool concerns_us = enabled ? object || found != members_.end()
                                         : found != members_.end() && any_waits(found->second);
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

std::vector<pod_pointer> gang_book::loose() const {
    std::vector<pod_pointer> out;
    for (const auto& [name, pod] : loose_) out.push_back(pod);
    return out;
}

}  // namespace esi::testbed::gangs
