// The flags of the scheduling operator, beside those that all operators have
// (controller/process.h). Plain values; read once, at the start.
#pragma once

namespace CLI {
class App;
}

namespace esi::scheduling {

struct options {
    /// A Scheduling may name BatchJobs of any namespace, as in the original.
    bool cross_namespace_jobs = false;

    void add_to(CLI::App& app);
};

}  // namespace esi::scheduling
