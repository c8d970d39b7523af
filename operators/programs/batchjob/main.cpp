// esi-batchjob: launches BatchJobs into their assigned slots, and records the runs.
#include "batchjob/operator.h"
#include "controller/run_process.h"

int main(int argc, char** argv) {
    esi::batchjob::options flags;
    return esi::controller::run_process(
        argc, argv, "batchjob", 8081, [&flags](CLI::App& app) { flags.add_to(app); },
        [&flags](esi::controller::environment& env) {
            return std::make_unique<esi::batchjob::batchjob_operator>(env, flags);
        });
}
