// kube-scheduler 1.34 to 1.36 as far as a swap depends on it: gates, fit with nominations, serial
// attempts, assumed pods, preemption, back-off, and optionally an extender. It sees the cluster
// late and through its own cache. Owned by the world. A second one with another name and an
// extender serves the extender path; nominations are known only to the pod's own scheduler.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "neighbours/neighbour.h"

namespace esi::simulation {

/// Asks the extender; verb: "filter" or "preemption". `done` is called at most once, and not before
/// this returns; without it the attempt fails after the time-out. Status 0: no answer came.
using extender_call = std::function<void(std::string verb, json body,
                                         std::function<void(int status, json answer)> done)>;

struct scheduler_settings {
    /// spec.schedulerName of the pods that it serves.
    std::string scheduler = "default-scheduler";
    /// Null: none.
    extender_call extender = nullptr;
    steady_time::duration extender_timeout = seconds(5);
    /// It holds its Lease in kube-system, with another holder after each start. A start waits for
    /// no lease of the life before: it was given back.
    bool lease = false;
};

class kube_scheduler : public neighbour {
public:
    kube_scheduler(surroundings& in, scheduler_settings settings);
    ~kube_scheduler() override;

    /// "kube-scheduler" for the default one, else the name of its settings.
    std::string_view name() const override;
    /// A bind under way arrives or not; deletions of victims do not.
    void crash() override;
    void restart() override;
    /// Of what it sees.
    void set_pace(pace speed) override;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
