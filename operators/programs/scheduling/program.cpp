#include "programs/scheduling/program.h"

#include <utility>

namespace esi::programs {

void scheduling_options::add_to(CLI::App& app) {
    plans.add_to(app);
    served.add_to(app);
}

scheduling_program::scheduling_program(controller::environment& env, scheduling_options chosen)
    : plans_(env, chosen.plans),
      served_(env, plans_.seen(), std::move(chosen.served), chosen.plans.cross_namespace_jobs) {}

std::vector<controller::operator_part::cache> scheduling_program::caches() {
    return plans_.caches();
}

std::vector<controller::readiness_check> scheduling_program::checks() const {
    return served_.checks();
}

void scheduling_program::lead() { plans_.lead(); }

asio::awaitable<void> scheduling_program::stop(steady_time deadline) {
    co_await served_.stop_api(deadline);
    co_await plans_.stop(deadline);
    co_await served_.stop_topics(deadline);
}

}  // namespace esi::programs
