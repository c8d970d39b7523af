// The metrics of claims (docs/operations.md). Decides nothing.
#pragma once

#include <map>
#include <string_view>

#include "base/clock.h"
#include "controller/metrics.h"

namespace esi::testbed::claims {

class claim_numbers {
public:
    explicit claim_numbers(controller::metrics& numbers);

    /// Sets the number of claims by the reason of their condition Formed. Reasons that were shown
    /// once and are not named now become 0.
    void show(const std::map<std::string_view, int>& by_reason);
    /// Counts a found plan and the time since the claim was seen first or had lost its places.
    void planned(steady_time::duration waited);
    void gave_back();

private:
    controller::metrics& numbers_;
    prometheus::Histogram& planned_;
    prometheus::Counter& given_back_;
};

}  // namespace esi::testbed::claims
