// esi-scheduling: decides which jobs take which slots.
#include "controller/run_process.h"
#include "programs/scheduling/program.h"

int main(int argc, char** argv) {
    esi::programs::scheduling_options chosen;
    return esi::controller::run_process(
        argc, argv, "scheduling", 8082, [&](CLI::App& app) { chosen.add_to(app); },
        [&](esi::controller::environment& env) {
            return std::make_unique<esi::programs::scheduling_program>(env, chosen);
        });
}
