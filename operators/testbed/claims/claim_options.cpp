#include "testbed/claims/claim_options.h"

#include <CLI/CLI.hpp>

namespace esi::testbed::claims {

void claim_options::add_to(CLI::App& app) {
    app.add_flag("--claims", enabled,
                 "Form Testbeds with spec.claim: places on nodes that are chosen by what they have "
                 "left, all or none")
        ->envname("ESI_CLAIMS");
}

}  // namespace esi::testbed::claims
