// esi-testbed: manages slots, ghosts, claims and gangs.
#include "controller/run_process.h"
#include "programs/testbed/program.h"

int main(int argc, char** argv) {
    esi::programs::testbed_options chosen;
    return esi::controller::run_process(
        argc, argv, "testbed", 8080, [&](CLI::App& app) { chosen.add_to(app); },
        [&](esi::controller::environment& env) {
            return std::make_unique<esi::programs::testbed_program>(env, chosen);
        });
}
