// What runs the applications of each kind: the one place that knows which neighbour that is. A
// further kind is a row in applications.cpp.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/application_kinds.h"
#include "neighbours/kube/kubelet.h"
#include "neighbours/neighbour.h"

namespace esi::simulation {

struct application_runner {
    /// The operator of the kind, after what it needs beside kubelets. Its owner keeps all of them.
    std::vector<std::unique_ptr<neighbour>> neighbours;
    /// Ends the program of an application from within; false: there is none, it does not listen, or
    /// it has ended. Empty of kinds that have no such way. Valid as long as the neighbours are.
    std::function<bool(std::string_view ns, std::string_view name)> cancel;
};

/// `in` and `nodes` outlive what is made. `scripts`: plan::scripts (job_script.h). Throws
/// std::logic_error for a kind without a row.
application_runner run_applications(const application_kind& kind, surroundings& in, kubelet& nodes,
                                    const json& scripts);

}  // namespace esi::simulation
