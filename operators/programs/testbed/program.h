// The parts of esi-testbed: the testbed operator, and with --gangs the operator of gangs beside it.
// They do not know each other; both plan with one ledger of the cluster's room.
#pragma once

#include <memory>
#include <vector>

#include "gangs/gang_operator.h"
#include "testbed/operator.h"

namespace esi::programs {

struct testbed_options {
    testbed::options slots;
    gangs::gang_options gangs;

    void add_to(CLI::App& app);
};

class testbed_program final : public controller::operator_part {
public:
    testbed_program(controller::environment& env, testbed_options chosen);

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    /// The testbed operator leads and stops gangs_ together with its claims.
    testbed::testbed_operator slots_;
    /// Null without --gangs.
    std::unique_ptr<gangs::gang_operator> gangs_;
};

}  // namespace esi::programs
