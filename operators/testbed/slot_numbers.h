// Slots by state, and the pods that wait for them, as gauges. The reconcile sets them, so only the
// leader does. Owned by the operator; decides nothing.
#pragma once

#include <map>

#include "controller/metrics.h"
#include "model/testbed.h"

namespace esi::testbed {

class slot_numbers {
public:
    /// `by_testbed`: a series for each Testbed, by its name; else the sums over all of them. Every
    /// client that reaches the port can read metrics, so names are shown only if asked for.
    slot_numbers(controller::metrics& numbers, bool by_testbed)
        : numbers_(numbers), by_testbed_(by_testbed) {}

    /// `pods_waiting`: pods that have a slot and are not bound in it yet.
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
