#include "testbed/swap/gap_times.h"

namespace esi::testbed {

gap_times::gap_times(controller::metrics& numbers, const clock& time)
    : in_(numbers.histogram("esi_testbed_swap_in_seconds",
                            "From a ghost's deletion to its job pod being bound",
                            {.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24})),
      back_(numbers.histogram("esi_testbed_swap_back_seconds",
                              "From a job pod being gone to its slot's ghost being bound",
                              {.005, .01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24})),
      strangers_(numbers.counter("esi_testbed_strangers_total",
                                 "Slots whose room was taken by pods of others")),
      woken_(numbers.counter("esi_testbed_pods_woken_total",
                             "Times that kube-scheduler was made to look at a pod again whose room "
                             "was free")),
      time_(time) {}

void gap_times::ghost_went(const std::string& pod_uid) { ghosts_out_[pod_uid] = time_.now(); }

void gap_times::pod_bound(const std::string& pod_uid) {
    auto at = ghosts_out_.find(pod_uid);
    if (at == ghosts_out_.end()) return;
    in_.Observe(std::chrono::duration<double>(time_.now() - at->second).count());
    ghosts_out_.erase(at);
}

void gap_times::pod_gone(const std::string& pod_uid) { ghosts_out_.erase(pod_uid); }

void gap_times::pod_left(const std::string& place) { left_[place] = time_.now(); }

void gap_times::ghost_bound(const std::string& place) {
    auto at = left_.find(place);
    if (at == left_.end()) return;
    back_.Observe(std::chrono::duration<double>(time_.now() - at->second).count());
    left_.erase(at);
}

void gap_times::woken() { woken_.Increment(); }

void gap_times::stranger() { strangers_.Increment(); }

}  // namespace esi::testbed
