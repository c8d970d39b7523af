// The input of one pass over all gangs, and its decision. Values.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gangs/memory.h"

namespace esi::gangs {

/// See settings::most_on_their_way: a default kube-scheduler binds 50 a second.
inline constexpr int most_on_their_way = 128;

struct settings {
    /// --gang-reserve-after: when the first of the order has its places reserved piece by piece.
    std::chrono::seconds reserve_after{300};
    /// --gang-reserve-for: at most so long at a time.
    std::chrono::seconds reserve_for{1800};
    /// --gang-packing
    packing how = packing::fewest_nodes;
    /// --tell-nodes
    bool tell_nodes = false;
    /// Time of an attempt whose group says none: first member let in to the minimum bound.
    std::chrono::seconds attempt{60};
    /// While this many members have places and are not bound, no further gang is planned whose
    /// namespace has its share of them: what is planned and not nominated yet is open to all, and a
    /// pod with a node chosen by kube-scheduler and not bound yet is invisible to all.
    int most_on_their_way = gangs::most_on_their_way;
};

struct view {
    /// Every group that has an object or a member pod.
    const std::map<gang_key, gang_pointer>& gangs;
    /// Pods with the gate of gangs and a nomination that name no group: nominations are taken off.
    std::vector<pod_pointer> loose = {};
    /// Which kube-scheduler leads: holder and number of transitions of its Lease, as one text;
    /// nothing where it cannot be read.
    std::optional<std::string> scheduler = {};
    /// schedulerName that members must have; empty: any.
    std::string scheduler_name = {};
    /// Values of PriorityClasses by name, as far as they are known; may be null.
    const std::map<std::string, std::int64_t, std::less<>>* classes = nullptr;
    /// Labels of namespaces; may be null.
    const namespace_labels* namespaces = nullptr;
    settings options = {};
    steady_time now{};
    wall_time wall{};
};

struct decision {
    std::vector<action> actions;
    std::vector<note> notes;
    /// Make a pass then, though nothing happens.
    std::optional<steady_time::duration> again;

    void look_again(steady_time::duration wait) {
        wait = std::max<steady_time::duration>(wait, milliseconds(10));
        if (!again || wait < *again) again = wait;
    }
};

}  // namespace esi::gangs
