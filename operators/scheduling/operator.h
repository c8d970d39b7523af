// The scheduling operator: drives Schedulings to the end, and releases orphans. Owned by its
// program (programs/scheduling); observes through
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

    std::vector<cache> caches() override;
    void lead() override;
    asio::awaitable<void> stop(steady_time deadline) override;

    /// The caches, for programs that answer questions about them.
    scheduling::caches& seen() { return caches_; }

private:
    asio::awaitable<result<controller::outcome>> reconcile(model::object_key key);
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
};

}  // namespace esi::scheduling
