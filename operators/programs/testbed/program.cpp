#include "programs/testbed/program.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace esi::programs {

namespace {

testbed::options slots_of(const testbed_options& chosen) {
    auto out = chosen.slots;
    out.shared_room = chosen.gangs.enabled;
    return out;
}

}  // namespace

void testbed_options::add_to(CLI::App& app) {
    slots.add_to(app);
    gangs.add_to(app);
}

testbed_program::testbed_program(controller::environment& env, testbed_options chosen)
    : slots_(env, slots_of(chosen)) {
    if (!chosen.gangs.enabled) return;
    gangs_ = std::make_unique<gangs::gang_operator>(env, chosen.gangs, slots_.nodes(),
                                                    *slots_.room(), chosen.slots.tell_nodes);
    slots_.share_room_with(*gangs_);
    if (env.options.enable_debug_endpoints) gangs_->add_debug_route(env.routes);
}

std::vector<controller::operator_part::cache> testbed_program::caches() {
    auto out = slots_.caches();
    if (gangs_) std::ranges::move(gangs_->caches(), std::back_inserter(out));
    return out;
}

void testbed_program::lead() { slots_.lead(); }

asio::awaitable<void> testbed_program::stop(steady_time deadline) { return slots_.stop(deadline); }

}  // namespace esi::programs
