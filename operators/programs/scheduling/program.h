// The parts of esi-scheduling: the scheduling operator, and the interfaces that answer from its
// caches.
#pragma once

#include <vector>

#include "interface/interfaces.h"
#include "scheduling/operator.h"

namespace esi::programs {

struct scheduling_options {
    scheduling::options plans;
    interface::options served;

    void add_to(CLI::App& app);
};

class scheduling_program final : public controller::operator_part {
public:
    scheduling_program(controller::environment& env, scheduling_options chosen);

    std::vector<cache> caches() override;
    std::vector<controller::readiness_check> checks() const override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    scheduling::scheduling_operator plans_;
    interface::interfaces served_;
};

}  // namespace esi::programs
