#include "scheduling/options.h"

#include <CLI/CLI.hpp>

namespace esi::scheduling {

void options::add_to(CLI::App& app) {
    app.add_flag("--cross-namespace-jobs", cross_namespace_jobs,
                 "let a Scheduling start BatchJobs of any namespace, not only of its own: for a "
                 "cluster whose namespaces all trust each other")
        ->envname("ESI_CROSS_NAMESPACE_JOBS");
}

}  // namespace esi::scheduling
