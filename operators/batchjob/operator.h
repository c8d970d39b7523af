// The batchjob operator: caches, the mapping of what changes to the jobs that it concerns, and the
// loop observe -> decide -> act for one job at a time. All judgement is in decide.h.
#pragma once

#include <memory>
#include <string>

#include "batchjob/backends/backend.h"
#include "batchjob/backends/flink/defaults.h"
#include "controller/process.h"

namespace CLI {
class App;
}

namespace esi::batchjob {

struct options {
    std::string placement = "gate";  ///< "gate" or "extender"
    placement_options pods;
    flink::defaults flink;

    void add_to(CLI::App& app);
};

/// `flags` must outlive the operator; it is read once, here.
std::unique_ptr<controller::operator_part> make_operator(controller::environment& env,
                                                         const options& flags);

}  // namespace esi::batchjob
