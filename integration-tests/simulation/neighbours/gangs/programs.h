// What runs in pods whose author says how long: a pod with the annotation example.com/runs-ms ends
// so long after it began to run, with the exit code of example.com/exit (0). Lives and ends with
// its pod, whatever becomes of the cluster. Owned by the world.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "neighbours/kube/kubelet.h"

namespace esi::simulation {

class programs {
public:
    programs(surroundings& in, kubelet& nodes);

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
