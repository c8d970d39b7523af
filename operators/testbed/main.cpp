#include "testbed/operator.h"

int main(int argc, char** argv) {
    esi::testbed::options chosen;
    return esi::controller::run_process(
        argc, argv, "testbed", 8080, [&](CLI::App& app) { chosen.add_to(app); },
        [&](esi::controller::environment& env) {
            return std::make_unique<esi::testbed::testbed_operator>(env, chosen);
        });
}
