// What all rules share: the records, the verdicts, the time, and who of the actors is disturbed.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "check/records.h"
#include "check/verdicts.h"
#include "world/timeline.h"

namespace esi::simulation::checks {

/// After something has happened to a node, decisions made before it may still arrive for so long.
inline constexpr auto node_patience = std::chrono::minutes(10);

struct context {
    const timeline& time;
    records all;
    verdicts out;

    /// Until when an operator is down, cut off or behind.
    std::map<std::string, steady_time, std::less<>> disturbed_until;
    bool disturbances_told = false;
    /// Since when the present leader of an operator leads.
    std::map<std::string, steady_time, std::less<>> leads_since;
    /// When a scheduler began last, by its name.
    std::map<std::string, steady_time, std::less<>> scheduler_began;

    explicit context(const timeline& time_) : time(time_), out(time_) {}

    steady_time now() const { return time.now(); }
    /// The operator has been undisturbed for a while: it acts by what is, and at once.
    bool fresh(std::string_view operator_) const {
        if (!disturbances_told) return false;
        auto found = disturbed_until.find(operator_);
        return found == disturbed_until.end() || now() > found->second + seconds(10);
    }
    bool disturbed_node(std::string_view name) const {
        auto found = all.nodes.find(std::string(name));
        return found == all.nodes.end() ||
               (found->second.disturbed && now() < *found->second.disturbed + node_patience);
    }
};

}  // namespace esi::simulation::checks
