// The gangs that there are: groups with their member pods, kept up by the changes of both, each at
// the cost of the one gang that it concerns. Memory of a process; made anew from what the caches
// tell.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "testbed/gangs/gang_caches.h"

namespace esi::testbed::gangs {

class gang_book {
public:
    /// As the cache of pods tells it.
    void pod_changed(const pod_pointer& before, const pod_pointer& after);
    void group_changed(const gang_key& of) { stale_.insert(of); }
    /// Gangs are started in it from now on, or no more.
    void namespace_changed(std::string_view ns, const gang_caches& from);

    /// So many groups have changed.
    std::size_t stale() const { return stale_.size(); }
    /// Makes anew the gangs of which something has changed. True where one was.
    bool bring_up(const gang_caches& from);

    /// Those of enabled namespaces, and of others those with a pod at the gate of gangs. Of what
    /// else names a group other schedulers take care.
    const std::map<gang_key, gang_pointer>& gangs() const { return gangs_; }
    /// Gated and nominated pods that name no group.
    std::vector<pod_pointer> loose() const;

private:
    using pods = std::map<model::object_key, pod_pointer>;

    std::map<gang_key, pods> members_;
    pods loose_;
    std::map<gang_key, gang_pointer> gangs_;
    std::set<gang_key> stale_;
};

}  // namespace esi::testbed::gangs
