// Which members of gangs have a place on which node, as the pods show it, whichever process planned
// it. Kept up by changes of pods; memory of a process only.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "gangs/gang.h"

namespace esi::gangs {

class shown_plans {
public:
    /// A change from the cache of pods: `before` is null if the pod is new, `after` if it is gone.
    void pod_changed(const pod_pointer& before, const pod_pointer& after);

    /// By uid, the members that are nominated to the node by a plan, or let in to it, and not
    /// bound. Null: none. Where this process has planned it, the ledger has a promise for the
    /// member, too (cluster_room::promises).
    const std::map<std::string, pod_pointer, std::less<>>* on(std::string_view node) const;

private:
    std::map<std::string, std::map<std::string, pod_pointer, std::less<>>, std::less<>> on_;
};

}  // namespace esi::gangs
