// What the operator measures of pods in slots as the watch tells it: the times of the histograms,
// and the lines of the log that tell when a pod leaves its slot and when the slot is free again.
#pragma once

#include "base/clock.h"
#include "testbed/caches/caches.h"
#include "testbed/swap/gap_times.h"
#include "testbed/view/hints.h"

namespace esi::testbed {

class measures {
public:
    /// All of them live longer than this.
    measures(const caches& from, gap_times& gaps, clock& time)
        : caches_(from), gaps_(gaps), time_(time) {}

    /// A pod that names a Testbed. `known`: of that Testbed; null unless this process leads and
    /// knows it.
    void pod_seen(const kube::change<model::pod>& what, hints* known);

private:
    bool is_on_record(const model::testbed& testbed, const model::pod& pod, int position) const;

    const caches& caches_;
    gap_times& gaps_;
    clock& time_;
};

}  // namespace esi::testbed
