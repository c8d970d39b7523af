// The line on which kube-scheduler's calls go to the extender, and the faults that they meet there.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "neighbours/neighbour.h"

namespace esi::simulation {

/// What happens to a call; plan/happenings.md, "extender-call".
struct call_fault {
    std::string what;
    /// Calls that pass before it, and how many it then hits.
    int passing = 0;
    int times = 1;
    /// Of "delay" (the answer) and "late" (the call).
    steady_time::duration delay = seconds(1);
};

/// Owned by the world; without faults it hands every call on at once.
class extender_line {
public:
    /// Status 0: there is no answer.
    using answered = std::function<void(int status, json answer)>;
    using call = std::function<void(const std::string& verb, json body, answered done)>;

    extender_line(surroundings& in, call there);
    ~extender_line();

    void ask(std::string verb, json body, answered done);
    void fail(call_fault how);
    /// Connections are refused for so long: no replica is ready, or a policy is in the way.
    void refuse_for(steady_time::duration time);
    /// Faults that have hit nothing yet never will.
    void end_faults_in_wait();
    /// Faults that hit a call, by class.
    const std::map<std::string, int>& effects() const;

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace esi::simulation
