// The order in which gangs are given room. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gangs/memory.h"

namespace esi::gangs {

using class_values = std::map<std::string, std::int64_t, std::less<>>;

/// The largest priority of its members that have not ended, or the value of the group's class (from
/// `classes` or from a member of that class) where that is less.
std::int64_t priority_of(const gang& of, const class_values* classes);

/// The place of a gang in the order.
struct turn {
    gang_key key;
    start how = start::whole;
    std::int64_t priority = 0;
    /// It was tried, and nothing was freed since.
    bool failed = false;
    /// It was tried since all were tried last: it waits until the others have been tried.
    bool tried = false;
    std::optional<model::timestamp> created;
    std::string uid;
    /// While one pass cannot try all (in_turns): how many of its namespace are before it.
    int nth = 0;

    /// Members of gangs that have begun come first, those beyond a minimum last.
    int rank() const { return how == start::refill ? 0 : how == start::whole ? 1 : 2; }
    /// Rank and priority: a turn with the lesser value may take a reservation from one with the
    /// greater.
    std::pair<int, std::int64_t> urgency() const { return {rank(), -priority}; }
};

/// Compares in this order: not tried yet, rank, priority, not failed, `nth`, creation, uid, key.
bool before(const turn& a, const turn& b);
/// The same without `tried` and `failed`: the order in which waiting ends.
bool before_in_age(const turn& a, const turn& b);

/// Puts turns that are in the order of `before` so that namespaces take turns among those that
/// differ in age alone: the first of each namespace, then the second of each.
void in_turns(std::vector<turn>& ordered);

}  // namespace esi::gangs
