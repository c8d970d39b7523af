// The present gangs: groups with their member pods, kept up by the changes of both, each at the
// cost of the one gang that it concerns. Memory of a process; rebuilt from the caches.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gangs/gang_caches.h"

namespace esi::gangs {

/// A pod at the gate of gangs that waits until a person changes something.
struct stranded {
    /// Its group, in a namespace that is not enabled; without a name: the pod names no group.
    gang_key of;
    group_object group;
    /// A pod at the gate.
    pod_pointer pod;
};

class gang_book {
public:
    /// Pods of other namespaces than these are ignored; none: all namespaces count.
    explicit gang_book(const std::vector<std::string>& namespaces = {})
        : limited_to_(namespaces.begin(), namespaces.end()) {}

    /// A change from the cache of pods.
    void pod_changed(const pod_pointer& before, const pod_pointer& after);
    void group_changed(const gang_key& of) { stale_.insert(of); }
    /// Gangs are started in the namespace from now on, or no longer.
    void namespace_changed(std::string_view ns, const gang_caches& from);

    /// How many groups have changed.
    std::size_t stale() const { return stale_.size(); }
    /// Rebuilds the gangs of which something has changed. True if there was one.
    bool bring_up(const gang_caches& from);

    /// Gangs of enabled namespaces; in other namespaces, gangs whose places have to be given back
    /// or kept: those with a nominated pod at the gate, and those that were here before and have a
    /// pod that is let in and not bound. All other groups there are left to other schedulers.
    const std::map<gang_key, gang_pointer>& gangs() const { return gangs_; }
    /// Gated and nominated pods that name no group.
    std::vector<pod_pointer> loose() const;
    /// At most `most` of those that are stranded and were not given before; in a namespace that
    /// was enabled in between they are given again.
    std::vector<stranded> take_stranded(const gang_caches& from, std::size_t most);
    bool any_stranded() const { return !untold_strays_.empty() || !untold_groups_.empty(); }

private:
    using pods = std::map<model::object_key, pod_pointer>;

    void note_stray(const model::object_key& key, const pod_pointer& now);

    std::set<std::string, std::less<>> limited_to_;
    std::map<gang_key, pods> members_;
    pods loose_;
    /// Pods at the gate that name no group.
    pods strays_;
    std::set<model::object_key> untold_strays_;
    /// Groups with a pod at the gate, in namespaces that are not enabled.
    std::set<gang_key> outside_;
    std::set<gang_key> untold_groups_;
    std::map<gang_key, gang_pointer> gangs_;
    std::set<gang_key> stale_;
};

}  // namespace esi::gangs
