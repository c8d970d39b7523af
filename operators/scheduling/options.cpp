#include "scheduling/options.h"

#include <CLI/CLI.hpp>

#include "controller/process.h"

namespace esi::scheduling {

void options::add_to(CLI::App& app) {
    controller::add_access_flags(app, access, "/external and /scheduler");
    app.add_flag("--cross-namespace-jobs", cross_namespace_jobs,
                 "let a Scheduling start BatchJobs of any namespace, not only of its own: for a "
                 "cluster whose namespaces all trust each other")
        ->envname("ESI_CROSS_NAMESPACE_JOBS");
    controller::add_legacy_namespace(app, legacy_namespace,
                                     "that /external and /scheduler speak of");
    app.add_option("--stomp-allowed-origins", access.origins,
                   "Web pages that may connect to /scheduler and change something by /external, "
                   "beside the server's own: http://host:port, comma-separated, or * for all")
        ->delimiter(',')
        ->check(CLI::Validator(http::origin_fault, "ORIGIN"))
        ->envname("ESI_STOMP_ALLOWED_ORIGINS");
    stomp.add_to(app);
    api.add_to(app);
}

}  // namespace esi::scheduling
