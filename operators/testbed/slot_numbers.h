// Slots by Testbed and state, as gauges. Set by the reconcile, so by the leader alone. Their labels
// are few: Testbeds times four states. Owned by the operator; decides nothing.
#pragma once

#include "controller/metrics.h"
#include "model/testbed.h"

namespace esi::testbed {

class slot_numbers {
public:
    explicit slot_numbers(controller::metrics& numbers) : numbers_(numbers) {}

    /// `pods_waiting`: pods that have been given a slot and are not bound in it yet.
    void show(const model::object_key& testbed, const model::slot_counts& slots, int pods_waiting);
    /// The Testbed is gone, and its series with it.
    void forget(const model::object_key& testbed);

private:
    controller::metrics& numbers_;
};

}  // namespace esi::testbed
