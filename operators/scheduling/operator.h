// The scheduling operator: drives Schedulings to the end, releases orphans, serves the original's
// REST and STOMP. Owned by the process (controller/process.h); observes through
// scheduling/caches.h, decides with scheduling/decide.h, acts through scheduling/act.h. Memory is
// never the truth: each reconcile reads everything again from the objects.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/process.h"
#include "controller/write_gate.h"
#include "scheduling/act.h"
#include "scheduling/caches.h"
#include "scheduling/options.h"
#include "scheduling/orphan_releaser.h"

namespace esi::scheduling {

class scheduling_operator final : public controller::operator_part {
public:
    scheduling_operator(controller::environment& env, options chosen);
    ~scheduling_operator() override;

    std::vector<cache> caches() override;
    std::vector<controller::readiness_check> checks() const override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

private:
    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
    void tell_of_plain_tokens() const;
    void count_states();
    void count_slots_read();

    controller::environment& env_;
    options options_;
    scheduling::caches caches_;
    controller::write_gate gate_;
    actor actor_;
    controller::controller reconciler_;
    orphan_releaser orphans_;
    bool leading_ = false;
    std::uint64_t slots_read_ = 0;  ///< those that the metric has

    struct interfaces;
    std::unique_ptr<interfaces> interfaces_;
};

}  // namespace esi::scheduling
