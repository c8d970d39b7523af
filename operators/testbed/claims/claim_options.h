// The flag of claims.
#pragma once

namespace CLI {
class App;
}

namespace esi::testbed::claims {

struct claim_options {
    bool enabled = false;

    void add_to(CLI::App& app);
};

}  // namespace esi::testbed::claims
