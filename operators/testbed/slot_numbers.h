// Slots by state, and the pods that wait at them, as gauges. Set by the reconcile, so by the leader
// alone. Owned by the operator; decides nothing.
#pragma once

#include <map>

#include "controller/metrics.h"
#include "model/testbed.h"

namespace esi::testbed {

class slot_numbers {
public:
    /// `by_testbed`: a series for each Testbed, by its name; else the sums over all of them.
    /// Metrics are read by everybody who reaches the port, so names are not told unless asked for.
    slot_numbers(controller::metrics& numbers, bool by_testbed)
        : numbers_(numbers), by_testbed_(by_testbed) {}

    /// `pods_waiting`: pods that have been given a slot and are not bound in it yet.
    void show(const model::object_key& testbed, const model::slot_counts& slots, int pods_waiting);
    /// The Testbed is gone, and its slots with it.
    void forget(const model::object_key& testbed);

private:
    struct counts {
        model::slot_counts slots;
        int waiting = 0;
    };
    void show_one(const counts& what, const controller::metrics::labels& of);
    void show_sums();

    controller::metrics& numbers_;
    bool by_testbed_;
    std::map<model::object_key, counts> known_;
};

}  // namespace esi::testbed
