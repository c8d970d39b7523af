// esi-scheduling: which jobs take which slots.
#include "scheduling/operator.h"

int main(int argc, char** argv) {
    esi::scheduling::options options;
    return esi::controller::run_process(
        argc, argv, "scheduling", 8082, [&](CLI::App& app) { options.add_to(app); },
        [&](esi::controller::environment& in) {
            return std::make_unique<esi::scheduling::scheduling_operator>(in, options);
        });
}
