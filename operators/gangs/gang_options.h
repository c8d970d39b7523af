// The flags of gangs.
#pragma once

#include <string>

#include "base/clock.h"

namespace CLI {
class App;
}

namespace esi::gangs {

struct gang_options {
    bool enabled = false;
    seconds reserve_after{300};
    seconds reserve_for{1800};
    /// Pack or Spread.
    std::string packing = "Pack";
    /// schedulerName of members.
    std::string scheduler_name = "default-scheduler";
    /// Namespace and name of its Lease, as NAMESPACE/NAME.
    std::string scheduler_lease = "kube-system/kube-scheduler";

    void add_to(CLI::App& app);
};

}  // namespace esi::gangs
