// The flags of the batchjob operator.
#pragma once

#include <string>

#include "batchjob/registry.h"

namespace CLI {
class App;
}

namespace esi::batchjob {

/// A copy shares the rows of `kinds` with the original.
struct options {
    std::string placement = "gate";  ///< "gate" or "extender"
    placement_options pods;
    /// Schedulings start BatchJobs of all namespaces, so the status of each may name the others.
    bool cross_namespace_jobs = false;
    /// The kinds of application that the operator can make; each has the values of its own flags.
    application_kinds kinds = known_kinds();

    /// Adds the flags, and those of all kinds; the parser writes into this object, which must
    /// outlive it.
    void add_to(CLI::App& app);
    /// `pods`, with the path that `placement` names.
    placement_options placement_of_pods() const;
};

}  // namespace esi::batchjob
