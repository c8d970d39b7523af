#include "scheduling/interface/v1/limits.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "controller/duration_flag.h"
#include "scheduling/interface/v1/openapi.h"

namespace esi::scheduling::v1 {

void limits::add_to(CLI::App& app) {
    controller::add_duration(
        app, "--api-max-wait", longest_wait,
        "how long a request to /api/v1 may wait for a change (index, waitFor)");
    app.add_flag("--api-nodes", nodes,
                 "let PUT /api/v1/.../testbeds/NAME/nodes write the labels of nodes; the operator "
                 "needs the right to patch nodes (value scheduling.api.nodes of the chart)")
        ->envname("ESI_API_NODES");
    app.add_flag_callback(
        "--print-openapi",
        [] {
            std::fputs(openapi_text().c_str(), stdout);
            throw CLI::Success();
        },
        "print the OpenAPI document of /api/v1 and end; no cluster is needed");
}

}  // namespace esi::scheduling::v1
