// The metrics of gangs (docs/operations.md). Decides nothing.
#pragma once

#include <map>
#include <string_view>

#include "controller/metrics.h"
#include "gangs/memory.h"

namespace esi::gangs {

class gang_numbers {
public:
    explicit gang_numbers(controller::metrics& numbers);

    void pass(steady_time::duration took);
    /// Shows the state after a pass: groups by state, and how long each attempt took.
    void show(const memory& known);
    /// Counts a request that changes something; `what`: "nominate", "let_in" ...
    void wrote(std::string_view what);
    /// Counts looks that said go, and looks that refused.
    void looked(bool go);
    /// Counts a member that was let in, refused by kube-scheduler, and deleted.
    void refused();

private:
    /// The attempt that was seen last.
    struct seen {
        std::optional<steady_time> reserved, let_in, bound;
    };

    controller::metrics& numbers_;
    prometheus::Histogram& passes_;
    prometheus::Histogram& reserved_;
    prometheus::Histogram& let_in_;
    prometheus::Histogram& bound_;
    prometheus::Counter& looks_go_;
    prometheus::Counter& looks_held_;
    prometheus::Counter& refused_;
    std::map<gang_key, seen> seen_;
};

}  // namespace esi::gangs
