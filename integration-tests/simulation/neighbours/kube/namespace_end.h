// The namespace controller: empties a namespace that is being deleted, pods first
// (OrderedNamespaceDeletion), then lets it go. Owned by the controller manager.
#pragma once

#include <set>
#include <string>

#include "neighbours/kube/duty.h"

namespace esi::simulation {

class namespace_end {
public:
    explicit namespace_end(duty& of) : of_(of) {}

    void seen(const object& what);
    void forget() { under_way_.clear(); }

private:
    void work(const std::string& name, steady_time::duration wait);
    /// Deletes what is there; true when nothing of the kind is left.
    bool empty(const kube::resource_type& type, const std::string& ns);

    duty& of_;
    std::set<std::string> under_way_;
};

}  // namespace esi::simulation
