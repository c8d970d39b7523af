// The gaps of a swap, in which a slot's room belongs to no pod, as histograms. Measured from what
// this process has done and seen; a restart loses the ones under way. Owned by the operator;
// decides nothing.
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "controller/metrics.h"

namespace esi::testbed {

/// When ghosts went and job pods left, by this process: for the histograms only.
class gap_times {
public:
    gap_times(controller::metrics& numbers, const clock& time);
    void ghost_went(const std::string& pod_uid);
    void pod_bound(const std::string& pod_uid);
    /// The pod was never bound.
    void pod_gone(const std::string& pod_uid);
    /// `place`: testbed and slot, one text.
    void pod_left(const std::string& place);
    void ghost_bound(const std::string& place);
    void stranger();
    /// kube-scheduler was made to look at a pod whose room is free.
    void woken();

private:
    prometheus::Histogram& in_;
    prometheus::Histogram& back_;
    prometheus::Counter& strangers_;
    prometheus::Counter& woken_;
    const clock& time_;
    std::map<std::string, steady_time> ghosts_out_;
    std::map<std::string, steady_time> left_;
};

}  // namespace esi::testbed
